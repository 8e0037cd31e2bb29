//! How eager PyTorch lays out each tensor: transposes and slices are views, elementwise ops keep
//! the order of their input, others give a new tensor in row-major order. Beside a convolution,
//! which reads and writes images channels last, those that are given lie so, too. The compiler
//! starts from a graph in which these layouts have been decided.

use super::facts::{is_resampled, is_windowed};
use super::view::{View, view_of_op};
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;
use crate::model::options::ReshapeCost;
use crate::model::partition::OperandCopy;
use crate::model::sizes::broadcast_operand_size;

/// For each tensor where its elements lie in its buffer.
pub(super) type Layouts = IdVec<TensorId, View>;

/// The layouts, where those in `given` are known, these ops are views and these write in place.
/// `O(ops + reads)`.
pub(super) fn layouts(
    graph: &Graph,
    given: &[(TensorId, View)],
    is_view: impl Fn(OpId) -> bool,
    writes_in_place: impl Fn(OpId) -> bool,
) -> Layouts {
    let whole = |tensor| {
        let shape = graph.tensor_shape(tensor);
        View::whole(shape.and_then(element_count).unwrap_or(0))
    };
    let mut layouts: Layouts = graph.tensors.ids().map(whole).collect();
    for (tensor, layout) in given {
        layouts[*tensor] = layout.clone();
    }
    if graph.ops.iter().any(Op::is_convolution) {
        for (tensor, image) in graph.tensors.iter_enumerated() {
            let shape = graph.tensor_shape(tensor).unwrap_or(&[]);
            if image.is_external() && shape.len() == 4 {
                layouts[tensor] = View::channels_last(shape);
            }
        }
    }
    for (op, definition) in graph.ops.iter_enumerated() {
        let shape = &definition.shape[..];
        let output = graph.output[op];
        if is_view(op) {
            let Some(&input) = graph.inputs[op].first() else {
                continue;
            };
            let view = view_of_op(graph, op).and_then(|view| view.through(&layouts[input]));
            // What is no strided tensor of the new shape is copied.
            if let Some(view) = view.filter(|view| view.strides(shape).is_some()) {
                layouts[output] = view;
            }
        } else if writes_in_place(op) {
            let Some(&memory) = graph.inputs[op].first() else {
                continue;
            };
            layouts[output] = layouts[memory].clone();
        } else if is(definition, Function::Sdpa) {
            let q = graph.inputs[op].first().copied();
            layouts[output] = attention_layout(graph, &layouts, definition, q);
        } else if definition.op_type == OpType::Elementwise {
            let mut inputs = graph.inputs[op].iter();
            let like = inputs.find(|&&input| graph.tensor_shape(input) == Some(shape));
            layouts[output] = laid_out_as(graph, &layouts, shape, like.copied());
        } else if definition.is_convolution() {
            layouts[output] = View::channels_last(shape);
        } else if is(definition, Function::Concat) && shape.len() == 4 {
            let mut images = graph.inputs[op].iter().map(|&image| {
                // One channel or one pixel lies the same way in both layouts and decides nothing.
                let last = View::channels_last(graph.tensor_shape(image).unwrap_or(&[]));
                layouts[image] == last && last != whole(image)
            });
            if images.any(|is_last| is_last) {
                layouts[output] = View::channels_last(shape);
            }
        } else if is_windowed(definition)
            || is_resampled(definition)
            || is(definition, Function::BatchNormTrain)
        {
            let Some(&image) = graph.inputs[op].first() else {
                continue;
            };
            let like = graph.tensor_shape(image).unwrap_or(&[]);
            layouts[output] = View::image_as(shape, &layouts[image], like);
        }
    }
    layouts
}

/// The layout of a new tensor whose dimensions lie as those of another one, if there is one.
pub(super) fn laid_out_as(
    graph: &Graph,
    layouts: &Layouts,
    shape: &[u64],
    like: Option<TensorId>,
) -> View {
    match like {
        Some(like) => {
            let like_shape = graph.tensor_shape(like).unwrap_or(&[]);
            View::laid_out_as(shape, &layouts[like], like_shape)
        }
        None => View::whole(element_count(shape).unwrap_or(0)),
    }
}

/// Whether a reshape copies its input, which is no strided tensor of the new shape.
pub(super) fn is_copied_reshape(graph: &Graph, layouts: &Layouts, op: OpId) -> bool {
    let definition = &graph.ops[op];
    let input = graph.inputs[op].first().map(|&input| &layouts[input]);
    is(definition, Function::Reshape)
        && view_of_op(graph, op)
            .zip(input)
            .and_then(|(view, input)| view.through(input))
            .is_none_or(|view| view.strides(&definition.shape).is_none())
}

/// How the result of a flash kernel lies: as Q does, also where a row of V is longer or shorter
/// than one of Q, or token by token in f32.
pub(super) fn attention_layout(
    graph: &Graph,
    layouts: &Layouts,
    result: &Op,
    q: Option<TensorId>,
) -> View {
    match (&result.shape[..], result.element_type()) {
        (&[batch, heads, tokens, size], Some(DType::F32)) => {
            View::transposed(&[batch, tokens, heads, size], [0, 2, 1, 3])
        }
        (shape, _) => laid_out_as(graph, layouts, shape, q),
    }
}

/// Whether neither rows nor columns of an operand of a batched matmul lie side by side, so that the
/// library copies it.
pub(super) fn has_no_rows(
    graph: &Graph,
    layouts: &Layouts,
    matmul: OpId,
    operand: TensorId,
) -> bool {
    let is_product = is(&graph.ops[matmul], Function::Matmul);
    let Some(shape) = graph.tensor_shape(operand).filter(|_| is_product) else {
        return false;
    };
    match layouts[operand].strides(shape).as_deref() {
        Some(&[.., row, column]) => row > 1 && column > 1,
        _ => false,
    }
}

fn is(op: &Op, function: Function) -> bool {
    op.function == Some(function)
}

/// Whether a matmul reads a copy of this operand: its batch dimensions, broadcast to those of the
/// product, become one dimension, which a view can only show if their strides count on. Source:
/// `_matmul_impl` in `aten/src/ATen/native/LinearAlgebra.cpp`, and `matmul` in
/// `torch/_decomp/decompositions.py`.
pub(super) fn is_copied(graph: &Graph, layouts: &Layouts, matmul: OpId, operand: TensorId) -> bool {
    let definition = &graph.ops[matmul];
    let is_product = definition.op_type == OpType::Matmul
        && matches!(
            definition.function,
            None | Some(Function::Matmul | Function::Linear)
        );
    let Some(shape) = graph.tensor_shape(operand).filter(|_| is_product) else {
        return false;
    };
    let batch = definition.shape.split_last_chunk::<2>();
    batch.is_some_and(|(batch, _)| batch.len() > 1 && !layouts[operand].merges(shape, batch))
}

fn eager_layouts(graph: &Graph, reshape: ReshapeCost) -> Layouts {
    let is_free = |op| reshape.is_free_view(graph, op);
    layouts(graph, &[], is_free, |op| graph.ops[op].in_place)
}

/// The copies of operands that eager PyTorch makes for its library, by ascending op.
/// `O(ops + reads)`.
pub(crate) fn operand_copies(graph: &Graph, reshape: ReshapeCost) -> Vec<OperandCopy> {
    let is_batched = |op: &Op| op.op_type == OpType::Matmul && op.shape.len() > 2;
    // A copy of a matrix is rare, and layouts take time in each move of a slider.
    if !graph.ops.iter().any(is_batched) {
        return Vec::new();
    }
    let layouts = eager_layouts(graph, reshape);
    let mut copies = Vec::new();
    for (op, definition) in graph.ops.iter_enumerated() {
        if definition.op_type != OpType::Matmul || graph.stand_in(op).is_some() {
            continue;
        }
        for &tensor in graph.inputs[op].iter().take(2) {
            if is_copied(graph, &layouts, op, tensor) || has_no_rows(graph, &layouts, op, tensor) {
                let bytes = broadcast_operand_size(graph, op, tensor).unwrap_or(0);
                copies.push(OperandCopy {
                    op,
                    tensor,
                    written_by: op,
                    bytes_read: bytes,
                    bytes_written: bytes,
                });
            }
        }
    }
    copies
}

/// The free views that eager PyTorch copies before its library reads them: reshapes that no strides
/// show, of what an expand repeats. Ascending. `O(ops + reads)`.
pub(crate) fn copied_views(graph: &Graph, reshape: ReshapeCost) -> Vec<OpId> {
    let is_free = |op| reshape.is_free_view(graph, op);
    let repeats = |op: OpId| is(&graph.ops[op], Function::Expand) && is_free(op);
    // As above.
    if !graph.ops.ids().any(repeats) {
        return Vec::new();
    }
    let layouts = eager_layouts(graph, reshape);
    let mut is_operand = IdVec::from_elem(false, graph.tensors.len());
    let mut copied = Vec::new();
    for op in graph.ops.ids().rev() {
        if graph.ops[op].op_type == OpType::Matmul && graph.stand_in(op).is_none() {
            for &tensor in graph.inputs[op].iter().take(2) {
                is_operand[tensor] = true;
            }
        } else if let Some(&input) = graph.inputs[op].first()
            && is_free(op)
            && is_operand[graph.output[op]]
        {
            let elements = graph.tensors[input].elements().unwrap_or(0);
            let is_repeated = layouts[input].elements() < elements;
            if is_repeated && is_copied_reshape(graph, &layouts, op) {
                copied.push(op);
            } else {
                is_operand[input] = true;
            }
        }
    }
    copied.reverse();
    copied
}

/// The bias that a pointwise op adds behind a linear layer: its input has more than two dimensions
/// and does not lie row by row, so that it is a batch of products, for which the library takes no
/// bias. Source: `should_fold`, there.
pub(super) fn bias_behind(graph: &Graph, layouts: &Layouts, linear: OpId) -> Option<TensorId> {
    let &[input, _, bias] = &graph.inputs[linear][..] else {
        return None;
    };
    let shape = graph.tensor_shape(input)?;
    let is_whole = layouts[input] == View::whole(element_count(shape)?);
    let is_batch = is(&graph.ops[linear], Function::Linear) && shape.len() > 2 && !is_whole;
    is_batch.then_some(bias)
}
