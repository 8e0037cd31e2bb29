//! Inside one kernel: ops in rows, each as near to its consumer as can be.

use super::columns::columns;
use super::layered::{LayerId, Layered, LinkId, NodeId, Places};
use super::metrics::{
    APPROACH, LANE_GAP, OP_GAP, PANEL_PADDING, SIZE_LABEL_MARGIN, SIZE_LABEL_PX, TRACK_GAP,
};
use super::routes::{Routes, routes};
use super::sides::{OpenSides, Side};
use crate::core::model::ids::define_ids;
use crate::core::{Graph, IdVec, KernelId, OpId, Partition, TensorId};

define_ids! {
    /// A row of ops in a kernel, counted from the top.
    pub(super) struct RowId;
    /// A way down from a panel's upper side to an op between others.
    pub(super) struct EntryId;
}

impl RowId {
    /// The layer of [`Inside::graph`] in which its ops stand, which is also that of the space below it.
    pub(super) const fn layer(self) -> LayerId {
        LayerId::new(self.index() + 1)
    }
}

/// Room between two rows: a size label and its margins.
pub(super) const ROW_GAP: f64 = SIZE_LABEL_PX.1 + 2.0 * SIZE_LABEL_MARGIN;

/// How an edge from outside reaches an op of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Straight from above: the op stands in the first row.
    Top,
    /// From one side of the panel, or from either.
    Side(Option<Side>),
    /// Down through the panel: the op stands between others.
    Through,
}

/// A tensor that stays inside, on its way to one op.
pub(super) struct InnerEdge {
    pub(super) tensor: TensorId,
    pub(super) from: OpId,
    pub(super) to: OpId,
    pub(super) link: LinkId,
}

/// A way down from the panel's upper side to an op between others.
pub(super) struct Entry {
    pub(super) tensor: TensorId,
    pub(super) op: OpId,
    /// Where it comes in.
    pub(super) top: NodeId,
    pub(super) link: LinkId,
}

/// The inside of a kernel. Positions are relative to the middle of its panel.
pub(super) struct Inside {
    /// Ops in layers 1 to `rows`; layers 0 and `rows + 1` hold the ends of ways through the panel.
    pub(super) graph: Layered,
    /// Anchors of the nodes.
    pub(super) x: IdVec<NodeId, f64>,
    pub(super) routes: Routes,
    /// Number of rows.
    pub(super) rows: usize,
    /// Half the width of the panel.
    pub(super) half: f64,
    pub(super) edges: Vec<InnerEdge>,
    /// By op.
    pub(super) entries: IdVec<EntryId, Entry>,
    /// Ways from an op that is not in the last row to the panel's lower side.
    pub(super) exits: Vec<(OpId, NodeId, LinkId)>,
}

/// Where an op stands in its kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    pub(super) row: RowId,
    /// Its node in [`Inside::graph`].
    pub(super) node: NodeId,
    /// How edges from outside reach it.
    pub(super) access: Access,
    /// Its middle, from the middle of the panel.
    pub(super) x: f64,
}

/// Places the ops of one kernel; fills in their seats.
pub(super) fn inside(
    graph: &Graph,
    partition: &Partition,
    kernel: KernelId,
    op_width: f64,
    seats: &mut IdVec<OpId, Seat>,
) -> Inside {
    let members = &partition.kernels[kernel];
    let is_inside = |op: OpId| partition.kernel_of[op] == kernel;

    let in_row = place_in_rows(graph, partition, kernel, seats);
    let rows = in_row.len();
    let mut drawing = Layered::new(rows + 2);
    let (top_layer, bottom_layer) = (LayerId::new(0), LayerId::new(rows + 1));
    for &op in members {
        let row = seats[op].row;
        seats[op].node = drawing.add_node(row.layer(), op_width / 2.0, op_width / 2.0);
        seats[op].access = match (row.index(), in_row[row]) {
            (0, _) => Access::Top,
            (_, 1 | 2) => Access::Side(None),
            _ => Access::Through,
        };
    }
    let mut edges = Vec::new();
    let mut entries = IdVec::new();
    let mut exits = Vec::new();
    for &op in members {
        let tensor = graph.output[op];
        let consumers = &graph.successors[op];
        let mut targets: Vec<OpId> = consumers
            .iter()
            .copied()
            .filter(|&s| is_inside(s))
            .collect();
        targets.retain(|&t| seats[t].row > seats[op].row);
        let is_last_row = seats[op].row.index() + 1 == rows;
        let leaves_early = !is_last_row && consumers.iter().any(|&s| !is_inside(s));
        let mut nodes: Vec<NodeId> = targets.iter().map(|&t| seats[t].node).collect();
        if leaves_early {
            nodes.push(drawing.add_node(bottom_layer, 0.0, 0.0));
        }
        if !nodes.is_empty() {
            let links = drawing.add_net(seats[op].node, &nodes);
            edges.extend(targets.iter().zip(&links).map(|(&to, &link)| InnerEdge {
                tensor,
                from: op,
                to,
                link,
            }));
            if let (true, Some(&node), Some(&link)) = (leaves_early, nodes.last(), links.last()) {
                exits.push((op, node, link));
            }
        }
        if seats[op].access == Access::Through {
            for tensor in graph.distinct_inputs(op) {
                let producer = graph.tensors[tensor].producer;
                if producer.is_none_or(|p| !is_inside(p)) {
                    let top = drawing.add_node(top_layer, 0.0, 0.0);
                    for link in drawing.add_net(top, &[seats[op].node]) {
                        entries.push(Entry {
                            tensor,
                            op,
                            top,
                            link,
                        });
                    }
                }
            }
        }
    }

    drawing.order();
    let place = drawing.places();
    for &op in members {
        let seat = &mut seats[op];
        spread_pins(&mut drawing, &place, seat.node, op_width);
        if seat.access == Access::Side(None) {
            seat.access = Access::Side(open_sides(&drawing, seat.node).only());
        }
    }
    let mut x = columns(&drawing, OP_GAP);
    let mut width: f64 = 0.0;
    for (node, x) in drawing.nodes.iter().zip(&x) {
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
        seats[op].x = x[seats[op].node];
    }
    Inside {
        routes: routes(&drawing, &x),
        graph: drawing,
        x,
        rows,
        half: width / 2.0 + PANEL_PADDING,
        edges,
        entries,
        exits,
    }
}

/// Gives each op of a kernel its row, as near to the end as its readers in the kernel let it. How many ops stand in each
/// row.
fn place_in_rows(
    graph: &Graph,
    partition: &Partition,
    kernel: KernelId,
    seats: &mut IdVec<OpId, Seat>,
) -> IdVec<RowId, usize> {
    let members = &partition.kernels[kernel];
    // Counted from the end at first; members come in execution order.
    let mut rows = 1;
    for &op in members.iter().rev() {
        let readers = graph.successors[op].iter();
        let below = readers.filter(|&&reader| partition.kernel_of[reader] == kernel);
        let row = below.map(|&s| seats[s].row.index() + 1).max().unwrap_or(0);
        seats[op].row = RowId::new(row);
        rows = rows.max(row + 1);
    }
    let mut in_row = IdVec::from_elem(0, rows);
    for &op in members {
        seats[op].row = RowId::new(rows - 1 - seats[op].row.index());
        in_row[seats[op].row] += 1;
    }
    in_row
}

/// Spreads the links that reach a box from above over its upper side, the one that carries the spine in the
/// middle.
pub(super) fn spread_pins(graph: &mut Layered, place: &Places, node: NodeId, width: f64) {
    let links = graph.above(node).to_vec();
    spread_links(graph, place, links, 0.0, width);
}

/// As [`spread_pins`] for some links of a node, around `middle`.
pub(super) fn spread_links(
    graph: &mut Layered,
    place: &Places,
    mut links: Vec<LinkId>,
    middle: f64,
    width: f64,
) {
    let spine = graph.heaviest(&links);
    links.sort_by(|&a, &b| {
        let (a, b) = (&graph.links[a], &graph.links[b]);
        (place[a.upper].cmp(&place[b.upper])).then(a.upper_offset.total_cmp(&b.upper_offset))
    });
    let last = links.len().saturating_sub(1) as f64;
    let spine_rank = spine.and_then(|spine| links.iter().position(|&l| l == spine));
    let centre = spine_rank.map_or(last / 2.0, |rank| rank as f64);
    let reach = centre.max(last - centre).max(1.0);
    let spacing = 24.0_f64.min((width / 2.0 - 10.0) / reach);
    for (rank, link) in links.into_iter().enumerate() {
        graph.links[link].lower_offset = middle + (rank as f64 - centre) * spacing;
    }
}

/// From which sides of the panel a box can be reached without running through another. A lone box is better
/// reached where no lane passes it.
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

impl Inside {
    /// Heights of the spaces above each row and below the last: room for runs, and for size labels between rows.
    pub(super) fn gap(&self, layer: LayerId) -> f64 {
        let tracks = self.routes.count.get(layer).copied().unwrap_or(0);
        let room = if self.is_at_border(layer) {
            PANEL_PADDING
        } else {
            ROW_GAP
        };
        if tracks == 0 {
            room
        } else {
            self.first_track(layer) + (tracks - 1) as f64 * TRACK_GAP + APPROACH
        }
    }

    /// The space below this layer lies between an outermost row and the panel's side.
    fn is_at_border(&self, layer: LayerId) -> bool {
        layer.index() == 0 || layer.index() == self.rows
    }

    /// From the start of the space below a layer to its first run.
    pub(super) fn first_track(&self, layer: LayerId) -> f64 {
        if self.is_at_border(layer) {
            PANEL_PADDING
        } else {
            ROW_GAP + TRACK_GAP / 2.0
        }
    }
}
