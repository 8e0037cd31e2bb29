//! Whether an op may share a kernel with an op in place that overwrites what it reads.

use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use crate::model::op_type::OpType;

/// Whether `reader` reads elements that other threads of one kernel would have overwritten: other
/// elements of the memory than the one that it computes.
///
/// `reader` is among the ops for which `write` waits. A view reads nothing; the ops that read it
/// are among them, too.
pub(super) fn clash(graph: &Graph, write: OpId, reader: OpId) -> bool {
    let (first, second) = (&graph.ops[reader], &graph.ops[write]);
    if first.is_view() {
        return false;
    }
    let Some(&target) = graph.inputs[write].first() else {
        return false;
    };
    let base = base_of(graph, target);
    let is_same_element = |&tensor: &TensorId| {
        tensor == target
            || base_of(graph, tensor) != base
            || graph.tensors[tensor].producer == Some(write)
    };
    first.op_type != OpType::Elementwise
        || second.op_type != OpType::Elementwise
        || first.shape != second.shape
        || !graph.inputs[reader].iter().all(is_same_element)
}

/// Whether the value that a write puts in place depends on what `reader` reads through an op that
/// combines other elements, so that one kernel would overwrite some of them too early.
///
/// `between` are the ops of the kernel from `reader` to the write, without both.
pub(super) fn moves_elements(graph: &Graph, mut between: impl Iterator<Item = OpId>) -> bool {
    between.any(|op| graph.ops[op].op_type != OpType::Elementwise)
}

/// Most views that are followed; behind more, a tensor counts as another one.
const MOST_VIEWS: usize = 32;

/// The tensor whose bytes a tensor shows.
fn base_of(graph: &Graph, tensor: TensorId) -> TensorId {
    let shown = |&tensor: &TensorId| {
        let producer = graph.tensors[tensor].producer?;
        let input = graph.inputs[producer].first().copied();
        input.filter(|_| graph.ops[producer].is_view())
    };
    let path = std::iter::successors(Some(tensor), shown).take(MOST_VIEWS);
    path.last().unwrap_or(tensor)
}
