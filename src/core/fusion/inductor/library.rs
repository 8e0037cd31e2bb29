//! Matmuls: library calls, or templates that the compiler instantiates.

use super::facts::elements;
use crate::fusion::loops::Loop;
use crate::fusion::reason::Reason;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId};
use crate::model::op_type::OpType;

/// For each op the add after it that becomes part of the library call (`addmm`): it adds a tensor that broadcasts to the product of two
/// matrices and has its type, nothing else reads the product, and the readers of the sum do not all begin with a pointwise op.
/// Otherwise the add is fused with its readers. Source: `is_valid_addmm_fusion` in `torch/_inductor/fx_passes/post_grad.py`.
pub(super) fn bias_adds(graph: &Graph) -> IdVec<OpId, Option<OpId>> {
    let mut add_of = IdVec::from_elem(None, graph.ops.len());
    let mut is_in_call = IdVec::from_elem(false, graph.ops.len());
    // Backwards, as the compiler matches: an add in a later call is no pointwise reader of what it adds.
    for add in graph.ops.ids().rev() {
        // Of two products that are added the second takes the first.
        let products = graph.inputs[add].iter().rev();
        let taker = products
            .filter_map(|&tensor| graph.tensors[tensor].producer)
            .filter(|&op| is_matmul(graph, op) && graph.inputs[op].len() == 2)
            .find(|&matmul| is_addmm(graph, matmul, add));
        if let Some(matmul) = taker
            && !only_pointwise_follows(graph, add, &is_in_call)
        {
            add_of[matmul] = Some(add);
            is_in_call[add] = true;
        }
    }
    add_of
}

/// Whether `addmm` computes a matmul together with the only op that reads it.
fn is_addmm(graph: &Graph, matmul: OpId, add: OpId) -> bool {
    let product = graph.output[matmul];
    let (&[only], &[rows, columns], &[a, b]) = (
        &graph.successors[matmul],
        &graph.ops[matmul].shape[..],
        &graph.inputs[add],
    ) else {
        return false;
    };
    let bias = if a == product { b } else { a };
    let is_broadcast = match graph.tensor_shape(bias) {
        Some([last]) => [columns, 1].contains(last),
        Some([first, last]) => [rows, 1].contains(first) && [columns, 1].contains(last),
        _ => false,
    };
    let operands = graph.inputs[matmul].iter().chain([&bias]);
    let mut types = operands.map(|&tensor| graph.tensors[tensor].bytes_per_element);
    let first = types.next();
    let is_one_type = types.all(|other| Some(other) == first);
    only == add
        && graph.ops[add].function.as_deref() == Some("add")
        && a != b
        && is_broadcast
        && is_one_type
        && !graph.is_final(product)
}

/// Whether a library has one call for these ops, of which one is this matmul: what else they are is views, and the add of `addmm`.
/// Epilogues of a convolution come from its library, because compilers do not generate it.
pub(crate) fn is_one_call(graph: &Graph, ops: &[OpId], matmul: OpId) -> bool {
    let is_other = |&op: &OpId| op != matmul && !graph.ops[op].is_view();
    let mut others = ops.iter().copied().filter(is_other);
    match (others.next(), others.next()) {
        _ if is_convolution(graph, matmul) => true,
        (None, _) => true,
        (Some(add), None) => is_addmm(graph, matmul, add),
        _ => false,
    }
}

fn only_pointwise_follows(graph: &Graph, op: OpId, is_in_call: &IdVec<OpId, bool>) -> bool {
    let mut open = graph.successors[op].to_vec();
    if open.is_empty() {
        return false;
    }
    while let Some(reader) = open.pop() {
        let definition = &graph.ops[reader];
        if definition.is_view() {
            if graph.successors[reader].is_empty() {
                return false;
            }
            open.extend(&graph.successors[reader]);
        } else if is_in_call[reader] || !begins_pointwise(graph, reader) {
            return false;
        }
    }
    true
}

/// Whether the first op that the compiler makes of this one is pointwise. Rows of 16 bits are converted to f32 before a softmax or a
/// norm reduces them. Read from compiled code, a function at a time, in f16 and f32 (torch 2.11, H100).
fn begins_pointwise(graph: &Graph, op: OpId) -> bool {
    let definition = &graph.ops[op];
    let is_half = || {
        let first = graph.inputs[op].first();
        first.is_some_and(|&tensor| graph.tensors[tensor].bytes_per_element == Some(2))
    };
    match (definition.op_type, definition.function.as_deref()) {
        (OpType::Elementwise, Some("batch_norm_train"))
        | (OpType::Reduction, Some("softmax" | "log_softmax" | "layer_norm" | "group_norm")) => {
            is_half()
        }
        (OpType::Elementwise, _)
        | (OpType::Reduction, Some("rms_norm" | "l2_norm"))
        | (OpType::Reshape, Some("concat" | "contiguous")) => true,
        _ => false,
    }
}

/// The first matmul of a kernel of the compiler, if the kernel is a library call. A flash kernel, which has two
/// matmuls, is one.
pub(crate) fn library_call(graph: &Graph, ops: &[OpId], max_autotune: bool) -> Option<OpId> {
    let matmul = first_matmul(graph, ops)?;
    let is_library =
        matmul_space(graph, matmul, max_autotune) == Loop::Library || is_flash(graph, ops, matmul);
    is_library.then_some(matmul)
}

/// Why nothing is fused with a node or kernel that calls a library.
pub(crate) fn call_reason(graph: &Graph, ops: &[OpId]) -> Option<Reason> {
    match first_matmul(graph, ops) {
        Some(op) if is_flash(graph, ops, op) => Some(Reason::FusedAttention { op }),
        Some(matmul) => Some(Reason::LibraryCall { matmul }),
        None => first_opaque(graph, ops).map(|opaque| Reason::Opaque { opaque }),
    }
}

/// Whether the kernel of this matmul is attention: it has two matmuls, or one op that stands for all.
fn is_flash(graph: &Graph, ops: &[OpId], matmul: OpId) -> bool {
    let mut others = ops.iter().filter(|&&op| op != matmul);
    others.any(|&op| is_matmul(graph, op)) || graph.stand_ins.iter().any(|of| of.op == matmul)
}

/// The opaque op of these ops.
pub(crate) fn first_opaque(graph: &Graph, ops: &[OpId]) -> Option<OpId> {
    let is_opaque = |&op: &OpId| graph.ops[op].op_type == OpType::Opaque;
    ops.iter().copied().find(is_opaque)
}

/// The first matmul of these ops.
fn first_matmul(graph: &Graph, ops: &[OpId]) -> Option<OpId> {
    ops.iter().copied().find(|&op| is_matmul(graph, op))
}

fn is_matmul(graph: &Graph, op: OpId) -> bool {
    graph.ops[op].op_type == OpType::Matmul
}

/// The loop of the kernel of a matmul.
pub(super) fn matmul_space(graph: &Graph, op: OpId, max_autotune: bool) -> Loop {
    if max_autotune && !is_convolution(graph, op) {
        Loop::Template(elements(&graph.ops[op]))
    } else {
        Loop::Library
    }
}

fn is_convolution(graph: &Graph, op: OpId) -> bool {
    graph.ops[op].is_convolution()
}
