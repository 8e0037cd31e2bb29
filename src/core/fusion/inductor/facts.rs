//! What the compiler knows about one op: its loop, its length, its kind.

use super::lower::Space;
use crate::core::functions::{self, ShapeRule};
use crate::core::graph::{Graph, OpId};
use crate::core::op::{Op, OpType, element_count};

/// Rows and width of a reduction, from the shapes before and behind it.
pub(super) fn reduction_space(graph: &Graph, op: OpId) -> Space {
    let after = &graph.ops[op].shape[..];
    let input = graph.inputs[op].first().map(|&t| &graph.tensors[t]);
    let before = input.and_then(|t| t.shape.as_deref()).unwrap_or(after);
    let all = element_count(before).unwrap_or(0);
    let (rows, inner) = if keeps_shape(graph, op) {
        (all / before.last().copied().unwrap_or(1).max(1), 1)
    } else {
        (elements(&graph.ops[op]), inner_elements(before, after))
    };
    Space::Reduction {
        rows,
        width: all / rows.max(1),
        inner,
    }
}

/// Elements behind the reduced axis.
fn inner_elements(before: &[u64], after: &[u64]) -> u64 {
    let kept = if before.len() == after.len() {
        let mut pairs = before.iter().zip(after);
        let reduced = pairs.rposition(|(b, a)| b != a);
        reduced.map_or(0, |axis| before.len() - 1 - axis)
    } else if before.starts_with(after) {
        0
    } else {
        let pairs = before.iter().rev().zip(after.iter().rev());
        pairs.take_while(|(b, a)| b == a).count()
    };
    before.iter().rev().take(kept).product()
}

/// A reduction that gives each element back: softmax and the norms.
pub(super) fn keeps_shape(graph: &Graph, op: OpId) -> bool {
    let definition = &graph.ops[op];
    definition.op_type == OpType::Reduction
        && match definition.function.as_deref().and_then(functions::find) {
            Some(function) => function.shape_rule == ShapeRule::SameAsFirst,
            None => graph.inputs[op]
                .first()
                .and_then(|&t| graph.tensors[t].shape.as_ref())
                .is_none_or(|shape| *shape == definition.shape),
        }
}

/// Pools are pointwise loops that read a small window for each element.
pub(super) fn is_windowed(op: &Op) -> bool {
    let function = op.function.as_deref().and_then(functions::find);
    function.is_some_and(|f| f.shape_rule == ShapeRule::Pool2d)
}

/// Instructions for an element, for which the FLOPs stand; a copy or a view counts none.
pub(super) fn operations(op: &Op) -> u64 {
    let function = op.function.as_deref().and_then(functions::find);
    function.map_or(1, |f| f.flops_per_element)
}

/// Elements of the output.
pub(super) fn elements(op: &Op) -> u64 {
    element_count(&op.shape).unwrap_or(0)
}
