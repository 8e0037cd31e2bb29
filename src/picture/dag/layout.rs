//! The phases of the layout, and the data that they share.
#![allow(
    clippy::indexing_slicing,
    reason = "op, kernel, tensor and node ids are dense indices of one graph"
)]

use super::boxes::{op_boxes, op_width};
use super::columns::columns;
use super::kernel::{Access, KernelLayout, OpPosition, layout_kernel};
use super::layered::{Layered, LinkId, NodeId};
use super::metrics::{MARGIN, PANEL_GAP};
use super::routes::routes;
use super::sides::{Lane, SidePill, Sides};
use super::{DagLayout, EdgeEnd};
use crate::core::{Graph, OpId, Partition, TensorId};

/// How a net enters a kernel.
pub(super) enum Port {
    /// From above, at an op of the first row.
    Top(OpId),
    /// From a lane beside the panel.
    Beside,
    /// From above, through this entry of the kernel.
    Through(usize),
}

/// One branch of a net: its part up to one kernel.
pub(super) struct Branch {
    pub(super) tensor: TensorId,
    pub(super) from: EdgeEnd,
    pub(super) kernel: usize,
    pub(super) link: LinkId,
    pub(super) port: Port,
}

/// The layout while it is computed.
pub(super) struct Picture<'a> {
    pub(super) graph: &'a Graph,
    pub(super) partition: &'a Partition,
    pub(super) op_width: f64,
    pub(super) positions: Vec<OpPosition>,
    pub(super) kernel_layouts: Vec<KernelLayout>,
    pub(super) outer: Layered,
    pub(super) kernel_node: Vec<NodeId>,
    /// Pills that are nodes of a layer, and these nodes.
    pub(super) pill_nodes: Vec<(usize, NodeId)>,
    pub(super) branches: Vec<Branch>,
    pub(super) sides: Vec<Sides>,
    /// For each kernel the pills beside it, before their sides are assigned.
    pub(super) side_pills: Vec<Vec<SidePill>>,
    /// For each kernel the lanes beside it, before their sides are assigned.
    pub(super) lanes: Vec<Vec<Lane>>,
    pub(super) layout: DagLayout,
}

/// Lays out every op of `graph`, with the ops of each kernel of `partition` in one panel.
///
/// `O(n log n)` in ops and reads. Does not depend on sizes of tensors.
pub fn layout(graph: &Graph, partition: &Partition) -> DagLayout {
    let op_width = op_width(graph);
    let position = OpPosition {
        row: 0,
        node: 0,
        access: Access::Top,
        x: 0.0,
    };
    let mut positions = vec![position; graph.ops.len()];
    let kernels = partition.groups.len();
    let kernel_layouts = (0..kernels)
        .map(|group| layout_kernel(graph, partition, group, op_width, &mut positions))
        .collect();
    let mut picture = Picture {
        graph,
        partition,
        op_width,
        positions,
        kernel_layouts,
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
    picture.assign_sides();
    picture.place_ports();
    let mut x = columns(&picture.outer, PANEL_GAP);
    for x in &mut x {
        *x += MARGIN;
    }
    picture.straighten_lanes(&x);
    let routes = routes(&picture.outer, &x);
    picture.draw(&x, &routes);
    picture.layout
}
