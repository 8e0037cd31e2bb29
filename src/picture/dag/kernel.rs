//! The inner level of the layout: the ops of one kernel in rows, each as near to its consumers as possible.
#![allow(
    clippy::indexing_slicing,
    reason = "op, member and node ids are dense indices of one graph"
)]

use super::columns::columns;
use super::layered::{Layered, LinkId, NodeId};
use super::metrics::{
    APPROACH, LANE_GAP, OP_GAP, PANEL_PADDING, SIZE_LABEL_MARGIN, SIZE_LABEL_SIZE, TRACK_GAP,
};
use super::routes::{Routes, routes};
use super::sides::{OpenSides, Side};
use crate::core::sorting::{rank_of, rank_of_float, sort_by_rank};
use crate::core::{Graph, OpId, Partition, TensorId};

/// Space between two rows: a size label and its margins.
pub(super) const ROW_GAP: f64 = SIZE_LABEL_SIZE.1 + 2.0 * SIZE_LABEL_MARGIN;

/// How an edge from outside the kernel reaches an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// From above, because the op is in the first row.
    Top,
    /// From one side of the panel; `None` if both are possible.
    Side(Option<Side>),
    /// From above through the panel, because the op is between others.
    Through,
}

/// An edge from one op of the kernel to another.
pub(super) struct InnerEdge {
    pub(super) tensor: TensorId,
    pub(super) from: OpId,
    pub(super) to: OpId,
    pub(super) link: LinkId,
}

/// The layout of one kernel. Coordinates are relative to the middle of its panel.
pub(super) struct KernelLayout {
    /// Ops are in layers 1 to `rows`; layers 0 and `rows + 1` contain the ends of nets that cross the panel's
    /// border.
    pub(super) graph: Layered,
    /// Anchors of the nodes.
    pub(super) x: Vec<f64>,
    pub(super) routes: Routes,
    /// Number of rows.
    pub(super) rows: usize,
    /// Half the width of the panel.
    pub(super) half: f64,
    pub(super) edges: Vec<InnerEdge>,
    /// Nets that enter from the top of the panel to an op between others.
    pub(super) entries: Vec<(TensorId, OpId, NodeId, LinkId)>,
    /// Nets that leave an op above the last row through the bottom of the panel.
    pub(super) exits: Vec<(OpId, NodeId, LinkId)>,
}

/// The position of an op in its kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpPosition {
    /// Row, counted from the top.
    pub(super) row: usize,
    /// Its node in [`KernelLayout::graph`].
    pub(super) node: NodeId,
    /// How edges from outside reach it.
    pub(super) access: Access,
    /// Its middle, relative to the middle of the panel.
    pub(super) x: f64,
}

/// Lays out the ops of one kernel and fills in their positions.
pub(super) fn layout_kernel(
    graph: &Graph,
    partition: &Partition,
    group: usize,
    op_width: f64,
    positions: &mut [OpPosition],
) -> KernelLayout {
    let members = &partition.groups[group];
    let is_inside = |op: OpId| partition.group_of[op] == group;

    // First as the distance from the end of the kernel; members are in execution order.
    let mut rows = 1;
    for &op in members.iter().rev() {
        let below = graph.successors[op].iter().filter(|&&s| is_inside(s));
        positions[op].row = below.map(|&s| positions[s].row + 1).max().unwrap_or(0);
        rows = rows.max(positions[op].row + 1);
    }
    let mut in_row = vec![0_usize; rows];
    for &op in members {
        positions[op].row = rows - 1 - positions[op].row;
        in_row[positions[op].row] += 1;
    }

    let mut drawing = Layered::new(rows + 2);
    for &op in members {
        positions[op].node =
            drawing.add_node(positions[op].row + 1, op_width / 2.0, op_width / 2.0);
        positions[op].access = match (positions[op].row, in_row[positions[op].row]) {
            (0, _) => Access::Top,
            (_, 1 | 2) => Access::Side(None),
            _ => Access::Through,
        };
    }
    let mut edges = Vec::new();
    let mut entries = Vec::new();
    let mut exits = Vec::new();
    for &op in members {
        let tensor = graph.output[op];
        let consumers = &graph.successors[op];
        let mut targets: Vec<OpId> = consumers
            .iter()
            .copied()
            .filter(|&s| is_inside(s))
            .collect();
        targets.retain(|&t| positions[t].row > positions[op].row);
        let leaves_early = positions[op].row + 1 < rows && consumers.iter().any(|&s| !is_inside(s));
        let mut nodes: Vec<NodeId> = targets.iter().map(|&t| positions[t].node).collect();
        if leaves_early {
            nodes.push(drawing.add_node(rows + 1, 0.0, 0.0));
        }
        if !nodes.is_empty() {
            let links = drawing.add_net(positions[op].node, &nodes);
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
        if positions[op].access == Access::Through {
            for tensor in graph.distinct_inputs(op) {
                let producer = graph.tensors[tensor].producer;
                if producer.is_none_or(|p| !is_inside(p)) {
                    let top = drawing.add_node(0, 0.0, 0.0);
                    let links = drawing.add_net(top, &[positions[op].node]);
                    entries.push((tensor, op, top, links[0]));
                }
            }
        }
    }

    drawing.order();
    let place = drawing.places();
    for &op in members {
        let position = &mut positions[op];
        spread_ports(&mut drawing, &place, position.node, op_width);
        if position.access == Access::Side(None) {
            position.access = Access::Side(open_sides(&drawing, position.node).only());
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
        positions[op].x = x[positions[op].node];
    }
    KernelLayout {
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

/// Spreads the ports of the links from above over the top of a box, with the link of the longest path in the
/// middle.
pub(super) fn spread_ports(graph: &mut Layered, place: &[usize], node: NodeId, width: f64) {
    let links = graph.above(node).to_vec();
    spread_links(graph, place, links, 0.0, width);
}

/// The same for some links of a node, around `middle`.
pub(super) fn spread_links(
    graph: &mut Layered,
    place: &[usize],
    mut links: Vec<LinkId>,
    middle: f64,
    width: f64,
) {
    let spine = graph.heaviest(&links);
    sort_by_rank(&mut links, |&l| {
        let link = &graph.links[l];
        (
            rank_of(place[link.upper]),
            rank_of_float(link.upper_offset),
            0,
        )
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

/// The sides of the panel from which a box can be reached without crossing another box. If the box is alone in
/// its row, a side without a dummy is preferred.
pub(super) fn open_sides(graph: &Layered, node: NodeId) -> OpenSides {
    let row = &graph.layers[graph.nodes[node].layer];
    let mut boxes = row.iter().filter(|&&n| !graph.nodes[n].is_dummy);
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

impl KernelLayout {
    /// Heights of the spaces between rows and to the panel's border, with tracks and size labels.
    pub(super) fn gap(&self, layer: usize) -> f64 {
        let tracks = self.routes.count.get(layer).copied().unwrap_or(0);
        let room = if layer == 0 || layer == self.rows {
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

    /// Distance from the start of the space below a layer to its first track.
    pub(super) fn first_track(&self, layer: usize) -> f64 {
        if layer == 0 || layer == self.rows {
            PANEL_PADDING
        } else {
            ROW_GAP + TRACK_GAP / 2.0
        }
    }
}
