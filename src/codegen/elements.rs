//! The definition of each elementwise function.
//!
//! Each is defined once; the interpreter and code generation both use that definition.

use crate::calculator::{Binary, Calculator, Unary};
use crate::call::Call;
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::{AttributeName, Function};
use std::f64::consts::FRAC_1_SQRT_2;

/// `sqrt(2 / pi)`, of the tanh approximation of GELU.
const GELU_SLOPE: f64 = 0.797_884_560_802_865_4;
const GELU_CUBE: f64 = 0.044_715;

/// The constants of SELU (Klambauer et al., "Self-Normalizing Neural Networks", 2017).
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// An operand or a result of a calculator.
pub(crate) type Value<C> = <C as Calculator>::Value;
/// A function of one value, with the attributes of its call applied.
pub(crate) type OfOne<C> = Box<dyn Fn(&mut C, Value<C>) -> Value<C>>;
/// A function of two values.
pub(crate) type OfTwo<C> = Box<dyn Fn(&mut C, Value<C>, Value<C>) -> Value<C>>;

/// `(q - zero) * scale`.
pub(crate) fn dequantized<C: Calculator>(
    c: &mut C,
    q: Value<C>,
    scale: Value<C>,
    zero: Option<Value<C>>,
) -> Value<C> {
    let centred = match zero {
        Some(zero) => c.binary(Binary::Subtract, q, zero),
        None => q,
    };
    c.binary(Binary::Multiply, centred, scale)
}

/// A function of one value. The lookup runs once for an op, its result once for each element.
///
/// # Errors
/// If the function does not take one value, or its call lacks a required attribute.
pub(crate) fn of_one<C: Calculator>(
    function: Function,
    call: &Call,
) -> Result<OfOne<C>, EvaluationError> {
    if let Some(step) = step_of_one(function) {
        return Ok(Box::new(move |c, x| c.unary(step, x)));
    }
    Ok(match function {
        // Rounding the result to its element type does the conversion.
        Function::Cast => Box::new(|_, x| x),
        Function::Square => Box::new(|c, x| c.binary(Binary::Multiply, x, x)),
        Function::Relu => Box::new(|c, x| c.with(Binary::Maximum, x, 0.0)),
        Function::Reciprocal => Box::new(reciprocal),
        Function::Rsqrt => Box::new(|c, x| {
            let root = c.unary(Unary::Sqrt, x);
            reciprocal(c, root)
        }),
        Function::Sign => Box::new(|c, x| {
            let zero = c.number(0.0);
            let is_above = c.binary(Binary::Less, zero, x);
            let is_below = c.binary(Binary::Less, x, zero);
            c.binary(Binary::Subtract, is_above, is_below)
        }),
        Function::Gelu => Box::new(|c, x| {
            let square = c.binary(Binary::Multiply, x, x);
            let cube = c.binary(Binary::Multiply, square, x);
            let small = c.with(Binary::Multiply, cube, GELU_CUBE);
            let sum = c.binary(Binary::Add, x, small);
            let inner = c.with(Binary::Multiply, sum, GELU_SLOPE);
            let tanh = c.unary(Unary::Tanh, inner);
            gated(c, x, tanh)
        }),
        Function::GeluErf => Box::new(|c, x| {
            let inner = c.with(Binary::Multiply, x, FRAC_1_SQRT_2);
            let erf = c.unary(Unary::Erf, inner);
            gated(c, x, erf)
        }),
        Function::Sigmoid => Box::new(sigmoid),
        Function::Silu => Box::new(|c, x| {
            let sigmoid = sigmoid(c, x);
            c.binary(Binary::Multiply, x, sigmoid)
        }),
        Function::LeakyRelu => {
            let slope = call.required(AttributeName::Slope)?;
            Box::new(move |c, x| if_positive(c, x, |c| c.with(Binary::Multiply, x, slope)))
        }
        Function::Elu => {
            let alpha = call.required(AttributeName::Alpha)?;
            Box::new(move |c, x| elu(c, x, alpha))
        }
        Function::Selu => Box::new(|c, x| {
            let elu = elu(c, x, SELU_ALPHA);
            c.with(Binary::Multiply, elu, SELU_SCALE)
        }),
        Function::Softplus => Box::new(softplus),
        Function::LogSigmoid => Box::new(|c, x| {
            let below = c.with(Binary::Minimum, x, 0.0);
            let size = c.unary(Unary::Abs, x);
            let negative = c.unary(Unary::Negate, size);
            let power = c.unary(Unary::Exp, negative);
            let rest = c.unary(Unary::Log1p, power);
            c.binary(Binary::Subtract, below, rest)
        }),
        Function::Mish => Box::new(|c, x| {
            let soft = softplus(c, x);
            let tanh = c.unary(Unary::Tanh, soft);
            c.binary(Binary::Multiply, x, tanh)
        }),
        Function::Hardsigmoid => Box::new(hardsigmoid),
        Function::Hardswish => Box::new(|c, x| {
            let gate = hardsigmoid(c, x);
            c.binary(Binary::Multiply, x, gate)
        }),
        Function::Softsign => Box::new(|c, x| {
            let size = c.unary(Unary::Abs, x);
            let sum = c.with(Binary::Add, size, 1.0);
            c.binary(Binary::Divide, x, sum)
        }),
        Function::Scale => {
            let factor = call.required(AttributeName::Factor)?;
            Box::new(move |c, x| c.with(Binary::Multiply, x, factor))
        }
        Function::Shift => {
            let amount = call.required(AttributeName::Amount)?;
            Box::new(move |c, x| c.with(Binary::Add, x, amount))
        }
        Function::Pow => match call.required(AttributeName::Exponent)? {
            // A square is a product, because `pow` is undefined for negative bases on some GPUs.
            2.0 => Box::new(|c, x| c.binary(Binary::Multiply, x, x)),
            exponent => Box::new(move |c, x| c.with(Binary::Power, x, exponent)),
        },
        Function::Clamp => {
            let bounds = [
                (Binary::Maximum, call.number(AttributeName::Min)),
                (Binary::Minimum, call.number(AttributeName::Max)),
            ];
            Box::new(move |c, x| {
                let stated = bounds
                    .into_iter()
                    .filter_map(|(step, bound)| Some((step, bound?)));
                stated.fold(x, |x, (step, bound)| c.with(step, x, bound))
            })
        }
        _ => return Err(EvaluationError::OneInput(function)),
    })
}

/// A function of two values; `None` if the function does not take two.
pub(crate) fn of_two<C: Calculator>(function: Function) -> Option<OfTwo<C>> {
    if let Some(step) = step_of_two(function) {
        return Some(Box::new(move |c, a, b| c.binary(step, a, b)));
    }
    Some(match function {
        Function::Gt => Box::new(|c, a, b| c.binary(Binary::Less, b, a)),
        Function::Ge => Box::new(|c, a, b| c.binary(Binary::LessEqual, b, a)),
        Function::Ne => Box::new(|c, a, b| {
            let equal = c.binary(Binary::Equal, a, b);
            c.unary(Unary::Not, equal)
        }),
        Function::LogicalXor => Box::new(|c, a, b| {
            let [no_a, no_b] = [a, b].map(|x| c.unary(Unary::Not, x));
            let equal = c.binary(Binary::Equal, no_a, no_b);
            c.unary(Unary::Not, equal)
        }),
        Function::FloorDivide => Box::new(|c, a, b| {
            let quotient = c.binary(Binary::Divide, a, b);
            c.unary(Unary::Floor, quotient)
        }),
        Function::TruncDivide => Box::new(|c, a, b| {
            let quotient = c.binary(Binary::Divide, a, b);
            c.unary(Unary::Trunc, quotient)
        }),
        Function::Remainder => Box::new(|c, a, b| {
            // As in PyTorch, the result has the sign of the divisor; the primitive remainder has
            // the sign of the dividend.
            let rest = c.binary(Binary::Remainder, a, b);
            let zero = c.number(0.0);
            let is_none = c.binary(Binary::Equal, rest, zero);
            let negative = c.binary(Binary::Less, rest, zero);
            let divisor_negative = c.binary(Binary::Less, b, zero);
            let same = c.binary(Binary::Equal, negative, divisor_negative);
            let stays = c.binary(Binary::Or, is_none, same);
            let moved = c.binary(Binary::Add, rest, b);
            c.select(stays, rest, moved)
        }),
        Function::Xlogy => Box::new(|c, a, b| {
            let zero = c.number(0.0);
            let is_zero = c.binary(Binary::Equal, a, zero);
            let log = c.unary(Unary::Log, b);
            let product = c.binary(Binary::Multiply, a, log);
            let of_numbers = c.select(is_zero, zero, product);
            let is_nan = c.unary(Unary::IsNan, b);
            c.select(is_nan, b, of_numbers)
        }),
        Function::Logaddexp => Box::new(|c, a, b| {
            let is_larger = c.binary(Binary::LessEqual, b, a);
            let larger = c.select(is_larger, a, b);
            let smaller = c.select(is_larger, b, a);
            let distance = c.binary(Binary::Subtract, smaller, larger);
            let power = c.unary(Unary::Exp, distance);
            let rest = c.unary(Unary::Log1p, power);
            let sum = c.binary(Binary::Add, larger, rest);
            // The distance of two equal infinities is NaN.
            let is_infinite = c.unary(Unary::IsInfinite, a);
            let is_equal = c.binary(Binary::Equal, a, b);
            let is_both = c.binary(Binary::And, is_infinite, is_equal);
            c.select(is_both, a, sum)
        }),
        _ => return None,
    })
}

/// The primitive operation that the function equals, if it is a single one.
const fn step_of_one(function: Function) -> Option<Unary> {
    Some(match function {
        Function::Neg => Unary::Negate,
        Function::Abs => Unary::Abs,
        Function::Isnan => Unary::IsNan,
        Function::Isinf => Unary::IsInfinite,
        Function::Tanh => Unary::Tanh,
        Function::Exp => Unary::Exp,
        Function::Exp2 => Unary::Exp2,
        Function::Expm1 => Unary::Expm1,
        Function::Log => Unary::Log,
        Function::Log2 => Unary::Log2,
        Function::Log1p => Unary::Log1p,
        Function::Tan => Unary::Tan,
        Function::Ceil => Unary::Ceil,
        Function::Trunc => Unary::Trunc,
        Function::Erf => Unary::Erf,
        Function::Sin => Unary::Sin,
        Function::Cos => Unary::Cos,
        Function::Round => Unary::Round,
        Function::Floor => Unary::Floor,
        Function::Sqrt => Unary::Sqrt,
        Function::LogicalNot => Unary::Not,
        _ => return None,
    })
}

const fn step_of_two(function: Function) -> Option<Binary> {
    Some(match function {
        Function::Add | Function::Mask => Binary::Add,
        Function::Sub => Binary::Subtract,
        Function::Mul => Binary::Multiply,
        Function::Div => Binary::Divide,
        Function::Pow => Binary::Power,
        Function::Maximum => Binary::Maximum,
        Function::Minimum => Binary::Minimum,
        Function::Lt => Binary::Less,
        Function::Le => Binary::LessEqual,
        Function::Eq => Binary::Equal,
        Function::LogicalAnd => Binary::And,
        Function::LogicalOr => Binary::Or,
        _ => return None,
    })
}

/// `x / sqrt(variance + eps)`
fn normalized<C: Calculator>(c: &mut C, x: Value<C>, variance: Value<C>, eps: f64) -> Value<C> {
    let scale = reciprocal_deviation(c, variance, eps);
    c.binary(Binary::Multiply, x, scale)
}

/// `1 / sqrt(variance + eps)`
pub(crate) fn reciprocal_deviation<C: Calculator>(
    c: &mut C,
    variance: Value<C>,
    eps: f64,
) -> Value<C> {
    let sum = c.with(Binary::Add, variance, eps);
    let deviation = c.unary(Unary::Sqrt, sum);
    reciprocal(c, deviation)
}

/// `x * factors[0] + factors[1]`, where a missing factor is skipped.
pub(crate) fn weighted<C: Calculator>(c: &mut C, x: Value<C>, factors: &[Value<C>]) -> Value<C> {
    let steps = [Binary::Multiply, Binary::Add];
    let factors = factors.iter().zip(steps);
    factors.fold(x, |x, (&factor, step)| c.binary(step, x, factor))
}

/// An element of a batch norm: `x * scale + shift`, after a normalization if `factors` also holds a
/// mean and a variance.
pub(crate) fn batch_norm<C: Calculator>(
    c: &mut C,
    x: Value<C>,
    factors: &[Value<C>],
    eps: f64,
) -> Value<C> {
    match factors {
        [mean, variance, factors @ ..] if !factors.is_empty() => {
            let centered = c.binary(Binary::Subtract, x, *mean);
            let normal = normalized(c, centered, *variance, eps);
            weighted(c, normal, factors)
        }
        factors => weighted(c, x, factors),
    }
}

/// A rotary embedding: `x * cos + turned * sin`, where `turned` is `x` rotated by 90 degrees.
pub(crate) fn rotated<C: Calculator>(
    c: &mut C,
    [x, turned]: [Value<C>; 2],
    [cos, sin]: [Value<C>; 2],
) -> Value<C> {
    let kept = c.binary(Binary::Multiply, x, cos);
    let turned = c.binary(Binary::Multiply, turned, sin);
    c.binary(Binary::Add, kept, turned)
}

fn reciprocal<C: Calculator>(c: &mut C, x: Value<C>) -> Value<C> {
    let one = c.number(1.0);
    c.binary(Binary::Divide, one, x)
}

/// `0.5 x (1 + gate)`
fn gated<C: Calculator>(c: &mut C, x: Value<C>, gate: Value<C>) -> Value<C> {
    let half = c.with(Binary::Multiply, x, 0.5);
    let gate = c.with(Binary::Add, gate, 1.0);
    c.binary(Binary::Multiply, half, gate)
}

fn sigmoid<C: Calculator>(c: &mut C, x: Value<C>) -> Value<C> {
    let negative = c.unary(Unary::Negate, x);
    let power = c.unary(Unary::Exp, negative);
    let sum = c.with(Binary::Add, power, 1.0);
    reciprocal(c, sum)
}

fn hardsigmoid<C: Calculator>(c: &mut C, x: Value<C>) -> Value<C> {
    let shifted = c.with(Binary::Add, x, 3.0);
    let above = c.with(Binary::Maximum, shifted, 0.0);
    let below = c.with(Binary::Minimum, above, 6.0);
    c.with(Binary::Divide, below, 6.0)
}

fn elu<C: Calculator>(c: &mut C, x: Value<C>, alpha: f64) -> Value<C> {
    if_positive(c, x, |c| {
        let power = c.unary(Unary::Expm1, x);
        c.with(Binary::Multiply, power, alpha)
    })
}

/// `log(1 + exp(x))`; for x > 20 the result is x, as in PyTorch.
fn softplus<C: Calculator>(c: &mut C, x: Value<C>) -> Value<C> {
    let twenty = c.number(20.0);
    let is_large = c.binary(Binary::Less, twenty, x);
    c.select_or(is_large, x, |c| {
        let power = c.unary(Unary::Exp, x);
        c.unary(Unary::Log1p, power)
    })
}

/// `x` where it is positive, else the result of `otherwise`.
fn if_positive<C: Calculator>(
    c: &mut C,
    x: Value<C>,
    otherwise: impl FnOnce(&mut C) -> Value<C>,
) -> Value<C> {
    let zero = c.number(0.0);
    let is_positive = c.binary(Binary::Less, zero, x);
    c.select_or(is_positive, x, otherwise)
}
