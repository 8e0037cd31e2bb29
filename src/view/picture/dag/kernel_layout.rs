//! The inside of one kernel: ops in rows, each as close to its consumers as possible.

use super::columns::columns;
use super::layered::{LayerId, Layered, LinkId, NodeId, NodePositions};
use super::metrics::{
    APPROACH, LANE_GAP, OP_GAP, PANEL_PADDING, PILL_HEIGHT, SIZE_LABEL_HEIGHT, SIZE_LABEL_MARGIN,
    TRACK_GAP,
};
use super::routes::{Routes, routes};
use super::side::{OpenSides, Side};
use fuseline_core::model::ids::define_ids;
use fuseline_core::{Graph, IdVec, KernelId, OpId, Partition, TensorId};

define_ids! {
    /// A row of ops in a kernel, counted from the top.
    pub(super) struct RowId;
    /// A [`PanelEntry`] of a kernel.
    pub(super) struct EntryId;
}

impl RowId {
    /// The layer of [`KernelLayout::graph`] that holds its ops. The space below the row has the
    /// same id.
    pub(super) const fn layer(self) -> LayerId {
        LayerId::new(self.index() + 1)
    }
}

/// Height of the space between two rows: a size label and its margins.
const ROW_GAP: f64 = SIZE_LABEL_HEIGHT + 2.0 * SIZE_LABEL_MARGIN;

/// How an edge from outside reaches an op of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EdgeApproach {
    /// From above: the op is in the first row.
    #[default]
    Top,
    /// From one side of the panel, or from either.
    Side(Option<Side>),
    /// Down through the panel: the op is between others.
    Through,
}

/// The position of an op in its kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpPosition {
    pub(super) row: RowId,
    /// Its node in [`KernelLayout::graph`].
    pub(super) node: NodeId,
    /// How edges from outside reach it.
    pub(super) approach: EdgeApproach,
    /// Its centre, from the centre of the panel.
    pub(super) x: f64,
}

/// The edge of a tensor between two ops of one kernel.
pub(super) struct InnerEdge {
    pub(super) tensor: TensorId,
    pub(super) from: OpId,
    pub(super) to: OpId,
    pub(super) link: LinkId,
}

/// The way of a tensor from the panel's upper side to an op that is between others.
pub(super) struct PanelEntry {
    pub(super) tensor: TensorId,
    pub(super) op: OpId,
    /// Where it enters the panel.
    pub(super) top: NodeId,
    pub(super) link: LinkId,
}

/// The way of a tensor from an op that is not in the last row to the panel's lower side.
pub(super) struct Exit {
    pub(super) op: OpId,
    /// Where it leaves the panel.
    pub(super) bottom: NodeId,
    pub(super) link: LinkId,
}

/// The inside of a kernel. Positions are relative to the centre of its panel.
pub(super) struct KernelLayout {
    /// Ops in layers 1 to `rows`; entries start in layer 0 and exits end in layer `rows + 1`.
    pub(super) graph: Layered,
    /// Anchors of the nodes.
    pub(super) x: IdVec<NodeId, f64>,
    pub(super) routes: Routes,
    pub(super) rows: usize,
    /// Half the width of the panel.
    pub(super) half: f64,
    pub(super) edges: Vec<InnerEdge>,
    /// Sorted by op.
    pub(super) entries: IdVec<EntryId, PanelEntry>,
    exits: Vec<Exit>,
    /// Whether an op of the layer writes a result of the program.
    has_result: IdVec<LayerId, bool>,
}

impl KernelLayout {
    /// The way out of the panel of an op's output; `None` for an op of the last row.
    pub(super) fn exit(&self, op: OpId) -> Option<&Exit> {
        self.exits.iter().find(|exit| exit.op == op)
    }

    /// The entry of a tensor on its way to an op.
    pub(super) fn entry(&self, op: OpId, tensor: TensorId) -> Option<EntryId> {
        let first = self.entries.as_slice().partition_point(|e| e.op < op);
        let mut entries = (self.entries.iter_enumerated().skip(first)).take_while(|e| e.1.op == op);
        entries.find_map(|(id, entry)| (entry.tensor == tensor).then_some(id))
    }

    /// Height of the space below a layer: for runs, and for size labels between rows.
    pub(super) fn gap(&self, layer: LayerId) -> f64 {
        match self.routes.count.get(layer).copied().unwrap_or(0) {
            0 if self.is_at_border(layer) => PANEL_PADDING,
            0 => self.row_gap(layer),
            tracks => self.first_track(layer) + (tracks - 1) as f64 * TRACK_GAP + APPROACH,
        }
    }

    /// Whether the space below a layer is between the first or last row and the panel's border.
    fn is_at_border(&self, layer: LayerId) -> bool {
        layer.index() == 0 || layer.index() == self.rows
    }

    /// From the start of the space below a layer to its first run.
    pub(super) fn first_track(&self, layer: LayerId) -> f64 {
        if self.is_at_border(layer) {
            PANEL_PADDING
        } else {
            self.row_gap(layer) + TRACK_GAP / 2.0
        }
    }

    /// Height of what stands below the outputs of a row: size labels, or the taller pill of a
    /// result that the kernel reads itself.
    fn row_gap(&self, layer: LayerId) -> f64 {
        match self.has_result.get(layer) {
            Some(true) => ROW_GAP + APPROACH + PILL_HEIGHT - SIZE_LABEL_HEIGHT,
            _ => ROW_GAP,
        }
    }
}

/// Lays out the ops of one kernel, and sets their positions.
pub(super) fn kernel_layout(
    graph: &Graph,
    partition: &Partition,
    kernel: KernelId,
    op_width: f64,
    positions: &mut IdVec<OpId, OpPosition>,
) -> KernelLayout {
    let members = &partition.kernels[kernel];
    let is_inside = |op: OpId| partition.kernel_of[op] == kernel;

    let ops_in_row = assign_rows(graph, partition, kernel, positions);
    let rows = ops_in_row.len();
    let mut layered = Layered::new(rows + 2);
    for &op in members {
        let position = &mut positions[op];
        let row = position.row;
        position.node = layered.add_node(row.layer(), op_width / 2.0, op_width / 2.0);
        position.approach = match (row.index(), ops_in_row[row]) {
            (0, _) => EdgeApproach::Top,
            // Each of two boxes in a row has a side of the panel that no box is in the way of.
            (_, 1 | 2) => EdgeApproach::Side(None),
            _ => EdgeApproach::Through,
        };
    }
    let mut edges = Vec::new();
    let mut entries = IdVec::new();
    let mut exits = Vec::new();
    let mut has_result = IdVec::from_elem(false, rows + 1);
    for &op in members {
        let OpPosition {
            row,
            node,
            approach,
            ..
        } = positions[op];
        has_result[row.layer()] |= graph.is_final(graph.output[op]);
        let consumers = &graph.successors[op];
        let is_below = |&&to: &&OpId| is_inside(to) && positions[to].row > row;
        // Only from the last row does an output get out straight down.
        let leaves_early = row.index() + 1 < rows && !consumers.iter().all(|&to| is_inside(to));
        if leaves_early || consumers.iter().any(|to| is_below(&to)) {
            let net = layered.add_net(node);
            edges.extend(consumers.iter().filter(is_below).map(|&to| InnerEdge {
                tensor: graph.output[op],
                from: op,
                to,
                link: layered.add_target(net, positions[to].node),
            }));
            if leaves_early {
                let bottom = layered.add_node(LayerId::new(rows + 1), 0.0, 0.0);
                let link = layered.add_target(net, bottom);
                exits.push(Exit { op, bottom, link });
            }
        }
        if approach == EdgeApproach::Through {
            for tensor in graph.distinct_inputs(op) {
                let producer = graph.tensors[tensor].producer;
                if producer.is_none_or(|p| !is_inside(p)) {
                    let top = layered.add_node(LayerId::new(0), 0.0, 0.0);
                    let net = layered.add_net(top);
                    entries.push(PanelEntry {
                        tensor,
                        op,
                        top,
                        link: layered.add_target(net, node),
                    });
                }
            }
        }
    }

    layered.order();
    let place = layered.places();
    for &op in members {
        let position = &mut positions[op];
        let links = layered.above(position.node).to_vec();
        spread_links(&mut layered, &place, links, 0.0, op_width);
        // Not earlier, because the order decides on which side of a box a lane runs.
        if position.approach == EdgeApproach::Side(None) {
            position.approach = EdgeApproach::Side(open_sides(&layered, position.node).only());
        }
    }
    let mut x = columns(&layered, OP_GAP);
    let mut width: f64 = 0.0;
    for (node, x) in layered.nodes.iter().zip(&x) {
        let lane_room = if node.right > 0.0 {
            0.0
        } else {
            LANE_GAP / 2.0
        };
        width = width.max(x + node.right + lane_room);
    }
    for x in &mut x {
        *x -= width / 2.0;
    }
    for &op in members {
        positions[op].x = x[positions[op].node];
    }
    KernelLayout {
        routes: routes(&layered, &x),
        graph: layered,
        x,
        rows,
        half: width / 2.0 + PANEL_PADDING,
        edges,
        entries,
        exits,
        has_result,
    }
}

/// Sets the row of each op of a kernel, as low as its readers in the kernel let it be. Returns the
/// number of ops in each row.
fn assign_rows(
    graph: &Graph,
    partition: &Partition,
    kernel: KernelId,
    positions: &mut IdVec<OpId, OpPosition>,
) -> IdVec<RowId, usize> {
    let members = &partition.kernels[kernel];
    // Counted from the last row at first, because readers come first: members are in execution
    // order.
    let mut rows = 1;
    for &op in members.iter().rev() {
        let readers = graph.successors[op].iter();
        let inside = readers.filter(|&&reader| partition.kernel_of[reader] == kernel);
        let below = inside.map(|&reader| positions[reader].row.index() + 1);
        let row = below.max().unwrap_or(0);
        positions[op].row = RowId::new(row);
        rows = rows.max(row + 1);
    }
    let mut ops_in_row = IdVec::from_elem(0, rows);
    for &op in members {
        let row = RowId::new(rows - 1 - positions[op].row.index());
        positions[op].row = row;
        ops_in_row[row] += 1;
    }
    ops_in_row
}

/// Spreads links that reach a node from above over a box of this width around `middle`, the
/// heaviest in the middle.
pub(super) fn spread_links(
    graph: &mut Layered,
    place: &NodePositions,
    mut links: Vec<LinkId>,
    middle: f64,
    width: f64,
) {
    let heaviest = graph.heaviest(&links);
    links.sort_by(|&a, &b| {
        let (a, b) = (&graph.links[a], &graph.links[b]);
        (place[a.upper].cmp(&place[b.upper])).then(a.upper_offset.total_cmp(&b.upper_offset))
    });
    let last = links.len().saturating_sub(1) as f64;
    let rank = heaviest.and_then(|heaviest| links.iter().position(|&l| l == heaviest));
    let center = rank.map_or(last / 2.0, |rank| rank as f64);
    // The side with more links decides about the spacing, or its last ones would miss the box.
    let reach = center.max(last - center).max(1.0);
    let spacing = 24.0_f64.min((width / 2.0 - 10.0) / reach);
    for (rank, link) in links.into_iter().enumerate() {
        graph.links[link].lower_offset = middle + (rank as f64 - center) * spacing;
    }
}

/// From which sides of the panel a box can be reached without running through another box. The only
/// box of a row is reached from the side that no lane is on.
pub(super) fn open_sides(graph: &Layered, node: NodeId) -> OpenSides {
    let row = &graph.layers[graph.nodes[node].layer];
    let mut boxes = row.iter().filter(|&&n| !graph.nodes[n].is_lane);
    let (first, last) = (boxes.clone().next(), boxes.next_back());
    match (first == Some(&node), last == Some(&node)) {
        (false, false) => OpenSides::Neither,
        (true, false) => OpenSides::One(Side::Left),
        (false, true) => OpenSides::One(Side::Right),
        (true, true) => match (row.first() == Some(&node), row.last() == Some(&node)) {
            (true, false) => OpenSides::One(Side::Left),
            (false, true) => OpenSides::One(Side::Right),
            _ => OpenSides::Both,
        },
    }
}
