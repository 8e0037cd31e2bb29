//! Positions to geometry: heights of the layers, then every box, size label, pill and edge.

use super::kernel::{RowId, Seat};
use super::layered::{LayerId, LinkId, NodeId};
use super::layout::{Picture, Pin};
use super::metrics::{
    APPROACH, MARGIN, OP_HEIGHT, PILL_GAP, PILL_HEIGHT, SIZE_LABEL_MARGIN, SIZE_LABEL_PX, TRACK_GAP,
};
use super::routes::{Routes, straighten};
use super::sides::Side;
use super::{Edge, EdgeEnd, PillId, PillKind, Point, Rect};
use crate::core::{IdVec, KernelId, OpId};

/// Vertical positions of the layers.
#[derive(Default)]
struct Heights {
    /// Upper side of the boxes of each layer.
    top: IdVec<LayerId, f64>,
    /// Lower side of each layer, size labels included.
    bottom: IdVec<LayerId, f64>,
    /// First run below each layer.
    gap: IdVec<LayerId, f64>,
}

/// For each kernel the height of the first run below each of its layers.
type InnerGaps = IdVec<KernelId, IdVec<LayerId, f64>>;

impl Picture<'_> {
    pub(super) fn draw(&mut self, x: &IdVec<NodeId, f64>, routes: &Routes) {
        let Heights { top, bottom, gap } = self.heights(routes);
        let end = bottom.iter().next_back().copied().unwrap_or(MARGIN);
        self.layout.panels = IdVec::from_elem(Rect::default(), self.insides.len());
        self.layout.size_labels = IdVec::from_elem(None, self.graph.ops.len());
        for &(pill, node) in &self.pill_nodes {
            let layer = self.outer.nodes[node].layer;
            let rect = &mut self.layout.pills[pill].rect;
            rect.x = x[node] - rect.width / 2.0;
            // A source stands next to what it feeds, however tall its neighbours are.
            rect.y = bottom[layer] - SIZE_LABEL_MARGIN - PILL_HEIGHT;
        }
        let mut inner_gaps: InnerGaps = IdVec::with_capacity(self.insides.len());
        for kernel in self.insides.ids() {
            let node = self.kernel_node[kernel];
            let layer = self.outer.nodes[node].layer;
            inner_gaps.push(self.draw_kernel(kernel, x[node], top[layer]));
        }
        for (kernel, gaps) in inner_gaps.iter_enumerated() {
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
        self.layout.edges.sort_by_key(|edge| (edge.from, edge.to));
    }

    /// Heights of one row of a kernel: the tallest op or stack in it.
    fn row_heights(&self, kernel: KernelId) -> IdVec<RowId, f64> {
        let mut heights = IdVec::from_elem(OP_HEIGHT, self.insides[kernel].rows);
        for &op in &self.partition.kernels[kernel] {
            if let Some(stacks) = self.sides[kernel].stacks(op) {
                let height = &mut heights[self.seats[op].row];
                for stack in [&stacks.left, &stacks.right] {
                    *height = height.max(stack.height()).max(stack.op_height());
                }
            }
        }
        heights
    }

    fn kernel_height(&self, kernel: KernelId) -> f64 {
        let inside = &self.insides[kernel];
        let rows: f64 = self.row_heights(kernel).iter().sum();
        let layers = (0..=inside.rows).map(LayerId::new);
        let gaps: f64 = layers.map(|layer| inside.gap(layer)).sum();
        rows + gaps
    }

    /// Room below a kernel for the size labels or the result of its last row.
    fn room_below(&self, kernel: KernelId) -> f64 {
        let members = &self.partition.kernels[kernel];
        let is_result = members
            .iter()
            .any(|&op| self.graph.is_final(self.graph.output[op]));
        SIZE_LABEL_MARGIN
            + if is_result {
                APPROACH + PILL_HEIGHT
            } else {
                SIZE_LABEL_PX.1 + SIZE_LABEL_MARGIN
            }
    }

    fn heights(&self, routes: &Routes) -> Heights {
        let mut tallest: IdVec<LayerId, f64> = IdVec::from_elem(0.0, self.outer.layers.len());
        for (kernel, &node) in self.kernel_node.iter_enumerated() {
            let height = &mut tallest[self.outer.nodes[node].layer];
            *height = height.max(self.kernel_height(kernel) + self.room_below(kernel));
        }
        for &(_, node) in &self.pill_nodes {
            let height = &mut tallest[self.outer.nodes[node].layer];
            *height = height.max(PILL_HEIGHT + SIZE_LABEL_MARGIN);
        }
        let mut heights = Heights::default();
        let mut y = MARGIN;
        for (layer, &tall) in tallest.iter_enumerated() {
            heights.top.push(y);
            let tracks = routes.count[layer];
            // A trunk is seen to leave its box or size label before it branches.
            let lead = if tracks > 0 { TRACK_GAP / 2.0 } else { 0.0 };
            heights.gap.push(y + tall + lead);
            heights.bottom.push(y + tall);
            if tall > 0.0 {
                y += tall + lead + tracks.saturating_sub(1) as f64 * TRACK_GAP + APPROACH;
            }
        }
        heights
    }

    /// Places the panel, ops, size labels and pills of a kernel; gives the height of the first run below each layer.
    fn draw_kernel(&mut self, kernel: KernelId, x: f64, top: f64) -> IdVec<LayerId, f64> {
        let inside = &self.insides[kernel];
        let heights = self.row_heights(kernel);
        let mut row_top: IdVec<RowId, f64> = IdVec::with_capacity(inside.rows);
        let mut gap_y = IdVec::with_capacity(inside.rows + 1);
        let border = gap_y.push(top + inside.first_track(LayerId::new(0)));
        let mut y = top + inside.gap(border);
        for (row, height) in heights.iter_enumerated() {
            row_top.push(y);
            y += height;
            gap_y.push(y + inside.first_track(row.layer()));
            y += inside.gap(row.layer());
        }
        let panel = Rect {
            x: x - inside.half,
            y: top,
            width: 2.0 * inside.half,
            height: y - top,
        };
        self.layout.panels[kernel] = panel;
        for &op in &self.partition.kernels[kernel] {
            let Seat { row, x: seat_x, .. } = self.seats[op];
            let middle = row_top[row] + heights[row] / 2.0;
            let stacks = self.sides[kernel].stacks(op);
            let height = stacks.map_or(OP_HEIGHT, |stacks| {
                stacks.left.op_height().max(stacks.right.op_height())
            });
            let rect = Rect {
                x: x + seat_x - self.op_width / 2.0,
                y: middle - height / 2.0,
                width: self.op_width,
                height,
            };
            self.layout.ops[op].rect = rect;
            let is_last_row = row.index() + 1 == self.insides[kernel].rows;
            self.draw_output(op, is_last_row, panel);
            for side in Side::BOTH {
                let Some(stacks) = self.sides[kernel].stacks(op) else {
                    break;
                };
                let stack = &stacks[side];
                let (_, middles) = stack.middles();
                for (pill, offset) in stack.pills.clone().into_iter().zip(middles) {
                    self.draw_side_pill(pill, op, side, panel, middle + offset);
                }
            }
        }
        gap_y
    }

    /// The size label of an op's output, or the pill of a result.
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
                x: x - SIZE_LABEL_PX.0 / 2.0,
                y,
                width: SIZE_LABEL_PX.0,
                height: SIZE_LABEL_PX.1,
            });
        }
    }

    fn draw_side_pill(&mut self, pill: PillId, op: OpId, side: Side, panel: Rect, y: f64) {
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

    fn draw_inner_edges(&mut self, kernel: KernelId, x: f64, gap_y: &IdVec<LayerId, f64>) {
        let inside = &self.insides[kernel];
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

    fn inner_trail(
        &self,
        kernel: KernelId,
        x: f64,
        gap_y: &IdVec<LayerId, f64>,
        link: LinkId,
    ) -> Vec<Point> {
        let inside = &self.insides[kernel];
        let mut trail = inside.routes.trail(&inside.graph, &inside.x, gap_y, link);
        for point in &mut trail {
            point.x += x;
        }
        trail
    }

    fn draw_branches(
        &mut self,
        x: &IdVec<NodeId, f64>,
        routes: &Routes,
        gap: &IdVec<LayerId, f64>,
        inner: &InnerGaps,
    ) {
        let mut edges = Vec::new();
        for branch in &self.branches {
            let mut start = Vec::new();
            match branch.from {
                EdgeEnd::Op(op) => {
                    let kernel = self.partition.kernel_of[op];
                    let rect = self.layout.ops[op].rect;
                    start.push(Point::new(rect.center().x, rect.bottom()));
                    if let Some(exit) = self.insides[kernel].exits.iter().find(|e| e.0 == op) {
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
            match branch.pin {
                Pin::Top(op) => edge(op, vec![Point::new(end_x, self.layout.ops[op].rect.y)]),
                Pin::Through(entry) => {
                    let inside = &self.insides[branch.kernel];
                    let (op, link) = (inside.entries[entry].op, inside.entries[entry].link);
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
                Pin::Beside => {
                    for side in Side::BOTH {
                        let mut lanes = self.sides[branch.kernel].lanes[side].iter().enumerate();
                        let own = lanes.find(|(_, lane)| lane.link == branch.link);
                        let Some((index, lane)) = own else {
                            continue;
                        };
                        for &(_, op) in &lane.enters {
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

    /// Height at which lane `index` of a side turns into `op`.
    fn entry_height(&self, kernel: KernelId, op: OpId, side: Side, index: usize) -> f64 {
        let middle = self.layout.ops[op].rect.center().y;
        let offset = self.sides[kernel].stacks(op).and_then(|stacks| {
            let stack = &stacks[side];
            let nth = stack.lanes.iter().position(|&l| l == index)?;
            stack.middles().0.get(nth).copied()
        });
        middle + offset.unwrap_or(0.0)
    }
}
