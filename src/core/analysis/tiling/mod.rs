//! A matmul in tiles: how many there are, how they fill the device, what they read, and what may
//! follow in a tile.
//!
//! A block computes `rows x columns` of the output and goes along K in steps of `depth`. A wave is
//! one tile for each multiprocessor, as in
//! [`Product::cut`](crate::analysis::device_model::Product::cut). Reads are counted three ways:
//! each tile by itself, each wave by itself (its tiles share strips through the cache), and each
//! operand once.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes and counts are whole and positive"
)]

mod best;
mod follow;
mod grid;
mod resources;

pub use best::{Best, TimeLimit, best};
pub use follow::{Follower, Needs, followers};
pub use grid::{TileBlock, TileGrid, merged};
pub use resources::{BlockResources, COMPUTING_THREADS, registers_per_thread};

use crate::analysis::device_model::{Product, Tile, Tiling, operand_sizes};
use crate::model::device::Device;
use crate::model::element_size::ElementSize;
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::model::op_type::OpType;
use crate::numeral::Numeral;
use std::ops::Range;

/// Sides of tiles to choose from.
pub const SIDES: [u64; 5] = [16, 32, 64, 128, 256];
/// Rows of tiles that are taken at a time: row by row, or as Triton's matmul takes them.
pub const GROUPS: [u64; 2] = [1, 8];
/// Waves that are counted one by one, at most.
pub const MOST_WAVES: u64 = 1 << 16;

/// The tile of one block: BM, BN and BK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockTile {
    /// Rows of the output, BM.
    pub rows: u64,
    /// Columns of the output, BN.
    pub columns: u64,
    /// Length of a step along K, BK.
    pub depth: u64,
}

/// A matmul that can be cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TiledMatmul {
    /// The matmul in the graph.
    pub op: OpId,
    /// Independent products, each with operands of its own.
    pub batch: u64,
    /// M.
    pub rows: u64,
    /// K.
    pub inner: u64,
    /// N.
    pub columns: u64,
    /// Size of an element of the left and of the right operand.
    pub element_sizes: [ElementSize; 2],
    product: Product,
}

impl TiledMatmul {
    /// `None` for any other op, for a convolution, and where K is unknown.
    pub fn of_op(graph: &Graph, op: OpId) -> Option<Self> {
        if graph.ops[op].op_type != OpType::Matmul {
            return None;
        }
        let product = Product::of_op(graph, op).filter(|product| !product.is_convolution)?;
        Some(Self {
            op,
            batch: product.batch as u64,
            rows: product.rows as u64,
            inner: product.inner as u64,
            columns: product.columns as u64,
            element_sizes: operand_sizes(graph, op),
            product,
        })
    }

    /// The tile that a library is expected to take, which the device model and *Limits* assume.
    /// `None` where the multiprocessors of the device are unknown.
    pub fn library_tile(&self, device: &Device) -> Option<BlockTile> {
        let multiprocessors = device.hardware.multiprocessors?.value;
        let Tile { rows, columns } = self.product.tiling(multiprocessors).tile;
        let sides = [rows as u64, columns as u64];
        Some(BlockTile::deepest(
            sides,
            self.element_sizes,
            device.on_chip_bytes(),
        ))
    }

    /// FLOPs of all products.
    pub fn flops(&self) -> f64 {
        self.product.flops()
    }

    /// All rows and columns of so many of its products.
    const fn strips_of_products(&self, products: u64) -> Strips {
        Strips {
            rows: self.rows.saturating_mul(products),
            columns: self.columns.saturating_mul(products),
        }
    }

    /// All rows, and all columns, of all its products, as factors.
    fn strips_once<N: Numeral>(&self) -> [impl Iterator<Item = N>; 2] {
        [("(M)", self.rows), ("(N)", self.columns)].map(|(letter, side)| {
            let products = (self.batch != 1).then(|| N::count("products", self.batch));
            [N::count(letter, side)].into_iter().chain(products)
        })
    }
}

/// How far the walk through a matmul has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileProgress {
    /// Waves whose tiles are written.
    pub waves: u64,
    /// Steps along K that the next wave has taken.
    pub steps: u64,
}

/// Strips of the operands along all of K.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strips<N = u64> {
    /// Rows of the left operand.
    pub rows: N,
    /// Columns of the right operand.
    pub columns: N,
}

impl Strips {
    const fn and(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            columns: self.columns.saturating_add(other.columns),
        }
    }
}

/// The matmuls of a graph, in order.
pub fn matmuls(graph: &Graph) -> impl Iterator<Item = TiledMatmul> {
    graph
        .ops
        .ids()
        .filter_map(|op| TiledMatmul::of_op(graph, op))
}

/// A matmul in tiles on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tiled {
    /// The matmul that is cut.
    pub matmul: TiledMatmul,
    /// The tile of one block.
    pub tile: BlockTile,
    /// All tiles.
    pub grid: TileGrid,
    /// Tiles, waves and their efficiency.
    pub tiling: Tiling,
    /// Tiles of a wave: the multiprocessors of the device.
    pub wave_tiles: u64,
    /// The resources of a block.
    pub resources: BlockResources,
}

impl Tiled {
    /// `None` where the multiprocessors of the device are unknown.
    pub fn new(
        matmul: TiledMatmul,
        tile: BlockTile,
        group_rows: u64,
        device: &Device,
    ) -> Option<Self> {
        let multiprocessor = device.hardware.multiprocessor()?;
        let multiprocessors = device.hardware.multiprocessors?.value;
        let cut = Tile {
            rows: tile.rows as f64,
            columns: tile.columns as f64,
        };
        Some(Self {
            matmul,
            tile,
            grid: TileGrid {
                rows: matmul.rows.div_ceil(tile.rows.max(1)),
                columns: matmul.columns.div_ceil(tile.columns.max(1)),
                batch: matmul.batch,
                group_rows: group_rows.max(1),
            },
            tiling: matmul.product.cut(cut, multiprocessors),
            wave_tiles: (multiprocessors as u64).max(1),
            resources: BlockResources::new(
                tile,
                matmul.element_sizes,
                device.on_chip_bytes(),
                multiprocessor.registers_per_thread.into(),
            ),
        })
    }

    /// Waves of all tiles.
    pub fn waves(&self) -> u64 {
        self.grid.tiles().div_ceil(self.wave_tiles)
    }

    /// The tiles of a wave, by their places in the order of all tiles.
    pub fn tiles_of_wave(&self, wave: u64) -> Range<u64> {
        let start = wave.saturating_mul(self.wave_tiles);
        start..start.saturating_add(self.wave_tiles).min(self.grid.tiles())
    }

    /// Steps along K that each tile takes.
    pub fn steps(&self) -> u64 {
        self.step_count()
    }

    /// Positions of the walk through all waves, each in its steps along K; the last one is the end.
    pub fn positions(&self) -> u64 {
        self.waves().saturating_mul(self.steps())
    }

    /// How far the kernel is at a position: the waves that are done, and the steps of the next one.
    pub fn progress(&self, at: u64) -> TileProgress {
        let at = at.min(self.positions());
        let steps = self.steps().max(1);
        TileProgress {
            waves: at / steps,
            steps: at % steps,
        }
    }

    /// Tiles of all products.
    pub fn tile_count<N: Numeral>(&self) -> N {
        self.matmul.product.tiles(self.tiling.tile)
    }

    /// Waves of all tiles, with one tile per multiprocessor.
    pub fn wave_count<N: Numeral>(&self) -> N {
        let Self { matmul, tiling, .. } = self;
        // A wave has `wave_tiles` slots here, a whole number, as the walk through the waves needs
        // it.
        (matmul.product).waves(tiling.tile, self.wave_tiles as f64)
    }

    /// Share of the slots of all waves that hold a tile.
    pub fn wave_efficiency<N: Numeral>(&self) -> N::Share {
        let Self { matmul, tiling, .. } = self;
        (matmul.product).wave_efficiency::<N>(tiling.tile, self.wave_tiles as f64)
    }

    /// Share of the elements of all tiles that are inside the output.
    pub fn tile_efficiency<N: Numeral>(&self) -> N::Share {
        let Self { matmul, tiling, .. } = self;
        matmul.product.tile_efficiency::<N>(tiling.tile)
    }

    /// Steps along K that each tile takes.
    pub fn step_count<N: Numeral>(&self) -> N {
        let [inner, depth] = [("(K)", self.matmul.inner), ("(BK)", self.tile.depth)];
        N::ceiling("", N::count(inner.0, inner.1), N::count(depth.0, depth.1)).by("⌈K / BK⌉")
    }

    /// The strips that one tile inside the output reads.
    pub fn tile_strips<N: Numeral>(&self) -> Strips<N> {
        // Where the output is smaller, the letters of the tile would be wrong.
        let side = |letter, tile: u64, output: u64| {
            N::count(if tile <= output { letter } else { "" }, tile.min(output))
        };
        Strips {
            rows: side("(BM)", self.tile.rows, self.matmul.rows),
            columns: side("(BN)", self.tile.columns, self.matmul.columns),
        }
    }

    /// The strips that all tiles read, without sharing: every row of the left operand once for each
    /// column of tiles, every column of the right one once for each row of tiles.
    pub fn separate_strips<N: Numeral>(&self) -> Strips<N> {
        let [rows, columns] = self.matmul.strips_once();
        let for_each = |name, tiles| [N::count(name, tiles)];
        Strips {
            rows: N::product(
                "rows",
                rows.chain(for_each("columns of tiles", self.grid.columns)),
            ),
            columns: N::product(
                "columns",
                columns.chain(for_each("rows of tiles", self.grid.rows)),
            ),
        }
    }

    /// Each operand once.
    pub fn compulsory_strips<N: Numeral>(&self) -> Strips<N> {
        let [rows, columns] = self.matmul.strips_once();
        Strips {
            rows: N::product("rows", rows),
            columns: N::product("columns", columns),
        }
    }

    /// Rows of the left and columns of the right operand that these tiles read if they share
    /// strips, each strip once.
    pub fn shared_strips(&self, tiles: Range<u64>) -> Strips {
        if tiles.is_empty() {
            return Strips::default();
        }
        let one = self.grid.tiles_of_one();
        let (first, last) = (tiles.start / one, (tiles.end - 1) / one);
        if first == last {
            // Products have operands of their own, so only tiles of one product share strips.
            return self.strips_of_one(tiles.start - first * one..tiles.end - first * one);
        }
        self.strips_of_one(tiles.start - first * one..one)
            .and(self.matmul.strips_of_products(last - first - 1))
            .and(self.strips_of_one(0..tiles.end - last * one))
    }

    /// The strips that tiles of one product read together.
    fn strips_of_one(&self, tiles: Range<u64>) -> Strips {
        let blocks = self.grid.blocks(tiles);
        let covered = |side: fn(&TileBlock) -> &Range<u64>, tile: u64, size: u64| -> u64 {
            // Rectangles of one wave overlap in rows or in columns, whose strips count once.
            let strips = merged(blocks.iter().map(|block| side(block).clone()).collect());
            let elements = |strip: Range<u64>| {
                // The last tile may reach beyond the output, where there is nothing to read.
                let end = strip.end.saturating_mul(tile).min(size);
                end.saturating_sub(strip.start.saturating_mul(tile))
            };
            strips.into_iter().map(elements).sum()
        };
        let Self { matmul, tile, .. } = self;
        Strips {
            rows: covered(|block| &block.rows, tile.rows, matmul.rows),
            columns: covered(|block| &block.columns, tile.columns, matmul.columns),
        }
    }

    /// The strips that all waves read, each wave by itself. `None` above [`MOST_WAVES`] waves.
    pub fn strips_of_waves(&self) -> Option<Strips> {
        let waves = self.waves();
        (waves <= MOST_WAVES).then(|| {
            (0..waves)
                .map(|wave| self.shared_strips(self.tiles_of_wave(wave)))
                .fold(Strips::default(), Strips::and)
        })
    }

    /// Bytes of strips along K, one operand after the other.
    pub fn bytes_of<N: Numeral>(&self, strips: Strips<N>) -> N {
        let operand = |name, strips, size: ElementSize| {
            let inner = N::count("(K)", self.matmul.inner);
            size.bytes_of_product(name, [strips, inner])
        };
        let [left, right] = self.matmul.element_sizes;
        let operands = [
            operand("A", strips.rows, left),
            operand("B", strips.columns, right),
        ];
        N::sum("", operands)
    }

    /// FLOPs of a tile inside the output for each byte that it reads.
    pub fn tile_intensity(&self) -> f64 {
        let strips = self.tile_strips::<u64>();
        let elements = strips.rows as f64 * strips.columns as f64;
        2.0 * elements * self.matmul.inner as f64 / self.bytes_of(strips).max(1) as f64
    }

    /// FLOPs of all tiles for each byte that the waves read.
    pub fn wave_intensity(&self) -> Option<f64> {
        let bytes = self.bytes_of(self.strips_of_waves()?);
        Some(self.matmul.flops() / bytes.max(1) as f64)
    }
}
