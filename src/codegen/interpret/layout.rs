//! Ops that move elements and compute nothing.

use super::arithmetic::truth;
use super::array::{Array, count, walk};
use super::resample::interpolated;
use super::task::{Task, unfit};
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::operand_parts::{Heads, heads_between};

/// The elements in their new order.
pub(super) fn layout(task: &Task<'_>, inputs: &[Array<'_>]) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, inputs);
    match (task.function, inputs) {
        (Function::Reshape | Function::Contiguous, [x]) => kept(task, x).ok_or_else(refuse),
        (Function::Bitcast, _) => Err(EvaluationError::NoNumbers(task.function)),
        (Function::Rearrange, [x]) => rearranged(task, x).ok_or(EvaluationError::UnknownOrder),
        (Function::Rearrange, _) => Err(EvaluationError::UnknownOrder),
        (Function::Transpose, [x]) => transposed(task, x).ok_or_else(refuse),
        (Function::Split | Function::Slice, [x]) => sliced(task, x).ok_or_else(refuse),
        (Function::Concat, inputs) => concatenated(task, inputs).ok_or_else(refuse),
        (Function::Expand, [x]) => Ok(x.broadcast(task.shape).ok_or_else(refuse)?.into_owned()),
        (Function::Repeat, [x]) => repeated(task, x).ok_or_else(refuse),
        (Function::RepeatInterleave, [x]) => interleaved(task, x).ok_or_else(refuse),
        (Function::Pad, [x]) => padded(task, x).ok_or_else(refuse),
        (Function::Embedding, [index, table]) => embedded(task, index, table),
        (Function::Gather, [x, index]) => gathered(task, x, index),
        (Function::Index, [x, indices @ ..]) => indexed(task, x, indices),
        (Function::OneHot, [index]) => one_hot(task, index).ok_or_else(refuse),
        (Function::Flip, [x]) => flipped(task, x).ok_or_else(refuse),
        (Function::Roll, [x]) => rolled(task, x).ok_or_else(refuse),
        (Function::Interpolate | Function::InterpolateBilinear, [x]) => {
            interpolated(task, x).ok_or_else(refuse)
        }
        _ => Err(refuse()),
    }
}

fn kept(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    (x.values.len() == task.elements()).then(|| x.values.to_vec())
}

/// Columns split into heads, or heads merged; the shapes show no other rearrangement.
fn rearranged(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let sizes = |shape: &[usize]| shape.iter().map(|&size| size as u64).collect::<Vec<_>>();
    let (from, to) = (sizes(&x.shape), sizes(task.shape));
    let (moved, heads) = heads_between(&from, &to)?;
    let heads: Vec<usize> = heads
        .iter()
        .map(|&size| usize::try_from(size).ok())
        .collect::<Option<_>>()?;
    // The size of a head, and the dimensions before those of the heads.
    let (d, before) = match moved {
        Heads::Split => (*task.shape.last()?, x.shape.len() - 2),
        Heads::Joined => (*x.shape.last()?, task.shape.len() - 2),
    };
    Some(walk(task.shape, |index| {
        let (batch, own) = index.split_at(before);
        let mut from = batch.to_vec();
        match (moved, own) {
            (Heads::Split, [own @ .., row, column]) => {
                let places = heads.iter().zip(own);
                let head = places.fold(0, |head, (size, own)| head * size + own);
                from.extend([*row, head * d + column]);
            }
            (Heads::Joined, [row, column]) => {
                let mut head = column / d.max(1);
                from.extend(heads.iter().map(|_| 0));
                for (own, size) in from[before..].iter_mut().zip(&heads).rev() {
                    (*own, head) = (head % size, head / size);
                }
                from.extend([*row, column % d.max(1)]);
            }
            _ => {}
        }
        x.at(&from)
    }))
}

fn transposed(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let perm = &task.op.indexing.as_ref()?.perm;
    let sizes = perm.iter().map(|&old| x.shape.get(old).copied());
    let shape: Vec<usize> = sizes.collect::<Option<_>>()?;
    if shape != task.shape || perm.len() != x.shape.len() {
        return None;
    }
    let mut from = vec![0; perm.len()];
    Some(walk(task.shape, |index| {
        for (&old, &place) in perm.iter().zip(index) {
            from[old] = place;
        }
        x.at(&from)
    }))
}

fn sliced(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let indexing = task.op.indexing.as_ref()?;
    let (axis, rank) = (indexing.axis, x.shape.len());
    let start = usize::try_from(indexing.start).ok()?;
    let step = usize::try_from(indexing.step).ok()?;
    let last = task.shape.get(axis)?.checked_sub(1)?;
    let end = last.checked_mul(step)?.checked_add(start)?;
    let others_fit = (0..rank).all(|place| place == axis || x.shape[place] == task.shape[place]);
    if task.shape.len() != rank || !others_fit || end >= *x.shape.get(axis)? {
        return None;
    }
    Some(from_moved(task, x, axis, |place| start + place * step))
}

/// Takes each element from another position along one axis.
fn from_moved(
    task: &Task<'_>,
    x: &Array<'_>,
    axis: usize,
    place: impl Fn(usize) -> usize,
) -> Vec<f64> {
    let mut from = vec![0; task.shape.len()];
    walk(task.shape, |index| {
        from.copy_from_slice(index);
        if let Some(own) = from.get_mut(axis) {
            *own = place(*own);
        }
        x.at(&from)
    })
}

fn concatenated(task: &Task<'_>, inputs: &[Array<'_>]) -> Option<Vec<f64>> {
    let axis = task.op.indexing.as_ref()?.axis;
    let rank = task.shape.len();
    let fits = |x: &Array<'_>| {
        let mut places = 0..rank;
        x.shape.len() == rank && places.all(|at| at == axis || x.shape[at] == task.shape[at])
    };
    if axis >= rank || !inputs.iter().all(fits) {
        return None;
    }
    let inner = count(&task.shape[axis + 1..]);
    let outer = count(&task.shape[..axis]);
    let mut values = Vec::with_capacity(task.elements());
    for place in 0..outer {
        for x in inputs {
            let run = x.shape[axis] * inner;
            values.extend_from_slice(x.values.get(place * run..(place + 1) * run)?);
        }
    }
    (values.len() == task.elements()).then_some(values)
}

fn repeated(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let added = task.shape.len().checked_sub(x.shape.len())?;
    let mut pairs = x.shape.iter().zip(&task.shape[added..]);
    if pairs.any(|(&own, &size)| own == 0 || size % own != 0) {
        return None;
    }
    let mut from = vec![0; x.shape.len()];
    Some(walk(task.shape, |index| {
        for ((from, place), size) in from.iter_mut().zip(&index[added..]).zip(&*x.shape) {
            *from = place % size;
        }
        x.at(&from)
    }))
}

fn interleaved(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let axis = task.call.axis(x.shape.len())?;
    let (&own, &size) = (x.shape.get(axis)?, task.shape.get(axis)?);
    if own == 0 || size % own != 0 || task.elements() != x.values.len() / own * size {
        return None;
    }
    let times = size / own;
    Some(from_moved(task, x, axis, |place| place / times))
}

fn flipped(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let axes = task.call.axes(x.shape.len())?;
    (*x.shape == *task.shape).then(|| {
        walk(task.shape, |index| {
            let mut from = index.to_vec();
            for &axis in &axes {
                from[axis] = x.shape[axis] - 1 - index[axis];
            }
            x.at(&from)
        })
    })
}

fn rolled(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let axis = task.call.axis(x.shape.len())?;
    let size = *x.shape.get(axis)?;
    let shift = task.call.size(AttributeName::Shift)?;
    let back = usize::try_from(shift.checked_rem_euclid(i64::try_from(size).ok()?)?).ok()?;
    let moved = || from_moved(task, x, axis, |place| (place + size - back) % size);
    (*x.shape == *task.shape).then(moved)
}

#[allow(clippy::float_cmp, reason = "places are whole numbers")]
fn one_hot(task: &Task<'_>, index: &Array<'_>) -> Option<Vec<f64>> {
    let &classes = task.shape.last()?;
    if index.values.len() * classes != task.elements() {
        return None;
    }
    let rows = index.values.iter();
    let hot = |place: f64| (0..classes).map(move |class| truth(place == class as f64));
    Some(rows.flat_map(|&place| hot(place)).collect())
}

/// `x[i, j, ..]`
fn indexed(
    task: &Task<'_>,
    x: &Array<'_>,
    indices: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, std::slice::from_ref(x));
    let (along, behind) = x.shape.split_at_checked(indices.len()).ok_or_else(refuse)?;
    let outer = task.shape.len().checked_sub(behind.len());
    let places = outer
        .and_then(|outer| task.shape.get(..outer))
        .ok_or_else(refuse)?;
    let inner = count(behind);
    if count(places) * inner != task.elements() {
        return Err(refuse());
    }
    let indices = indices.iter().map(|index| index.broadcast(places));
    let indices: Vec<_> = indices.collect::<Option<_>>().ok_or_else(refuse)?;
    let mut values = Vec::with_capacity(task.elements());
    for at in 0..count(places) {
        let mut start = 0;
        for (index, &size) in indices.iter().zip(along) {
            start = start * size + place_of(index.get(at).copied().unwrap_or(f64::NAN), size)?;
        }
        let run = x.values.get(start * inner..(start + 1) * inner);
        values.extend_from_slice(run.ok_or_else(refuse)?);
    }
    Ok(values)
}

fn padded(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let border = task.call.sizes(AttributeName::Pad)?;
    let value = task.call.number(AttributeName::Value)?;
    let rank = x.shape.len();
    let mut before = vec![0; rank];
    for (place, sides) in border.chunks(2).enumerate() {
        let own = before.get_mut(rank.checked_sub(place + 1)?)?;
        *own = usize::try_from(*sides.first()?).ok()?;
    }
    if task.shape.len() != rank {
        return None;
    }
    let mut from = vec![0; rank];
    Some(walk(task.shape, |index| {
        for (place, from) in from.iter_mut().enumerate() {
            match index[place].checked_sub(before[place]) {
                Some(own) if own < x.shape[place] => *from = own,
                _ => return value,
            }
        }
        x.at(&from)
    }))
}

/// Converts an index to a position below `size`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "its range is checked"
)]
pub(super) fn place_of(index: f64, size: usize) -> Result<usize, EvaluationError> {
    if index >= 0.0 && index < size as f64 {
        return Ok(index as usize);
    }
    Err(EvaluationError::Index { index, size })
}

fn embedded(
    task: &Task<'_>,
    index: &Array<'_>,
    table: &Array<'_>,
) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, &[index.clone(), table.clone()]);
    let &[rows, width] = &*table.shape else {
        return Err(refuse());
    };
    let mut values = Vec::with_capacity(task.elements());
    for &index in index.values.iter() {
        let row = place_of(index, rows)? * width;
        values.extend_from_slice(table.values.get(row..row + width).ok_or_else(refuse)?);
    }
    if values.len() == task.elements() {
        Ok(values)
    } else {
        Err(refuse())
    }
}

fn gathered(
    task: &Task<'_>,
    x: &Array<'_>,
    index: &Array<'_>,
) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, &[x.clone(), index.clone()]);
    let axis = task
        .op
        .indexing
        .as_ref()
        .map(|indexing| indexing.axis)
        .ok_or_else(refuse)?;
    let size = *x.shape.get(axis).ok_or_else(refuse)?;
    let fits = |place: usize| place == axis || index.shape[place] <= x.shape[place];
    if *index.shape != *task.shape
        || index.shape.len() != x.shape.len()
        || !(0..x.shape.len()).all(fits)
    {
        return Err(refuse());
    }
    let places = index.values.iter().map(|&index| place_of(index, size));
    let places: Vec<usize> = places.collect::<Result<_, _>>()?;
    let mut places = places.into_iter();
    let mut from = vec![0; x.shape.len()];
    Ok(walk(task.shape, |own| {
        from.copy_from_slice(own);
        from[axis] = places.next().unwrap_or(0);
        x.at(&from)
    }))
}
