//! The value of each reduction and normalization along rows.
//!
//! Each is defined once, in folds over a row and steps on its elements: the interpreter and the
//! code of kernels follow from the definition.

use crate::calculator::{Binary, Calculator, Fold, Unary};
use crate::call::Call;
use crate::elements::{OfOne, Value, reciprocal_deviation};
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::{AttributeName, Function};

/// The elements that a reduction combines.
pub(crate) trait Row<C: Calculator>: Copy {
    /// Number of elements.
    fn width(self) -> f64;

    /// Folds what the steps give for each element.
    fn fold(self, c: &mut C, fold: Fold, each: impl Fn(&mut C, Value<C>) -> Value<C>) -> Value<C>;

    /// The index along the row of the first element with this value.
    fn index_of(self, c: &mut C, value: Value<C>) -> Value<C>;

    /// Folds the elements themselves.
    fn folded(self, c: &mut C, fold: Fold) -> Value<C> {
        self.fold(c, fold, |_, x| x)
    }

    /// The sum over the number of elements.
    fn mean(self, c: &mut C, each: impl Fn(&mut C, Value<C>) -> Value<C>) -> Value<C> {
        let sum = self.fold(c, Fold::Sum, each);
        c.with(Binary::Divide, sum, self.width())
    }
}

/// What a function gives for a row.
pub(crate) enum Reduced<C: Calculator> {
    /// One value.
    Row(Value<C>),
    /// A value for each element, from the element.
    Elements(OfOne<C>),
}

/// The value of a function along a row, before weight and bias.
///
/// # Errors
/// The function is no reduction along rows.
pub(crate) fn reduced<C: Calculator>(
    c: &mut C,
    row: impl Row<C>,
    function: Function,
    call: &Call,
) -> Result<Reduced<C>, EvaluationError> {
    Ok(match function {
        Function::Sum => Reduced::Row(row.folded(c, Fold::Sum)),
        Function::Mean => Reduced::Row(row.mean(c, |_, x| x)),
        Function::Max => Reduced::Row(row.folded(c, Fold::Maximum)),
        Function::Min => Reduced::Row(row.folded(c, Fold::Minimum)),
        Function::Prod => Reduced::Row(row.folded(c, Fold::Product)),
        Function::Any => Reduced::Row(truth_of_row(c, row, Fold::Maximum)),
        Function::All => Reduced::Row(truth_of_row(c, row, Fold::Minimum)),
        Function::Argmax => {
            let largest = row.folded(c, Fold::Maximum);
            Reduced::Row(row.index_of(c, largest))
        }
        Function::Argmin => {
            let smallest = row.folded(c, Fold::Minimum);
            Reduced::Row(row.index_of(c, smallest))
        }
        Function::Var => {
            let mean = row.mean(c, |_, x| x);
            let squares = row.fold(c, Fold::Sum, |c, x| square_of_distance(c, x, mean));
            // As PyTorch does, over one less than the elements of a row.
            Reduced::Row(c.with(Binary::Divide, squares, row.width() - 1.0))
        }
        Function::Softmax => Reduced::Elements(softmax(c, row)),
        Function::LogSoftmax => {
            let largest = row.folded(c, Fold::Maximum);
            let sum = row.fold(c, Fold::Sum, |c, x| shifted_power(c, x, largest));
            let log = c.unary(Unary::Log, sum);
            Reduced::Elements(Box::new(move |c, x| {
                let shifted = c.binary(Binary::Subtract, x, largest);
                c.binary(Binary::Subtract, shifted, log)
            }))
        }
        Function::LayerNorm | Function::BatchNormTrain | Function::GroupNorm => {
            let mean = row.mean(c, |_, x| x);
            let variance = row.mean(c, |c, x| square_of_distance(c, x, mean));
            let scale = reciprocal_deviation(c, variance, call.required(AttributeName::Eps)?);
            Reduced::Elements(Box::new(move |c, x| {
                let centered = c.binary(Binary::Subtract, x, mean);
                c.binary(Binary::Multiply, centered, scale)
            }))
        }
        Function::RmsNorm => {
            let mean = row.mean(c, square);
            let scale = reciprocal_deviation(c, mean, call.required(AttributeName::Eps)?);
            Reduced::Elements(Box::new(move |c, x| c.binary(Binary::Multiply, x, scale)))
        }
        Function::L2Norm => {
            let squares = row.fold(c, Fold::Sum, square);
            let length = c.unary(Unary::Sqrt, squares);
            let length = c.with(Binary::Maximum, length, call.required(AttributeName::Eps)?);
            Reduced::Elements(Box::new(move |c, x| c.binary(Binary::Divide, x, length)))
        }
        _ => return Err(EvaluationError::NoNumbers(function)),
    })
}

/// `exp(x - largest)` over its sum. The subtraction keeps the powers finite and cancels in the
/// quotient.
pub(crate) fn softmax<C: Calculator>(c: &mut C, row: impl Row<C>) -> OfOne<C> {
    let largest = row.folded(c, Fold::Maximum);
    let sum = row.fold(c, Fold::Sum, |c, x| shifted_power(c, x, largest));
    Box::new(move |c, x| {
        let power = shifted_power(c, x, largest);
        c.binary(Binary::Divide, power, sum)
    })
}

/// The maximum or minimum of the elements as truth values.
fn truth_of_row<C: Calculator>(c: &mut C, row: impl Row<C>, fold: Fold) -> Value<C> {
    let bounded = row.fold(c, fold, |c, x| {
        let is_zero = c.unary(Unary::Not, x);
        c.unary(Unary::Not, is_zero)
    });
    // The fold of an empty row is infinite.
    let least = c.with(Binary::Maximum, bounded, 0.0);
    c.with(Binary::Minimum, least, 1.0)
}

fn square<C: Calculator>(c: &mut C, x: Value<C>) -> Value<C> {
    c.binary(Binary::Multiply, x, x)
}

fn square_of_distance<C: Calculator>(c: &mut C, x: Value<C>, center: Value<C>) -> Value<C> {
    let distance = c.binary(Binary::Subtract, x, center);
    square(c, distance)
}

/// `exp(x - largest)`
fn shifted_power<C: Calculator>(c: &mut C, x: Value<C>, largest: Value<C>) -> Value<C> {
    let shifted = c.binary(Binary::Subtract, x, largest);
    c.unary(Unary::Exp, shifted)
}
