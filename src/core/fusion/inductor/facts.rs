//! Properties of one op that the compiler decides by.

use super::sort::is_generated_sort;
use super::store::is_store;
use crate::fusion::loops::Loop;
use crate::fusion::rows::RowDomain;
use crate::model::functions::{Function, ShapeRule};
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::{Op, Window, element_count};
use crate::model::op_type::OpType;

pub(super) fn reduction_space(graph: &Graph, op: OpId) -> Loop {
    let rows = RowDomain::of_op(graph, op);
    Loop::Reduction {
        rows: rows.rows,
        width: rows.width,
        // One of the two is 0: axes without a common stride have a number that identifies them.
        inner: rows.stride.max(rows.axes_id),
    }
}

/// Whether `reader` broadcasts the row values of a reduction along other axes than the reduced
/// ones, so that it reads them in another order than they are written.
pub(super) fn is_across(graph: &Graph, reduction: OpId, value: TensorId, reader: &Op) -> bool {
    let rows = RowDomain::of_op(graph, reduction);
    let value = graph.tensor_shape(value).unwrap_or(&[]);
    element_count(value) == Some(rows.rows)
        && element_count(&reader.shape) == Some(rows.full_elements())
        && rows.width > 1
        && RowDomain::of_read(value, reader) != Some(rows)
}

/// Whether the op is a reduction whose output has the shape of its input: softmax and the norms.
pub(super) fn keeps_shape(graph: &Graph, op: OpId) -> bool {
    let definition = &graph.ops[op];
    definition.op_type == OpType::Reduction
        && match definition.function {
            Some(function) => {
                function.row().shape_rule == ShapeRule::SameAsFirst
                    || matches!(function, Function::GroupNorm | Function::BatchNormTrain)
            }
            None => graph.inputs[op]
                .first()
                .and_then(|&t| graph.tensor_shape(t))
                .is_none_or(|shape| *shape == definition.shape),
        }
}

/// Whether the op runs as a call of a library, or as a matmul that the compiler instantiates.
pub(super) fn is_call(op: &Op) -> bool {
    let is_computed =
        is_store(op) || is_generated_sort(op) || op.function == Some(Function::SliceScatter);
    matches!(op.op_type, OpType::Matmul | OpType::Opaque) && !is_computed
        || is_windowed(op) && window_of(op).is_none()
}

/// Whether the op writes to elements of a copy of its first input. It may not overwrite the input,
/// which is external, or another op reads it. Source: `torch/_inductor/fx_passes/reinplace.py`.
pub(super) fn copies_before(graph: &Graph, op: OpId) -> bool {
    let definition = &graph.ops[op];
    let writes = definition.function.is_some_and(Function::writes_part) && !definition.in_place;
    let first = graph.inputs[op].first().filter(|_| writes);
    first.is_some_and(|&tensor| {
        graph.tensors[tensor].is_external()
            || graph.is_final(tensor)
            || graph.consumers[tensor].len() > 1
    })
}

/// Whether the op is a pool: the compiler runs it as a pointwise loop that reads a small window for
/// each element.
pub(super) fn is_windowed(op: &Op) -> bool {
    let function = op.function;
    function.is_some_and(|f| match f.row().shape_rule {
        ShapeRule::Pool2d => true,
        // PyTorch computes the mean of a whole image as any mean.
        ShapeRule::AdaptivePool2d => {
            f != Function::AdaptiveAvgPool2d || !op.shape.ends_with(&[1, 1])
        }
        _ => false,
    })
}

/// Whether the op reads the elements of an image several times, or what lies between them. Source:
/// `upsample_nearestnd` in `torch/_inductor/lowering.py`.
pub(super) fn is_resampled(op: &Op) -> bool {
    let function = op.function;
    function.is_some_and(|f| f.row().shape_rule == ShapeRule::Resample)
}

/// The window of a pool. Larger ones are left to the library.
pub(super) fn window_of(op: &Op) -> Option<Window> {
    /// Most elements of a window that the compiler writes out (`torch/_inductor/lowering.py`).
    const LARGEST: u64 = 25;
    let window = op.indexing.as_ref()?.window?;
    let [height, width] = window.size;
    (height.checked_mul(width)? <= LARGEST).then_some(window)
}

/// How often the expression of an op loads its input. Source: the decompositions in
/// `torch/_inductor/lowering.py` and `torch/_refs/nn/functional`.
pub(super) fn loads(op: &Op) -> u32 {
    match op.function {
        Some(Function::Silu | Function::Gelu | Function::Square | Function::LogSigmoid) => 2,
        Some(Function::Softplus) => 3,
        _ => 1,
    }
}

/// Elements of the output.
pub(super) fn elements(op: &Op) -> u64 {
    element_count(&op.shape).unwrap_or(0)
}

/// The products of the dimensions of a shape up to each one, from the last on.
fn borders(shape: &[u64]) -> Vec<u64> {
    let mut inner = 1_u64;
    let ends = shape.iter().rev().filter(|&&size| size != 1);
    ends.map(|&size| {
        inner = inner.saturating_mul(size);
        inner
    })
    .collect()
}

/// Whether a reshape both cuts and joins the dimensions between two borders that both shapes have.
fn crosses(old: &[u64], new: &[u64]) -> bool {
    // Dimensions end at borders. A border of the old shape alone joins two dimensions, a border of
    // the new shape alone cuts one.
    let (mut cuts, mut joins) = (false, false);
    let mut borders: Vec<u64> = old.iter().chain(new).copied().collect();
    borders.sort_unstable();
    borders.dedup();
    for border in borders {
        match (old.contains(&border), new.contains(&border)) {
            (true, true) => (cuts, joins) = (false, false),
            (is_old, _) => *(if is_old { &mut joins } else { &mut cuts }) = true,
        }
        if cuts && joins {
            return true;
        }
    }
    false
}

/// Whether quotients are left in the index of a reshape that both cuts and joins dimensions, so
/// that the compiler does not see that the elements keep their order.
///
/// The position in an old dimension is the position of all, as a sum over the new dimensions,
/// divided by the old dimension's border. Multiples of the border leave the quotient; of a sum that
/// stays, nothing is simplified, and the quotient only cancels against a remainder of the same sum.
/// The remainder is no such sum if the sum has parts of its own: at a border of both shapes.
/// Found from `View.dynamic_reshape_indexer` and `SizeVarAllocator.simplify_with_ranges` of torch
/// 2.11, with which it agrees for 837 random pairs of shapes.
fn leaves_quotients(old: &[u64], new: &[u64]) -> bool {
    let steps = || std::iter::once(1).chain(new.iter().copied().take(new.len().saturating_sub(1)));
    let mut is_shared_within = false;
    for &border in old.iter().take(old.len().saturating_sub(1)) {
        is_shared_within |= new.contains(&border);
        let (whole, rest): (Vec<u64>, Vec<u64>) =
            steps().partition(|step| step.is_multiple_of(border));
        if is_shared_within && !whole.is_empty() && rest.len() > 1 {
            return true;
        }
    }
    false
}

/// Whether the op is a reshape in whose index the compiler does not see that the elements keep
/// their order.
pub(super) fn is_crossing(graph: &Graph, op: OpId) -> bool {
    let definition = &graph.ops[op];
    let input = graph.inputs[op].first();
    definition.function == Some(Function::Reshape)
        && input
            .and_then(|&tensor| graph.tensor_shape(tensor))
            .is_some_and(|shape| {
                let (old, new) = (borders(shape), borders(&definition.shape));
                crosses(&old, &new) && leaves_quotients(&old, &new)
            })
}

/// The reduced axes, bit `i` for dimension `i`; 0 stands for the last one.
pub(super) fn reduced_axes(axes: u32, rank: usize) -> u32 {
    let last = rank.saturating_sub(1).min(31);
    match axes {
        0 => 1 << last,
        axes => axes,
    }
}

/// Whether all values are the same.
pub(super) fn all_equal<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.all(|other| Some(&other) == first.as_ref())
}

/// Whether an op concatenates copies of one tensor, which the compiler takes for a broadcast
/// (`cat` in `torch/_decomp/decompositions.py`).
pub(super) fn is_repeat(op: &Op) -> bool {
    op.function == Some(Function::Concat) && op.inputs.len() > 1 && all_equal(op.inputs.iter())
}

/// Whether a running sum adds up one number, so that the compiler computes it from the position.
/// Source: `pointless_cumsum_replacement` in `torch/_inductor/fx_passes/post_grad.py`.
pub(super) fn is_position(graph: &Graph, op: OpId) -> bool {
    let is_sum = graph.ops[op].function == Some(Function::Cumsum);
    let producer = graph.inputs[op].first().filter(|_| is_sum);
    let producer = producer.and_then(|&input| graph.tensors[input].producer);
    producer.is_some_and(|producer| graph.ops[producer].function == Some(Function::Full))
}
