//! Library kernels: attention, sorting and scatter.

use super::array::{Array, count, offset, walk};
use super::layout::place_of;
use super::task::{Task, unfit, unknown_operator};
use crate::calculator::Fold;
use crate::evaluation_error::EvaluationError;
use crate::rows::{Row, softmax};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::{AttributeName, Function};
use std::cmp::Ordering;

/// The value of an opaque op.
pub(super) fn opaque(task: &Task<'_>, inputs: &[Array<'_>]) -> Result<Vec<f64>, EvaluationError> {
    match (task.function, inputs) {
        (Function::Opaque, _) => Err(unknown_operator(task.op)),
        (Function::Sdpa, [q, k, v, mask @ ..]) => {
            attention(task, [q, k, v], mask.first()).ok_or_else(|| unfit(task, inputs))
        }
        (Function::Topk | Function::TopkIndices | Function::Sort | Function::Argsort, [x]) => {
            sorted(task, x).ok_or_else(|| unfit(task, inputs))
        }
        (Function::Scatter | Function::ScatterAdd, [x, index, source]) => {
            scattered(task, [x, index, source])
        }
        (Function::IndexCopy | Function::IndexAdd, [x, index, source]) => {
            let size = task
                .op
                .indexing
                .as_ref()
                .map_or(0, |indexing| indexing.axis);
            let mut shape = vec![1; x.shape.len()];
            let own = shape.get_mut(size).zip(index.shape.first());
            let (own, &places) = own.ok_or_else(|| unfit(task, inputs))?;
            *own = places;
            // All elements of a slice go to the same position.
            let places = Array {
                shape: shape.into(),
                values: index.values.clone(),
            };
            let values = places.broadcast(&source.shape);
            let values = values.ok_or_else(|| unfit(task, inputs))?;
            let places = Array {
                shape: source.shape.clone(),
                values,
            };
            scattered(task, [x, &places, source])
        }
        (Function::IndexPut, [x, indices @ .., source]) => put(task, x, indices, source),
        (Function::SliceScatter, [x, source]) => {
            with_range(task, x, source).ok_or_else(|| unfit(task, inputs))
        }
        _ => Err(unfit(task, inputs)),
    }
}

/// `softmax(q k^T * scale + mask) v`; a row whose keys are all masked is 0, as in PyTorch.
fn attention(
    task: &Task<'_>,
    [q, k, v]: [&Array<'_>; 3],
    mask: Option<&Array<'_>>,
) -> Option<Vec<f64>> {
    let r = |value: f64| task.arithmetic.round(value);
    let (heads, queries, head_size) = q.matrices()?;
    let (key_heads, keys, key_size) = k.matrices()?;
    let (value_heads, values, width) = v.matrices()?;
    // Grouped-query attention: several heads of q share one head of k and v.
    let group = count(heads).checked_div(count(key_heads))?;
    let fits = key_size == head_size
        && values == keys
        && value_heads == key_heads
        && group * count(key_heads) == count(heads)
        && count(heads) * queries * width == task.elements();
    if !fits {
        return None;
    }
    let of_scores = [heads, &[queries, keys]].concat();
    let mask = match mask {
        Some(mask) => Some(mask.broadcast(&of_scores)?),
        None => None,
    };
    let chooses = task.input_dtypes.get(3) == Some(&DType::Bool);
    let scale = task.call.number(AttributeName::Scale);
    let scale = r(scale.unwrap_or_else(|| 1.0 / (head_size as f64).sqrt()));
    let is_causal = task.call.is_set(AttributeName::Causal);
    let row_of = |of: &Array<'_>, matrix: usize, row: usize, rows: usize, size: usize| {
        let start = (matrix * rows + row) * size;
        of.values.get(start..start + size).map(<[f64]>::to_vec)
    };
    let mut result = Vec::with_capacity(task.elements());
    for head in 0..count(heads) {
        let shared = head / group.max(1);
        for query in 0..queries {
            let own = row_of(q, head, query, queries, head_size)?;
            let mut scores = Vec::with_capacity(keys);
            for key in 0..keys {
                let other = row_of(k, shared, key, keys, head_size)?;
                let pairs = own.iter().zip(&other);
                let product = pairs.fold(0.0, |sum, (a, b)| r(sum + a * b));
                let place = (head * queries + query) * keys + key;
                let given = mask.as_ref().and_then(|mask| mask.get(place)).copied();
                let score = r(product * scale);
                scores.push(match given {
                    _ if is_causal && key > query => f64::NEG_INFINITY,
                    Some(given) if chooses && given == 0.0 => f64::NEG_INFINITY,
                    Some(given) if !chooses => r(score + given),
                    _ => score,
                });
            }
            let mut arithmetic = task.arithmetic;
            let most = scores.folded(&mut arithmetic, Fold::Maximum);
            let weights = softmax(&mut arithmetic, &scores);
            let mut row = vec![0.0; width];
            // A query that sees no key has no weights, and its row is 0.
            if most > f64::NEG_INFINITY || most.is_nan() {
                for (key, weight) in weights.into_iter().enumerate() {
                    let value = row_of(v, shared, key, keys, width)?;
                    for (sum, value) in row.iter_mut().zip(value) {
                        *sum = r(*sum + weight * value);
                    }
                }
            }
            result.extend(row);
        }
    }
    Some(result)
}

/// Sorts the elements along an axis and gives them or their indices; NaN counts as the largest.
fn sorted(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let axis = match &task.op.indexing {
        Some(indexing) => indexing.axis,
        None => task.call.axis(x.shape.len())?,
    };
    let &size = x.shape.get(axis)?;
    let &kept = task.shape.get(axis)?;
    let others_fit =
        (0..x.shape.len()).all(|at| at == axis || x.shape[at] == *task.shape.get(at).unwrap_or(&0));
    if kept > size || !others_fit || task.shape.len() != x.shape.len() {
        return None;
    }
    let gives_places = matches!(task.function, Function::TopkIndices | Function::Argsort);
    let descends = matches!(task.function, Function::Topk | Function::TopkIndices)
        || task.call.is_set(AttributeName::Descending);
    let inner = count(&x.shape[axis + 1..]);
    let outer = count(&x.shape[..axis]);
    let mut result = vec![0.0; task.elements()];
    let order = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (a, b) => a.cmp(&b),
    };
    for before in 0..outer {
        for behind in 0..inner {
            let row = (0..size).map(|place| {
                let value = x.values.get((before * size + place) * inner + behind);
                (value.copied().unwrap_or(f64::NAN), place)
            });
            let mut row: Vec<(f64, usize)> = row.collect();
            row.sort_by(|a, b| {
                let order = order(a.0, b.0);
                if descends { order.reverse() } else { order }
            });
            for (place, (value, from)) in row.into_iter().take(kept).enumerate() {
                let at = (before * kept + place) * inner + behind;
                *result.get_mut(at)? = if gives_places { from as f64 } else { value };
            }
        }
    }
    Some(result)
}

/// `x` with elements of the source written or added at the positions that the index gives along an
/// axis. Of several writes to one position the last one stays.
fn scattered(
    task: &Task<'_>,
    [x, index, source]: [&Array<'_>; 3],
) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, &[x.clone(), index.clone(), source.clone()]);
    let axis = task.op.indexing.as_ref().map(|indexing| indexing.axis);
    let axis = axis
        .filter(|&axis| axis < x.shape.len())
        .ok_or_else(refuse)?;
    let rank = x.shape.len();
    let fits = index.shape == source.shape
        && index.shape.len() == rank
        && *x.shape == *task.shape
        && (0..rank).all(|place| place == axis || index.shape[place] <= x.shape[place]);
    if !fits {
        return Err(refuse());
    }
    let adds = matches!(task.function, Function::ScatterAdd | Function::IndexAdd);
    let mut result = x.values.to_vec();
    let mut pairs = index.values.iter().zip(source.values.iter());
    let mut wrong = None;
    walk(&index.shape, |at| {
        let Some((&place, &value)) = pairs.next() else {
            return 0.0;
        };
        match place_of(place, x.shape[axis]) {
            Ok(place) => {
                let mut to = at.to_vec();
                to[axis] = place;
                if let Some(own) = result.get_mut(offset(&x.shape, &to)) {
                    *own = if adds {
                        task.arithmetic.round(*own + value)
                    } else {
                        value
                    };
                }
            }
            Err(reason) => wrong = Some(reason),
        }
        0.0
    });
    wrong.map_or(Ok(result), Err)
}

/// `x` with `x[i, j, ..]` replaced by the source. Of several writes to one position the last one
/// stays.
fn put(
    task: &Task<'_>,
    x: &Array<'_>,
    indices: &[Array<'_>],
    source: &Array<'_>,
) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, &[x.clone(), source.clone()]);
    let (along, behind) = x.shape.split_at_checked(indices.len()).ok_or_else(refuse)?;
    let places = indices.iter().try_fold(Vec::new(), |shape, index| {
        broadcast_shape(&shape, &index.shape)
    });
    let places = places.ok_or_else(refuse)?;
    let inner = count(behind);
    let indices = indices.iter().map(|index| index.broadcast(&places));
    let indices: Vec<_> = indices.collect::<Option<_>>().ok_or_else(refuse)?;
    let source = source.broadcast(&[&places, behind].concat());
    let source = source.ok_or_else(refuse)?;
    let mut result = x.values.to_vec();
    for (at, slice) in source.chunks(inner.max(1)).enumerate() {
        let mut start = 0;
        for (index, &size) in indices.iter().zip(along) {
            start = start * size + place_of(index.get(at).copied().unwrap_or(f64::NAN), size)?;
        }
        let own = result.get_mut(start * inner..(start + 1) * inner);
        own.ok_or_else(refuse)?.copy_from_slice(slice);
    }
    Ok(result)
}

/// The shape to which two shapes are broadcast.
fn broadcast_shape(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut shape = long.to_vec();
    for (size, &other) in shape.iter_mut().rev().zip(short.iter().rev()) {
        match (*size, other) {
            (own, 1) => *size = own,
            (1, other) => *size = other,
            (own, other) if own == other => {}
            _ => return None,
        }
    }
    Some(shape)
}

/// `x` with a range along an axis replaced by the source.
fn with_range(task: &Task<'_>, x: &Array<'_>, source: &Array<'_>) -> Option<Vec<f64>> {
    let indexing = task.op.indexing.as_ref()?;
    let axis = indexing.axis;
    let start = usize::try_from(indexing.start).ok()?;
    let step = usize::try_from(indexing.step).ok()?;
    let rank = x.shape.len();
    let last = source.shape.get(axis)?.checked_sub(1)?;
    let end = last.checked_mul(step)?.checked_add(start)?;
    let others_fit = source.shape.len() == rank
        && (0..rank).all(|place| place == axis || x.shape[place] == source.shape[place]);
    if *x.shape != *task.shape || !others_fit || end >= x.shape[axis] {
        return None;
    }
    let mut result = x.values.to_vec();
    let mut values = source.values.iter();
    walk(&source.shape, |at| {
        let mut to = at.to_vec();
        to[axis] = start + at[axis] * step;
        if let (Some(own), Some(&value)) = (result.get_mut(offset(&x.shape, &to)), values.next()) {
            *own = value;
        }
        0.0
    });
    Some(result)
}
