//! Matmuls: library calls, or templates that the compiler instantiates.

use super::facts::{all_equal, elements, is_call, is_repeat};
use super::weight_only::int8_call;
use crate::fusion::loops::Loop;
use crate::fusion::reason::Reason;
use crate::model::functions::Function;
use crate::model::graph::{Graph, Tensor};
use crate::model::ids::{IdVec, OpId};
use crate::model::op_type::OpType;

/// For each op the add after it that becomes part of the library call (`addmm`): it adds a tensor
/// that broadcasts to the product of two matrices and has its type, nothing else reads the product,
/// and the readers of the sum do not all begin with a pointwise op. Otherwise the add is fused with
/// its readers. Source: `is_valid_addmm_fusion` in `torch/_inductor/fx_passes/post_grad.py`.
pub(super) fn bias_adds(graph: &Graph) -> IdVec<OpId, Option<OpId>> {
    let mut add_of = IdVec::from_elem(None, graph.ops.len());
    let mut is_in_call = IdVec::from_elem(false, graph.ops.len());
    // Backwards, as the compiler matches: an add in a later call is no pointwise reader of what it
    // adds.
    for add in graph.ops.ids().rev() {
        if let Some(matmul) = taker(graph, add)
            && !only_pointwise_follows(graph, add, &is_in_call)
        {
            add_of[matmul] = Some(add);
            is_in_call[add] = true;
        }
    }
    add_of
}

/// The matmul whose call may include an op: of two products that are added the second takes the
/// first.
fn taker(graph: &Graph, add: OpId) -> Option<OpId> {
    let products = graph.inputs[add].iter().rev();
    products
        .filter_map(|&tensor| graph.tensors[tensor].producer)
        .filter(|&op| is_matmul(graph, op) && takes_add(graph, op))
        .find(|&matmul| is_addmm(graph, matmul, add))
}

/// Whether `addmm` computes a matmul together with the only op that reads it.
fn is_addmm(graph: &Graph, matmul: OpId, add: OpId) -> bool {
    is_add(graph, add) && refused_add(graph, matmul, add).is_none()
}

fn is_add(graph: &Graph, op: OpId) -> bool {
    graph.ops[op].function == Some(Function::Add)
}

/// Why an `add` after a matmul is not part of its library call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideCall {
    /// Only the product of two matrices takes an `add`. This one has so many dimensions.
    Dimensions(usize),
    /// The product is a result of the program as well.
    IsResult,
    /// This op reads the product as well.
    AnotherReader(OpId),
    /// The `add` adds the product to itself.
    AddsItself,
    /// The other operand does not broadcast to the product, or has another type.
    OtherOperand,
    /// The `add` reads this view of the product.
    OfView(OpId),
    /// The `add` is part of the call of this matmul, whose product it reads, too.
    OtherCall(OpId),
    /// The compiler fuses it with the ops that read it, of which this is the only one.
    WithReader(OpId),
    /// The compiler fuses it with the ops that read it.
    WithReaders,
}

/// Why an `add` that reads a product, or this view of it, is not part of the library call of the
/// matmul. The `add` is known to be separate; `None` where nothing after a matmul is the reason.
pub fn outside_call(graph: &Graph, matmul: OpId, read: OpId, add: OpId) -> Option<OutsideCall> {
    if !is_add(graph, add) || !takes_add(graph, matmul) {
        return None;
    }
    if read != matmul {
        let is_view = graph.ops[read].is_view();
        return is_view.then_some(OutsideCall::OfView(read));
    }
    if let Some(refused) = refused_add(graph, matmul, add) {
        return Some(refused);
    }
    if let Some(other) = taker(graph, add).filter(|&other| other != matmul) {
        return Some(OutsideCall::OtherCall(other));
    }
    match graph.successors[add][..] {
        [] => None,
        [only] if !graph.ops[only].is_view() => Some(OutsideCall::WithReader(only)),
        _ => Some(OutsideCall::WithReaders),
    }
}

/// Whether the library call of a matmul can add something to the product: that of a convolution
/// cannot, nor one that has a bias.
pub fn takes_add(graph: &Graph, matmul: OpId) -> bool {
    !is_convolution(graph, matmul) && graph.inputs[matmul].len() == 2
}

/// Why `addmm` does not compute a matmul together with an `add` that reads it.
fn refused_add(graph: &Graph, matmul: OpId, add: OpId) -> Option<OutsideCall> {
    let product = graph.output[matmul];
    let shape = &graph.ops[matmul].shape;
    let &[rows, columns] = &shape[..] else {
        return Some(OutsideCall::Dimensions(shape.len()));
    };
    if graph.is_final(product) {
        return Some(OutsideCall::IsResult);
    }
    let mut readers = graph.successors[matmul].iter();
    if let Some(&other) = readers.find(|&&reader| reader != add) {
        return Some(OutsideCall::AnotherReader(other));
    }
    let bias = match graph.inputs[add][..] {
        [a, b] if a == b => return Some(OutsideCall::AddsItself),
        [a, b] if a == product => b,
        [a, _] => a,
        _ => return Some(OutsideCall::OtherOperand),
    };
    let is_broadcast = match graph.tensor_shape(bias) {
        Some([last]) => [columns, 1].contains(last),
        Some([first, last]) => [rows, 1].contains(first) && [columns, 1].contains(last),
        _ => false,
    };
    // A size stands for a type that an op list leaves open, so such a type fits any of its size.
    let operands = graph.inputs[matmul].iter().chain([&bias]);
    let types: Vec<&Tensor> = operands.map(|&tensor| &graph.tensors[tensor]).collect();
    let is_one_size = all_equal(types.iter().map(|tensor| tensor.bytes_per_element));
    let is_one_type = is_one_size && all_equal(types.iter().filter_map(|tensor| tensor.dtype));
    (!is_broadcast || !is_one_type).then_some(OutsideCall::OtherOperand)
}

/// Whether a library has one call for these ops, of which one is this matmul: what else they are is
/// views, and the add of `addmm` or the ops of a call for weights of 8 bits. Epilogues of a
/// convolution come from its library, because compilers do not generate it.
pub(crate) fn is_one_call(graph: &Graph, ops: &[OpId], matmul: OpId) -> bool {
    let is_other = |&op: &OpId| op != matmul && !graph.ops[op].is_view();
    let mut others = ops.iter().copied().filter(is_other);
    match (others.next(), others.next()) {
        _ if is_convolution(graph, matmul) => true,
        (None, _) => true,
        (Some(add), None) => is_addmm(graph, matmul, add),
        _ => is_int8_call(graph, ops, matmul),
    }
}

fn is_int8_call(graph: &Graph, ops: &[OpId], matmul: OpId) -> bool {
    let is_member = |members: &[OpId]| {
        let mut others = ops.iter().filter(|&&op| !graph.ops[op].is_view());
        others.all(|op| members.contains(op)) && members.iter().all(|op| ops.contains(op))
    };
    int8_call(graph, matmul).is_some_and(|members| is_member(&members))
}

fn only_pointwise_follows(graph: &Graph, op: OpId, is_in_call: &IdVec<OpId, bool>) -> bool {
    let mut open = graph.successors[op].to_vec();
    // Without a reader no other kernel could compute the add, so the call does.
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

/// Whether the first op that the compiler makes of this one is pointwise. Rows of 16 bits are
/// converted to f32 before a softmax or a norm reduces them. Read from compiled code, a function at
/// a time, in f16 and f32 (torch 2.11, H100).
pub(super) fn begins_pointwise(graph: &Graph, op: OpId) -> bool {
    let definition = &graph.ops[op];
    let is_half = || {
        let first = graph.inputs[op].first();
        first.is_some_and(|&tensor| graph.tensors[tensor].addressed_bytes() == Some(2))
    };
    match (definition.op_type, definition.function) {
        (OpType::Elementwise, _)
        | (OpType::Reshape, Some(Function::Contiguous | Function::RepeatInterleave)) => true,
        (OpType::Reduction, Some(function)) => match function.row_values() {
            0 => false,
            // It squares each element.
            1 => true,
            _ => is_half(),
        },
        // No other concatenation is a pointwise op.
        (OpType::Reshape, Some(Function::Concat)) => is_repeat(definition),
        _ => false,
    }
}

/// The first matmul of a kernel of the compiler, if the kernel is a library call. A flash kernel,
/// which has two matmuls, is one.
pub(crate) fn library_call(graph: &Graph, ops: &[OpId], max_autotune: bool) -> Option<OpId> {
    let matmul = first_matmul(graph, ops)?;
    let is_library = matmul_space(graph, matmul, max_autotune) == Loop::Library
        || is_flash(graph, ops, matmul)
        || is_int8_call(graph, ops, matmul);
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

/// Whether the kernel of this matmul is attention: it has two matmuls, or one op that stands for
/// all.
fn is_flash(graph: &Graph, ops: &[OpId], matmul: OpId) -> bool {
    let mut others = ops.iter().filter(|&&op| op != matmul);
    others.any(|&op| is_matmul(graph, op)) || graph.stand_ins.iter().any(|of| of.op == matmul)
}

/// The first of these ops that a kernel of its own computes, of a library or unknown.
pub(crate) fn first_opaque(graph: &Graph, ops: &[OpId]) -> Option<OpId> {
    let is_opaque = |&op: &OpId| {
        let definition = &graph.ops[op];
        definition.op_type == OpType::Opaque && is_call(definition)
    };
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
