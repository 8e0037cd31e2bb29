//! Reductions and normalizations along rows.

use super::arithmetic::Arithmetic;
use super::array::{Array, count};
use super::pools::pool;
use super::resample::adaptive;
use super::task::{Task, unfit};
use crate::calculator::{Binary, Calculator, Fold};
use crate::evaluation_error::EvaluationError;
use crate::rows::{Reduced, Row, reduced};
use fuseline_core::model::functions::{AttributeName, Function, ShapeRule};
use std::borrow::Cow;

/// The offsets of each row's elements in an array.
struct Rows {
    /// The offset of the first element of each row.
    starts: Vec<usize>,
    /// The offsets of a row's elements from its first.
    steps: Vec<usize>,
}

impl Rows {
    fn of(shape: &[usize], reduced: &[usize]) -> Option<Self> {
        if reduced.iter().any(|&place| place >= shape.len()) {
            return None;
        }
        Some(Self {
            starts: offsets(shape, |place| !reduced.contains(&place)),
            steps: offsets(shape, |place| reduced.contains(&place)),
        })
    }

    fn elements_of(&self, start: usize) -> impl Iterator<Item = usize> {
        self.steps.iter().map(move |step| start + step)
    }
}

/// The offsets of the elements whose index is 0 in all dimensions for which `runs` is false.
fn offsets(shape: &[usize], runs: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut offsets = vec![0];
    let mut stride = count(shape);
    for (place, &size) in shape.iter().enumerate() {
        stride /= size.max(1);
        if runs(place) {
            let along = |offset: usize| (0..size).map(move |index| offset + index * stride);
            offsets = offsets.into_iter().flat_map(along).collect();
        }
    }
    offsets
}

impl Row<Arithmetic> for Vec<f64> {
    fn width(&self) -> f64 {
        self.len() as f64
    }

    fn map(&self, c: &mut Arithmetic, each: impl Fn(&mut Arithmetic, f64) -> f64) -> Self {
        self.iter().map(|&x| each(c, x)).collect()
    }

    fn fold(
        &self,
        c: &mut Arithmetic,
        fold: Fold,
        each: impl Fn(&mut Arithmetic, f64) -> f64,
    ) -> f64 {
        self.iter().fold(fold.start(), |folded, &x| {
            let value = each(c, x);
            c.binary(fold.step(), value, folded)
        })
    }

    #[allow(clippy::float_cmp, reason = "the value is one of the elements")]
    fn index_of(&self, _: &mut Arithmetic, value: f64) -> f64 {
        // The maximum or minimum of a row with NaN is NaN, and PyTorch then gives the index of the
        // first NaN.
        let is_equal = |x: &f64| *x == value || x.is_nan() && value.is_nan();
        self.iter().position(is_equal).unwrap_or(0) as f64
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
    match task.function.row().shape_rule {
        ShapeRule::Pool2d => return pool(task, x),
        ShapeRule::AdaptivePool2d => return adaptive(task, x),
        _ => {}
    }
    let rows = match task.function {
        Function::GroupNorm => groups(task, x),
        _ => Rows::of(&x.shape, &task.op.reduced_axes(x.shape.len())),
    };
    let rows = rows.ok_or_else(|| unfit(task, inputs))?;
    if task.function == Function::Cumsum {
        return Ok(running_sums(task, &rows, &x.values));
    }
    let values = along_rows(task, &rows, &x.values)?;
    if values.len() == task.elements() {
        weighted(task, values, factors)
    } else {
        Err(unfit(task, inputs))
    }
}

/// The value of each row, or of each element of the rows.
fn along_rows(task: &Task<'_>, rows: &Rows, x: &[f64]) -> Result<Vec<f64>, EvaluationError> {
    let mut arithmetic = task.arithmetic;
    let mut of_rows = Vec::new();
    let mut of_elements = vec![f64::NAN; x.len()];
    for &start in &rows.starts {
        let row: Vec<f64> = rows.elements_of(start).map(|place| x[place]).collect();
        match reduced(&mut arithmetic, &row, task.function, task.call)? {
            Reduced::Value(value) => of_rows.push(value),
            Reduced::Row(values) => {
                for (place, value) in rows.elements_of(start).zip(values) {
                    of_elements[place] = value;
                }
            }
        }
    }
    Ok(if of_rows.is_empty() {
        of_elements
    } else {
        of_rows
    })
}

/// The cumulative sum of each row.
fn running_sums(task: &Task<'_>, rows: &Rows, x: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; x.len()];
    for &start in &rows.starts {
        let mut sum = 0.0;
        for place in rows.elements_of(start) {
            sum = task.arithmetic.round(sum + x[place]);
            sums[place] = sum;
        }
    }
    sums
}

/// The rows of a group norm: the channels of a group are contiguous.
fn groups(task: &Task<'_>, x: &Array<'_>) -> Option<Rows> {
    let groups = usize::try_from(task.call.size(AttributeName::Groups)?).ok()?;
    let &[batch, channels, ref inner @ ..] = &*x.shape else {
        return None;
    };
    if groups == 0 || channels % groups != 0 {
        return None;
    }
    Rows::of(&[batch * groups, channels / groups * count(inner)], &[1])
}

/// Multiplies by the weight and adds the bias, if there are any. Each has one value for each
/// element of a row, or for each channel.
fn weighted(
    task: &Task<'_>,
    mut values: Vec<f64>,
    factors: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let mut arithmetic = task.arithmetic;
    let is_by_channel = task.function.row().shape_rule == ShapeRule::PerChannel;
    for (factor, step) in factors.iter().zip([Binary::Multiply, Binary::Add]) {
        let mut factor = factor.clone();
        if is_by_channel {
            let behind = task.shape.len().saturating_sub(2);
            let shape = std::iter::once(factor.values.len()).chain(std::iter::repeat_n(1, behind));
            factor.shape = Cow::Owned(shape.collect());
        }
        let factor = factor.broadcast(task.shape);
        let factor = factor.ok_or_else(|| unfit(task, factors))?;
        for (value, &factor) in values.iter_mut().zip(&*factor) {
            *value = arithmetic.binary(step, *value, factor);
        }
    }
    Ok(values)
}
