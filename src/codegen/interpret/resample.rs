//! Resampling of images: interpolation and adaptive pools.

use super::array::{Array, walk};
use super::pools::pooled;
use super::task::{Task, unfit};
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::{AttributeName, Function};

/// Height and width of the input, and of the output.
fn sizes(task: &Task<'_>, x: &Array<'_>) -> Option<[[usize; 2]; 2]> {
    let (&[.., rows, columns], &[.., height, width]) = (&*x.shape, task.shape) else {
        return None;
    };
    let are_images = x.shape.len() == 4 && task.shape.len() == 4;
    (are_images && x.shape.get(..2) == task.shape.get(..2))
        .then_some([[rows, columns], [height, width]])
}

pub(super) fn interpolated(task: &Task<'_>, x: &Array<'_>) -> Option<Vec<f64>> {
    let [from, to] = sizes(task, x)?;
    let r = |value: f64| task.arithmetic.round(value);
    let aligns = task.call.is_set(AttributeName::AlignCorners);
    // The two positions between which an element lies, and its distance from the first.
    let between = |place: usize, from: usize, to: usize| {
        let ratio = from as f64 / to as f64;
        let at = match (aligns, to) {
            (false, _) => ((place as f64 + 0.5) * ratio - 0.5).max(0.0),
            (true, ..2) => 0.0,
            (true, _) => place as f64 * (from - 1) as f64 / (to - 1) as f64,
        };
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and below the size"
        )]
        let first = (at.floor() as usize).min(from - 1);
        (first, (first + 1).min(from - 1), at - first as f64)
    };
    let is_nearest = task.function == Function::Interpolate;
    Some(walk(task.shape, |index| {
        let &[image, channel, row, column] = index else {
            return f64::NAN;
        };
        if is_nearest {
            return x.at(&[
                image,
                channel,
                row * from[0] / to[0],
                column * from[1] / to[1],
            ]);
        }
        let (up, down, below) = between(row, from[0], to[0]);
        let (left, right, behind) = between(column, from[1], to[1]);
        let along = |row: usize| {
            let [a, b] = [left, right].map(|column| x.at(&[image, channel, row, column]));
            r(a + r(r(b - a) * r(behind)))
        };
        let (upper, lower) = (along(up), along(down));
        r(upper + r(r(lower - upper) * r(below)))
    }))
}

/// An adaptive pool, with one window for each element of the output.
pub(super) fn adaptive(task: &Task<'_>, x: &Array<'_>) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, std::slice::from_ref(x));
    let [from, to] = sizes(task, x).ok_or_else(refuse)?;
    let r = |value: f64| task.arithmetic.round(value);
    let is_max = task.function == Function::AdaptiveMaxPool2d;
    let window = |place: usize, axis: usize| {
        let end = (place + 1) * from[axis];
        place * from[axis] / to[axis]..end.div_ceil(to[axis])
    };
    Ok(walk(task.shape, |index| {
        let &[image, channel, row, column] = index else {
            return f64::NAN;
        };
        let (rows, columns) = (window(row, 0), window(column, 1));
        let elements = rows.len() * columns.len();
        let places =
            rows.flat_map(|y| columns.clone().map(move |place| [image, channel, y, place]));
        pooled(places.map(|place| x.at(&place)), elements, is_max, r)
    }))
}
