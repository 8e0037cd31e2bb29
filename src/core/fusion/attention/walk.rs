//! The kernel tile by tile: which tile of Q meets which tile of K and V, and what has been loaded
//! until then.

use crate::fusion::attention::{AttentionShape, LoopOrder, Tiles};
use std::ops::Range;

/// A step of the kernel for one head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileStep {
    /// The tile of Q, of the result and of its running values.
    pub query_tile: u64,
    /// The tile of K and V.
    pub key_tile: u64,
}

/// Bytes of one head until a step has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkedBytes {
    /// Loads of what has not been loaded before, and stores.
    pub first: u64,
    /// Loads of what has been loaded before: from the cache while that holds it.
    pub again: u64,
    /// The scores that were computed, each once. They stay on chip.
    pub scores: u64,
}

impl Tiles {
    /// Steps of one head.
    pub const fn steps(&self) -> u64 {
        self.query_tiles.saturating_mul(self.key_tiles)
    }

    /// The step at this position; the last one beyond the end.
    pub fn step(&self, order: LoopOrder, at: u64) -> TileStep {
        let at = at.min(self.steps().saturating_sub(1));
        let (queries, keys) = (self.query_tiles.max(1), self.key_tiles.max(1));
        match order {
            LoopOrder::Queries => TileStep {
                query_tile: at / keys,
                key_tile: at % keys,
            },
            LoopOrder::Keys => TileStep {
                query_tile: at % queries,
                key_tile: at / queries,
            },
        }
    }

    /// The rows of Q in a tile.
    pub fn rows_of_queries(&self, shape: &AttentionShape, tile: u64) -> Range<u64> {
        rows(tile, self.query_rows, shape.queries)
    }

    /// The rows of K and V in a tile.
    pub fn rows_of_keys(&self, shape: &AttentionShape, tile: u64) -> Range<u64> {
        rows(tile, self.key_rows, shape.keys)
    }

    /// The bytes until the step at this position has ended, with the loop over Q: what
    /// [`AttentionShape::forward_bytes`] counts is there after the last step, but for the row sums.
    pub fn walked_bytes(&self, shape: &AttentionShape, at: u64) -> WalkedBytes {
        let step = self.step(LoopOrder::Queries, at);
        let queries = self.rows_of_queries(shape, step.query_tile);
        let keys = self.rows_of_keys(shape, step.key_tile);
        let is_row_done = keys.end == shape.keys;
        let stored = if is_row_done {
            queries.end
        } else {
            queries.start
        };
        let bytes = |rows: u64, columns: u64, width: u32| {
            rows.saturating_mul(columns).saturating_mul(width.into())
        };
        let scores = |rows: u64, columns: u64| bytes(rows, columns, shape.bytes_per_element);
        let of_queries = |rows: u64| bytes(rows, shape.head_size, shape.bytes_per_element);
        let of_keys = |rows: u64| bytes(rows, shape.head_size, shape.key_bytes_per_element);
        // The first tile of Q loads all of K and V; each later tile loads them again.
        let (first_keys, again_keys) = match step.query_tile {
            0 => (keys.end, 0),
            full => {
                let before = (full - 1).saturating_mul(shape.keys);
                (shape.keys, before.saturating_add(keys.end))
            }
        };
        WalkedBytes {
            first: of_queries(queries.end.saturating_add(stored))
                .saturating_add(of_keys(first_keys.saturating_mul(2))),
            again: of_keys(again_keys.saturating_mul(2)),
            scores: scores(queries.start, shape.keys)
                .saturating_add(scores(queries.end - queries.start, keys.end)),
        }
    }
}

fn rows(tile: u64, tile_rows: u64, all: u64) -> Range<u64> {
    let start = tile.saturating_mul(tile_rows).min(all);
    start..start.saturating_add(tile_rows).min(all)
}
