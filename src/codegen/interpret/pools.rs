//! Pools over windows of images.

use super::arithmetic::larger;
use super::array::{Array, walk};
use super::task::{Task, unfit};
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::Function;

/// A pool over windows of height and width.
pub(super) fn pool(task: &Task<'_>, x: &Array<'_>) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, std::slice::from_ref(x));
    let window = (task.op.indexing.as_ref())
        .and_then(|indexing| indexing.window)
        .ok_or_else(refuse)?;
    let ([_, _, height, width], [_, _, _, _]) = (&*x.shape, task.shape) else {
        return Err(refuse());
    };
    let sizes = |pair: [u64; 2]| {
        Some([
            usize::try_from(pair[0]).ok()?,
            usize::try_from(pair[1]).ok()?,
        ])
    };
    let (Some(size), Some(stride), Some(padding)) = (
        sizes(window.size),
        sizes(window.stride),
        sizes(window.padding),
    ) else {
        return Err(refuse());
    };
    let is_max = task.function == Function::MaxPool2d;
    let r = |value: f64| task.arithmetic.round(value);
    Ok(walk(task.shape, |index| {
        let &[image, channel, row, column] = index else {
            return f64::NAN;
        };
        // Positions outside the image are padding.
        let inside = |start: usize, padding: usize, size: usize| {
            start.checked_sub(padding).filter(|&place| place < size)
        };
        let within = (0..size[0]).flat_map(|down| (0..size[1]).map(move |right| (down, right)));
        let values = within.filter_map(|(down, right)| {
            let y = inside(row * stride[0] + down, padding[0], *height)?;
            let place = inside(column * stride[1] + right, padding[1], *width)?;
            Some(x.at(&[image, channel, y, place]))
        });
        pooled(values, size[0] * size[1], is_max, r)
    }))
}

/// The maximum of a window, or its sum divided by `elements`, rounded by `r` after each operation.
pub(super) fn pooled(
    values: impl Iterator<Item = f64>,
    elements: usize,
    is_max: bool,
    r: impl Fn(f64) -> f64,
) -> f64 {
    if is_max {
        values.fold(f64::NEG_INFINITY, |largest, value| larger(value, largest))
    } else {
        r(values.fold(0.0, |sum, value| r(sum + value)) / elements as f64)
    }
}
