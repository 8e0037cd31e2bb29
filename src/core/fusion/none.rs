//! Policy `none`: every op its own kernel.

use crate::core::model::graph::Graph;
use crate::core::model::ids::KernelId;
use crate::core::model::partition::Partition;

/// One kernel for each op.
pub(crate) fn partition(graph: &Graph) -> Partition {
    let kernels = graph.ops.ids().map(KernelId::of_lone_op);
    Partition::of_ops(kernels.collect(), graph.ops.len())
}
