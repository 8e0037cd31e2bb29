//! Reductions, normalizations and pools.

use super::arithmetic::{larger, smaller};
use super::array::{Array, count, walk};
use super::error::EvaluationError;
use super::resample::adaptive;
use super::task::{Task, unfit};
use crate::elements::reciprocal_deviation;
use fuseline_core::model::functions::{AttributeName, Function, ShapeRule};
use std::borrow::Cow;

/// Which elements a reduction takes together.
struct Rows {
    /// For each element its row.
    row_of: Vec<usize>,
    /// Number of rows.
    count: usize,
    /// Elements of a row.
    length: usize,
}

impl Rows {
    /// `axes` has bit `i` for a reduced dimension `i`, or is 0 for the last one.
    fn of(shape: &[usize], axes: u32) -> Option<Self> {
        let rank = shape.len();
        let is_reduced = |place: usize| match axes {
            0 => place + 1 == rank,
            bits => place < 32 && bits & (1 << place) != 0,
        };
        if axes
            .checked_ilog2()
            .is_some_and(|last| last as usize >= rank)
        {
            return None;
        }
        let kept = (0..rank).filter(|&place| !is_reduced(place));
        let rows: usize = kept.map(|place| shape[place]).product();
        let mut row_of = Vec::with_capacity(count(shape));
        walk(shape, |index| {
            let pairs = index.iter().zip(shape).enumerate();
            let kept = pairs.filter(|&(place, _)| !is_reduced(place));
            row_of.push(kept.fold(0, |row, (_, (i, size))| row * size + i));
            0.0
        });
        Some(Self {
            length: row_of.len() / rows.max(1),
            row_of,
            count: rows,
        })
    }

    /// Folds the elements of each row, in their order.
    fn fold(&self, values: &[f64], start: f64, step: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let mut folded = vec![start; self.count];
        for (&row, &value) in self.row_of.iter().zip(values) {
            folded[row] = step(folded[row], value);
        }
        folded
    }

    /// For each row the place of the element that no other one beats, the first of equal ones; of
    /// one that is not a number, its.
    fn places(&self, values: &[f64], beats: impl Fn(f64, f64) -> bool) -> Vec<f64> {
        let mut best: Vec<Option<f64>> = vec![None; self.count];
        let mut seen = vec![0_usize; self.count];
        let mut places = vec![0.0; self.count];
        for (&row, &value) in self.row_of.iter().zip(values) {
            let wins = match best[row] {
                None => true,
                Some(best) => !best.is_nan() && (value.is_nan() || beats(value, best)),
            };
            if wins {
                (best[row], places[row]) = (Some(value), seen[row] as f64);
            }
            seen[row] += 1;
        }
        places
    }

    /// A value for each element from it and from that of its row.
    fn map(&self, values: &[f64], of_row: &[f64], each: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let pairs = self.row_of.iter().zip(values);
        pairs
            .map(|(&row, &value)| each(value, of_row[row]))
            .collect()
    }
}

/// The value of a reduction.
pub(super) fn reduction(
    task: &Task<'_>,
    inputs: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let [x, factors @ ..] = inputs else {
        return Err(unfit(task, inputs));
    };
    if matches!(task.function, Function::MaxPool2d | Function::AvgPool2d) {
        return pool(task, x);
    }
    if task.function.row().shape_rule == ShapeRule::AdaptivePool2d {
        return adaptive(task, x);
    }
    if task.function == Function::GroupNorm {
        return grouped(task, x, factors);
    }
    let rows = Rows::of(&x.shape, task.op.axes).ok_or_else(|| unfit(task, inputs))?;
    let values = reduced(task, &rows, &x.values, factors)?;
    if values.len() == task.elements() {
        Ok(values)
    } else {
        Err(unfit(task, inputs))
    }
}

fn reduced(
    task: &Task<'_>,
    rows: &Rows,
    x: &[f64],
    factors: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let r = |value: f64| task.arithmetic.round(value);
    let length = rows.length as f64;
    let sum = |values: &[f64]| rows.fold(values, 0.0, |sum, x| r(sum + x));
    let mean = |values: &[f64]| {
        sum(values)
            .iter()
            .map(|sum| r(sum / length))
            .collect::<Vec<_>>()
    };
    let centered = || rows.map(x, &mean(x), |x, mean| r(x - mean));
    let squares = |values: &[f64]| values.iter().map(|x| r(x * x)).collect::<Vec<_>>();
    let eps = |default: f64| task.call.number(AttributeName::Eps).unwrap_or(default);
    // Times the reciprocal square root of the mean square of each row.
    let normal = |values: &[f64], eps: f64| {
        let mut arithmetic = task.arithmetic;
        let scales = mean(&squares(values));
        let scales: Vec<f64> = scales
            .iter()
            .map(|&s| reciprocal_deviation(&mut arithmetic, s, eps))
            .collect();
        rows.map(values, &scales, |x, scale| r(x * scale))
    };
    let largest = || rows.fold(x, f64::NEG_INFINITY, |a, b| larger(b, a));
    Ok(match task.function {
        Function::Sum => sum(x),
        Function::Mean => mean(x),
        Function::Max => largest(),
        Function::Min => rows.fold(x, f64::INFINITY, |a, b| smaller(b, a)),
        Function::Prod => rows.fold(x, 1.0, |product, x| r(product * x)),
        Function::Any => rows.fold(x, 0.0, |any, x| if x == 0.0 { any } else { 1.0 }),
        Function::All => rows.fold(x, 1.0, |all, x| if x == 0.0 { 0.0 } else { all }),
        Function::Argmax => rows.places(x, |value, best| value > best),
        Function::Argmin => rows.places(x, |value, best| value < best),
        // As PyTorch does, over one less than the elements of a row.
        Function::Var => sum(&squares(&centered()))
            .iter()
            .map(|sum| r(sum / (length - 1.0)))
            .collect(),
        Function::Softmax => {
            let powers = rows.map(x, &largest(), |x, max| r(libm::exp(r(x - max))));
            rows.map(&powers, &sum(&powers), |power, sum| r(power / sum))
        }
        Function::LogSoftmax => {
            let shifted = rows.map(x, &largest(), |x, max| r(x - max));
            let powers: Vec<f64> = shifted.iter().map(|&x| r(libm::exp(x))).collect();
            rows.map(&shifted, &sum(&powers), |x, sum| r(x - r(libm::log(sum))))
        }
        Function::LayerNorm => weighted(task, normal(&centered(), eps(1e-5)), factors)?,
        Function::RmsNorm => weighted(task, normal(x, eps(1e-6)), factors)?,
        Function::BatchNormTrain => {
            by_channel(task, rows, normal(&centered(), eps(1e-5)), factors)?
        }
        Function::L2Norm => {
            let lengths: Vec<f64> = sum(&squares(x)).iter().map(|sum| r(sum.sqrt())).collect();
            let least = r(eps(1e-12));
            rows.map(x, &lengths, |x, length| r(x / larger(length, least)))
        }
        Function::Cumsum => {
            let mut sums = vec![0.0; rows.count];
            let pairs = rows.row_of.iter().zip(x);
            pairs
                .map(|(&row, &x)| {
                    sums[row] = r(sums[row] + x);
                    sums[row]
                })
                .collect()
        }
        function => return Err(EvaluationError::NoNumbers(function)),
    })
}

/// A norm of groups of channels, which stand one behind the other.
fn grouped(
    task: &Task<'_>,
    x: &Array<'_>,
    factors: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let refuse = || unfit(task, std::slice::from_ref(x));
    let groups = task.call.size(AttributeName::Groups).unwrap_or(1);
    let groups = usize::try_from(groups).ok().filter(|&groups| groups > 0);
    let (Some(groups), [batch, channels, inner @ ..]) = (groups, &*x.shape) else {
        return Err(refuse());
    };
    if channels % groups != 0 {
        return Err(refuse());
    }
    let shape = [batch * groups, channels / groups * count(inner)];
    let rows = Rows::of(&shape, 0).ok_or_else(refuse)?;
    let normal = Task {
        function: Function::LayerNorm,
        shape: &shape,
        ..*task
    };
    let values = reduced(&normal, &rows, &x.values, &[])?;
    let channels = Rows::of(
        &x.shape,
        !2 & (1_u32 << x.shape.len().min(31)).wrapping_sub(1),
    );
    by_channel(task, &channels.ok_or_else(refuse)?, values, factors)
}

/// Times the weight, plus the bias, where there are any.
fn weighted(
    task: &Task<'_>,
    mut values: Vec<f64>,
    factors: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let r = |value: f64| task.arithmetic.round(value);
    for (place, factor) in factors.iter().enumerate() {
        let factor: Cow<'_, [f64]> = factor
            .broadcast(task.shape)
            .ok_or_else(|| unfit(task, factors))?;
        for (value, factor) in values.iter_mut().zip(factor.iter()) {
            *value = if place == 0 {
                r(*value * factor)
            } else {
                r(*value + factor)
            };
        }
    }
    Ok(values)
}

/// The same with one weight and bias for each row, which is a channel.
fn by_channel(
    task: &Task<'_>,
    rows: &Rows,
    mut values: Vec<f64>,
    factors: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let r = |value: f64| task.arithmetic.round(value);
    for (place, factor) in factors.iter().enumerate() {
        if factor.values.len() != rows.count {
            return Err(unfit(task, factors));
        }
        values = rows.map(&values, &factor.values, |value, factor| {
            if place == 0 {
                r(value * factor)
            } else {
                r(value + factor)
            }
        });
    }
    Ok(values)
}

/// A pool over windows of height and width.
fn pool(task: &Task<'_>, x: &Array<'_>) -> Result<Vec<f64>, EvaluationError> {
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
        // Outside of the image is padding.
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

/// The largest of the values of a window, or their sum over its elements, rounded by `r` after each
/// step.
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
