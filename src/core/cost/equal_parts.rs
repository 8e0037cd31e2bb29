//! Which views and parts of one tensor name the same elements.
//!
//! Two slices of one range, or two lookups of one table by one index, are one read of a kernel.

use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::Op;

/// Most parts of a tensor that another one is compared with, which keeps the time linear. Behind
/// more, an equal part counts as another one.
const MOST_COMPARED: usize = 32;

/// For each tensor the first one that names the same elements of the same memory in the same way,
/// which is mostly itself. `O(ops + tensors)`.
pub(super) fn equal_parts(
    graph: &Graph,
    is_view: &IdVec<OpId, bool>,
    base: &IdVec<TensorId, TensorId>,
) -> IdVec<TensorId, TensorId> {
    let mut first: IdVec<TensorId, TensorId> = graph.tensors.ids().collect();
    // For each tensor the last op that names a part of it as its first input, and for each such op
    // the one before.
    let mut last: IdVec<TensorId, Option<OpId>> = IdVec::from_elem(None, graph.tensors.len());
    let mut before: IdVec<OpId, Option<OpId>> = IdVec::from_elem(None, graph.ops.len());
    for (op, definition) in graph.ops.iter_enumerated() {
        let (Some(function), Some(&input)) = (named_by(definition), graph.inputs[op].first())
        else {
            continue;
        };
        // Equal tensors that are no views are different memory.
        let in_memory = |tensor: TensorId| {
            if base[tensor] == tensor {
                tensor
            } else {
                first[tensor]
            }
        };
        let is_equal = |&other: &OpId| {
            let (inputs, others) = (&graph.inputs[op], &graph.inputs[other]);
            let own = &graph.ops[other];
            named_by(own) == Some(function)
                && is_view[op] == is_view[other]
                && definition.shape == own.shape
                && definition.indexing == own.indexing
                && definition.literals == own.literals
                && inputs.len() == others.len()
                && (inputs.iter().zip(others)).all(|(&a, &b)| in_memory(a) == in_memory(b))
        };
        let input = in_memory(input);
        let known = std::iter::successors(last[input], |&other| before[other]);
        let equal = known.take(MOST_COMPARED).find(is_equal);
        if let Some(equal) = equal {
            first[graph.output[op]] = graph.output[equal];
        } else {
            before[op] = last[input].replace(op);
        }
    }
    first
}

/// The function of an op whose inputs, shape and indexing say which elements it gives; a piece of a
/// split is a slice.
fn named_by(op: &Op) -> Option<Function> {
    let function = op.function.filter(|_| !op.in_place)?;
    match function {
        Function::Slice | Function::Split => op.indexing.is_some().then_some(Function::Slice),
        Function::Transpose | Function::Gather => op.indexing.is_some().then_some(function),
        Function::Reshape
        | Function::Bitcast
        | Function::Expand
        | Function::Embedding
        | Function::Index => Some(function),
        _ => None,
    }
}
