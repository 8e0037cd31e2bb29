//! Policy `none`: every op its own kernel.

use super::inductor::{copied_views, operand_copies};
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::options::Conventions;
use crate::model::partition::Partition;

/// One kernel for each op.
pub fn partition(graph: &Graph) -> Partition {
    let kernels = graph.ops.ids().map(KernelId::of_lone_op);
    Partition::of_ops(kernels.collect(), graph.ops.len())
}

/// One kernel for each op, with the copies of operands that eager PyTorch makes for its library,
/// and both results of an operator by one call.
pub(crate) fn eager(graph: &Graph, conventions: Conventions) -> Partition {
    let mut partition = partition(graph);
    partition.copies = operand_copies(graph, conventions.reshape);
    partition.copied_views = copied_views(graph, conventions.reshape);
    partition.results = lone_results(graph, &partition);
    if !partition.copies.is_empty() {
        partition.further_launches = IdVec::from_elem(0, graph.ops.len());
        for copy in &partition.copies {
            partition.further_launches[KernelId::of_lone_op(copy.op)] += 1;
        }
    }
    partition
}

/// The second results of operators that call the library in a partition: each result is alone in
/// its kernel. Ascending.
pub(crate) fn lone_results(graph: &Graph, partition: &Partition) -> Vec<OpId> {
    let is_alone = |op: OpId| {
        let kernel = partition.kernel_of[op];
        partition.kernels[kernel] == [op] && partition.recomputed[kernel].is_empty()
    };
    let pairs = graph.results.pairs();
    let lone = pairs.filter(|&(second, first)| is_alone(second) && is_alone(first));
    lone.map(|(second, _)| second).collect()
}
