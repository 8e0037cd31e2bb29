//! Attention tile by tile: where the kernel is, and one row of its tile with the corrections of
//! online softmax.

use super::AttentionSizes;
use crate::present::format::{format_bytes, format_digits, format_exact};
use fuseline_core::fusion::attention::{
    LoopOrder, Running, SoftmaxMethod, SoftmaxPass, TileStep, Tiles, WalkedBytes, softmax_steps,
};
use fuseline_core::model::device::Device;
use fuseline_core::splitmix::{STEP, mixed};

/// A position of the kernel on its way through the tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionWalk {
    pub sizes: AttentionSizes,
    pub tiles: Tiles,
    pub step: TileStep,
    /// Bytes until then; `None` with the loop over K and V, which also loads and stores the result
    /// again.
    pub bytes: Option<WalkedBytes>,
}

impl AttentionWalk {
    /// The position at step `at`.
    pub fn new(sizes: AttentionSizes, device: &Device, at: u64) -> Self {
        let tiles: Tiles = Tiles::new(&sizes.shape, sizes.on_chip_bytes(device));
        let is_over_queries = sizes.order == LoopOrder::Queries;
        Self {
            step: tiles.step(sizes.order, at),
            bytes: is_over_queries.then(|| tiles.walked_bytes(&sizes.shape, at)),
            sizes,
            tiles,
        }
    }
}

/// What a tile of K and V does to the running values of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowUpdate {
    /// Running maximum and sum before.
    pub before: Running,
    /// Running maximum and sum after.
    pub after: Running,
    /// The factor of the old sum and the old result.
    pub rescale: f64,
}

impl RowUpdate {
    /// The maximum: `m = 2.31 → 3.05`, or that it does not change.
    pub fn maximum_text(&self) -> String {
        let [before, after] = [self.before, self.after].map(|running| digits(running.maximum));
        if self.before.sum == 0.0 {
            format!("m = {after}")
        } else if self.before.maximum < self.after.maximum {
            format!("m = {before} → {after}")
        } else {
            format!("m = {before} stays")
        }
    }

    /// The sum: `l = 41.3 · 0.477 + 78.2 = 97.9`.
    pub fn sum_text(&self) -> String {
        let added = self.after.sum - self.before.sum * self.rescale;
        let after = digits(self.after.sum);
        if self.before.sum == 0.0 {
            return format!("l = {after}");
        }
        let before = digits(self.before.sum);
        format!(
            "l = {before} · {} + {} = {after}",
            digits(self.rescale),
            digits(added)
        )
    }

    /// What happens to the sums of the result.
    pub fn result_text(&self) -> String {
        if self.before.sum == 0.0 {
            "begins".to_owned()
        } else if self.rescale < 1.0 {
            format!("× {}, then added to", digits(self.rescale))
        } else {
            "added to".to_owned()
        }
    }
}

/// What each tile of K and V does to the first row of a tile of Q. `O(keys)`.
///
/// The scores are made up, and the same at each visit.
pub fn row_updates(sizes: &AttentionSizes, device: &Device, query_tile: u64) -> Vec<RowUpdate> {
    let tiles: Tiles = Tiles::new(&sizes.shape, sizes.on_chip_bytes(device));
    let scores: Vec<f64> = (0..sizes.shape.keys)
        .map(|key| made_up_score(query_tile, key))
        .collect();
    let block = usize::try_from(tiles.key_rows).unwrap_or(usize::MAX);
    softmax_steps(&scores, SoftmaxMethod::Online { block })
        .into_iter()
        .filter(|step| step.pass == SoftmaxPass::Both)
        .map(|step| RowUpdate {
            before: step.before,
            after: step.after,
            rescale: step.rescale.unwrap_or(1.0),
        })
        .collect()
}

/// A number distributed like the scores of a model: most near 0, few far from it.
///
/// A sum of uniform numbers is close to normal.
fn made_up_score(row: u64, key: u64) -> f64 {
    // A hash of the index gives the same number at each visit.
    let bytes = mixed((row << 32 ^ key).wrapping_mul(STEP)).to_be_bytes();
    let uniform = bytes.iter().map(|&byte| f64::from(byte) / 255.0 - 0.5);
    2.0 * uniform.sum::<f64>()
}

/// Where the kernel is, in a sentence.
pub fn walk_words(walk: &AttentionWalk) -> String {
    let TileStep {
        query_tile,
        key_tile,
    } = walk.step;
    let (queries, keys) = (walk.tiles.query_tiles, walk.tiles.key_tiles);
    let place = |tile: u64, all: u64| format!("{} of {}", exact(tile + 1), exact(all));
    format!(
        "Tile {} of Q, tile {} of K and V",
        place(query_tile, queries),
        place(key_tile, keys)
    )
}

/// The rows of the picture of on-chip data: what it is, its sides, and what happens to it.
pub fn on_chip_rows(walk: &AttentionWalk, update: Option<&RowUpdate>) -> [[String; 3]; 6] {
    let shape = &walk.sizes.shape;
    let queries = walk.tiles.rows_of_queries(shape, walk.step.query_tile);
    let keys = walk.tiles.rows_of_keys(shape, walk.step.key_tile);
    let [q, k, d] = [
        queries.end - queries.start,
        keys.end - keys.start,
        shape.head_size,
    ];
    let sides = |rows: u64, columns: u64| format!("{} × {}", exact(rows), exact(columns));
    let [of_queries, of_keys] = match walk.sizes.order {
        LoopOrder::Queries => ["stays", "replaced next"],
        LoopOrder::Keys => ["replaced next", "stays"],
    };
    let result = update.map_or_else(String::new, RowUpdate::result_text);
    [
        ["Q".to_owned(), sides(q, d), of_queries.to_owned()],
        ["K".to_owned(), sides(k, d), of_keys.to_owned()],
        ["V".to_owned(), sides(k, d), of_keys.to_owned()],
        ["scores".to_owned(), sides(q, k), "dropped next".to_owned()],
        ["result".to_owned(), sides(q, d), result],
        [
            "m and l".to_owned(),
            format!("{} each", exact(q)),
            "corrected".to_owned(),
        ],
    ]
}

/// Bytes of one head so far, and those of three kernels, which write and read the scores twice.
pub fn bytes_so_far(walk: &AttentionWalk) -> Option<[(&'static str, u64, String); 2]> {
    let bytes = walk.bytes?;
    let standard = bytes.first + 4 * bytes.scores;
    let again = match bytes.again {
        0 => String::new(),
        again => format!(", cache {}", format_bytes(again)),
    };
    Some([
        (
            "this kernel",
            bytes.first,
            format!("{}{again}", format_bytes(bytes.first)),
        ),
        ("three kernels", standard, format_bytes(standard)),
    ])
}

fn exact(count: u64) -> String {
    format_exact(count.into())
}

fn digits(value: f64) -> String {
    format_digits(value, 3)
}
