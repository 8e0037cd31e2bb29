//! Finds the ops that the compiler replaces by one flash kernel before it fuses anything.
//!
//! Source: the patterns of `torch/_inductor/fx_passes/fuse_attention.py`. For rank 4 and more (batch and heads)
//! they require scaled scores, which may be masked. For rank 3 the only pattern (number 13) allows neither, so
//! attention over three-dimensional Q, K and V that scales its scores stays three kernels. All require the
//! softmax over the last axis and the product with V over the keys.

use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, OpId};
use crate::core::model::op::Op;
use crate::core::model::op_type::OpType;

/// For each op the last op of the flash kernel that it is part of.
pub(super) fn flash_kernels(graph: &Graph) -> IdVec<OpId, Option<OpId>> {
    let mut kernel_of = IdVec::from_elem(None, graph.ops.len());
    for (op, definition) in graph.ops.iter_enumerated() {
        if is(definition, "softmax")
            && !definition.is_across_rows
            && let Some(members) = around(graph, op)
            && let Some(&last) = members.last()
            && members.iter().all(|&member| kernel_of[member].is_none())
        {
            for member in members {
                kernel_of[member] = Some(last);
            }
        }
    }
    kernel_of
}

/// The ops of the flash kernel around this softmax; the op that writes its result comes last.
fn around(graph: &Graph, softmax: OpId) -> Option<Vec<OpId>> {
    let mut members = vec![softmax];
    let (mut is_scaled, mut is_masked) = (false, false);
    let mut at = softmax;
    // Backwards: softmax, mask, scale, matmul; each intermediate result has one reader.
    loop {
        let input = *graph.inputs[at].get(usize::from(is(&graph.ops[at], "where")))?;
        let producer = graph.tensors[input].producer?;
        if graph.successors[producer].len() != 1 {
            return None;
        }
        members.push(producer);
        at = producer;
        let definition = &graph.ops[producer];
        match definition.function.as_deref() {
            _ if definition.op_type == OpType::Matmul => break,
            Some("cast") => {}
            Some("mask" | "add" | "where") if !is_scaled && !is_masked => is_masked = true,
            Some("scale") if !is_scaled => is_scaled = true,
            Some("mul" | "div") if !is_scaled && has_scalar(graph, producer) => is_scaled = true,
            _ => return None,
        }
    }
    let fits = match graph.ops[at].shape.len() {
        0..3 => false,
        3 => !is_scaled && !is_masked,
        _ => is_scaled,
    };
    if !fits {
        return None;
    }
    // Forwards: dropout, then the matmul whose left operand is the probabilities.
    at = softmax;
    while graph.ops[at].op_type != OpType::Matmul {
        let &[next] = &graph.successors[at] else {
            return None;
        };
        let definition = &graph.ops[next];
        let is_first = graph.inputs[next].first() == Some(&graph.output[at]);
        let goes_on = definition.op_type == OpType::Matmul && !definition.is_across_rows
            || is(definition, "dropout")
            || is(definition, "cast");
        if !is_first || !goes_on {
            return None;
        }
        members.push(next);
        at = next;
    }
    members.extend(by_token(graph, at).into_iter().flatten());
    Some(members)
}

/// The ops after the matmul that put the heads of a token side by side: a copy, or a transpose and a copy. The
/// flash kernel writes its result in this order, so they are part of it.
fn by_token(graph: &Graph, matmul: OpId) -> Option<Vec<OpId>> {
    let &[next] = &graph.successors[matmul] else {
        return None;
    };
    if is(&graph.ops[next], "contiguous") {
        return Some(vec![next]);
    }
    let &[copy] = &graph.successors[next] else {
        return None;
    };
    let (before, after) = (&graph.ops[matmul].shape, &graph.ops[next].shape);
    let mut swapped = before.clone();
    let rank = swapped.len();
    swapped.swap(rank.checked_sub(3)?, rank - 2);
    let fits = graph.ops[next].is_view() && *after == swapped && is(&graph.ops[copy], "contiguous");
    fits.then(|| vec![next, copy])
}

fn has_scalar(graph: &Graph, op: OpId) -> bool {
    let second = graph.inputs[op].get(1);
    second.is_some_and(|&tensor| graph.tensors[tensor].elements() == Some(1))
}

fn is(op: &Op, function: &str) -> bool {
    op.function.as_deref() == Some(function)
}
