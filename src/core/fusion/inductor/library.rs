//! Matmuls: library calls, or templates that the compiler instantiates.

use super::facts::elements;
use crate::core::fusion::loops::Loop;
use crate::core::model::graph::Graph;
use crate::core::model::ids::OpId;
use crate::core::model::op_type::OpType;

/// The add after a matmul that becomes part of the library call (`addmm`): it adds an external vector, nothing
/// else reads the product, and its readers are not all pointwise. Otherwise the add is fused with its readers.
pub(super) fn bias_add(graph: &Graph, matmul: OpId) -> Option<OpId> {
    let definition = &graph.ops[matmul];
    let product = graph.output[matmul];
    let &[add] = &graph.successors[matmul] else {
        return None;
    };
    let &[_, columns] = &definition.shape[..] else {
        return None;
    };
    let &[a, b] = &graph.inputs[add] else {
        return None;
    };
    let bias = if a == product { b } else { a };
    let is_vector = graph.tensors[bias].is_external()
        && matches!(graph.tensor_shape(bias), Some(&[.., last] | &[1, last]) if last == columns)
        && graph.tensors[bias].elements() == Some(columns);
    let fits = graph.ops[add].function.as_deref() == Some("add") && a != b && is_vector;
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
