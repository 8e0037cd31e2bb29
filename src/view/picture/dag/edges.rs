//! Edges between ops as polylines: within a kernel, and from kernel to kernel.

use super::builder::{Branch, LayoutBuilder, Port};
use super::dag_layout::{Edge, EdgeEnd};
use super::geometry::Point;
use super::heights::Heights;
use super::layered::{LinkId, NodeId};
use super::panels::InnerTracks;
use super::routes::{Routes, straighten};
use super::side::Side;
use fuseline_core::{IdVec, KernelId, OpId};

impl LayoutBuilder<'_> {
    /// Adds the edges between ops, and those from pills in layers.
    pub(super) fn add_edges(
        &mut self,
        x: &IdVec<NodeId, f64>,
        routes: &Routes,
        heights: &Heights,
        tracks: &InnerTracks,
    ) {
        let mut edges = Vec::new();
        for kernel in self.kernels.ids() {
            for edge in &self.kernels[kernel].edges {
                let from = self.layout.ops[edge.from].rect;
                let mut points = vec![Point::new(from.center().x, from.bottom())];
                points.extend(self.inner_trail(kernel, x, tracks, edge.link));
                points.push(self.top_of_op(kernel, edge.to, edge.link));
                edges.push(Edge {
                    tensor: edge.tensor,
                    from: EdgeEnd::Op(edge.from),
                    to: EdgeEnd::Op(edge.to),
                    points: straighten(points),
                });
            }
        }
        for branch in &self.branches {
            let mut start = Vec::new();
            let from = match branch.from {
                EdgeEnd::Op(op) => self.layout.ops[op].rect,
                EdgeEnd::Pill(pill) => self.layout.pills[pill].rect,
            };
            start.push(Point::new(from.center().x, from.bottom()));
            if let EdgeEnd::Op(op) = branch.from {
                let kernel = self.partition.kernel_of[op];
                if let Some(exit) = self.kernels[kernel].exit(op) {
                    start.extend(self.inner_trail(kernel, x, tracks, exit.link));
                }
            }
            start.extend(routes.trail(&self.outer, x, &heights.first_track, branch.link));
            // All edges of a branch share `start`, so they look like one line that branches at its
            // end.
            for (op, end) in self.branch_ends(branch, x, tracks) {
                edges.push(Edge {
                    tensor: branch.tensor,
                    from: branch.from,
                    to: EdgeEnd::Op(op),
                    points: straighten(start.iter().copied().chain(end).collect()),
                });
            }
        }
        self.layout.edges.extend(edges);
    }

    /// The ops that a branch leads to, each with the last corners of its edge.
    fn branch_ends(
        &self,
        branch: &Branch,
        x: &IdVec<NodeId, f64>,
        tracks: &InnerTracks,
    ) -> Vec<(OpId, Vec<Point>)> {
        let kernel = branch.kernel;
        let link = &self.outer.links[branch.link];
        let port_x = x[link.lower] + link.lower_offset;
        match branch.port {
            Port::Top(op) => vec![(op, vec![Point::new(port_x, self.layout.ops[op].rect.y)])],
            Port::Entry(entry) => {
                let entry = &self.kernels[kernel].entries[entry];
                let mut end = vec![Point::new(port_x, self.layout.panels[kernel].y)];
                end.extend(self.inner_trail(kernel, x, tracks, entry.link));
                end.push(self.top_of_op(kernel, entry.op, entry.link));
                vec![(entry.op, end)]
            }
            Port::Side => {
                let mut ends = Vec::new();
                for side in Side::BOTH {
                    let mut lanes = self.sides[kernel].lanes[side].iter().enumerate();
                    if let Some((index, lane)) = lanes.find(|(_, lane)| lane.link == branch.link) {
                        ends.extend(lane.enters.iter().map(|&(_, op)| {
                            let rect = self.layout.ops[op].rect;
                            let y = self.lane_height(kernel, op, side, index);
                            let op_x = match side {
                                Side::Left => rect.x,
                                Side::Right => rect.right(),
                            };
                            (op, vec![Point::new(port_x, y), Point::new(op_x, y)])
                        }));
                    }
                }
                ends
            }
        }
    }

    /// Corners of a way through a kernel that ends with `link`.
    fn inner_trail(
        &self,
        kernel: KernelId,
        x: &IdVec<NodeId, f64>,
        tracks: &InnerTracks,
        link: LinkId,
    ) -> Vec<Point> {
        let inside = &self.kernels[kernel];
        let trail = (inside.routes).trail(&inside.graph, &inside.x, &tracks[kernel], link);
        let center = x[self.kernel_node[kernel]];
        (trail.into_iter())
            .map(|point| Point::new(point.x + center, point.y))
            .collect()
    }

    /// Where a link of a kernel's inside reaches the upper side of an op.
    fn top_of_op(&self, kernel: KernelId, op: OpId, link: LinkId) -> Point {
        let rect = self.layout.ops[op].rect;
        let offset = self.kernels[kernel].graph.links[link].lower_offset;
        Point::new(rect.center().x + offset, rect.y)
    }

    /// Height at which a lane turns into `op`.
    fn lane_height(&self, kernel: KernelId, op: OpId, side: Side, index: usize) -> f64 {
        let middle = self.layout.ops[op].rect.center().y;
        let offset = self.sides[kernel].stacks(op).and_then(|stacks| {
            let stack = &stacks[side];
            let nth = stack.lanes.iter().position(|&l| l == index)?;
            stack.centers().0.get(nth).copied()
        });
        middle + offset.unwrap_or(0.0)
    }
}
