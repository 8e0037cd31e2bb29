//! The values of elementwise functions.

use super::array::{Array, walk};
use super::random::{random_key, uniform};
use super::task::{Task, unfit};
use crate::elements::{self, of_one, of_two, rotated};
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::{AttributeName, Function};

/// The value of an elementwise function.
pub(super) fn elementwise(
    task: &Task<'_>,
    inputs: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let (function, call, mut arithmetic) = (task.function, task.call, task.arithmetic);
    match (function, inputs) {
        (Function::Full, []) => Ok(vec![call.required(AttributeName::Value)?; task.elements()]),
        (Function::Arange, []) => {
            let start = call.required_size(AttributeName::Start)? as f64;
            let step = call.required_size(AttributeName::Step)? as f64;
            let places = 0..task.elements();
            Ok(places.map(|place| start + step * place as f64).collect())
        }
        (Function::Mask, [x]) => by_diagonal(task, x, |row, column, value, offset| {
            // The last row sees all columns, as in attention with cached keys.
            if column > row + offset.max(0) {
                f64::NEG_INFINITY
            } else {
                value
            }
        }),
        (Function::Tril, [x]) => {
            let diagonal = call.required_size(AttributeName::Diagonal)?;
            let is_kept = |row: i64, column: i64| column - row <= diagonal;
            by_diagonal(
                task,
                x,
                |row, column, value, _| if is_kept(row, column) { value } else { 0.0 },
            )
        }
        (Function::Triu, [x]) => {
            let diagonal = call.required_size(AttributeName::Diagonal)?;
            let is_kept = |row: i64, column: i64| column - row >= diagonal;
            by_diagonal(
                task,
                x,
                |row, column, value, _| if is_kept(row, column) { value } else { 0.0 },
            )
        }
        (Function::Dropout, [x]) => dropout(task, x),
        (Function::Dequantize, [q, factors @ ..]) => dequantized(task, q, factors),
        (Function::BatchNorm, [x, factors @ ..]) => batch_norm(task, x, factors),
        (Function::Rotary, [x, cos, sin]) => rotary(task, x, [cos, sin]),
        (Function::Where, [condition, a, b]) => {
            let condition = broadcast(task, condition)?;
            let (a, b) = (broadcast(task, a)?, broadcast(task, b)?);
            let values = condition.iter().zip(a.iter().zip(b.iter()));
            Ok(values
                .map(|(&holds, (&a, &b))| if holds == 0.0 { b } else { a })
                .collect())
        }
        // Rounding to the element type of `x` converts it.
        (Function::Copy, [_, source]) => Ok(broadcast(task, source)?.into_owned()),
        (_, [x]) => {
            let value = of_one(function, call)?;
            let x = broadcast(task, x)?;
            Ok(x.iter().map(|&x| value(&mut arithmetic, x)).collect())
        }
        (_, [a, b]) => {
            let value = of_two(function).ok_or_else(|| unfit(task, inputs))?;
            let (a, b) = (broadcast(task, a)?, broadcast(task, b)?);
            Ok(a.iter()
                .zip(b.iter())
                .map(|(&a, &b)| value(&mut arithmetic, a, b))
                .collect())
        }
        _ => Err(unfit(task, inputs)),
    }
}

fn broadcast<'a>(
    task: &Task<'_>,
    input: &'a Array<'_>,
) -> Result<std::borrow::Cow<'a, [f64]>, EvaluationError> {
    (input.broadcast(task.shape)).ok_or_else(|| unfit(task, std::slice::from_ref(input)))
}

/// Maps each element by its row and column in the last two dimensions, its value, and the number of
/// columns less that of rows.
#[allow(clippy::cast_possible_wrap, reason = "the budget bounds sizes")]
fn by_diagonal(
    task: &Task<'_>,
    x: &Array<'_>,
    each: impl Fn(i64, i64, f64, i64) -> f64,
) -> Result<Vec<f64>, EvaluationError> {
    let x = broadcast(task, x)?;
    let (rows, columns) = match *task.shape {
        [.., rows, columns] => (rows, columns),
        [columns] => (1, columns),
        [] => (1, 1),
    };
    let offset = columns as i64 - rows as i64;
    let places = x.iter().enumerate();
    Ok(places
        .map(|(place, &value)| {
            let row = place / columns.max(1) % rows.max(1);
            each(row as i64, (place % columns.max(1)) as i64, value, offset)
        })
        .collect())
}

/// Dropout. The seed and the name of the output determine the dropped elements, so that all runs
/// drop the same ones.
fn dropout(task: &Task<'_>, x: &Array<'_>) -> Result<Vec<f64>, EvaluationError> {
    let p = task.call.required(AttributeName::P)?;
    if !(0.0..=1.0).contains(&p) {
        return Err(EvaluationError::NoProbability(p));
    }
    let key = random_key(task.seed, task.output);
    let factor = task.arithmetic.round(1.0 / (1.0 - p));
    let x = broadcast(task, x)?;
    Ok((0..)
        .zip(x.iter())
        .map(|(place, &x)| {
            if uniform(key, place) < p {
                0.0
            } else {
                task.arithmetic.round(x * factor)
            }
        })
        .collect())
}

/// `(q - zero) * scale`, with scales and zero points of blocks.
pub(super) fn dequantized(
    task: &Task<'_>,
    q: &Array<'_>,
    factors: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let mut arithmetic = task.arithmetic;
    let blocks = factors.iter().map(|factor| factor.by_blocks(&q.shape));
    let blocks: Option<Vec<Vec<f64>>> = blocks.collect();
    let blocks = blocks.ok_or_else(|| unfit(task, factors))?;
    let [scale, zero @ ..] = &blocks[..] else {
        return Err(unfit(task, factors));
    };
    let values = q.values.iter().zip(scale).enumerate();
    Ok(values
        .map(|(place, (&q, &scale))| {
            let zero = zero.first().and_then(|zeros| zeros.get(place));
            elements::dequantized(&mut arithmetic, q, scale, zero.copied())
        })
        .collect())
}

/// Rotates the halves of each row by the angles of its position.
fn rotary(
    task: &Task<'_>,
    x: &Array<'_>,
    [cos, sin]: [&Array<'_>; 2],
) -> Result<Vec<f64>, EvaluationError> {
    let mut arithmetic = task.arithmetic;
    let size = task.shape.last().copied().unwrap_or(1);
    if size % 2 != 0 {
        return Err(EvaluationError::OddRow(size as u64));
    }
    let (cos, sin) = (broadcast(task, cos)?, broadcast(task, sin)?);
    let own = broadcast(task, x)?;
    let half = size / 2;
    let turned = |place: usize| match place % size {
        first if first < half => -own[place + half],
        _ => own[place - half],
    };
    let places = own.iter().zip(cos.iter().zip(sin.iter())).enumerate();
    Ok(places
        .map(|(place, (&x, (&cos, &sin)))| rotated(&mut arithmetic, [x, turned(place)], [cos, sin]))
        .collect())
}

/// `x * scale + shift`, or a normalization with the mean and variance of each channel.
fn batch_norm(
    task: &Task<'_>,
    x: &Array<'_>,
    factors: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let mut arithmetic = task.arithmetic;
    let x = broadcast(task, x)?;
    let channels = task.shape.get(1).copied().unwrap_or(0);
    if factors.len() < 2 || factors.iter().any(|factor| factor.values.len() != channels) {
        return Err(unfit(task, factors));
    }
    let of_channel = |channel| {
        factors
            .iter()
            .map(|factor| factor.values[channel])
            .collect()
    };
    let factors: Vec<Vec<f64>> = (0..channels).map(of_channel).collect();
    let eps = task.call.required(AttributeName::Eps)?;
    let mut values = x.iter();
    Ok(walk(task.shape, |index| {
        let x = values.next().copied().unwrap_or(f64::NAN);
        let channel = index.get(1).copied().unwrap_or(0);
        elements::batch_norm(&mut arithmetic, x, &factors[channel], eps)
    }))
}
