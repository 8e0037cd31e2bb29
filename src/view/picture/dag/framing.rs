//! Adds the [frames](Frame) to a layout: where their borders, marks and tags are.

use super::builder::LayoutBuilder;
use super::dag_layout::{Edge, EdgeEnd};
use super::frames::{Body, Frame};
use super::geometry::{Point, Rect};
use super::heights::Heights;
use super::metrics::{FRAME_FOOT, FRAME_HEAD, FRAME_PADDING, MARK_HALF, TAG_PX};
use fuseline_core::{IdVec, KernelId, OpId};

impl LayoutBuilder<'_> {
    /// Lower side of the frame around an op of the last row of a kernel, if the op writes both the
    /// result of the program and what leads to the next iteration, and nothing is below the frame.
    /// The result is drawn there then.
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

    /// Places the tags of the frames, which are from top to bottom: in the upper left corner, or in
    /// the upper right one where lines come down at the left.
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
        // From top to bottom, as the frames are, for the binary searches below.
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
