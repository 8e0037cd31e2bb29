//! Policy `none`: every op its own kernel.

use crate::model::graph::Graph;
use crate::model::ids::KernelId;
use crate::model::partition::Partition;

/// One kernel for each op.
pub fn partition(graph: &Graph) -> Partition {
    let kernels = graph.ops.ids().map(KernelId::of_lone_op);
    Partition::of_ops(kernels.collect(), graph.ops.len())
}
