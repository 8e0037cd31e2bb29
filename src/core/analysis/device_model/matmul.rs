//! A matmul in tiles: its waves, and the bytes that it reads again.

use crate::analysis::device_model::ramp;
use crate::cost::work::matmul_k;
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
    /// Bytes of one element of the operands.
    pub element_bytes: f64,
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

/// Below this intensity a tile waits for the cache: matrix rate over cache bandwidth of an H200.
const FLOPS_PER_BYTE: f64 = 800.0 / 6.3;

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
    /// Share of the elements of all tiles that are inside the output.
    pub tile_efficiency: f64,
    /// Share of the slots of all waves that hold a tile.
    pub wave_efficiency: f64,
}

impl Product {
    /// The product that an op computes; `None` when its contraction length is unknown.
    pub fn of_op(graph: &Graph, op: OpId) -> Option<Self> {
        let definition = &graph.ops[op];
        let inner = matmul_k(graph, op)? as f64;
        let operand = |place: usize| graph.inputs[op].get(place).copied();
        let element_bytes = operand(0)
            .and_then(|t| graph.tensors[t].bytes_per_element)
            .unwrap_or(definition.bytes_per_element)
            .into();
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
                element_bytes,
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
            element_bytes,
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
        let cost = |tiling: &Tiling| {
            let [arithmetic, loads] = self.costs(tiling, multiprocessors);
            arithmetic.max(loads)
        };
        // Only a lower cost replaces a tile, so of equal ones the first, a large one, stays.
        let [first, others @ ..] = TILES;
        let mut best = self.cut(first, multiprocessors);
        for tile in others {
            let tiling = self.cut(tile, multiprocessors);
            if cost(&tiling) < cost(&best) {
                best = tiling;
            }
        }
        best
    }

    /// The time of these tiles, in FLOPs for each element along K: the arithmetic of all slots of
    /// all waves, and the loads, as the FLOPs that would take as long. The two overlap.
    pub(crate) fn costs(&self, tiling: &Tiling, multiprocessors: f64) -> [f64; 2] {
        let computed = tiling.waves * multiprocessors * tiling.tile.rows * tiling.tile.columns;
        let loaded_bytes = self.loaded_bytes(tiling) / self.inner.max(1.0);
        [2.0 * computed, loaded_bytes * FLOPS_PER_BYTE]
    }

    /// The tiling of Triton's template: tiles of 128 x 128, eight rows of tiles at a time
    /// (`GROUP_M = 8`).
    pub fn generated_tiling(&self, multiprocessors: f64) -> Tiling {
        const SIDE: f64 = 128.0;
        // With at most 64 columns, half of a tile of 128 would be padding.
        let width = if self.columns <= SIDE / 2.0 {
            SIDE / 2.0
        } else {
            SIDE
        };
        Tiling {
            wave_rows: Some(8.0 * SIDE),
            ..self.cut(tile(SIDE, width), multiprocessors)
        }
    }

    /// Bytes that all tiles load from the cache: a row of the left operand and a column of the
    /// right one for each, one of the two shared in a cluster of two.
    pub(super) fn loaded_bytes(&self, tiling: &Tiling) -> f64 {
        tiling.tiles * (tiling.tile.rows + tiling.tile.columns) / 2.0
            * self.inner
            * self.element_bytes
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
        let line_bytes = self.inner * self.element_bytes;
        let wave_bytes = (block_rows + block_columns) * line_bytes;
        let once_bytes = (self.rows + self.columns) * line_bytes;
        // What a wave writes takes room in the cache, too.
        let output_bytes = block_rows * block_columns * self.element_bytes;
        let lost = ramp((wave_bytes + output_bytes) / l2_bytes, 0.2, 0.45);
        self.batch * lost * (waves * wave_bytes - once_bytes).max(0.0)
    }
}
