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
use crate::picture::path_data::push_command;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::{IdVec, KernelId, OpId, TensorId};
use serde::Serialize;
use std::ops::Range;

/// The path of an arrow that goes round, around the origin: from and to the rounds beside the shown one.
pub const ROUND: &str = "M4.6 -2.2A5 5 0 1 0 4.9 1.2M5.2 -5.2V-1.8H1.8";
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
        let bodies = self.bodies.iter().zip(self.edges_of_bodies());
        let mut frames: Vec<Frame> = bodies
            .map(|(body, edges)| self.frame(body, &edges, heights))
            .collect();
        self.place_tags(&mut frames);
        self.layout.frames = frames;
    }

    /// For each body the edges from and to its ops.
    fn edges_of_bodies(&self) -> Vec<Vec<&Edge>> {
        let mut body_of = IdVec::from_elem(None, self.kernels.len());
        for (index, body) in self.bodies.iter().enumerate() {
            for kernel in body.kernels.clone() {
                body_of[KernelId::new(kernel)] = Some(index);
            }
        }
        let body_at = |end: EdgeEnd| body_of[self.partition.kernel_of[end.op()?]];
        let mut edges = vec![Vec::new(); self.bodies.len()];
        for edge in &self.layout.edges {
            let (from, to) = (body_at(edge.from), body_at(edge.to));
            for body in [from, to.filter(|_| from != to)].into_iter().flatten() {
                edges[body].push(edge);
            }
        }
        edges
    }

    /// The frame of a body with these edges; its tag has no place yet.
    fn frame(&self, body: &Body, edges: &[&Edge], heights: &Heights) -> Frame {
        let top = heights.top[body.layers.start] - FRAME_HEAD + MARK_HALF;
        let bottom = frame_bottom(body, heights);
        let is_within = |y: f64| (top..=bottom).contains(&y);
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
        for edge in edges {
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
        let all = || edges.iter().copied();
        let entering = all().filter(|edge| body.enters.contains(&edge.tensor));
        let leaves = |op: OpId| body.producers.contains(&op);
        let leaving = all().filter(|edge| edge.from.op().is_some_and(leaves));
        Frame {
            entries: crossings(entering, top),
            exits: crossings(leaving, bottom),
            tag: Rect::default(),
            parts: vec![border],
        }
    }

    /// Places the tags of the frames, which are from top to bottom: in the upper left corner, or in the upper right one where
    /// lines come down at the left.
    fn place_tags(&self, frames: &mut [Frame]) {
        let places = |frame: &Frame| {
            let border = frame.rect();
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
            [left, right]
        };
        let places: Vec<[Rect; 2]> = frames.iter().map(places).collect();
        let middle = |places: &[Rect; 2]| places[0].center().y;
        // A line that is longer than a frame passes several of them.
        let mut is_free = vec![[true; 2]; places.len()];
        for [a, b] in (self.layout.edges.iter()).flat_map(|edge| edge.points.array_windows()) {
            let (top, bottom) = (a.y.min(b.y), a.y.max(b.y));
            let first = places.partition_point(|places| middle(places) <= top);
            let last = places.partition_point(|places| middle(places) < bottom);
            for place in first..last {
                let at = Point::new(a.x, middle(&places[place]));
                for (is_free, tag) in is_free[place].iter_mut().zip(places[place]) {
                    *is_free &= !tag.holds(at);
                }
            }
        }
        for ((frame, [left, right]), is_free) in frames.iter_mut().zip(places).zip(is_free) {
            frame.tag = match is_free {
                [false, true] => right,
                _ => left,
            };
        }
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
