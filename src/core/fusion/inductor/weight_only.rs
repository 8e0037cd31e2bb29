//! Linear layers of weights of 8 bits, `F.linear(x, w.to(x.dtype)) * scales`, which the compiler
//! replaces by one call.
//!
//! Source: the patterns `_register_woq_mm_int8_pattern1` to 4 in
//! `torch/_inductor/fx_passes/quantization.py`, and `_weight_int8pack_mm_cuda` in
//! `aten/src/ATen/native/cuda/int8mm.cu`.

use super::layout::Layouts;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op_type::OpType;

/// Kernels beside that of the product, which is one of f32: input and scales are converted before,
/// the result is converted back. Seen on an H200.
pub(super) const CONVERSIONS: usize = 3;

/// Adds these calls to those that replace several ops: for each op the last op of its call.
pub(super) fn replace_int8(graph: &Graph, replaced: &mut IdVec<OpId, Option<OpId>>) {
    for product in graph.ops.ids() {
        if let Some(members) = int8_call(graph, product)
            && members.iter().all(|&member| replaced[member].is_none())
        {
            for &member in &members {
                replaced[member] = members.last().copied();
            }
        }
    }
}

/// The ops of the call around this product, in order: a cast of the weights, perhaps their
/// transpose, the product and its scaling. Each of them is the only reader of the one before.
pub(super) fn int8_call(graph: &Graph, product: OpId) -> Option<Vec<OpId>> {
    let definition = &graph.ops[product];
    let &[x, weights] = &graph.inputs[product][..] else {
        return None;
    };
    let has = |tensor: TensorId, dtype| graph.tensors[tensor].dtype == Some(dtype);
    if definition.op_type != OpType::Matmul || !has(x, DType::Bf16) {
        return None;
    }
    let rank = graph.tensor_shape(x)?.len();
    let mut members = match (definition.function?, rank) {
        (Function::Linear, 3..) => vec![step(graph, weights, Function::Cast)?],
        (Function::Matmul, 3..) => match step(graph, weights, Function::Transpose) {
            Some(transpose) => {
                let &cast = graph.inputs[transpose].first()?;
                vec![step(graph, cast, Function::Cast)?, transpose]
            }
            // The product itself transposes weights of this shape.
            None if is_transposed(graph, product, x, weights) => {
                vec![step(graph, weights, Function::Cast)?]
            }
            None => return None,
        },
        // Only a cast of the transposed weights. A matrix multiplied by `F.linear` is no pattern.
        (Function::Matmul, 2) => {
            let cast = step(graph, weights, Function::Cast)?;
            let &transposed = graph.inputs[cast].first()?;
            vec![step(graph, transposed, Function::Transpose)?, cast]
        }
        _ => return None,
    };
    let &stored = members.first().and_then(|&op| graph.inputs[op].first())?;
    members.push(product);
    let &[scaling] = &graph.successors[product][..] else {
        return None;
    };
    // The patterns have the product first.
    let &[first, scales] = &graph.inputs[scaling][..] else {
        return None;
    };
    let columns = definition.shape.last()?;
    let fits = graph.ops[scaling].function == Some(Function::Mul)
        && first == graph.output[product]
        && !graph.is_final(first)
        && has(stored, DType::I8)
        && has(scales, DType::Bf16)
        // The call refuses scales of any other shape.
        && graph.tensor_shape(scales) == Some(&[*columns]);
    members.push(scaling);
    fits.then_some(members)
}

/// The op of this function that has made a tensor, if one op reads the tensor.
fn step(graph: &Graph, tensor: TensorId, function: Function) -> Option<OpId> {
    let op = graph.tensors[tensor].producer?;
    let is_step = graph.ops[op].function == Some(function)
        && graph.consumers[tensor].len() == 1
        && !graph.is_final(tensor);
    is_step.then_some(op)
}

/// Whether the shapes show that a product transposes its second operand, as `transpose_b` does.
fn is_transposed(graph: &Graph, product: OpId, x: TensorId, weights: TensorId) -> bool {
    let depth = graph.tensor_shape(x).and_then(<[u64]>::last);
    let columns = graph.ops[product].shape.last();
    let is_other =
        |shape: &[u64]| matches!(shape, [n, k] if Some(n) == columns && Some(k) == depth);
    depth != columns && graph.tensor_shape(weights).is_some_and(is_other)
}

/// Whether the call reads a copy of its input, whose dimensions before the last become one.
pub(super) fn is_copied_for(graph: &Graph, layouts: &Layouts, product: OpId, x: TensorId) -> bool {
    let is_input = graph.inputs[product].first() == Some(&x) && int8_call(graph, product).is_some();
    let Some([rows @ .., depth]) = graph.tensor_shape(x).filter(|_| is_input) else {
        return false;
    };
    // As a matrix with a row of one more dimension, its rows are a batch.
    let shape: Vec<u64> = rows.iter().copied().chain([1, *depth]).collect();
    !layouts[x].merges(&shape, rows)
}
