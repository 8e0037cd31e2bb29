//! Arithmetic on values that are known before a run, element by element.

use crate::constant::{Constant, MAX_NUMBERS, Scalar};
use crate::onnx::call::Call;
use crate::size::Size;

/// Applies `combine` to the elements of several values, which are broadcast to each other. `None`
/// for more elements than a value may have.
pub(super) fn each(
    values: &[&Constant],
    combine: impl Fn(&[&Scalar]) -> Option<Scalar>,
) -> Option<Constant> {
    let rank = values.iter().map(|value| value.shape.len()).max()?;
    // Missing dimensions are in front and have one element.
    let size = |value: &Constant, axis: usize| {
        let missing = rank - value.shape.len();
        axis.checked_sub(missing)
            .and_then(|axis| value.shape.get(axis).copied())
            .unwrap_or(1)
    };
    let along = |axis: usize| {
        let mut sizes = values
            .iter()
            .map(|value| size(value, axis))
            .filter(|&size| size != 1);
        let own = sizes.next().unwrap_or(1);
        sizes.all(|other| other == own).then_some(own)
    };
    let shape: Vec<usize> = (0..rank).map(along).collect::<Option<_>>()?;
    let count = shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d))?;
    if count > MAX_NUMBERS {
        return None;
    }
    let place_in = |value: &Constant, mut index: usize| {
        let (mut place, mut stride) = (0, 1);
        for (axis, &whole) in shape.iter().enumerate().rev() {
            let own = size(value, axis);
            place += if own == 1 { 0 } else { index % whole * stride };
            (index, stride) = (index / whole, stride * own);
        }
        place
    };
    let element = |index: usize| {
        let elements = values
            .iter()
            .map(|value| value.elements.get(place_in(value, index)));
        combine(&elements.collect::<Option<Vec<&Scalar>>>()?)
    };
    let elements = (0..count).map(element).collect::<Option<_>>()?;
    Some(Constant { shape, elements })
}

/// The number at the defaults of the params.
pub(super) fn number(call: &Call<'_>, element: &Scalar) -> Option<f64> {
    match element {
        Scalar::Int(size) => call.default_of(size).map(|value| value as f64),
        Scalar::Float(value) => Some(*value),
    }
}

fn truth(holds: bool) -> Scalar {
    Scalar::Int(Size::from(i64::from(holds)))
}

pub(super) fn unary(call: &Call<'_>, element: &Scalar) -> Option<Scalar> {
    let value = number(call, element)?;
    match (call.operator(), element) {
        ("Not", _) => Some(truth(value == 0.0)),
        ("Neg", Scalar::Int(size)) => Some(Scalar::Int(Size::from(0).sub(size)?)),
        ("Abs" | "Floor" | "Ceil", Scalar::Int(_)) if value >= 0.0 => Some(element.clone()),
        ("Neg", _) => Some(Scalar::Float(-value)),
        ("Abs", _) => Some(Scalar::Float(value.abs())),
        ("Sqrt", _) => Some(Scalar::Float(value.sqrt())),
        ("Reciprocal", _) => Some(Scalar::Float(value.recip())),
        ("Floor", Scalar::Float(_)) => Some(Scalar::Float(value.floor())),
        ("Ceil", Scalar::Float(_)) => Some(Scalar::Float(value.ceil())),
        _ => None,
    }
}

/// A number of two sizes that no size expresses, at the defaults of the params.
fn at_defaults(
    call: &Call<'_>,
    x: &Size,
    y: &Size,
    combine: impl Fn(i64, i64) -> Option<i64>,
) -> Option<Size> {
    let number = Size::from(combine(call.default_of(x)?, call.default_of(y)?)?);
    Some(number.computed_from(x).computed_from(y))
}

pub(super) fn binary(call: &Call<'_>, a: &Scalar, b: &Scalar) -> Option<Scalar> {
    let (left, right) = (number(call, a)?, number(call, b)?);
    let operator = call.operator();
    match operator {
        "Equal" => return Some(truth(a == b || left.total_cmp(&right).is_eq())),
        "Less" => return Some(truth(left < right)),
        "Greater" => return Some(truth(left > right)),
        "And" => return Some(truth(left != 0.0 && right != 0.0)),
        "Or" => return Some(truth(left != 0.0 || right != 0.0)),
        "Min" => return Some(if left <= right { a } else { b }.clone()),
        "Max" => return Some(if left >= right { a } else { b }.clone()),
        _ => {}
    }
    let (Scalar::Int(x), Scalar::Int(y)) = (a, b) else {
        return Some(Scalar::Float(match operator {
            "Add" => left + right,
            "Sub" => left - right,
            "Mul" => left * right,
            "Div" => left / right,
            "Pow" => left.powf(right),
            _ => return None,
        }));
    };
    let size = match operator {
        "Add" => x.add(y),
        "Sub" => x.sub(y),
        "Mul" => x.mul(y),
        // A quotient that is no size is a number that holds at the defaults.
        "Div" => (x.div_exact(y)).or_else(|| at_defaults(call, x, y, i64::checked_div)),
        "Mod" => at_defaults(call, x, y, i64::checked_rem_euclid),
        _ => None,
    };
    size.map(Scalar::Int)
}
