//! The state that the steps of the layout share.

use super::dag_layout::{DagLayout, EdgeEnd, PillId};
use super::frames::Body;
use super::kernel_layout::{EntryId, KernelLayout, OpPosition, kernel_layout};
use super::layered::{Layered, LinkId, NodeId};
use super::metrics::MARGIN;
use super::op_boxes::{op_boxes, op_width};
use super::panel_sides::{Lane, PanelSides, SidePill};
use fuseline_core::{Graph, IdVec, KernelId, OpId, Partition, TensorId};

/// Where a net between kernels meets the panel of one that reads it.
pub(super) enum Port {
    /// Above an op of the first row.
    Top(OpId),
    /// On one of the panel's sides, which a [`Lane`] comes down.
    Side,
    /// On the panel's upper side, at an entry.
    Entry(EntryId),
}

/// A net between kernels on its way to one of its ports.
pub(super) struct Branch {
    pub(super) tensor: TensorId,
    pub(super) from: EdgeEnd,
    pub(super) kernel: KernelId,
    /// The last link of the way.
    pub(super) link: LinkId,
    pub(super) port: Port,
}

/// An unfinished layout.
pub(super) struct LayoutBuilder<'a> {
    pub(super) graph: &'a Graph,
    pub(super) partition: &'a Partition,
    /// The framed kernels, in the order in which they run.
    pub(super) bodies: Vec<Body>,
    pub(super) op_width: f64,
    /// The position of each op in its kernel.
    pub(super) positions: IdVec<OpId, OpPosition>,
    pub(super) kernels: IdVec<KernelId, KernelLayout>,
    /// The graph of kernels and pills.
    pub(super) outer: Layered,
    pub(super) kernel_node: IdVec<KernelId, NodeId>,
    /// The pills that are nodes of the outer graph.
    pub(super) pill_nodes: Vec<(PillId, NodeId)>,
    pub(super) branches: Vec<Branch>,
    /// The lanes of each kernel, in no order.
    pub(super) lanes: IdVec<KernelId, Vec<Lane>>,
    /// The pills beside each kernel, in no order.
    pub(super) side_pills: IdVec<KernelId, Vec<SidePill>>,
    /// Lanes and pills by the side that they are on.
    pub(super) sides: IdVec<KernelId, PanelSides>,
    pub(super) layout: DagLayout,
}

impl<'a> LayoutBuilder<'a> {
    /// Lays out the inside of each kernel.
    pub(super) fn new(graph: &'a Graph, partition: &'a Partition, bodies: Vec<Body>) -> Self {
        let op_width = op_width(graph);
        let mut positions = IdVec::from_elem(OpPosition::default(), graph.ops.len());
        let kernels: IdVec<KernelId, KernelLayout> = (partition.kernels.ids())
            .map(|kernel| kernel_layout(graph, partition, kernel, op_width, &mut positions))
            .collect();
        let count = kernels.len();
        Self {
            graph,
            partition,
            bodies,
            op_width,
            positions,
            kernels,
            outer: Layered::default(),
            kernel_node: IdVec::with_capacity(count),
            pill_nodes: Vec::new(),
            branches: Vec::new(),
            lanes: IdVec::from_elem(Vec::new(), count),
            side_pills: IdVec::from_elem(Vec::new(), count),
            sides: IdVec::with_capacity(count),
            layout: DagLayout {
                ops: op_boxes(graph, op_width),
                ..DagLayout::default()
            },
        }
    }

    /// Adds the size of the whole, and sorts the edges.
    pub(super) fn finish(mut self, x: &IdVec<NodeId, f64>, bottom: f64) -> DagLayout {
        let mut width: f64 = 0.0;
        for (node, x) in self.outer.nodes.iter().zip(x) {
            width = width.max(x + node.right);
        }
        // Detours are to the right of all boxes.
        for point in self.layout.edges.iter().flat_map(|edge| &edge.points) {
            width = width.max(point.x);
        }
        for part in self.layout.frames.iter().flat_map(|frame| &frame.parts) {
            width = width.max(part.right());
        }
        // The result of the last iteration is below its frame.
        let pills = self.layout.pills.iter().map(|pill| pill.rect.bottom());
        self.layout.width = width + MARGIN;
        self.layout.height = pills.fold(bottom, f64::max) + MARGIN;
        self.layout.edges.sort_by_key(|edge| (edge.from, edge.to));
        self.layout
    }
}
