//! Matmuls: library calls, or templates that the compiler instantiates.

use super::facts::elements;
use crate::core::fusion::loops::Loop;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, OpId};
use crate::core::model::op_type::OpType;

/// For each op the add after it that becomes part of the library call (`addmm`): it adds a tensor that broadcasts to the product of two
/// matrices and has its type, nothing else reads the product, and the readers of the sum are not all pointwise. Otherwise the add
/// is fused with its readers. Source: `is_valid_addmm_fusion` in `torch/_inductor/fx_passes/post_grad.py`.
pub(super) fn bias_adds(graph: &Graph) -> IdVec<OpId, Option<OpId>> {
    // Of two products that are added only one takes the other.
    let mut is_taken = IdVec::from_elem(false, graph.ops.len());
    let adds = (graph.ops.iter_enumerated()).map(|(op, definition)| {
        let is_product = definition.op_type == OpType::Matmul && graph.inputs[op].len() == 2;
        let add = is_product.then(|| bias_add(graph, op)).flatten();
        let add = add.filter(|&add| !is_taken[add]);
        if let Some(add) = add {
            is_taken[add] = true;
        }
        add
    });
    adds.collect()
}

fn bias_add(graph: &Graph, matmul: OpId) -> Option<OpId> {
    let definition = &graph.ops[matmul];
    let product = graph.output[matmul];
    let &[add] = &graph.successors[matmul] else {
        return None;
    };
    let &[rows, columns] = &definition.shape[..] else {
        return None;
    };
    let &[a, b] = &graph.inputs[add] else {
        return None;
    };
    let bias = if a == product { b } else { a };
    let is_broadcast = match graph.tensor_shape(bias)? {
        [last] => [columns, 1].contains(last),
        [first, last] => [rows, 1].contains(first) && [columns, 1].contains(last),
        _ => false,
    };
    let operands = graph.inputs[matmul].iter().chain([&bias]);
    let mut types = operands.map(|&tensor| graph.tensors[tensor].bytes_per_element);
    let first = types.next();
    let is_one_type = types.all(|other| Some(other) == first);
    let fits = graph.ops[add].function.as_deref() == Some("add")
        && a != b
        && is_broadcast
        && is_one_type
        && !graph.is_final(product);
    (fits && !only_pointwise_follows(graph, add)).then_some(add)
}

fn only_pointwise_follows(graph: &Graph, op: OpId) -> bool {
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
        } else if definition.op_type != OpType::Elementwise {
            return false;
        }
    }
    true
}

/// The first matmul of a kernel of the compiler, if the kernel is a library call. A flash kernel, which has two
/// matmuls, is one.
pub(crate) fn library_call(graph: &Graph, ops: &[OpId], max_autotune: bool) -> Option<OpId> {
    let matmul = first_matmul(graph, ops)?;
    let is_flash = || ops.iter().any(|&op| op != matmul && is_matmul(graph, op));
    let is_library = matmul_space(graph, matmul, max_autotune) == Loop::Library || is_flash();
    is_library.then_some(matmul)
}

/// The first matmul of these ops.
pub(super) fn first_matmul(graph: &Graph, ops: &[OpId]) -> Option<OpId> {
    ops.iter().copied().find(|&op| is_matmul(graph, op))
}

fn is_matmul(graph: &Graph, op: OpId) -> bool {
    graph.ops[op].op_type == OpType::Matmul
}

/// The loop of the kernel of a matmul.
pub(super) fn matmul_space(graph: &Graph, op: OpId, max_autotune: bool) -> Loop {
    let is_convolution = graph.ops[op].function.as_deref() == Some("conv2d");
    if max_autotune && !is_convolution {
        Loop::Template(elements(&graph.ops[op]))
    } else {
        Loop::Library
    }
}
