//! Which parts of a plot are occupied, on a coarse grid, so that a label finds a free place without
//! comparing it with every mark.

use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::marks::text_width;
use crate::picture::charts::scene::{Anchor, Mark, Point, Shape};

/// Side of a cell, in the scene's units.
const CELL: f64 = 2.0;

/// The occupied places of a plot. A label needs a place that neither words nor lines occupy; lines
/// may cross lines, but no words.
pub(super) struct LabelSpace {
    pub(super) words: OccupancyGrid,
    pub(super) lines: OccupancyGrid,
}

impl LabelSpace {
    /// All of `plot` is free.
    pub(super) fn new(plot: Bounds) -> Self {
        Self {
            words: OccupancyGrid::new(plot),
            lines: OccupancyGrid::new(plot),
        }
    }
}

/// The occupied cells of a plot.
pub struct OccupancyGrid {
    plot: Bounds,
    columns: usize,
    rows: usize,
    is_occupied: Vec<bool>,
}

impl OccupancyGrid {
    /// A grid over `plot`, all of it free.
    pub fn new(plot: Bounds) -> Self {
        let columns = cells(plot.width()) + 1;
        let rows = cells(plot.height()) + 1;
        Self {
            plot,
            columns,
            rows,
            is_occupied: vec![false; columns * rows],
        }
    }

    /// Whether all of `wanted` is on the plot and free.
    pub fn is_free(&self, wanted: &Bounds) -> bool {
        wanted.left >= self.plot.left
            && wanted.top >= self.plot.top
            && wanted.right <= self.plot.right
            && wanted.bottom <= self.plot.bottom
            && self
                .cells_of(wanted)
                .all(|cell| self.is_occupied.get(cell) == Some(&false))
    }

    /// Occupies the part of `area` that is on the plot.
    pub fn occupy(&mut self, area: &Bounds) {
        for cell in self.cells_of(area) {
            if let Some(is_occupied) = self.is_occupied.get_mut(cell) {
                *is_occupied = true;
            }
        }
    }

    /// Occupies squares along a straight line, `half` a width to each side.
    pub(super) fn occupy_line(&mut self, line: [Point; 2], half: f64) {
        for center in points_along(line) {
            self.occupy(&Bounds::around(center, half));
        }
    }

    /// Whether a straight line is on the plot and crosses nothing.
    pub(super) fn is_line_free(&self, line: [Point; 2]) -> bool {
        points_along(line).all(|center| self.is_free(&Bounds::around(center, 0.5)))
    }

    /// Occupies what a text covers: one rectangle, or squares along its line where it is turned.
    /// Ignores other marks.
    pub(super) fn occupy_text(&mut self, mark: &Mark) {
        let Shape::Text {
            at: (x, y),
            anchor,
            turn_deg,
            text,
        } = &mark.shape
        else {
            return;
        };
        let width = text_width(text);
        let start = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        if *turn_deg == 0.0 {
            self.occupy(&Bounds {
                left: x + start,
                top: y - 10.0,
                right: x + start + width,
                bottom: y + 3.0,
            });
            return;
        }
        let (sin, cos) = turn_deg.to_radians().sin_cos();
        let mut along = start;
        while along < start + width {
            let center = (x + along * cos, y + along * sin - 4.0);
            self.occupy(&Bounds::around(center, 7.0));
            along += 8.0;
        }
    }

    fn cells_of(&self, area: &Bounds) -> impl Iterator<Item = usize> + use<> {
        let columns = self.columns;
        let first_column = cells(area.left - self.plot.left);
        let last_column = cells(area.right - self.plot.left).min(columns.saturating_sub(1));
        let first_row = cells(area.top - self.plot.top);
        let last_row = cells(area.bottom - self.plot.top).min(self.rows.saturating_sub(1));
        (first_row..=last_row).flat_map(move |row| {
            (first_column..=last_column).map(move |column| row * columns + column)
        })
    }
}

/// Points along a straight line, one in each cell, ends included.
fn points_along([from, to]: [Point; 2]) -> impl Iterator<Item = Point> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = cells(dx.hypot(dy)).max(1);
    (0..=steps).map(move |step| {
        let share = step as f64 / steps as f64;
        (from.0 + dx * share, from.1 + dy * share)
    })
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to sizes of a frame"
)]
fn cells(length: f64) -> usize {
    (length / CELL).floor().clamp(0.0, 1e4) as usize
}
