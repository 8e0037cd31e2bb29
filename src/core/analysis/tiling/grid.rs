//! The order in which a device takes the tiles of a matmul, and what tiles that run together read.

use std::ops::Range;

/// The tiles of `batch` equal products, and their order: `group_rows` rows of tiles at a time, and
/// within them column by column. One row at a time is row-major order; eight are the order of
/// Triton's matmul, `GROUP_M = 8`.
///
/// ```text
/// group_rows = 1      group_rows = 2
/// 0 1 2 3             0 2 4 6
/// 4 5 6 7             1 3 5 7
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileGrid {
    /// Tiles from top to bottom of one product.
    pub rows: u64,
    /// Tiles from left to right.
    pub columns: u64,
    /// Products, one after the other.
    pub batch: u64,
    /// Rows of tiles that are taken at a time.
    pub group_rows: u64,
}

/// A rectangle of tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileBlock {
    /// Its rows of tiles.
    pub rows: Range<u64>,
    /// Its columns of tiles.
    pub columns: Range<u64>,
}

impl TileGrid {
    /// Tiles of one product.
    pub fn tiles_of_one(&self) -> u64 {
        self.rows.saturating_mul(self.columns).max(1)
    }

    /// Tiles of all products.
    pub fn tiles(&self) -> u64 {
        self.tiles_of_one().saturating_mul(self.batch)
    }

    /// The tiles of one product from one place of the order to another, as rectangles that do not
    /// overlap: at most seven.
    pub fn blocks(&self, tiles: Range<u64>) -> Vec<TileBlock> {
        let mut blocks = Vec::new();
        let end = tiles.end.min(self.tiles_of_one());
        if tiles.start >= end {
            return blocks;
        }
        let group_tiles = self.group_rows.saturating_mul(self.columns).max(1);
        // Whole groups between the first and the last are one rectangle, so their number does not
        // matter.
        let (first, last) = (tiles.start / group_tiles, (end - 1) / group_tiles);
        if first == last {
            self.push_of_group(first, tiles.start..end, &mut blocks);
            return blocks;
        }
        self.push_of_group(first, tiles.start..(first + 1) * group_tiles, &mut blocks);
        if first + 1 < last {
            blocks.push(TileBlock {
                rows: (first + 1) * self.group_rows..last * self.group_rows,
                columns: 0..self.columns,
            });
        }
        self.push_of_group(last, last * group_tiles..end, &mut blocks);
        blocks
    }

    /// The end of a column, whole columns, and the start of one.
    fn push_of_group(&self, group: u64, tiles: Range<u64>, blocks: &mut Vec<TileBlock>) {
        let top = group * self.group_rows;
        // The last group may have fewer rows.
        let height = self.group_rows.min(self.rows.saturating_sub(top)).max(1);
        let before = top * self.columns;
        let place = |tile: u64| ((tile - before) / height, (tile - before) % height);
        let (mut column, row) = place(tiles.start);
        let (end_column, end_row) = place(tiles.end);
        let mut push = |rows: Range<u64>, columns: Range<u64>| {
            if !rows.is_empty() && !columns.is_empty() {
                blocks.push(TileBlock {
                    rows: top + rows.start..top + rows.end,
                    columns,
                });
            }
        };
        if row > 0 {
            let end = if column == end_column {
                end_row
            } else {
                height
            };
            push(row..end, column..column + 1);
            if column == end_column {
                return;
            }
            column += 1;
        }
        push(0..height, column..end_column);
        push(0..end_row, end_column..end_column + 1);
    }

    /// The row and the column of a tile of one product.
    pub fn place(&self, tile: u64) -> (u64, u64) {
        let blocks = self.blocks(tile..tile + 1);
        let first = blocks.first();
        first.map_or((0, 0), |block| (block.rows.start, block.columns.start))
    }
}

/// The strips that these ranges of tiles cover together, each once and in order.
pub fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut strips: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match strips.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => strips.push(range),
        }
    }
    strips
}
