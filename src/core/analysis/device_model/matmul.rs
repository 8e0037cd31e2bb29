//! A matmul in tiles: its waves, and the bytes that it reads again.

use crate::analysis::device_model::ramp;
use crate::cost::work::matmul_k;
use crate::model::element_size::ElementSize;
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::numeral::Numeral;
use serde::Serialize;

/// `batch` products of `[rows, inner]` by `[inner, columns]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Product {
    /// Number of independent products.
    pub batch: f64,
    /// Rows of the left operand.
    pub rows: f64,
    /// Contraction length.
    pub inner: f64,
    /// Columns of the right operand.
    pub columns: f64,
    /// Bytes of an element of the left and of the right operand.
    pub operand_bytes: [f64; 2],
    /// Bytes of an element of the output.
    pub output_bytes: f64,
    /// A convolution: rows are pixels of the output, `inner` is input channels times the window.
    pub is_convolution: bool,
}

/// Rows and columns of the output that one block computes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tile {
    /// Rows of the output.
    #[serde(rename = "tile_rows")]
    pub rows: f64,
    /// Columns of the output.
    #[serde(rename = "tile_columns")]
    pub columns: f64,
}

impl Tile {
    fn sides<N: Numeral>(self) -> [N; 2] {
        [N::whole("(BM)", self.rows), N::whole("(BN)", self.columns)]
    }
}

const fn tile(rows: f64, columns: f64) -> Tile {
    Tile { rows, columns }
}

/// The tiles that a library chooses from, larger ones first. Clusters of two tiles share one
/// operand.
const TILES: [Tile; 9] = [
    tile(256.0, 128.0),
    tile(128.0, 256.0),
    tile(192.0, 128.0),
    tile(128.0, 128.0),
    tile(256.0, 64.0),
    tile(64.0, 256.0),
    tile(128.0, 64.0),
    tile(64.0, 128.0),
    tile(64.0, 64.0),
];

/// The short sides of its tiles for few rows or few columns, and their long sides.
const NARROW_SIDES: [[f64; 2]; 12] = [
    [32.0, 256.0],
    [32.0, 192.0],
    [32.0, 128.0],
    [32.0, 64.0],
    [16.0, 256.0],
    [16.0, 192.0],
    [16.0, 128.0],
    [16.0, 64.0],
    [8.0, 256.0],
    [8.0, 192.0],
    [8.0, 128.0],
    [8.0, 64.0],
];

/// Below this intensity a tile waits for the cache: matrix rate over cache bandwidth of an H200.
const FLOPS_PER_BYTE: f64 = 800.0 / 6.3;

/// The same for f8 operands.
const F8_FLOPS_PER_BYTE: f64 = 1400.0 / 6.3;

/// Bandwidth of the cache of an H200 as a share of what its multiprocessors take together, at most
/// 140 GB/s each. If few tiles leave most of them idle, this limits a wave.
const CACHE_SHARE_OF_LOADS: f64 = 6.3e12 / (132.0 * 140e9);

/// Bytes along K from which a library splits a matmul with few tiles: measured at 6144, not at
/// 4096.
const SPLIT_FROM_BYTES: f64 = 6144.0;

/// How a product is cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tiling {
    /// The tile that one block computes.
    #[serde(flatten)]
    pub tile: Tile,
    /// Rows that a wave covers, if the order of the tiles fixes them; otherwise a wave is square.
    #[serde(skip)]
    pub wave_rows: Option<f64>,
    /// Tiles of all products, `ceil(rows / tile rows) * ceil(columns / tile columns) * batch`.
    pub tiles: f64,
    /// Waves of tiles: each takes one tile on every multiprocessor.
    #[serde(skip)]
    pub waves: f64,
    /// Parts along K, each in blocks of its own, whose sums a second kernel adds; 1 without a
    /// split.
    #[serde(skip)]
    pub parts: f64,
    /// Share of the elements of all tiles that are inside the output.
    pub tile_efficiency: f64,
    /// Share of the slots of all waves that hold a tile.
    pub wave_efficiency: f64,
}

/// The size of an element of the left and of the right operand of a product; of an undeclared one
/// that of the other, or of the output.
pub(crate) fn operand_sizes(graph: &Graph, op: OpId) -> [ElementSize; 2] {
    let size_of = |place: usize| {
        let operand = graph.inputs[op].get(place)?;
        graph.tensors[*operand].bytes_per_element
    };
    let known = size_of(0).or(size_of(1));
    let fallback = known.unwrap_or(graph.ops[op].bytes_per_element);
    [0, 1].map(|place| size_of(place).unwrap_or(fallback))
}

impl Product {
    /// The product that an op computes; `None` when its contraction length is unknown.
    pub fn of_op(graph: &Graph, op: OpId) -> Option<Self> {
        let definition = &graph.ops[op];
        let inner = matmul_k(graph, op)? as f64;
        let operand = |place: usize| graph.inputs[op].get(place).copied();
        let output_bytes = definition.bytes_per_element.bytes();
        let operand_bytes = operand_sizes(graph, op).map(ElementSize::bytes);
        let count = |dims: &[u64]| dims.iter().map(|&d| d as f64).product::<f64>();
        let shape = &definition.shape[..];
        if definition.is_convolution() {
            let [images, channels, places @ ..] = shape else {
                return None;
            };
            return Some(Self {
                batch: 1.0,
                rows: *images as f64 * count(places),
                inner,
                columns: *channels as f64,
                operand_bytes,
                output_bytes,
                is_convolution: true,
            });
        }
        let [outer @ .., rows, columns] = shape else {
            return None;
        };
        // A right operand without batch dimensions is shared by all: one product with more rows.
        let is_shared = operand(1)
            .and_then(|t| graph.tensor_shape(t))
            .is_some_and(|shape| shape.len() <= 2);
        let (batch, rows) = if is_shared {
            (1.0, count(outer) * *rows as f64)
        } else {
            (count(outer), *rows as f64)
        };
        Some(Self {
            batch,
            rows,
            inner,
            columns: *columns as f64,
            operand_bytes,
            output_bytes,
            is_convolution: false,
        })
    }

    /// Two for each term of each sum: a multiplication and an addition.
    pub fn flops(&self) -> f64 {
        2.0 * self.batch * self.rows * self.inner * self.columns
    }

    /// Tiles of this size that cover the output of all products.
    pub fn tiles<N: Numeral>(&self, tile: Tile) -> N {
        let [[rows, columns], [tile_rows, tile_columns]] = [self.sides(), tile.sides()];
        let down = N::ceiling("from top to bottom", rows, tile_rows);
        let across = N::ceiling("from left to right", columns, tile_columns);
        let factors = [down, across].into_iter().chain(self.products());
        N::product("tiles", factors).by("⌈M / BM⌉ × ⌈N / BN⌉ × products")
    }

    /// Waves of tiles: each takes one tile on every multiprocessor.
    pub fn waves<N: Numeral>(&self, tile: Tile, multiprocessors: f64) -> N {
        let slots = N::whole("multiprocessors", multiprocessors);
        let waves = N::ceiling("waves", self.tiles(tile), slots);
        (waves.at_least(1)).by("⌈tiles / multiprocessors⌉, one tile per multiprocessor")
    }

    /// Share of the slots of all waves that hold a tile.
    pub fn wave_efficiency<N: Numeral>(&self, tile: Tile, multiprocessors: f64) -> N::Share {
        let slots = N::whole("multiprocessors", multiprocessors);
        let slots = N::product("slots", [self.waves(tile, multiprocessors), slots]);
        N::share(self.tiles(tile), slots, "tiles / (waves × multiprocessors)")
    }

    /// Share of the elements of all tiles that are inside the output.
    pub fn tile_efficiency<N: Numeral>(&self, tile: Tile) -> N::Share {
        let outputs = self.sides().into_iter().chain(self.products());
        let [tile_rows, tile_columns] = tile.sides();
        let computed = N::product("in all tiles", [self.tiles(tile), tile_rows, tile_columns]);
        let outputs = N::product("elements", outputs);
        N::share(outputs, computed, "M × N × products / (tiles × BM × BN)")
    }

    fn sides<N: Numeral>(&self) -> [N; 2] {
        [N::whole("(M)", self.rows), N::whole("(N)", self.columns)]
    }

    /// The products of a batch, as a factor; none for one product.
    #[expect(clippy::float_cmp, reason = "whole numbers")]
    fn products<N: Numeral>(&self) -> Option<N> {
        (self.batch != 1.0).then(|| N::whole("products", self.batch))
    }

    /// This product in tiles of one size.
    pub fn cut(&self, tile: Tile, multiprocessors: f64) -> Tiling {
        Tiling {
            tile,
            wave_rows: None,
            tiles: self.tiles(tile),
            waves: self.waves(tile, multiprocessors),
            parts: 1.0,
            wave_efficiency: self.wave_efficiency::<f64>(tile, multiprocessors),
            tile_efficiency: self.tile_efficiency::<f64>(tile),
        }
    }

    /// The tiles that take the least time: as few FLOPs in the waves as possible, and among equals
    /// the fewest bytes between cache and multiprocessors. Convolutions take tiles of 64 x 64, as
    /// the library does.
    pub fn tiling(&self, multiprocessors: f64) -> Tiling {
        if self.is_convolution {
            return self.cut(tile(64.0, 64.0), multiprocessors);
        }
        let narrow = NARROW_SIDES.into_iter();
        let narrow = narrow.flat_map(|[short, long]| [tile(short, long), tile(long, short)]);
        let [first, others @ ..] = TILES;
        let tiles = others.into_iter().chain(narrow);
        let best = self.cheapest(first, tiles, multiprocessors);
        self.split(best, multiprocessors)
    }

    /// The tiles that cost least. Only a lower cost replaces a tile, so of equal ones the first, a
    /// large one, stays.
    fn cheapest(
        &self,
        first: Tile,
        others: impl IntoIterator<Item = Tile>,
        multiprocessors: f64,
    ) -> Tiling {
        let cost = |tiling: &Tiling| {
            let [arithmetic, loads] = self.costs(tiling, multiprocessors);
            arithmetic.max(loads)
        };
        let mut best = self.cut(first, multiprocessors);
        for tile in others {
            let tiling = self.cut(tile, multiprocessors);
            if cost(&tiling) < cost(&best) {
                best = tiling;
            }
        }
        best
    }

    /// Splits a single product with a long K along it, if its tiles occupy at most half of the
    /// multiprocessors.
    fn split(&self, tiling: Tiling, multiprocessors: f64) -> Tiling {
        let is_split = self.batch <= 1.0
            && self.inner * self.widest_bytes() >= SPLIT_FROM_BYTES
            && 2.0 * tiling.tiles <= multiprocessors;
        let parts = if is_split {
            (multiprocessors / tiling.tiles).floor()
        } else {
            1.0
        };
        Tiling { parts, ..tiling }
    }

    /// The time of these tiles, in FLOPs for each element along K: the arithmetic of all slots of
    /// all waves, and the loads, as the FLOPs that would take as long. The two overlap.
    pub(crate) fn costs(&self, tiling: &Tiling, multiprocessors: f64) -> [f64; 2] {
        let computed = tiling.waves * multiprocessors * tiling.tile.rows * tiling.tile.columns;
        let per_k = 1.0 / self.inner.max(1.0);
        let loaded_bytes = self.loaded_bytes(tiling) * per_k;
        let taken_bytes = self.taken_bytes(tiling) * multiprocessors * per_k;
        let load_bytes = loaded_bytes.max(taken_bytes * CACHE_SHARE_OF_LOADS);
        let flops_per_byte = if self.widest_bytes() <= 1.0 {
            F8_FLOPS_PER_BYTE
        } else {
            FLOPS_PER_BYTE
        };
        [2.0 * computed, load_bytes * flops_per_byte]
    }

    /// The tiling of Triton's template: tiles of 128 x 128, eight rows of tiles at a time
    /// (`GROUP_M = 8`). With at most 128 rows or columns these would leave most multiprocessors
    /// idle, and its tuning finds smaller ones.
    pub fn generated_tiling(&self, multiprocessors: f64) -> Tiling {
        const SIDES: [f64; 4] = [128.0, 64.0, 32.0, 16.0];
        let [side, ..] = SIDES;
        let sides = if self.rows.min(self.columns) <= side {
            &SIDES[..]
        } else {
            &[]
        };
        let tiles = sides
            .iter()
            .flat_map(|&rows| sides.iter().map(move |&columns| [rows, columns]));
        let tiles = tiles.map(|[rows, columns]| tile(rows, columns));
        let tiling = self.cheapest(tile(side, side), tiles, multiprocessors);
        Tiling {
            wave_rows: Some(8.0 * tiling.tile.rows),
            ..tiling
        }
    }

    /// Bytes that all tiles load from the cache: a row of the left operand and a column of the
    /// right one for each, one of the two shared in a cluster of two.
    pub(super) fn loaded_bytes(&self, tiling: &Tiling) -> f64 {
        tiling.tiles * self.line_bytes(tiling.tile.rows, tiling.tile.columns) / 2.0
    }

    /// The time of one step along K of a generated matmul, as a share of that of 16-bit operands:
    /// f8 loads half of the bytes. 8 and 64 rows of 14,336 elements took 26.3 and 22.8 µs on an
    /// H200, in bf16 38.5 and 42.3 µs.
    pub(super) fn step_share(&self) -> f64 {
        if self.widest_bytes() <= 1.0 { 0.5 } else { 1.0 }
    }

    /// Bytes of an element of the wider operand.
    fn widest_bytes(&self) -> f64 {
        let [left, right] = self.operand_bytes;
        left.max(right)
    }

    /// Bytes of so many rows of the left operand and columns of the right one.
    fn line_bytes(&self, rows: f64, columns: f64) -> f64 {
        let [left, right] = self.operand_bytes;
        (rows * left + columns * right) * self.inner
    }

    /// Bytes that one multiprocessor takes from the cache in all waves.
    pub(super) fn taken_bytes(&self, tiling: &Tiling) -> f64 {
        tiling.waves * self.line_bytes(tiling.tile.rows, tiling.tile.columns) / tiling.parts
    }

    /// DRAM reads beyond each operand once.
    ///
    /// One wave covers an almost square block of the output and reads the rows and columns of that
    /// block. A single wave reads nothing twice. A later wave finds in the cache what the last one
    /// left there: everything if a wave moves at most 0.2 of the cache, nothing from 0.45 on, as
    /// measured on an H200.
    pub fn read_again_bytes(&self, tiling: Tiling, multiprocessors: f64, l2_bytes: f64) -> f64 {
        let covered = multiprocessors * tiling.tile.rows * tiling.tile.columns;
        let waves = (self.rows * self.columns / covered).ceil();
        // The patches of a convolution overlap, so the formula below would count their pixels
        // repeatedly.
        if self.is_convolution || waves <= 1.0 {
            return 0.0;
        }
        let side = tiling.wave_rows.unwrap_or(covered.sqrt());
        // Where the output is narrower than the block, the wave covers more rows instead.
        let block_rows = side.max(covered / self.columns).min(self.rows);
        let block_columns = (covered / block_rows).min(self.columns);
        let wave_bytes = self.line_bytes(block_rows, block_columns);
        // A wave that covers all rows reads columns that no other wave reads, and vice versa.
        let again_bytes = if block_rows >= self.rows {
            (waves - 1.0) * self.line_bytes(self.rows, 0.0)
        } else if block_columns >= self.columns {
            (waves - 1.0) * self.line_bytes(0.0, self.columns)
        } else {
            waves * wave_bytes - self.line_bytes(self.rows, self.columns)
        };
        // What a wave writes takes room in the cache, too.
        let output_bytes = block_rows * block_columns * self.output_bytes;
        let lost = ramp((wave_bytes + output_bytes) / l2_bytes, 0.2, 0.45);
        self.batch * lost * again_bytes.max(0.0)
    }
}
