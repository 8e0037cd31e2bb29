//! Which parts of a frame are taken, on a coarse grid, so that marks find a free place in constant time.

use crate::picture::charts::scene::{Anchor, Mark, Point, Shape, text_width};

/// Side of a cell, in the scene's units.
const CELL: f64 = 2.0;

/// An upright box: left, top, right, bottom.
pub(in crate::picture) type Box4 = [f64; 4];

/// The taken cells of a plot.
pub(in crate::picture) struct LabelSpace {
    edges: Box4,
    columns: usize,
    rows: usize,
    is_taken: Vec<bool>,
}

impl LabelSpace {
    /// All of `edges` is free.
    pub(in crate::picture) fn new(edges: Box4) -> Self {
        let [left, top, right, bottom] = edges;
        let columns = cells(right - left) + 1;
        let rows = cells(bottom - top) + 1;
        Self {
            edges,
            columns,
            rows,
            is_taken: vec![false; columns * rows],
        }
    }

    /// Whether all of `wanted` is on the plot and free.
    pub(in crate::picture) fn is_free(&self, wanted: &Box4) -> bool {
        let [left, top, right, bottom] = self.edges;
        wanted[0] >= left
            && wanted[1] >= top
            && wanted[2] <= right
            && wanted[3] <= bottom
            && self
                .cells_of(wanted)
                .all(|cell| self.is_taken.get(cell) == Some(&false))
    }

    /// Takes what of `taken` is on the plot.
    pub(in crate::picture) fn take(&mut self, taken: &Box4) {
        let cells: Vec<usize> = self.cells_of(taken).collect();
        for cell in cells {
            if let Some(is_taken) = self.is_taken.get_mut(cell) {
                *is_taken = true;
            }
        }
    }

    fn cells_of(&self, area: &Box4) -> impl Iterator<Item = usize> + use<> {
        let [left, top, ..] = self.edges;
        let columns = self.columns;
        let first_column = cells(area[0] - left);
        let last_column = cells(area[2] - left).min(columns.saturating_sub(1));
        let first_row = cells(area[1] - top);
        let last_row = cells(area[3] - top).min(self.rows.saturating_sub(1));
        (first_row..=last_row).flat_map(move |row| {
            (first_column..=last_column).map(move |column| row * columns + column)
        })
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to sizes of a frame"
)]
fn cells(length: f64) -> usize {
    (length / CELL).floor().clamp(0.0, 1e4) as usize
}

/// The box of a disc.
pub(in crate::picture) fn around((x, y): Point, radius: f64) -> Box4 {
    [x - radius, y - radius, x + radius, y + radius]
}

/// The boxes along a straight line, `half` a width to each side.
pub(in crate::picture) fn along(from: Point, to: Point, half: f64) -> Vec<Box4> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = cells(dx.hypot(dy)).max(1);
    (0..=steps)
        .map(|step| {
            #[allow(clippy::cast_precision_loss, reason = "at most ten thousand steps")]
            let share = step as f64 / steps as f64;
            around((from.0 + dx * share, from.1 + dy * share), half)
        })
        .collect()
}

/// The room that a text takes, a turned one in pieces along its line; nothing for other marks.
pub(in crate::picture) fn text_boxes(mark: &Mark) -> Vec<Box4> {
    let Shape::Text {
        at: (x, y),
        anchor,
        turn_deg,
        text,
    } = &mark.shape
    else {
        return Vec::new();
    };
    let width = text_width(text);
    let start = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -width / 2.0,
        Anchor::End => -width,
    };
    if *turn_deg == 0.0 {
        return vec![[x + start, y - 10.0, x + start + width, y + 3.0]];
    }
    let (sin, cos) = direction(*turn_deg);
    let mut boxes = Vec::new();
    let mut along = start;
    while along < start + width {
        boxes.push(around((x + along * cos, y + along * sin - 4.0), 7.0));
        along += 8.0;
    }
    boxes
}

/// Sine and cosine of up to a quarter turn by Bhaskara's formula, within 0.2 %: half a pixel along a name. The
/// exact functions would be 6 kB of the page, for this one use.
fn direction(turn_deg: f64) -> (f64, f64) {
    let turn = turn_deg / 180.0;
    let cos = ((1.0 - 4.0 * turn * turn) / (1.0 + turn * turn)).max(0.0);
    ((1.0 - cos * cos).sqrt().copysign(turn), cos)
}

#[cfg(test)]
mod tests {
    use crate::picture::charts::label_space::*;

    #[test]
    fn directions_are_right_within_half_a_pixel_along_a_name() {
        for turn_deg in -90..=90 {
            let turn_deg = f64::from(turn_deg);
            let (sin, cos) = direction(turn_deg);
            let (exact_sin, exact_cos) = turn_deg.to_radians().sin_cos();
            assert!((sin - exact_sin).abs() * 200.0 < 0.5, "{turn_deg}: {sin}");
            assert!((cos - exact_cos).abs() * 200.0 < 0.5, "{turn_deg}: {cos}");
        }
    }

    #[test]
    fn what_is_taken_is_not_free() {
        let mut room = LabelSpace::new([10.0, 10.0, 110.0, 60.0]);
        let wanted = [20.0, 20.0, 40.0, 30.0];
        assert!(room.is_free(&wanted));
        room.take(&[39.0, 29.0, 200.0, 31.0]);
        assert!(!room.is_free(&wanted));
        assert!(room.is_free(&[20.0, 20.0, 35.0, 26.0]));
        assert!(!room.is_free(&[5.0, 20.0, 15.0, 26.0]), "beyond the edge");
        assert!(
            !room.is_free(&[100.0, 20.0, 111.0, 26.0]),
            "beyond the edge"
        );
    }
}
