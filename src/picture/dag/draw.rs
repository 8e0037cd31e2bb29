//! Computes the geometry from the coordinates: heights of the layers, then boxes, size labels, pills and edges.
#![allow(
    clippy::indexing_slicing,
    reason = "op, kernel, tensor and node ids are dense indices of one graph"
)]

use super::kernel::OpPosition;
use super::layered::LinkId;
use super::layout::{Picture, Port};
use super::metrics::{
    APPROACH, MARGIN, OP_HEIGHT, PILL_GAP, PILL_HEIGHT, SIZE_LABEL_MARGIN, SIZE_LABEL_SIZE,
    TRACK_GAP,
};
use super::routes::{Routes, straighten};
use super::sides::Side;
use super::{Edge, EdgeEnd, PillKind, Point, Rect};
use crate::core::OpId;
use crate::core::sorting::{rank_of, sort_by_rank};

/// Vertical positions of the layers.
#[derive(Default)]
struct Heights {
    /// Top of the boxes of each layer.
    top: Vec<f64>,
    /// Bottom of each layer, size labels included.
    bottom: Vec<f64>,
    /// The first track below each layer.
    gap: Vec<f64>,
}

impl Picture<'_> {
    pub(super) fn draw(&mut self, x: &[f64], routes: &Routes) {
        let Heights { top, bottom, gap } = self.heights(routes);
        let end = bottom.last().copied().unwrap_or(MARGIN);
        self.layout.panels = vec![Rect::default(); self.kernel_layouts.len()];
        self.layout.size_labels = vec![None; self.graph.ops.len()];
        for &(pill, node) in &self.pill_nodes {
            let layer = self.outer.nodes[node].layer;
            let rect = &mut self.layout.pills[pill].rect;
            rect.x = x[node] - rect.width / 2.0;
            // A source is placed directly above its reader, even if its layer has taller boxes.
            rect.y = bottom[layer] - SIZE_LABEL_MARGIN - PILL_HEIGHT;
        }
        let mut inner_gaps = Vec::with_capacity(self.kernel_layouts.len());
        for kernel in 0..self.kernel_layouts.len() {
            let node = self.kernel_node[kernel];
            let layer = self.outer.nodes[node].layer;
            inner_gaps.push(self.draw_kernel(kernel, x[node], top[layer]));
        }
        for (kernel, gaps) in inner_gaps.iter().enumerate() {
            self.draw_inner_edges(kernel, x[self.kernel_node[kernel]], gaps);
        }
        self.draw_branches(x, routes, &gap, &inner_gaps);

        let mut width: f64 = 0.0;
        for (node, x) in self.outer.nodes.iter().zip(x) {
            width = width.max(x + node.right);
        }
        for edge in &self.layout.edges {
            for point in &edge.points {
                width = width.max(point.x);
            }
        }
        self.layout.width = width + MARGIN;
        self.layout.height = end + MARGIN;
        // Ops before pills, at both ends.
        let key = |end| match end {
            EdgeEnd::Op(op) => rank_of(op),
            EdgeEnd::Pill(pill) => (1 << 40) + rank_of(pill),
        };
        sort_by_rank(&mut self.layout.edges, |edge| {
            (key(edge.from), key(edge.to), 0)
        });
    }

    /// Heights of the rows of a kernel: the tallest op or stack in each.
    fn row_heights(&self, kernel: usize) -> Vec<f64> {
        let mut heights = vec![OP_HEIGHT; self.kernel_layouts[kernel].rows];
        for &op in &self.partition.groups[kernel] {
            if let Some(stacks) = self.sides[kernel].stacks(op) {
                let height = &mut heights[self.positions[op].row];
                for stack in stacks {
                    *height = height.max(stack.height()).max(stack.op_height());
                }
            }
        }
        heights
    }

    fn kernel_height(&self, kernel: usize) -> f64 {
        let inside = &self.kernel_layouts[kernel];
        let rows: f64 = self.row_heights(kernel).iter().sum();
        let gaps: f64 = (0..=inside.rows).map(|layer| inside.gap(layer)).sum();
        rows + gaps
    }

    /// Space below a kernel for the size labels or the result of its last row.
    fn room_below(&self, kernel: usize) -> f64 {
        let members = &self.partition.groups[kernel];
        let is_result = members
            .iter()
            .any(|&op| self.graph.is_final(self.graph.output[op]));
        SIZE_LABEL_MARGIN
            + if is_result {
                APPROACH + PILL_HEIGHT
            } else {
                SIZE_LABEL_SIZE.1 + SIZE_LABEL_MARGIN
            }
    }

    fn heights(&self, routes: &Routes) -> Heights {
        let mut tallest = vec![0.0_f64; self.outer.layers.len()];
        for (kernel, &node) in self.kernel_node.iter().enumerate() {
            let height = &mut tallest[self.outer.nodes[node].layer];
            *height = height.max(self.kernel_height(kernel) + self.room_below(kernel));
        }
        for &(_, node) in &self.pill_nodes {
            let height = &mut tallest[self.outer.nodes[node].layer];
            *height = height.max(PILL_HEIGHT + SIZE_LABEL_MARGIN);
        }
        let mut heights = Heights::default();
        let mut y = MARGIN;
        for (layer, &tall) in tallest.iter().enumerate() {
            heights.top.push(y);
            let tracks = routes.count[layer];
            // Space in which a net leaves its box or size label before it branches.
            let lead = if tracks > 0 { TRACK_GAP / 2.0 } else { 0.0 };
            heights.gap.push(y + tall + lead);
            heights.bottom.push(y + tall);
            if tall > 0.0 {
                y += tall + lead + tracks.saturating_sub(1) as f64 * TRACK_GAP + APPROACH;
            }
        }
        heights
    }

    /// Places the panel, ops, size labels and pills of a kernel. Gives the height of the first track below each
    /// of its layers.
    fn draw_kernel(&mut self, kernel: usize, x: f64, top: f64) -> Vec<f64> {
        let inside = &self.kernel_layouts[kernel];
        let heights = self.row_heights(kernel);
        let mut row_top = Vec::with_capacity(inside.rows);
        let mut gap_y = vec![top + inside.first_track(0)];
        let mut y = top + inside.gap(0);
        for (row, height) in heights.iter().enumerate() {
            row_top.push(y);
            y += height;
            gap_y.push(y + inside.first_track(row + 1));
            y += inside.gap(row + 1);
        }
        let panel = Rect {
            x: x - inside.half,
            y: top,
            width: 2.0 * inside.half,
            height: y - top,
        };
        self.layout.panels[kernel] = panel;
        for &op in &self.partition.groups[kernel] {
            let OpPosition { row, x: op_x, .. } = self.positions[op];
            let middle = row_top[row] + heights[row] / 2.0;
            let stacks = self.sides[kernel].stacks(op);
            let height = stacks.map_or(OP_HEIGHT, |[left, right]| {
                left.op_height().max(right.op_height())
            });
            let rect = Rect {
                x: x + op_x - self.op_width / 2.0,
                y: middle - height / 2.0,
                width: self.op_width,
                height,
            };
            self.layout.ops[op].rect = rect;
            self.draw_output(op, row + 1 == self.kernel_layouts[kernel].rows, panel);
            for side in [Side::Left, Side::Right] {
                let Some(stacks) = self.sides[kernel].stacks(op) else {
                    break;
                };
                let stack = &stacks[side as usize];
                let (_, middles) = stack.middles();
                for (pill, offset) in stack.pills.clone().into_iter().zip(middles) {
                    self.draw_side_pill(pill, op, side, panel, middle + offset);
                }
            }
        }
        gap_y
    }

    /// Places the size label of an op's output, or the pill of a result.
    fn draw_output(&mut self, op: OpId, is_last_row: bool, panel: Rect) {
        let rect = self.layout.ops[op].rect;
        let tensor = self.graph.output[op];
        let x = rect.center().x;
        let y = if is_last_row {
            panel.bottom()
        } else {
            rect.bottom()
        } + SIZE_LABEL_MARGIN;
        if self.graph.is_final(tensor) {
            let pill = self.new_pill(tensor, PillKind::Output);
            let place = &mut self.layout.pills[pill].rect;
            place.x = x - place.width / 2.0;
            place.y = y + APPROACH;
            let end = Point::new(x, place.y);
            self.layout.edges.push(Edge {
                tensor,
                from: EdgeEnd::Op(op),
                to: EdgeEnd::Pill(pill),
                points: vec![Point::new(x, rect.bottom()), end],
            });
        } else {
            self.layout.size_labels[op] = Some(Rect {
                x: x - SIZE_LABEL_SIZE.0 / 2.0,
                y,
                width: SIZE_LABEL_SIZE.0,
                height: SIZE_LABEL_SIZE.1,
            });
        }
    }

    fn draw_side_pill(&mut self, pill: usize, op: OpId, side: Side, panel: Rect, y: f64) {
        let rect = self.layout.ops[op].rect;
        let place = &mut self.layout.pills[pill];
        place.rect.y = y - PILL_HEIGHT / 2.0;
        let (from, to) = match side {
            Side::Left => {
                place.rect.x = panel.x - PILL_GAP - place.rect.width;
                (place.rect.right(), rect.x)
            }
            Side::Right => {
                place.rect.x = panel.right() + PILL_GAP;
                (place.rect.x, rect.right())
            }
        };
        if let Some(&tensor) = place.tensors.first() {
            self.layout.edges.push(Edge {
                tensor,
                from: EdgeEnd::Pill(pill),
                to: EdgeEnd::Op(op),
                points: vec![Point::new(from, y), Point::new(to, y)],
            });
        }
    }

    fn draw_inner_edges(&mut self, kernel: usize, x: f64, gap_y: &[f64]) {
        let inside = &self.kernel_layouts[kernel];
        for edge in &inside.edges {
            let (from, to) = (
                self.layout.ops[edge.from].rect,
                self.layout.ops[edge.to].rect,
            );
            let offset = inside.graph.links[edge.link].lower_offset;
            let mut points = vec![Point::new(from.center().x, from.bottom())];
            points.extend(self.inner_trail(kernel, x, gap_y, edge.link));
            points.push(Point::new(to.center().x + offset, to.y));
            self.layout.edges.push(Edge {
                tensor: edge.tensor,
                from: EdgeEnd::Op(edge.from),
                to: EdgeEnd::Op(edge.to),
                points: straighten(points),
            });
        }
    }

    fn inner_trail(&self, kernel: usize, x: f64, gap_y: &[f64], link: LinkId) -> Vec<Point> {
        let inside = &self.kernel_layouts[kernel];
        let mut trail = inside.routes.trail(&inside.graph, &inside.x, gap_y, link);
        for point in &mut trail {
            point.x += x;
        }
        trail
    }

    fn draw_branches(&mut self, x: &[f64], routes: &Routes, gap: &[f64], inner: &[Vec<f64>]) {
        let mut edges = Vec::new();
        for branch in &self.branches {
            let mut start = Vec::new();
            match branch.from {
                EdgeEnd::Op(op) => {
                    let kernel = self.partition.group_of[op];
                    let rect = self.layout.ops[op].rect;
                    start.push(Point::new(rect.center().x, rect.bottom()));
                    if let Some(exit) = self.kernel_layouts[kernel].exits.iter().find(|e| e.0 == op)
                    {
                        let x = x[self.kernel_node[kernel]];
                        start.extend(self.inner_trail(kernel, x, &inner[kernel], exit.2));
                    }
                }
                EdgeEnd::Pill(pill) => {
                    let rect = self.layout.pills[pill].rect;
                    start.push(Point::new(rect.center().x, rect.bottom()));
                }
            }
            start.extend(routes.trail(&self.outer, x, gap, branch.link));
            let link = &self.outer.links[branch.link];
            let end_x = x[link.lower] + link.lower_offset;
            let mut edge = |to: OpId, end: Vec<Point>| {
                edges.push(Edge {
                    tensor: branch.tensor,
                    from: branch.from,
                    to: EdgeEnd::Op(to),
                    points: straighten(start.iter().copied().chain(end).collect()),
                });
            };
            match branch.port {
                Port::Top(op) => edge(op, vec![Point::new(end_x, self.layout.ops[op].rect.y)]),
                Port::Through(entry) => {
                    let inside = &self.kernel_layouts[branch.kernel];
                    let (_, op, _, link) = inside.entries[entry];
                    let middle = x[self.kernel_node[branch.kernel]];
                    let mut end = vec![Point::new(end_x, self.layout.panels[branch.kernel].y)];
                    end.extend(self.inner_trail(
                        branch.kernel,
                        middle,
                        &inner[branch.kernel],
                        link,
                    ));
                    let rect = self.layout.ops[op].rect;
                    let offset = inside.graph.links[link].lower_offset;
                    end.push(Point::new(rect.center().x + offset, rect.y));
                    edge(op, end);
                }
                Port::Beside => {
                    for side in [Side::Left, Side::Right] {
                        let lanes = &self.sides[branch.kernel].lanes[side as usize];
                        let Some(index) = lanes.iter().position(|l| l.link == branch.link) else {
                            continue;
                        };
                        for &(_, op) in &lanes[index].enters {
                            let rect = self.layout.ops[op].rect;
                            let y = self.entry_height(branch.kernel, op, side, index);
                            let edge_x = match side {
                                Side::Left => rect.x,
                                Side::Right => rect.right(),
                            };
                            edge(op, vec![Point::new(end_x, y), Point::new(edge_x, y)]);
                        }
                    }
                }
            }
        }
        self.layout.edges.extend(edges);
    }

    /// Height at which lane `index` of a side enters `op`.
    fn entry_height(&self, kernel: usize, op: OpId, side: Side, index: usize) -> f64 {
        let middle = self.layout.ops[op].rect.center().y;
        let offset = self.sides[kernel].stacks(op).and_then(|stacks| {
            let stack = &stacks[side as usize];
            let nth = stack.lanes.iter().position(|&l| l == index)?;
            stack.middles().0.get(nth).copied()
        });
        middle + offset.unwrap_or(0.0)
    }
}
