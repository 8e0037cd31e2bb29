//! Where the parts of a matmul are in its picture: one scale for rows, columns and K, so that the
//! output, the operands and the tile have their true proportions.

use crate::picture::charts::bounds::Bounds;
use fuseline_core::analysis::tiling::{SIDES, TileBlock, Tiled};
use std::ops::Range;

pub(super) type Span = Bounds;

/// A side is at least this long, so that it can be seen.
const LEAST_SIDE: f64 = 14.0;
/// So is a tile, a strip and a step.
const LEAST_PART: f64 = 2.0;
/// Between the operands and the output.
const GAP: f64 = 10.0;
/// Above B.
const TOP: f64 = 24.0;
/// Of the strip of waves.
const SLOTS_HEIGHT: f64 = 16.0;
/// Between the output and that strip, with its caption.
const ABOVE_SLOTS: f64 = 52.0;
/// Below that strip.
const BOTTOM: f64 = 4.0;
/// Tiles of this side may follow, so the picture leaves room for their edges: it stands still while
/// a tile is dragged.
const LARGEST_SIDE: u64 = SIDES[SIDES.len() - 1];

/// The scale and the origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct TilingGeometry {
    /// Space on the left.
    pub(super) margin: f64,
    width: f64,
    /// Upper left corner of the output.
    corner: (f64, f64),
    /// Height of the output with the edges of the largest tiles.
    most_rows_px: f64,
    /// Sides of the padded output and of K.
    rows_px: f64,
    columns_px: f64,
    inner_px: f64,
    rows: u64,
    columns: u64,
    inner: u64,
    grid: (u64, u64),
    tile: (u64, u64),
}

impl TilingGeometry {
    pub(super) fn new(tiled: &Tiled, (width, height): (f64, f64)) -> Self {
        let margin = 30.0;
        let (matmul, grid, tile) = (&tiled.matmul, &tiled.grid, tiled.tile);
        let padded_rows = (grid.rows.saturating_mul(tile.rows)).max(1) as f64;
        let padded_columns = (grid.columns.saturating_mul(tile.columns)).max(1) as f64;
        let inner = matmul.inner.max(1) as f64;
        let room_x = (width - margin - GAP - LEAST_SIDE).max(40.0);
        let room_y =
            (height - TOP - GAP - ABOVE_SLOTS - SLOTS_HEIGHT - BOTTOM - LEAST_SIDE).max(40.0);
        let most = |size: u64| size.div_ceil(LARGEST_SIDE).saturating_mul(LARGEST_SIDE) as f64;
        let (most_rows, most_columns) = (most(matmul.rows), most(matmul.columns));
        let scale = (room_x / (inner + most_columns)).min(room_y / (inner + most_rows));
        let side = |size: f64| (size * scale).max(LEAST_SIDE);
        let inner_px = side(inner);
        Self {
            margin,
            width,
            corner: (margin + inner_px + GAP, TOP + inner_px + GAP),
            most_rows_px: side(most_rows),
            rows_px: side(padded_rows),
            columns_px: side(padded_columns),
            inner_px,
            rows: matmul.rows,
            columns: matmul.columns,
            inner: matmul.inner,
            grid: (grid.rows, grid.columns),
            tile: (tile.rows, tile.columns),
        }
    }

    /// Width and height of a tile.
    pub(super) fn tile_size(&self) -> (f64, f64) {
        (
            self.columns_px / self.grid.1.max(1) as f64,
            self.rows_px / self.grid.0.max(1) as f64,
        )
    }

    /// The left edge of a column of tiles.
    pub(super) fn column(&self, column: u64) -> f64 {
        self.corner.0 + self.tile_size().0 * column as f64
    }

    /// The upper edge of a row of tiles.
    pub(super) fn row(&self, row: u64) -> f64 {
        self.corner.1 + self.tile_size().1 * row as f64
    }

    /// Where the output ends, without what the last tiles compute beyond it.
    fn end(&self) -> (f64, f64) {
        let share = |size: u64, tiles: u64, tile: u64| {
            size as f64 / (tiles.saturating_mul(tile)).max(1) as f64
        };
        (
            self.corner.0 + self.columns_px * share(self.columns, self.grid.1, self.tile.1),
            self.corner.1 + self.rows_px * share(self.rows, self.grid.0, self.tile.0),
        )
    }

    /// The output with all tiles.
    pub(super) fn output(&self) -> Span {
        Span {
            left: self.corner.0,
            top: self.corner.1,
            right: self.corner.0 + self.columns_px,
            bottom: self.corner.1 + self.rows_px,
        }
    }

    /// The left operand.
    pub(super) fn left(&self) -> Span {
        Span {
            left: self.margin,
            top: self.corner.1,
            right: self.margin + self.inner_px,
            bottom: self.end().1,
        }
    }

    /// The right operand.
    pub(super) fn right(&self) -> Span {
        Span {
            left: self.corner.0,
            top: TOP,
            right: self.end().0,
            bottom: TOP + self.inner_px,
        }
    }

    pub(super) fn tiles(&self, block: &TileBlock) -> Span {
        let (left, top) = (self.column(block.columns.start), self.row(block.rows.start));
        Span {
            left,
            top,
            right: self.column(block.columns.end).max(left + LEAST_PART),
            bottom: self.row(block.rows.end).max(top + LEAST_PART),
        }
    }

    /// The rows of the left operand that these rows of tiles read.
    pub(super) fn rows_of_left(&self, rows: &Range<u64>) -> Span {
        let top = self.row(rows.start);
        Span {
            top,
            bottom: self.row(rows.end).min(self.end().1).max(top + LEAST_PART),
            ..self.left()
        }
    }

    /// The columns of the right operand that these columns of tiles read.
    pub(super) fn columns_of_right(&self, columns: &Range<u64>) -> Span {
        let left = self.column(columns.start);
        Span {
            left,
            right: self
                .column(columns.end)
                .min(self.end().0)
                .max(left + LEAST_PART),
            ..self.right()
        }
    }

    /// A step along K, counted from 0, in both strips of a tile.
    pub(super) fn step(&self, [rows, columns]: [Span; 2], depth: u64, step: u64) -> [Span; 2] {
        let px = |elements: u64| {
            let share = elements as f64 / self.inner.max(1) as f64;
            self.inner_px * share.min(1.0)
        };
        let length = px(depth).max(LEAST_PART);
        let start = px(step.saturating_mul(depth)).min(self.inner_px - length);
        [
            Span {
                left: rows.left + start,
                right: rows.left + start + length,
                ..rows
            },
            Span {
                top: columns.top + start,
                bottom: columns.top + start + length,
                ..columns
            },
        ]
    }

    /// The waste beyond the output: on the right, and below.
    pub(super) fn waste(&self) -> Vec<Span> {
        let (all, end) = (self.output(), self.end());
        let right = Span { left: end.0, ..all };
        let below = Span {
            top: end.1,
            right: end.0,
            ..all
        };
        let is_seen = |span: &Span| span.width() > 0.05 && span.height() > 0.05;
        [right, below].into_iter().filter(is_seen).collect()
    }

    /// So many elements around a tile, from a multiple of their number on.
    pub(super) fn needed(&self, (row, column): (u64, u64), (rows, columns): (u64, u64)) -> Span {
        let (all, end) = (self.output(), self.end());
        let side =
            |first: f64, length: f64, tiles: u64, tile: u64, at: u64, needed: u64, end: f64| {
                let element = length / (tiles.saturating_mul(tile)).max(1) as f64;
                let start = at.saturating_mul(tile);
                // A single row or column is drawn as wide as the tile that holds it.
                let needed = needed.max(1);
                let (from, until) = if needed == 1 {
                    (start, start + tile)
                } else {
                    let from = start / needed * needed;
                    (from, from + needed.max(tile))
                };
                let from = first + element * from as f64;
                let until = first + element * until as f64;
                (from, until.min(end).max(from + LEAST_PART))
            };
        let (left, right) = side(
            all.left,
            self.columns_px,
            self.grid.1,
            self.tile.1,
            column,
            columns,
            end.0,
        );
        let (top, bottom) = side(
            all.top,
            self.rows_px,
            self.grid.0,
            self.tile.0,
            row,
            rows,
            end.1,
        );
        Span {
            left,
            top,
            right,
            bottom,
        }
    }

    pub(super) fn height(&self) -> f64 {
        self.slots().bottom + BOTTOM
    }

    /// The strip of waves below the output.
    pub(super) fn slots(&self) -> Span {
        let top = self.corner.1 + self.most_rows_px + ABOVE_SLOTS;
        Span {
            left: self.margin,
            top,
            right: (self.width - 4.0).max(self.margin + 40.0),
            bottom: top + SLOTS_HEIGHT,
        }
    }
}
