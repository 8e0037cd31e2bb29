//! The frame around the shown round of a repeat: its border, its tag, and the marks where tensors come from the round before
//! and lead to the next one.
//!
//! ```text
//!              |
//!      +------(o)-----+      from the round before
//!      | [x 48]|      |
//!      |    kernel    |
//!      |       |      |
//!      +------(o)-----+      to the next round
//!              |
//! ```

use super::builder::LayoutBuilder;
use super::dag_layout::{Edge, EdgeEnd};
use super::geometry::{Point, Rect};
use super::heights::Heights;
use super::layered::LayerId;
use super::metrics::{FRAME_FOOT, FRAME_HEAD, FRAME_PADDING, MARK_HALF, TAG_PX};
use crate::core::{IdVec, KernelId, OpId, TensorId};
use crate::picture::path_data::push_command;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use std::ops::Range;

/// Radius of the corners of a frame.
const CORNER: f64 = 16.0;

/// The frame around the shown round of a repeat.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Frame {
    /// Its parts from top to bottom: one in each column that it reaches into.
    pub parts: Vec<Rect>,
    /// Where its border is crossed by what the round reads from the one before.
    pub entries: Vec<Point>,
    /// Where it is crossed by what the round writes for the next one.
    pub exits: Vec<Point>,
    /// The place of its tag.
    pub tag: Rect,
}

impl Frame {
    /// The border as path data. It is open where it goes on in another column.
    pub fn path(&self) -> String {
        let mut path = String::new();
        let mut push = |command, numbers: &[f64]| push_command(&mut path, command, numbers);
        for (index, part) in self.parts.iter().enumerate() {
            let (left, top, right, bottom) = (part.x, part.y, part.right(), part.bottom());
            let corner = |x: f64, y: f64| [CORNER, CORNER, 0.0, 0.0, 1.0, x, y];
            let (is_first, is_last) = (index == 0, index + 1 == self.parts.len());
            if is_last {
                push("M", &[right, bottom - CORNER]);
                push("A", &corner(right - CORNER, bottom));
                push("H", &[left + CORNER]);
                push("A", &corner(left, bottom - CORNER));
            } else {
                push("M", &[left, bottom]);
            }
            if is_first {
                push("V", &[top + CORNER]);
                push("A", &corner(left + CORNER, top));
                push("H", &[right - CORNER]);
                push("A", &corner(right, top + CORNER));
            } else {
                push("V", &[top]);
                push("M", &[right, top]);
            }
            push("V", &[if is_last { bottom - CORNER } else { bottom }]);
        }
        path
    }

    /// All of it, over all columns.
    pub fn rect(&self) -> Rect {
        let all = self
            .parts
            .iter()
            .copied()
            .reduce(|all, part| all.with(&part));
        all.unwrap_or_default()
    }
}

/// Kernels to be framed, by the ids of the drawn graph.
pub(super) struct Body {
    /// The kernels, which follow each other.
    pub(super) kernels: Range<usize>,
    /// The tensors that it reads in place of what the round before writes.
    pub(super) enters: Vec<TensorId>,
    /// The ops that write for the next round.
    pub(super) producers: Vec<OpId>,
    /// Its first layer, which may be for pills alone, and its last one.
    pub(super) layers: Range<LayerId>,
}

impl Body {
    pub(super) fn new(kernels: Range<usize>, enters: Vec<TensorId>, producers: Vec<OpId>) -> Self {
        Self {
            kernels,
            enters,
            producers,
            layers: LayerId::new(0)..LayerId::new(0),
        }
    }

    pub(super) fn find_layers(&mut self, layers: &IdVec<KernelId, LayerId>, has_pills: bool) {
        let own = || {
            self.kernels
                .clone()
                .map(|kernel| layers[KernelId::new(kernel)])
        };
        let first = own().min();
        let above = first.and_then(LayerId::above).filter(|_| has_pills);
        let first = above.or(first);
        let last = own().max();
        self.layers = first.unwrap_or_default()..last.unwrap_or_default();
    }
}

impl LayoutBuilder<'_> {
    /// Lower side of the frame around an op of the last row of a kernel, if the op writes both the result of the program and
    /// what leads to the next round, and nothing is below the frame. The result is drawn there then.
    pub(super) fn frame_above_result(&self, op: OpId, heights: &Heights) -> Option<f64> {
        let kernel = self.partition.kernel_of[op];
        let body = self.bodies.last()?;
        let is_last = body.kernels.contains(&kernel.index())
            && body.kernels.end == self.kernels.len()
            && self.outer.nodes[self.kernel_node[kernel]].layer == body.layers.end;
        (is_last && body.producers.contains(&op)).then(|| frame_bottom(body, heights))
    }

    /// Adds the frame of each body.
    pub(super) fn add_frames(&mut self, heights: &Heights) {
        let frames = self.bodies.iter().map(|body| self.frame(body, heights));
        self.layout.frames = frames.collect();
    }

    fn frame(&self, body: &Body, heights: &Heights) -> Frame {
        let top = heights.top[body.layers.start] - FRAME_HEAD + MARK_HALF;
        let bottom = frame_bottom(body, heights);
        let is_within = |y: f64| (top..=bottom).contains(&y);
        let is_own = |end: EdgeEnd| {
            let op = end.op();
            op.is_some_and(|op| body.kernels.contains(&self.partition.kernel_of[op].index()))
        };
        let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut include = |from: f64, to: f64| {
            left = left.min(from);
            right = right.max(to);
        };
        for kernel in body.kernels.clone().map(KernelId::new) {
            let panel = self.layout.panels[kernel];
            include(panel.x, panel.right());
            for &op in &self.partition.kernels[kernel] {
                if let Some(label) = self.layout.size_labels[op] {
                    include(label.x, label.right());
                }
            }
        }
        let edges = (self.layout.edges.iter()).filter(|edge| is_own(edge.from) || is_own(edge.to));
        for edge in edges.clone() {
            for end in [edge.from, edge.to] {
                if let EdgeEnd::Pill(pill) = end {
                    let rect = self.layout.pills[pill].rect;
                    if is_within(rect.y) {
                        include(rect.x, rect.right());
                    }
                }
            }
            for point in edge.points.iter().filter(|point| is_within(point.y)) {
                include(point.x, point.x);
            }
        }
        let mut border = Rect {
            x: left - FRAME_PADDING,
            y: top,
            width: right - left + 2.0 * FRAME_PADDING,
            height: bottom - top,
        };
        border.width = border.width.max(TAG_PX.0 + 4.0 * FRAME_PADDING);
        let entering = edges
            .clone()
            .filter(|edge| body.enters.contains(&edge.tensor));
        let entries = crossings(entering, top);
        let leaving = edges.filter(|edge| {
            edge.from
                .op()
                .is_some_and(|op| body.producers.contains(&op))
        });
        Frame {
            exits: crossings(leaving, bottom),
            tag: self.tag_place(&border),
            entries,
            parts: vec![border],
        }
    }

    /// In the upper left corner, or in the upper right one where lines come down at the left.
    fn tag_place(&self, border: &Rect) -> Rect {
        let left = Rect {
            x: border.x + FRAME_PADDING,
            y: border.y + MARK_HALF,
            width: TAG_PX.0,
            height: TAG_PX.1,
        };
        let right = Rect {
            x: border.right() - FRAME_PADDING - TAG_PX.0,
            ..left
        };
        let lines = crossings(self.layout.edges.iter(), left.center().y);
        let is_free = |place: &Rect| !lines.iter().any(|line| place.holds(*line));
        [left, right].into_iter().find(is_free).unwrap_or(left)
    }
}

fn frame_bottom(body: &Body, heights: &Heights) -> f64 {
    heights.bottom[body.layers.end] + FRAME_FOOT - MARK_HALF
}

/// Where edges cross a height, each place once, from left to right.
fn crossings<'a>(edges: impl Iterator<Item = &'a Edge>, y: f64) -> Vec<Point> {
    let mut places: Vec<f64> = edges
        .flat_map(|edge| edge.points.array_windows())
        .filter(|[a, b]| a.y.min(b.y) < y && y < a.y.max(b.y))
        .map(|[a, _]| a.x)
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| (*a - *b).abs() < 1.0);
    places.into_iter().map(|x| Point::new(x, y)).collect()
}
