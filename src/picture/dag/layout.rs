//! The layout as a whole: the steps from a graph to a picture, and what they share.

use super::boxes::{op_boxes, op_width};
use super::columns::columns;
use super::kernel::{Access, EntryId, Inside, RowId, Seat, inside};
use super::layered::{Layered, LinkId, NodeId};
use super::metrics::{MARGIN, PANEL_GAP};
use super::routes::routes;
use super::sides::{Lane, SidePill, Sides};
use super::{DagLayout, EdgeEnd, PillId};
use crate::core::{Graph, IdVec, KernelId, OpId, Partition, TensorId};

/// How a net reaches a kernel.
pub(super) enum Pin {
    /// An op of the first row, from above.
    Top(OpId),
    /// Ops beside which it comes down.
    Beside,
    /// By this entry of the kernel.
    Through(EntryId),
}

/// One branch of a net.
pub(super) struct Branch {
    pub(super) tensor: TensorId,
    pub(super) from: EdgeEnd,
    pub(super) kernel: KernelId,
    pub(super) link: LinkId,
    pub(super) pin: Pin,
}

/// The picture while it is made.
pub(super) struct Picture<'a> {
    pub(super) graph: &'a Graph,
    pub(super) partition: &'a Partition,
    pub(super) op_width: f64,
    pub(super) seats: IdVec<OpId, Seat>,
    pub(super) insides: IdVec<KernelId, Inside>,
    pub(super) outer: Layered,
    pub(super) kernel_node: IdVec<KernelId, NodeId>,
    /// Pills that stand in a layer of their own accord, and their nodes.
    pub(super) pill_nodes: Vec<(PillId, NodeId)>,
    pub(super) branches: Vec<Branch>,
    pub(super) sides: IdVec<KernelId, Sides>,
    /// For each kernel its pills, before they have sides.
    pub(super) side_pills: IdVec<KernelId, Vec<SidePill>>,
    /// For each kernel its lanes, before they have sides.
    pub(super) lanes: IdVec<KernelId, Vec<Lane>>,
    pub(super) layout: DagLayout,
}

/// Places every op of `graph`, with the ops of each kernel of `partition` in one panel.
///
/// Takes `O(n log n)` time in ops and reads. Sizes have no part in it.
pub fn layout(graph: &Graph, partition: &Partition) -> DagLayout {
    let op_width = op_width(graph);
    let seat = Seat {
        row: RowId::new(0),
        node: NodeId::new(0),
        access: Access::Top,
        x: 0.0,
    };
    let mut seats = IdVec::from_elem(seat, graph.ops.len());
    let kernels = partition.kernels.len();
    let insides = (partition.kernels.ids())
        .map(|kernel| inside(graph, partition, kernel, op_width, &mut seats))
        .collect();
    let mut picture = Picture {
        graph,
        partition,
        op_width,
        seats,
        insides,
        outer: Layered::default(),
        kernel_node: IdVec::with_capacity(kernels),
        pill_nodes: Vec::new(),
        branches: Vec::new(),
        sides: IdVec::with_capacity(kernels),
        side_pills: IdVec::from_elem(Vec::new(), kernels),
        lanes: IdVec::from_elem(Vec::new(), kernels),
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
