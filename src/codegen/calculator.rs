//! The primitive operations in which functions are defined.
//!
//! [`elements`](crate::elements) defines each function once, in these operations. The interpreter
//! performs them on numbers and rounds each result; code generation builds an expression from them.

/// Evaluates the primitive operations of a definition.
pub(crate) trait Calculator: 'static {
    /// An operand or a result.
    type Value: Copy;

    /// A constant.
    fn number(&mut self, value: f64) -> Self::Value;

    /// A function of one value.
    fn unary(&mut self, function: Unary, a: Self::Value) -> Self::Value;

    /// A function of two values.
    fn binary(&mut self, function: Binary, a: Self::Value, b: Self::Value) -> Self::Value;

    /// The second value where the first is not 0, else the third.
    fn select(
        &mut self,
        condition: Self::Value,
        then: Self::Value,
        otherwise: Self::Value,
    ) -> Self::Value;

    /// The value where the condition is not 0, else the result of `otherwise`.
    ///
    /// On numbers, `otherwise` runs only where the condition is 0.
    fn select_or(
        &mut self,
        condition: Self::Value,
        then: Self::Value,
        otherwise: impl FnOnce(&mut Self) -> Self::Value,
    ) -> Self::Value {
        let otherwise = otherwise(self);
        self.select(condition, then, otherwise)
    }

    /// A function of a value and a constant.
    fn with(&mut self, function: Binary, a: Self::Value, b: f64) -> Self::Value {
        let b = self.number(b);
        self.binary(function, a, b)
    }
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the function of its name")]
pub enum Unary {
    Negate,
    Abs,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Tanh,
    Erf,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest whole number, halves to the even one.
    Round,
    /// 1 or 0.
    IsNan,
    /// 1 or 0.
    IsInfinite,
    /// 1 for 0, else 0.
    Not,
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the function of its name")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    /// The remainder of a division that is truncated toward zero.
    Remainder,
    /// The larger operand; NaN if either operand is NaN.
    Maximum,
    /// The smaller operand; NaN if either operand is NaN.
    Minimum,
    /// 1 or 0.
    Less,
    /// 1 or 0.
    LessEqual,
    /// 1 or 0.
    Equal,
    /// 1 or 0.
    And,
    /// 1 or 0.
    Or,
}

/// The function with which values are folded to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the function of its name")]
pub enum Fold {
    Sum,
    Product,
    Maximum,
    Minimum,
}

impl Fold {
    /// The identity element, which is the fold of no values.
    pub fn start(self) -> f64 {
        match self {
            Self::Sum => 0.0,
            Self::Product => 1.0,
            Self::Maximum => f64::NEG_INFINITY,
            Self::Minimum => f64::INFINITY,
        }
    }

    /// The function that folds two values to one.
    pub(crate) fn step(self) -> Binary {
        match self {
            Self::Sum => Binary::Add,
            Self::Product => Binary::Multiply,
            Self::Maximum => Binary::Maximum,
            Self::Minimum => Binary::Minimum,
        }
    }
}
