//! Kernels and pills in layers, and the whole picture from them.
#![allow(
    clippy::indexing_slicing,
    reason = "op, kernel, tensor and node ids are dense indices of one graph"
)]

use super::columns::columns;
use super::kernel::{Access, Inside, Seat, inside, open_side, spread_links};
use super::layered::{Layered, LinkId, NodeId};
use super::metrics::{
    APPROACH, BOLD, CHIP_MARGIN, CHIP_SIZE, FONT_PX, LABEL_GAP, LANE_GAP, MARGIN, OP_HEIGHT,
    OP_PADDING, OP_WIDTHS, PANEL_GAP, PILL_GAP, PILL_HEIGHT, PILL_WIDTHS, TRACK_GAP, fit_text,
    reserved_shape_width, text_width,
};
use super::routes::{Routes, routes, straighten};
use super::sides::{Lane, Side, SidePill, Sides};
use super::{DagLayout, Edge, EdgeEnd, OpBox, Pill, PillKind, Point, Rect};
use crate::core::{Graph, Op, OpId, Partition, Tensor, TensorId, TensorRole};

/// Layers over which one pill serves several readers; farther apart each reader gets its own.
const SHARED_PILL_LAYERS: usize = 12;
/// Readers that share one pill.
const SHARED_PILL_READERS: usize = 3;
/// Pills beside one op; the last one stands for all that are left.
const PILLS_PER_OP: usize = 6;

/// How a net reaches a kernel.
enum Pin {
    /// An op of the first row, from above.
    Top(OpId),
    /// Ops beside which it comes down.
    Beside,
    /// By this entry of the kernel.
    Through(usize),
}

/// One branch of a net.
struct Branch {
    tensor: TensorId,
    from: EdgeEnd,
    kernel: usize,
    link: LinkId,
    pin: Pin,
}

struct Picture<'a> {
    graph: &'a Graph,
    partition: &'a Partition,
    op_width: f64,
    seats: Vec<Seat>,
    insides: Vec<Inside>,
    outer: Layered,
    kernel_node: Vec<NodeId>,
    /// Pills that stand in a layer of their own accord, and their nodes.
    pill_nodes: Vec<(usize, NodeId)>,
    branches: Vec<Branch>,
    sides: Vec<Sides>,
    /// For each kernel its pills, before they have sides.
    side_pills: Vec<Vec<SidePill>>,
    /// For each kernel its lanes, before they have sides.
    lanes: Vec<Vec<Lane>>,
    layout: DagLayout,
}

/// Places every op of `graph`, with the ops of each kernel of `partition` in one panel.
///
/// Takes `O(n log n)` time in ops and reads. Sizes have no part in it.
pub fn layout(graph: &Graph, partition: &Partition) -> DagLayout {
    let op_width = op_width(graph);
    let seat = Seat {
        row: 0,
        node: 0,
        access: Access::Top,
        x: 0.0,
    };
    let mut seats = vec![seat; graph.ops.len()];
    let kernels = partition.groups.len();
    let insides = (0..kernels)
        .map(|group| inside(graph, partition, group, op_width, &mut seats))
        .collect();
    let mut picture = Picture {
        graph,
        partition,
        op_width,
        seats,
        insides,
        outer: Layered::default(),
        kernel_node: Vec::with_capacity(kernels),
        pill_nodes: Vec::new(),
        branches: Vec::new(),
        sides: Vec::with_capacity(kernels),
        side_pills: vec![Vec::new(); kernels],
        lanes: vec![Vec::new(); kernels],
        layout: DagLayout {
            ops: op_boxes(graph, op_width),
            ..DagLayout::default()
        },
    };
    picture.join();
    picture.outer.order();
    picture.take_sides();
    picture.pin();
    let mut x = columns(&picture.outer, PANEL_GAP);
    for x in &mut x {
        *x += MARGIN;
    }
    picture.slide_lanes(&x);
    let routes = routes(&picture.outer, &x);
    picture.draw(&x, &routes);
    picture.layout
}

/// Whether [`layout`] gives the same for both: it need not be asked again when only sizes differ.
pub fn has_same_picture(a: (&Graph, &Partition), b: (&Graph, &Partition)) -> bool {
    let same_op = |(a, b): (&Op, &Op)| {
        title(a) == title(b) && a.name == b.name && a.shape.len() == b.shape.len()
    };
    let same_tensor = |(a, b): (&Tensor, &Tensor)| {
        a.name == b.name && a.role == b.role && a.producer == b.producer
    };
    a.1 == b.1
        && a.0.ops.len() == b.0.ops.len()
        && a.0.inputs == b.0.inputs
        && a.0.tensors.len() == b.0.tensors.len()
        && a.0.ops.iter().zip(&b.0.ops).all(same_op)
        && a.0.tensors.iter().zip(&b.0.tensors).all(same_tensor)
}

/// What the upper line of an op's box says: its function in bold, and its name where that says more.
fn title(op: &Op) -> (&str, &str) {
    let function = op.function.as_deref().unwrap_or(op.op_type.name());
    let label = if op.name == function { "" } else { &op.name };
    (function, label)
}

/// One width for all boxes: a picture of equal boxes is a calm one.
fn op_width(graph: &Graph) -> f64 {
    let needed = graph.ops.iter().map(|op| {
        let (function, label) = title(op);
        let title =
            text_width(function, BOLD * FONT_PX.0) + LABEL_GAP + text_width(label, FONT_PX.1);
        title.max(reserved_shape_width(op.shape.len())) + 2.0 * OP_PADDING
    });
    let widest = needed.fold(OP_WIDTHS.0, f64::max).min(OP_WIDTHS.1);
    (widest / 4.0).ceil() * 4.0
}

fn op_boxes(graph: &Graph, width: f64) -> Vec<OpBox> {
    let room = width - 2.0 * OP_PADDING;
    graph
        .ops
        .iter()
        .map(|op| {
            let (function, label) = title(op);
            let function = fit_text(function, room, BOLD * FONT_PX.0);
            let rest = room - text_width(&function, BOLD * FONT_PX.0) - LABEL_GAP;
            OpBox {
                rect: Rect::default(),
                label: if rest > 2.0 * FONT_PX.1 {
                    fit_text(label, rest, FONT_PX.1)
                } else {
                    String::new()
                },
                function,
            }
        })
        .collect()
}

/// Layers of the kernels, from 1: below all producers, and sources as low as their readers let them.
fn kernel_layers(graph: &Graph, partition: &Partition) -> Vec<usize> {
    let mut layers = vec![1_usize; partition.groups.len()];
    for (group, members) in partition.groups.iter().enumerate() {
        for &op in members {
            for &producer in &graph.predecessors[op] {
                let from = partition.group_of[producer];
                if from < group {
                    layers[group] = layers[group].max(layers[from] + 1);
                }
            }
        }
    }
    // Deepest layer in which each tensor is read: lowering a kernel lengthens the lane of what it reads last.
    let mut deepest = vec![0_usize; graph.tensors.len()];
    for (tensor, consumers) in graph.consumers.iter().enumerate() {
        let readers = consumers.iter().map(|&c| layers[partition.group_of[c]]);
        deepest[tensor] = readers.max().unwrap_or(0);
    }
    for (group, members) in partition.groups.iter().enumerate().rev() {
        let readers = members
            .iter()
            .flat_map(|&op| graph.successors[op].iter())
            .map(|&reader| partition.group_of[reader])
            .filter(|&reader| reader > group);
        let Some(lowest) = readers.map(|reader| layers[reader] - 1).min() else {
            continue;
        };
        let lengthens = members.iter().any(|&op| {
            graph.inputs[op].iter().any(|&t| {
                let producer = graph.tensors[t].producer;
                producer.is_some_and(|p| partition.group_of[p] != group) && deepest[t] < lowest
            })
        });
        if lowest > layers[group] && !lengthens {
            layers[group] = lowest;
        }
    }
    layers
}

impl Picture<'_> {
    /// Builds the layers of kernels and pills and all nets between them.
    fn join(&mut self) {
        let layers = kernel_layers(self.graph, self.partition);
        let count = layers.iter().max().map_or(0, |l| l + 1);
        self.outer = Layered::new(count);
        for (&layer, inside) in layers.iter().zip(&self.insides) {
            self.kernel_node
                .push(self.outer.add_node(layer, inside.half, inside.half));
        }
        let mut pills_beside = vec![0_usize; self.graph.ops.len()];
        for tensor in 0..self.graph.tensors.len() {
            let known = &self.graph.tensors[tensor];
            match known.producer {
                Some(op) => {
                    let kernel = self.partition.group_of[op];
                    let readers: Vec<OpId> = self.graph.consumers[tensor]
                        .iter()
                        .copied()
                        .filter(|&c| layers[self.partition.group_of[c]] > layers[kernel])
                        .collect();
                    self.add_net(tensor, EdgeEnd::Op(op), self.kernel_node[kernel], &readers);
                }
                None => self.add_external(tensor, &layers, &mut pills_beside),
            }
        }
    }

    /// Gives an external tensor its pills: one above its readers, or one beside each.
    fn add_external(&mut self, tensor: TensorId, layers: &[usize], pills_beside: &mut [usize]) {
        let known = &self.graph.tensors[tensor];
        let readers = self.graph.consumers[tensor].to_vec();
        let layer_of = |&op: &OpId| layers[self.partition.group_of[op]];
        let first = readers.iter().map(layer_of).min().unwrap_or(1);
        let last = readers.iter().map(layer_of).max().unwrap_or(1);
        if known.role == TensorRole::Input
            && (2..=SHARED_PILL_READERS).contains(&readers.len())
            && last - first <= SHARED_PILL_LAYERS
        {
            self.add_pill_above(tensor, first - 1, &readers);
            return;
        }
        for op in readers {
            let seat = self.seats[op];
            let leads = known.role == TensorRole::Input
                && self.graph.predecessors[op].is_empty()
                && self.graph.inputs[op].first() == Some(&tensor);
            let above = layers[self.partition.group_of[op]] - 1;
            match seat.access {
                Access::Top if leads => self.add_pill_above(tensor, above, &[op]),
                Access::Through => self.add_pill_above(tensor, above, &[op]),
                Access::Top if self.open_side(op).is_none() => {
                    self.add_pill_above(tensor, above, &[op])
                }
                Access::Top | Access::Side(_) => {
                    self.add_pill_beside(tensor, op, &mut pills_beside[op]);
                }
            }
        }
    }

    /// From which side of its panel the op can be reached.
    fn open_side(&self, op: OpId) -> Option<Option<Side>> {
        let inside = &self.insides[self.partition.group_of[op]];
        open_side(&inside.graph, self.seats[op].node)
    }

    fn new_pill(&mut self, tensor: TensorId, kind: PillKind) -> usize {
        let name = &self.graph.tensors[tensor].name;
        let room = PILL_WIDTHS.1 - 2.0 * OP_PADDING;
        let text = fit_text(name, room, FONT_PX.1);
        let width = (text_width(&text, FONT_PX.1) + 2.0 * OP_PADDING)
            .clamp(PILL_WIDTHS.0, PILL_WIDTHS.1)
            .ceil();
        self.layout.pills.push(Pill {
            tensors: vec![tensor],
            kind,
            rect: Rect {
                x: 0.0,
                y: 0.0,
                width,
                height: PILL_HEIGHT,
            },
            text,
        });
        self.layout.pills.len() - 1
    }

    fn external_kind(&self, tensor: TensorId) -> PillKind {
        match self.graph.tensors[tensor].role {
            TensorRole::Input => PillKind::Input,
            TensorRole::Weight => PillKind::Weight,
        }
    }

    fn add_pill_above(&mut self, tensor: TensorId, layer: usize, readers: &[OpId]) {
        let pill = self.new_pill(tensor, self.external_kind(tensor));
        let half = self.layout.pills[pill].rect.width / 2.0;
        let node = self.outer.add_node(layer, half, half);
        self.pill_nodes.push((pill, node));
        self.add_net(tensor, EdgeEnd::Pill(pill), node, readers);
    }

    fn add_pill_beside(&mut self, tensor: TensorId, op: OpId, count: &mut usize) {
        let kernel = self.partition.group_of[op];
        *count += 1;
        if *count > PILLS_PER_OP
            && let Some(last) = self.side_pills[kernel].iter().rfind(|p| p.op == op)
        {
            let pill = &mut self.layout.pills[last.pill];
            pill.tensors.push(tensor);
            pill.text = format!("{} more", pill.tensors.len());
            return;
        }
        let pill = self.new_pill(tensor, self.external_kind(tensor));
        let wants = self.open_side(op).flatten();
        self.side_pills[kernel].push(SidePill {
            pill,
            op,
            width: self.layout.pills[pill].rect.width,
            wants,
        });
    }

    /// Joins a source with all ops that read it, in each kernel as its rows want it.
    fn add_net(&mut self, tensor: TensorId, from: EdgeEnd, source: NodeId, readers: &[OpId]) {
        let mut targets = Vec::new();
        let mut pins: Vec<(usize, Pin)> = Vec::new();
        // Readers of one kernel need not follow each other in the list.
        let mut by_kernel: Vec<(usize, OpId)> = readers
            .iter()
            .map(|&op| (self.partition.group_of[op], op))
            .collect();
        by_kernel.sort_unstable();
        for readers in by_kernel.chunk_by(|a, b| a.0 == b.0) {
            let kernel = readers[0].0;
            let mut beside: Vec<(Option<Side>, Vec<(usize, OpId)>)> = Vec::new();
            for &(_, op) in readers {
                match self.seats[op].access {
                    Access::Top => {
                        targets.push(self.kernel_node[kernel]);
                        pins.push((kernel, Pin::Top(op)));
                    }
                    Access::Through => {
                        let entries = &self.insides[kernel].entries;
                        let entry = entries.partition_point(|e| (e.1, e.0) < (op, 0));
                        let own = entries[entry..].iter().take_while(|e| e.1 == op);
                        if let Some(nth) = own.map(|e| e.0).position(|t| t == tensor) {
                            targets.push(self.kernel_node[kernel]);
                            pins.push((kernel, Pin::Through(entry + nth)));
                        }
                    }
                    Access::Side(side) => {
                        let enter = (self.seats[op].row, op);
                        match beside.iter_mut().find(|b| b.0 == side || side.is_none()) {
                            Some(lane) => lane.1.push(enter),
                            None => beside.push((side, vec![enter])),
                        }
                    }
                }
            }
            for (side, mut enters) in beside {
                enters.sort_unstable();
                self.lanes[kernel].push(Lane {
                    link: usize::MAX,
                    enters,
                    wants: side,
                    prefers: Side::Right,
                });
                targets.push(self.kernel_node[kernel]);
                pins.push((kernel, Pin::Beside));
            }
        }
        if targets.is_empty() {
            return;
        }
        let links = self.outer.add_net(source, &targets);
        for (link, (kernel, pin)) in links.into_iter().zip(pins) {
            if matches!(pin, Pin::Beside)
                && let Some(lane) = self.lanes[kernel].iter_mut().find(|l| l.link == usize::MAX)
            {
                lane.link = link;
                self.outer.links[link].is_beside = true;
            }
            self.branches.push(Branch {
                tensor,
                from,
                kernel,
                link,
                pin,
            });
        }
    }

    /// Decides on which side of its panel each lane and pill stands, and so how much room a kernel takes.
    fn take_sides(&mut self) {
        let place = self.outer.places();
        let mut top_links: Vec<Vec<LinkId>> = vec![Vec::new(); self.insides.len()];
        for branch in &self.branches {
            if !matches!(branch.pin, Pin::Beside) {
                top_links[branch.kernel].push(branch.link);
            }
        }
        for kernel in 0..self.insides.len() {
            let from = |&link: &LinkId| place[self.outer.links[link].upper];
            let first = top_links[kernel].iter().map(from).min();
            let mut lanes = std::mem::take(&mut self.lanes[kernel]);
            for lane in &mut lanes {
                if first.is_some_and(|first| from(&lane.link) < first) {
                    lane.prefers = Side::Left;
                }
            }
            let sides = Sides::new(lanes, &self.side_pills[kernel]);
            let node = &mut self.outer.nodes[self.kernel_node[kernel]];
            node.left = self.insides[kernel].half + sides.room(Side::Left);
            node.right = self.insides[kernel].half + sides.room(Side::Right);
            self.sides.push(sides);
        }
    }

    /// Says where on its node each link starts and ends.
    fn pin(&mut self) {
        for branch in &self.branches {
            if let EdgeEnd::Op(op) = branch.from {
                let kernel = self.partition.group_of[op];
                let inside = &self.insides[kernel];
                let exit = inside.exits.iter().find(|e| e.0 == op);
                let offset = exit.map_or(self.seats[op].x, |e| inside.x[e.1]);
                let net = self.outer.links[branch.link].net;
                self.outer.nets[net].source_offset = offset;
            }
        }
        self.outer.start_links();
        let place = self.outer.places();
        let mut tops: Vec<(OpId, LinkId)> = Vec::new();
        for branch in &self.branches {
            match branch.pin {
                Pin::Top(op) => tops.push((op, branch.link)),
                Pin::Through(entry) => {
                    let inside = &self.insides[branch.kernel];
                    self.outer.links[branch.link].lower_offset = inside.x[inside.entries[entry].2];
                }
                Pin::Beside => {}
            }
        }
        tops.sort_unstable();
        for links in tops.chunk_by(|a, b| a.0 == b.0) {
            let middle = self.seats[links[0].0].x;
            let links = links.iter().map(|l| l.1).collect();
            spread_links(&mut self.outer, &place, links, middle, self.op_width);
        }
        for (kernel, sides) in self.sides.iter().enumerate() {
            for side in [Side::Left, Side::Right] {
                for (index, lane) in sides.lanes[side as usize].iter().enumerate() {
                    self.outer.links[lane.link].lower_offset = side.sign()
                        * (self.insides[kernel].half + sides.lane_distance(side, index));
                }
            }
        }
    }

    /// Moves lanes beside panels outwards to where they come from, as far as nothing else stands there: so they
    /// come down without a bend.
    fn slide_lanes(&mut self, x: &[f64]) {
        let place = self.outer.places();
        for (kernel, sides) in self.sides.iter().enumerate() {
            let node = self.kernel_node[kernel];
            let layer = &self.outer.layers[self.outer.nodes[node].layer];
            for side in [Side::Left, Side::Right] {
                let neighbour = match side {
                    Side::Left => place[node].checked_sub(1),
                    Side::Right => Some(place[node] + 1),
                };
                let neighbour = neighbour.and_then(|n| layer.get(n)).copied();
                let mut limit = neighbour.map_or(f64::INFINITY, |other| {
                    let near = match side {
                        Side::Left => x[other] + self.outer.nodes[other].right,
                        Side::Right => x[other] - self.outer.nodes[other].left,
                    };
                    side.sign() * (near - x[node]) - LANE_GAP
                });
                if neighbour.is_none() && side == Side::Left {
                    limit = x[node] - MARGIN;
                }
                for lane in sides.lanes[side as usize].iter().rev() {
                    let link = &self.outer.links[lane.link];
                    if self.outer.nodes[link.upper].is_outside {
                        limit = side.sign() * link.lower_offset - LANE_GAP;
                        continue;
                    }
                    let from = x[link.upper] + link.upper_offset - x[node];
                    let own = side.sign() * link.lower_offset;
                    let wish = (side.sign() * from).min(limit).max(own);
                    // Half a way there would only be another bend.
                    let wish = if wish < side.sign() * from { own } else { wish };
                    self.outer.links[lane.link].lower_offset = side.sign() * wish;
                    limit = wish - LANE_GAP;
                }
            }
        }
    }

    fn draw(&mut self, x: &[f64], routes: &Routes) {
        let Heights { top, bottom, gap } = self.heights(routes);
        let end = bottom.last().copied().unwrap_or(MARGIN);
        self.layout.panels = vec![Rect::default(); self.insides.len()];
        self.layout.chips = vec![None; self.graph.ops.len()];
        for &(pill, node) in &self.pill_nodes {
            let layer = self.outer.nodes[node].layer;
            let rect = &mut self.layout.pills[pill].rect;
            rect.x = x[node] - rect.width / 2.0;
            // A source stands next to what it feeds, however tall its neighbours are.
            rect.y = bottom[layer] - CHIP_MARGIN - PILL_HEIGHT;
        }
        let mut inner_gaps = Vec::with_capacity(self.insides.len());
        for kernel in 0..self.insides.len() {
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
        self.layout.edges.sort_by_key(|edge| {
            let key = |end| match end {
                EdgeEnd::Op(op) => (0, op),
                EdgeEnd::Pill(pill) => (1, pill),
            };
            (key(edge.from), key(edge.to))
        });
    }

    /// Heights of one row of a kernel: the tallest op or stack in it.
    fn row_heights(&self, kernel: usize) -> Vec<f64> {
        let mut heights = vec![OP_HEIGHT; self.insides[kernel].rows];
        for &op in &self.partition.groups[kernel] {
            if let Some(stacks) = self.sides[kernel].stacks(op) {
                let height = &mut heights[self.seats[op].row];
                for stack in stacks {
                    *height = height.max(stack.height()).max(stack.op_height());
                }
            }
        }
        heights
    }

    fn kernel_height(&self, kernel: usize) -> f64 {
        let inside = &self.insides[kernel];
        let rows: f64 = self.row_heights(kernel).iter().sum();
        let gaps: f64 = (0..=inside.rows).map(|layer| inside.gap(layer)).sum();
        rows + gaps
    }

    /// Room below a kernel for the chips or the result of its last row.
    fn room_below(&self, kernel: usize) -> f64 {
        let members = &self.partition.groups[kernel];
        let is_result = members
            .iter()
            .any(|&op| self.graph.is_final(self.graph.output[op]));
        CHIP_MARGIN
            + if is_result {
                APPROACH + PILL_HEIGHT
            } else {
                CHIP_SIZE.1 + CHIP_MARGIN
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
            *height = height.max(PILL_HEIGHT + CHIP_MARGIN);
        }
        let mut heights = Heights::default();
        let mut y = MARGIN;
        for (layer, &tall) in tallest.iter().enumerate() {
            heights.top.push(y);
            let tracks = routes.count[layer];
            // A trunk is seen to leave its box or chip before it branches.
            let lead = if tracks > 0 { TRACK_GAP / 2.0 } else { 0.0 };
            heights.gap.push(y + tall + lead);
            heights.bottom.push(y + tall);
            if tall > 0.0 {
                y += tall + lead + tracks.saturating_sub(1) as f64 * TRACK_GAP + APPROACH;
            }
        }
        heights
    }

    /// Places the panel, ops, chips and pills of a kernel; gives the height of the first run below each layer.
    fn draw_kernel(&mut self, kernel: usize, x: f64, top: f64) -> Vec<f64> {
        let inside = &self.insides[kernel];
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
            let Seat { row, x: seat_x, .. } = self.seats[op];
            let middle = row_top[row] + heights[row] / 2.0;
            let stacks = self.sides[kernel].stacks(op);
            let height = stacks.map_or(OP_HEIGHT, |[left, right]| {
                left.op_height().max(right.op_height())
            });
            let rect = Rect {
                x: x + seat_x - self.op_width / 2.0,
                y: middle - height / 2.0,
                width: self.op_width,
                height,
            };
            self.layout.ops[op].rect = rect;
            self.draw_output(op, row + 1 == self.insides[kernel].rows, panel);
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

    /// The chip of an op's output, or the pill of a result.
    fn draw_output(&mut self, op: OpId, is_last_row: bool, panel: Rect) {
        let rect = self.layout.ops[op].rect;
        let tensor = self.graph.output[op];
        let x = rect.center().x;
        let y = if is_last_row {
            panel.bottom()
        } else {
            rect.bottom()
        } + CHIP_MARGIN;
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
            self.layout.chips[op] = Some(Rect {
                x: x - CHIP_SIZE.0 / 2.0,
                y,
                width: CHIP_SIZE.0,
                height: CHIP_SIZE.1,
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

    fn inner_trail(&self, kernel: usize, x: f64, gap_y: &[f64], link: LinkId) -> Vec<Point> {
        let inside = &self.insides[kernel];
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
                Pin::Beside => {
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

    /// Height at which lane `index` of a side turns into `op`.
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

/// Vertical positions of the layers.
#[derive(Default)]
struct Heights {
    /// Upper side of the boxes of each layer.
    top: Vec<f64>,
    /// Lower side of each layer, chips included.
    bottom: Vec<f64>,
    /// First run below each layer.
    gap: Vec<f64>,
}
