//! The primitive operations of a definition on numbers, with rounding.

use super::number::single;
use crate::calculator::{Binary, Calculator, Unary};

/// The floating-point type in which an op computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// Each step is rounded to f32.
    Single,
    /// Each step is rounded to f64.
    Double,
}

impl Arithmetic {
    /// Rounds the result of an operation that was computed in f64. For a sum, product, quotient or
    /// square root of f32 values this is the result in f32, because f64 has more than twice as many
    /// digits.
    pub(super) fn round(self, value: f64) -> f64 {
        match self {
            Self::Single => single(value),
            Self::Double => value,
        }
    }
}

impl Calculator for Arithmetic {
    type Value = f64;

    fn number(&mut self, value: f64) -> f64 {
        self.round(value)
    }

    // An operation whose exact result has no more digits than its operands is not rounded: rounding
    // would cut off the digits of large integers.
    fn unary(&mut self, function: Unary, a: f64) -> f64 {
        match function {
            Unary::Negate => -a,
            Unary::Abs => a.abs(),
            Unary::Exp => self.round(libm::exp(a)),
            Unary::Exp2 => self.round(libm::exp2(a)),
            Unary::Expm1 => self.round(libm::expm1(a)),
            Unary::Log => self.round(libm::log(a)),
            Unary::Log2 => self.round(libm::log2(a)),
            Unary::Log1p => self.round(libm::log1p(a)),
            Unary::Sqrt => self.round(a.sqrt()),
            Unary::Sin => self.round(libm::sin(a)),
            Unary::Cos => self.round(libm::cos(a)),
            Unary::Tan => self.round(libm::tan(a)),
            Unary::Tanh => self.round(libm::tanh(a)),
            Unary::Erf => self.round(libm::erf(a)),
            Unary::Floor => a.floor(),
            Unary::Ceil => a.ceil(),
            Unary::Trunc => a.trunc(),
            Unary::Round => a.round_ties_even(),
            Unary::IsNan => truth(a.is_nan()),
            Unary::IsInfinite => truth(a.is_infinite()),
            Unary::Not => truth(a == 0.0),
        }
    }

    #[allow(clippy::float_cmp, reason = "`eq` compares exactly")]
    fn binary(&mut self, function: Binary, a: f64, b: f64) -> f64 {
        match function {
            Binary::Add => self.round(a + b),
            Binary::Subtract => self.round(a - b),
            Binary::Multiply => self.round(a * b),
            Binary::Divide => self.round(a / b),
            Binary::Power => self.round(libm::pow(a, b)),
            Binary::Remainder => a % b,
            Binary::Maximum => larger(a, b),
            Binary::Minimum => smaller(a, b),
            Binary::Less => truth(a < b),
            Binary::LessEqual => truth(a <= b),
            Binary::Equal => truth(a == b),
            Binary::And => truth(a != 0.0 && b != 0.0),
            Binary::Or => truth(a != 0.0 || b != 0.0),
        }
    }

    fn select(&mut self, condition: f64, then: f64, otherwise: f64) -> f64 {
        if condition == 0.0 { otherwise } else { then }
    }

    fn select_or(
        &mut self,
        condition: f64,
        then: f64,
        otherwise: impl FnOnce(&mut Self) -> f64,
    ) -> f64 {
        if condition == 0.0 {
            otherwise(self)
        } else {
            then
        }
    }
}

pub(super) fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// The larger number; NaN if either is NaN, as in PyTorch and unlike [`f64::max`].
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller number; NaN if either is NaN.
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}
