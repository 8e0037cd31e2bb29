//! The value of each reduction and normalization along rows, except the cumulative sum.
//!
//! Each is defined once, by folds over a row and primitive operations on its elements. The
//! interpreter and code generation both use that definition.

use crate::calculator::{Binary, Calculator, Fold, Unary};
use crate::call::Call;
use crate::elements::{Value, reciprocal_deviation};
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::{AttributeName, Function};

/// The elements that a reduction combines.
pub(crate) trait Row<C: Calculator>: Sized {
    /// Number of elements.
    fn width(&self) -> f64;

    /// Applies `each` to every element.
    fn map(&self, c: &mut C, each: impl Fn(&mut C, Value<C>) -> Value<C>) -> Self;

    /// Folds the results of `each` for all elements.
    fn fold(&self, c: &mut C, fold: Fold, each: impl Fn(&mut C, Value<C>) -> Value<C>) -> Value<C>;

    /// The index along the row of the first element with this value.
    fn index_of(&self, c: &mut C, value: Value<C>) -> Value<C>;

    /// Folds the elements themselves.
    fn folded(&self, c: &mut C, fold: Fold) -> Value<C> {
        self.fold(c, fold, |_, x| x)
    }

    /// The mean of the results of `each` for all elements.
    fn mean(&self, c: &mut C, each: impl Fn(&mut C, Value<C>) -> Value<C>) -> Value<C> {
        let sum = self.fold(c, Fold::Sum, each);
        c.with(Binary::Divide, sum, self.width())
    }
}

/// The result of a function for a row.
pub(crate) enum Reduced<C: Calculator, R> {
    /// One value.
    Value(Value<C>),
    /// A value for each element.
    Row(R),
}

/// The value of a function along a row, before weight and bias.
///
/// # Errors
/// If the function is not a reduction along rows, or its `eps` is missing.
pub(crate) fn reduced<C: Calculator, R: Row<C>>(
    c: &mut C,
    row: &R,
    function: Function,
    call: &Call,
) -> Result<Reduced<C, R>, EvaluationError> {
    Ok(match function {
        Function::Sum => Reduced::Value(row.folded(c, Fold::Sum)),
        Function::Mean => Reduced::Value(row.mean(c, |_, x| x)),
        Function::Max => Reduced::Value(row.folded(c, Fold::Maximum)),
        Function::Min => Reduced::Value(row.folded(c, Fold::Minimum)),
        Function::Prod => Reduced::Value(row.folded(c, Fold::Product)),
        Function::Any => Reduced::Value(truth_of_row(c, row, Fold::Maximum)),
        Function::All => Reduced::Value(truth_of_row(c, row, Fold::Minimum)),
        Function::Argmax => {
            let largest = row.folded(c, Fold::Maximum);
            Reduced::Value(row.index_of(c, largest))
        }
        Function::Argmin => {
            let smallest = row.folded(c, Fold::Minimum);
            Reduced::Value(row.index_of(c, smallest))
        }
        Function::Var => {
            let squares = centered(c, row).fold(c, Fold::Sum, square);
            // The variance is unbiased, as PyTorch's is by default: it divides by one less than the
            // width.
            Reduced::Value(c.with(Binary::Divide, squares, row.width() - 1.0))
        }
        Function::Softmax => Reduced::Row(softmax(c, row)),
        Function::LogSoftmax => {
            let shifted = shifted(c, row);
            let sum = shifted.fold(c, Fold::Sum, |c, x| c.unary(Unary::Exp, x));
            let log = c.unary(Unary::Log, sum);
            Reduced::Row(shifted.map(c, |c, x| c.binary(Binary::Subtract, x, log)))
        }
        Function::LayerNorm | Function::BatchNormTrain | Function::GroupNorm => {
            let centered = centered(c, row);
            Reduced::Row(normalized(c, &centered, call)?)
        }
        Function::RmsNorm => Reduced::Row(normalized(c, row, call)?),
        Function::L2Norm => {
            let squares = row.fold(c, Fold::Sum, square);
            let length = c.unary(Unary::Sqrt, squares);
            let length = c.with(Binary::Maximum, length, call.required(AttributeName::Eps)?);
            Reduced::Row(row.map(c, |c, x| c.binary(Binary::Divide, x, length)))
        }
        _ => return Err(EvaluationError::NoNumbers(function)),
    })
}

/// `exp(x - largest)` divided by its sum. The subtraction keeps the exponentials finite and cancels
/// in the quotient.
pub(crate) fn softmax<C: Calculator, R: Row<C>>(c: &mut C, row: &R) -> R {
    let powers = shifted(c, row).map(c, |c, x| c.unary(Unary::Exp, x));
    let sum = powers.folded(c, Fold::Sum);
    powers.map(c, |c, x| c.binary(Binary::Divide, x, sum))
}

/// `x - largest`
fn shifted<C: Calculator, R: Row<C>>(c: &mut C, row: &R) -> R {
    let largest = row.folded(c, Fold::Maximum);
    row.map(c, |c, x| c.binary(Binary::Subtract, x, largest))
}

/// `x - mean`
fn centered<C: Calculator, R: Row<C>>(c: &mut C, row: &R) -> R {
    let mean = row.mean(c, |_, x| x);
    row.map(c, |c, x| c.binary(Binary::Subtract, x, mean))
}

/// `x / sqrt(mean square + eps)`
fn normalized<C: Calculator, R: Row<C>>(
    c: &mut C,
    row: &R,
    call: &Call,
) -> Result<R, EvaluationError> {
    let mean_square = row.mean(c, square);
    let scale = reciprocal_deviation(c, mean_square, call.required(AttributeName::Eps)?);
    Ok(row.map(c, |c, x| c.binary(Binary::Multiply, x, scale)))
}

/// The maximum or minimum of the elements as truth values.
fn truth_of_row<C: Calculator>(c: &mut C, row: &impl Row<C>, fold: Fold) -> Value<C> {
    let bounded = row.fold(c, fold, |c, x| {
        let is_zero = c.unary(Unary::Not, x);
        c.unary(Unary::Not, is_zero)
    });
    // The fold of an empty row is infinite: `any` becomes 0 and `all` becomes 1.
    let least = c.with(Binary::Maximum, bounded, 0.0);
    c.with(Binary::Minimum, least, 1.0)
}

fn square<C: Calculator>(c: &mut C, x: Value<C>) -> Value<C> {
    c.binary(Binary::Multiply, x, x)
}
