//! Breaks a drawing into columns side by side, between layers.
//!
//! What crosses a break goes along the bottom of its column, up between the columns and down from
//! the top of the next one. These lines lie within each other and cross nothing.
//!
//! ```text
//!   +-----+     +---+
//!   |  a  |  +--|---|--+
//!   +--|--+  |  |   |  |
//!      |     |  |   |  |
//!   +--|--+  |  |  +|--|-+
//!   |  b  |  |  |  |  c  |
//!   +-|-|-+  |  |  +--|--+
//!     | +----+  |
//!     +---------+
//! ```

use super::breaks::{Gaps, Pieces, place_key};
use super::dag_layout::{DagLayout, Edge};
use super::frames::Frame;
use super::geometry::{Point, Rect};
use super::metrics::{FRAME_PADDING, LANE_GAP, MARGIN, TRACK_GAP};
use super::routes::straighten;
use super::viewport::Size;
use fuseline_core::TensorId;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Least distance of two columns.
const COLUMN_GAP: f64 = 56.0;

/// The drawing in `columns` columns; `None` where it cannot be broken like that.
pub fn in_columns(layout: &DagLayout, columns: usize) -> Option<DagLayout> {
    let gaps = Gaps::of(layout);
    let breaks = gaps.breaks(columns, (MARGIN, layout.height - MARGIN))?;
    let pieces = Pieces::new(layout, &gaps, breaks);
    let columns = columns_of(layout, &pieces);
    let mut wrapped = layout.clone();
    for panel in &mut wrapped.panels {
        columns.shift(pieces.at(panel.y), panel);
    }
    for (id, pill) in layout.pills.ids().zip(&mut wrapped.pills) {
        columns.shift(pieces.of_pill(id), &mut pill.rect);
    }
    for (op, label) in wrapped.ops.iter_mut().zip(&mut wrapped.size_labels) {
        let piece = pieces.at(op.rect.y);
        columns.shift(piece, &mut op.rect);
        if let Some(label) = label {
            columns.shift(piece, label);
        }
    }
    for frame in &mut wrapped.frames {
        columns.shift_frame(&pieces, frame);
    }
    for edge in &mut wrapped.edges {
        edge.points = columns.route(edge, &pieces);
    }
    (wrapped.width, wrapped.height) = columns.size();
    Some(wrapped)
}

/// A line that goes on in the next column: its place and its tensor.
type Crossing = (i64, TensorId);

/// A column: where a piece of the drawing was and where it comes.
#[derive(Default)]
struct Column {
    /// The piece in the drawing without columns.
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Lines that come from the column before, from the right; they end at `top`.
    entering: Vec<Crossing>,
    /// The left side of the column.
    x: f64,
}

struct Columns {
    columns: Vec<Column>,
    /// The upper side of all columns.
    top: f64,
}

fn columns_of(layout: &DagLayout, pieces: &Pieces) -> Columns {
    let starts = std::iter::once(MARGIN).chain(pieces.breaks.iter().copied());
    let ends = (pieces.breaks.iter().copied()).chain([layout.height - MARGIN]);
    let mut columns: Vec<Column> = (starts.zip(ends))
        .map(|(top, bottom)| Column {
            left: f64::INFINITY,
            right: f64::NEG_INFINITY,
            top,
            bottom,
            ..Column::default()
        })
        .collect();
    let mut include = |piece: usize, left: f64, right: f64, top: f64| {
        if let Some(column) = columns.get_mut(piece) {
            column.left = column.left.min(left);
            column.right = column.right.max(right);
            column.top = column.top.min(top);
        }
    };
    for panel in &layout.panels {
        include(pieces.at(panel.y), panel.x, panel.right(), panel.y);
    }
    for (id, pill) in layout.pills.iter_enumerated() {
        let rect = pill.rect;
        include(pieces.of_pill(id), rect.x, rect.right(), rect.y);
    }
    for (op, label) in layout.ops.iter().zip(&layout.size_labels) {
        if let Some(label) = label {
            include(pieces.at(op.rect.y), label.x, label.right(), label.y);
        }
    }
    for frame in &layout.frames {
        let (top, tag) = (frame.rect().y, frame.tag);
        include(pieces.at(top), tag.x, tag.right(), top);
    }
    let mut entering: Vec<BTreeSet<Crossing>> = vec![BTreeSet::new(); pieces.breaks.len() + 1];
    for edge in &layout.edges {
        let mut piece = pieces.of_start(edge);
        for point in &edge.points {
            while pieces.breaks.get(piece).is_some_and(|&at| at < point.y) {
                // A line widens its column, but boxes alone say where the column begins.
                include(piece, point.x, point.x, f64::INFINITY);
                piece += 1;
                if let Some(entering) = entering.get_mut(piece) {
                    entering.insert((place_key(point.x), edge.tensor));
                }
            }
            include(piece, point.x, point.x, f64::INFINITY);
        }
    }
    for piece in layout
        .frames
        .iter()
        .flat_map(|frame| pieces_of(frame, pieces))
    {
        if let Some(column) = columns.get_mut(piece) {
            column.left -= FRAME_PADDING;
            column.right += FRAME_PADDING;
        }
    }
    let mut x = MARGIN;
    let mut most = 0;
    for (column, entering) in columns.iter_mut().zip(entering) {
        column.entering = entering.into_iter().rev().collect();
        let lines = column.entering.len();
        most = most.max(lines);
        if x > MARGIN {
            x += gutter(lines);
        }
        column.x = x;
        x += column.right - column.left;
    }
    Columns {
        columns,
        top: MARGIN + most as f64 * TRACK_GAP,
    }
}

/// The pieces of a drawing that a frame reaches into.
fn pieces_of(frame: &Frame, pieces: &Pieces) -> RangeInclusive<usize> {
    let rect = frame.rect();
    pieces.at(rect.y)..=pieces.at(rect.bottom())
}

/// Width of the space before a column that so many lines enter.
fn gutter(lines: usize) -> f64 {
    COLUMN_GAP.max((lines + 1) as f64 * LANE_GAP)
}

impl Columns {
    /// From a place in a piece to its place in the column.
    fn offset(&self, piece: usize) -> (f64, f64) {
        self.columns.get(piece).map_or((0.0, 0.0), |column| {
            (column.x - column.left, self.top - column.top)
        })
    }

    fn shift(&self, piece: usize, rect: &mut Rect) {
        let (dx, dy) = self.offset(piece);
        rect.x += dx;
        rect.y += dy;
    }

    /// Breaks a frame into its parts.
    fn shift_frame(&self, pieces: &Pieces, frame: &mut Frame) {
        let whole = frame.rect();
        frame.parts = pieces_of(frame, pieces)
            .filter_map(|piece| {
                let column = self.columns.get(piece)?;
                let (left, top) = (whole.x.max(column.left), whole.y.max(column.top));
                let mut part = Rect {
                    x: left,
                    y: top,
                    width: whole.right().min(column.right) - left,
                    height: whole.bottom().min(column.bottom) - top,
                };
                self.shift(piece, &mut part);
                Some(part)
            })
            .collect();
        self.shift(pieces.at(frame.tag.y), &mut frame.tag);
        for point in frame.entries.iter_mut().chain(&mut frame.exits) {
            let (dx, dy) = self.offset(pieces.at(point.y));
            *point = Point::new(point.x + dx, point.y + dy);
        }
    }

    /// The corners of an edge, with its ways from column to column.
    fn route(&self, edge: &Edge, pieces: &Pieces) -> Vec<Point> {
        let mut piece = pieces.of_start(edge);
        let mut points = Vec::with_capacity(edge.points.len());
        for &point in &edge.points {
            while pieces.breaks.get(piece).is_some_and(|&at| at < point.y) {
                piece += 1;
                points.extend(self.way_into(piece, point.x, edge.tensor));
            }
            let (dx, dy) = self.offset(piece);
            points.push(Point::new(point.x + dx, point.y + dy));
        }
        straighten(points)
    }

    /// The corners of a line from one column to the next: the line furthest to the right is the
    /// innermost.
    fn way_into(&self, piece: usize, x: f64, tensor: TensorId) -> Vec<Point> {
        let before = piece
            .checked_sub(1)
            .and_then(|piece| self.columns.get(piece));
        let (Some(before), Some(column)) = (before, self.columns.get(piece)) else {
            return Vec::new();
        };
        let count = column.entering.len();
        let crossing = (place_key(x), tensor);
        let nth = column.entering.partition_point(|&other| other > crossing);
        let bottom = self.top + before.bottom - before.top;
        let down = bottom + (nth as f64 + 0.5) * TRACK_GAP;
        let up = self.top - (count - nth) as f64 * TRACK_GAP;
        let width = gutter(count);
        let border = (width - (count - 1) as f64 * LANE_GAP) / 2.0;
        let lane = column.x - width + border + nth as f64 * LANE_GAP;
        let from = x + before.x - before.left;
        let to = x + column.x - column.left;
        vec![
            Point::new(from, down),
            Point::new(lane, down),
            Point::new(lane, up),
            Point::new(to, up),
        ]
    }

    /// Width and height of the whole.
    fn size(&self) -> Size {
        let right = self
            .columns
            .last()
            .map_or(0.0, |column| column.x + column.right - column.left);
        let mut bottom: f64 = 0.0;
        for (index, column) in self.columns.iter().enumerate() {
            let next = self.columns.get(index + 1);
            let leaving = next.map_or(0, |next| next.entering.len());
            let height = column.bottom - column.top + leaving as f64 * TRACK_GAP;
            bottom = bottom.max(self.top + height);
        }
        (right + MARGIN, bottom + MARGIN)
    }
}
