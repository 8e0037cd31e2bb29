//! Undeclared tensors whose size one of their readers fixes for all readers.

use crate::model::adjacency::Adjacency;
use crate::model::functions::{Function, ShapeRule};
use crate::model::graph::{FixedSize, SizeSource};
use crate::model::ids::Id;
use crate::model::op::Op;
use crate::model::op_type::OpType;
use crate::model::sizes::inferred_operand;
use std::collections::{HashMap, VecDeque};

/// For each undeclared tensor the first reader that fixes its size.
///
/// A fixed size can let the next reader fix another operand. Readers that keep shape and element
/// type go first, because they fix the type, too.
///
/// `readers` is `reads` inverted, and `shape_of` knows the other tensors. `O(reads)` shapes: an op
/// is visited again when one of its inputs gets a size, and only ops with few inputs fix one.
pub(crate) fn fixed_sizes<'a, O: Id, T: Id>(
    reads: &Adjacency<O, T>,
    readers: &Adjacency<T, O>,
    op_of: impl Fn(O) -> Option<&'a Op>,
    shape_of: impl Fn(T) -> Option<&'a [u64]>,
    is_undeclared: impl Fn(T) -> bool,
) -> HashMap<T, FixedSize<O>> {
    let mut fixed: HashMap<T, FixedSize<O>> = HashMap::new();
    let keeps_type = |&id: &O| op_of(id).is_some_and(keeps_shape);
    let (keeping, others) = reads.ids().partition::<Vec<O>, _>(keeps_type);
    let mut waiting: VecDeque<O> = keeping.into_iter().chain(others).collect();
    while let Some(id) = waiting.pop_front() {
        let Some((op, inputs)) = op_of(id).zip(reads.get(id)) else {
            continue;
        };
        for &tensor in inputs.iter().take(MOST_OPERANDS) {
            if !is_undeclared(tensor) || fixed.contains_key(&tensor) {
                continue;
            }
            let known = |t: T| shape_of(t).or_else(|| fixed.get(&t)?.operand_shape());
            let Some((shape, source)) = fixed_operand(op, inputs, tensor, known) else {
                continue;
            };
            let again = readers.get(tensor).unwrap_or_default().iter().copied();
            waiting.extend(again.filter(|&other| op_of(other).is_some_and(has_factors)));
            let size = FixedSize {
                reader: id,
                shape,
                is_count: op.op_type == OpType::Reshape,
                source,
            };
            fixed.insert(tensor, size);
        }
    }
    fixed
}

/// Most inputs of an op that are tried; no function that fixes an input has more.
const MOST_OPERANDS: usize = 5;

/// The shape of an input, if the op fixes it for all readers. A matmul that states its K does not,
/// because the operand may hold more.
fn fixed_operand<'a, T: Copy + PartialEq>(
    op: &Op,
    inputs: &[T],
    tensor: T,
    shape_of: impl Fn(T) -> Option<&'a [u64]>,
) -> Option<(Vec<u64>, SizeSource)> {
    if keeps_shape(op) {
        let shape = op.shape.clone();
        return (inputs.first() == Some(&tensor)).then_some((shape, SizeSource::Assumed));
    }
    let states_k = op.k.is_some() && op.function != Some(Function::Linear);
    if op.op_type == OpType::Matmul && states_k {
        return None;
    }
    let shape = inferred_operand(op, inputs, tensor, shape_of)?;
    Some((shape, SizeSource::Inferred))
}

/// Whether the output has shape and element type of the first input.
fn keeps_shape(op: &Op) -> bool {
    let function = op.function;
    function.is_some_and(|function| {
        let rule = function.row().shape_rule;
        matches!(rule, ShapeRule::SameAsFirst | ShapeRule::PerChannel) && !function.converts()
    })
}

/// Whether the shape of one operand can fix that of another.
fn has_factors(op: &Op) -> bool {
    op.op_type == OpType::Matmul
}
