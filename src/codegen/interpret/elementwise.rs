//! Functions of single elements.

use super::array::{Array, walk};
use super::call::Call;
use super::error::EvaluationError;
use super::evaluate::{Task, unfit};
use super::number::Arithmetic;
use super::random::{random_key, uniform};
use fuseline_core::model::functions::{AttributeName, Function};
use std::f64::consts::FRAC_1_SQRT_2;

/// sqrt(2 / pi)
const GELU_SLOPE: f64 = 0.797_884_560_802_865_4;
const GELU_CUBE: f64 = 0.044_715;

/// The constants of a network that normalizes itself.
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// The value of an elementwise function.
pub(super) fn elementwise(
    task: &Task<'_>,
    inputs: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let (function, call, arithmetic) = (task.function, task.call, task.arithmetic);
    match (function, inputs) {
        (Function::Full, []) => Ok(vec![call.stated(AttributeName::Value)?; task.elements()]),
        (Function::Arange, []) => Ok((0..task.elements()).map(|place| place as f64).collect()),
        (Function::Mask, [x]) => by_diagonal(task, x, |row, column, value, offset| {
            // The last row sees all columns, as in attention with earlier keys.
            if column > row + offset.max(0) {
                f64::NEG_INFINITY
            } else {
                value
            }
        }),
        (Function::Tril, [x]) => {
            let diagonal = call.size(AttributeName::Diagonal).unwrap_or(0);
            let is_kept = |row: i64, column: i64| column - row <= diagonal;
            by_diagonal(
                task,
                x,
                |row, column, value, _| if is_kept(row, column) { value } else { 0.0 },
            )
        }
        (Function::Triu, [x]) => {
            let diagonal = call.size(AttributeName::Diagonal).unwrap_or(0);
            let is_kept = |row: i64, column: i64| column - row >= diagonal;
            by_diagonal(
                task,
                x,
                |row, column, value, _| if is_kept(row, column) { value } else { 0.0 },
            )
        }
        (Function::Dropout, [x]) => dropout(task, x),
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
        (_, [x]) => {
            let function = unary(function, call, arithmetic)?;
            let x = broadcast(task, x)?;
            Ok(x.iter().map(|&x| function(x)).collect())
        }
        (_, [a, b]) => {
            let function = binary(function, arithmetic).ok_or_else(|| unfit(task, inputs))?;
            let (a, b) = (broadcast(task, a)?, broadcast(task, b)?);
            Ok(a.iter()
                .zip(b.iter())
                .map(|(&a, &b)| function(a, b))
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

fn unary(
    function: Function,
    call: &Call,
    arithmetic: Arithmetic,
) -> Result<Box<dyn Fn(f64) -> f64>, EvaluationError> {
    let r = move |value: f64| arithmetic.round(value);
    let number = |attribute: AttributeName| call.stated(attribute).map(r);
    // Beyond 20 the sum is x, as in PyTorch.
    let softplus = move |x: f64| {
        if x > 20.0 {
            x
        } else {
            r(libm::log1p(r(libm::exp(x))))
        }
    };
    let hardsigmoid = move |x: f64| r(smaller(larger(r(x + 3.0), 0.0), 6.0) / 6.0);
    let sigmoid = move |x: f64| r(1.0 / r(1.0 + r(libm::exp(-x))));
    Ok(match function {
        Function::Neg => Box::new(|x| -x),
        Function::Abs => Box::new(f64::abs),
        Function::Sign => Box::new(|x| {
            if x == 0.0 || x.is_nan() {
                0.0
            } else {
                x.signum()
            }
        }),
        Function::Isnan => Box::new(|x| truth(x.is_nan())),
        Function::Isinf => Box::new(|x| truth(x.is_infinite())),
        Function::Square => Box::new(move |x| r(x * x)),
        Function::Relu => Box::new(|x| larger(x, 0.0)),
        Function::Gelu => Box::new(move |x| {
            let cube = r(r(x * x) * x);
            let inner = r(r(GELU_SLOPE) * r(x + r(r(GELU_CUBE) * cube)));
            r(r(0.5 * x) * r(1.0 + r(libm::tanh(inner))))
        }),
        Function::GeluErf => {
            Box::new(move |x| r(r(0.5 * x) * r(1.0 + r(libm::erf(r(x * r(FRAC_1_SQRT_2)))))))
        }
        Function::Silu => Box::new(move |x| r(x * sigmoid(x))),
        Function::Sigmoid => Box::new(sigmoid),
        Function::Tanh => Box::new(move |x| r(libm::tanh(x))),
        Function::LeakyRelu => {
            let slope = r(call.number(AttributeName::Slope).unwrap_or(0.01));
            Box::new(move |x| if x > 0.0 { x } else { r(x * slope) })
        }
        Function::Elu => {
            let alpha = r(call.number(AttributeName::Alpha).unwrap_or(1.0));
            Box::new(move |x| {
                if x > 0.0 {
                    x
                } else {
                    r(alpha * r(libm::expm1(x)))
                }
            })
        }
        Function::Selu => Box::new(move |x| {
            let below = || r(SELU_ALPHA * r(libm::expm1(x)));
            r(SELU_SCALE * if x > 0.0 { x } else { below() })
        }),
        Function::Softplus => Box::new(softplus),
        Function::Mish => Box::new(move |x| r(x * r(libm::tanh(softplus(x))))),
        Function::Hardsigmoid => Box::new(hardsigmoid),
        Function::Hardswish => Box::new(move |x| r(x * hardsigmoid(x))),
        Function::Exp => Box::new(move |x| r(libm::exp(x))),
        Function::Exp2 => Box::new(move |x| r(libm::exp2(x))),
        Function::Expm1 => Box::new(move |x| r(libm::expm1(x))),
        Function::Log => Box::new(move |x| r(libm::log(x))),
        Function::Log2 => Box::new(move |x| r(libm::log2(x))),
        Function::Log1p => Box::new(move |x| r(libm::log1p(x))),
        Function::Tan => Box::new(move |x| r(libm::tan(x))),
        Function::Ceil => Box::new(f64::ceil),
        Function::Trunc => Box::new(f64::trunc),
        Function::Erf => Box::new(move |x| r(libm::erf(x))),
        Function::Sin => Box::new(move |x| r(libm::sin(x))),
        Function::Cos => Box::new(move |x| r(libm::cos(x))),
        Function::Round => Box::new(f64::round_ties_even),
        Function::Floor => Box::new(f64::floor),
        Function::Sqrt => Box::new(move |x| r(x.sqrt())),
        Function::Rsqrt => Box::new(move |x| r(1.0 / r(x.sqrt()))),
        Function::Reciprocal => Box::new(move |x| r(1.0 / x)),
        Function::LogicalNot => Box::new(|x| truth(x == 0.0)),
        // The element type of the result does it.
        Function::Cast => Box::new(|x| x),
        Function::Scale => {
            let factor = number(AttributeName::Factor)?;
            Box::new(move |x| r(x * factor))
        }
        Function::Shift => {
            let amount = number(AttributeName::Amount)?;
            Box::new(move |x| r(x + amount))
        }
        Function::Pow => {
            let exponent = number(AttributeName::Exponent)?;
            Box::new(move |x| r(libm::pow(x, exponent)))
        }
        Function::Clamp => {
            let bound = |attribute, default: f64| call.number(attribute).map_or(default, r);
            let (min, max) = (
                bound(AttributeName::Min, f64::NEG_INFINITY),
                bound(AttributeName::Max, f64::INFINITY),
            );
            Box::new(move |x| smaller(larger(x, min), max))
        }
        _ => return Err(EvaluationError::OneInput(function)),
    })
}

fn binary(function: Function, arithmetic: Arithmetic) -> Option<Box<dyn Fn(f64, f64) -> f64>> {
    let r = move |value: f64| arithmetic.round(value);
    Some(match function {
        Function::Add | Function::Mask => Box::new(move |a, b| r(a + b)),
        Function::Sub => Box::new(move |a, b| r(a - b)),
        Function::Mul => Box::new(move |a, b| r(a * b)),
        Function::Div => Box::new(move |a, b| r(a / b)),
        Function::Pow => Box::new(move |a, b| r(libm::pow(a, b))),
        Function::FloorDivide => Box::new(move |a, b| r(a / b).floor()),
        Function::Remainder => Box::new(move |a, b| {
            let rest = a % b;
            let is_other_side = rest != 0.0 && (rest < 0.0) != (b < 0.0);
            if is_other_side { r(rest + b) } else { rest }
        }),
        Function::Maximum => Box::new(larger),
        Function::Minimum => Box::new(smaller),
        Function::Lt => Box::new(|a, b| truth(a < b)),
        Function::Le => Box::new(|a, b| truth(a <= b)),
        Function::Gt => Box::new(|a, b| truth(a > b)),
        Function::Ge => Box::new(|a, b| truth(a >= b)),
        #[allow(clippy::float_cmp, reason = "`eq` compares exactly")]
        Function::Eq => Box::new(|a, b| truth(a == b)),
        #[allow(clippy::float_cmp, reason = "`ne` compares exactly")]
        Function::Ne => Box::new(|a, b| truth(a != b)),
        Function::LogicalAnd => Box::new(|a, b| truth(a != 0.0 && b != 0.0)),
        Function::LogicalOr => Box::new(|a, b| truth(a != 0.0 || b != 0.0)),
        Function::LogicalXor => Box::new(|a, b| truth((a != 0.0) != (b != 0.0))),
        _ => return None,
    })
}

pub(super) fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// The larger one; unlike [`f64::max`] not a number if one of them is not, as in PyTorch.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller one, or not a number.
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// Each element by its row and column in the last two dimensions, its value, and by how many columns exceed rows.
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

/// Elements are dropped by the seed and the name of the output, so that all runs drop the same.
fn dropout(task: &Task<'_>, x: &Array<'_>) -> Result<Vec<f64>, EvaluationError> {
    let p = task.call.number(AttributeName::P).unwrap_or(0.5);
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

/// The halves of each row turned by the angles of its place.
fn rotary(
    task: &Task<'_>,
    x: &Array<'_>,
    [cos, sin]: [&Array<'_>; 2],
) -> Result<Vec<f64>, EvaluationError> {
    let r = |value: f64| task.arithmetic.round(value);
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
        .map(|(place, (x, (cos, sin)))| r(r(x * cos) + r(turned(place) * sin)))
        .collect())
}

/// `x * scale + shift`, or with mean and variance of each channel.
fn batch_norm(
    task: &Task<'_>,
    x: &Array<'_>,
    factors: &[Array<'_>],
) -> Result<Vec<f64>, EvaluationError> {
    let r = |value: f64| task.arithmetic.round(value);
    let x = broadcast(task, x)?;
    let channels = task.shape.get(1).copied().unwrap_or(0);
    if factors.len() < 2 || factors.iter().any(|factor| factor.values.len() != channels) {
        return Err(unfit(task, factors));
    }
    let of = |place: usize, channel: usize, default: f64| {
        let factor = factors
            .get(place)
            .and_then(|factor| factor.values.get(channel));
        factor.copied().unwrap_or(default)
    };
    let eps = r(task.call.number(AttributeName::Eps).unwrap_or(1e-5));
    let mut values = x.iter();
    Ok(walk(task.shape, |index| {
        let x = values.next().copied().unwrap_or(f64::NAN);
        let channel = index.get(1).copied().unwrap_or(0);
        if factors.len() == 2 {
            return r(r(x * of(0, channel, 1.0)) + of(1, channel, 0.0));
        }
        let deviation = r(r(of(1, channel, 1.0) + eps).sqrt());
        let normal = r(r(x - of(0, channel, 0.0)) * r(1.0 / deviation));
        r(r(normal * of(2, channel, 1.0)) + of(3, channel, 0.0))
    }))
}
