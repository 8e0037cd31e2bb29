//! Functions of single elements.

use super::{Defined, Definition, Definitions, Operand};
use crate::interpret::EvaluationError;
use crate::interpret::random_key;
use crate::kernel_code::expression::{Binary, Expr, ExprId, Unary};
use fuseline_core::model::functions::{AttributeName, Function};
use std::f64::consts::FRAC_1_SQRT_2;

/// sqrt(2 / pi)
const GELU_SLOPE: f64 = 0.797_884_560_802_865_4;
const GELU_CUBE: f64 = 0.044_715;

/// The constants of a network that normalizes itself.
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

impl Definitions<'_> {
    pub(super) fn elementwise(&mut self, definition: &Definition<'_>) -> Defined {
        let operands = self.operands(definition);
        match (definition.function, &operands[..]) {
            (Function::Full, []) => Ok(self.number(definition.call.stated(AttributeName::Value)?)),
            (Function::Arange, []) => {
                let place = self.expressions.ravel(&definition.op.shape, definition.at);
                Ok(self.expressions.expr(Expr::Place(place)))
            }
            (Function::Mask | Function::Tril | Function::Triu, &[x]) => {
                self.by_diagonal(definition, x)
            }
            (Function::Dropout, &[x]) => self.dropout(definition, x),
            (Function::BatchNorm, [x, factors @ ..]) => self.batch_norm(definition, *x, factors),
            (Function::Rotary, &[x, cos, sin]) => self.rotary(definition, [x, cos, sin]),
            (Function::Where, &[condition, a, b]) => {
                let condition = self.aligned(definition, condition)?;
                let (a, b) = (self.aligned(definition, a)?, self.aligned(definition, b)?);
                Ok(self.expressions.select(condition, a, b))
            }
            (_, &[x]) => {
                let x = self.aligned(definition, x)?;
                self.of_one(definition, x)
            }
            (_, &[a, b]) => {
                let (a, b) = (self.aligned(definition, a)?, self.aligned(definition, b)?);
                self.of_two(definition.function, a, b)
                    .ok_or_else(|| definition.unfit())
            }
            _ => Err(definition.unfit()),
        }
    }

    fn of_one(&mut self, definition: &Definition<'_>, x: ExprId) -> Defined {
        let call = definition.call;
        let simple = match definition.function {
            Function::Neg => Some(Unary::Negate),
            Function::Abs => Some(Unary::Abs),
            Function::Isnan => Some(Unary::IsNan),
            Function::Isinf => Some(Unary::IsInfinite),
            Function::Tanh => Some(Unary::Tanh),
            Function::Exp => Some(Unary::Exp),
            Function::Exp2 => Some(Unary::Exp2),
            Function::Expm1 => Some(Unary::Expm1),
            Function::Log => Some(Unary::Log),
            Function::Log2 => Some(Unary::Log2),
            Function::Log1p => Some(Unary::Log1p),
            Function::Tan => Some(Unary::Tan),
            Function::Ceil => Some(Unary::Ceil),
            Function::Trunc => Some(Unary::Trunc),
            Function::Erf => Some(Unary::Erf),
            Function::Sin => Some(Unary::Sin),
            Function::Cos => Some(Unary::Cos),
            Function::Round => Some(Unary::Round),
            Function::Floor => Some(Unary::Floor),
            Function::Sqrt => Some(Unary::Sqrt),
            Function::LogicalNot => Some(Unary::Not),
            _ => None,
        };
        if let Some(function) = simple {
            return Ok(self.unary(function, x));
        }
        let zero = self.number(0.0);
        Ok(match definition.function {
            Function::Cast => x,
            Function::Square => self.binary(Binary::Multiply, x, x),
            Function::Relu => self.binary(Binary::Maximum, x, zero),
            Function::Reciprocal => self.reciprocal(x),
            Function::Rsqrt => {
                let root = self.unary(Unary::Sqrt, x);
                self.reciprocal(root)
            }
            Function::Sign => {
                let [above, below] = [
                    self.binary(Binary::Less, zero, x),
                    self.binary(Binary::Less, x, zero),
                ];
                self.binary(Binary::Subtract, above, below)
            }
            Function::Gelu => {
                let square = self.binary(Binary::Multiply, x, x);
                let cube = self.binary(Binary::Multiply, square, x);
                let small = self.with(Binary::Multiply, cube, GELU_CUBE);
                let sum = self.binary(Binary::Add, x, small);
                let inner = self.with(Binary::Multiply, sum, GELU_SLOPE);
                let tanh = self.unary(Unary::Tanh, inner);
                self.gated(x, tanh)
            }
            Function::GeluErf => {
                let inner = self.with(Binary::Multiply, x, FRAC_1_SQRT_2);
                let erf = self.unary(Unary::Erf, inner);
                self.gated(x, erf)
            }
            Function::Sigmoid => self.sigmoid(x),
            Function::Silu => {
                let sigmoid = self.sigmoid(x);
                self.binary(Binary::Multiply, x, sigmoid)
            }
            Function::LeakyRelu => {
                let below = self.with(
                    Binary::Multiply,
                    x,
                    call.number(AttributeName::Slope).unwrap_or(0.01),
                );
                self.if_positive(x, x, below)
            }
            Function::Elu => {
                let power = self.unary(Unary::Expm1, x);
                let alpha = call.number(AttributeName::Alpha).unwrap_or(1.0);
                let below = self.with(Binary::Multiply, power, alpha);
                self.if_positive(x, x, below)
            }
            Function::Selu => {
                let power = self.unary(Unary::Expm1, x);
                let below = self.with(Binary::Multiply, power, SELU_ALPHA);
                let value = self.if_positive(x, x, below);
                self.with(Binary::Multiply, value, SELU_SCALE)
            }
            Function::Softplus => self.softplus(x),
            Function::Mish => {
                let soft = self.softplus(x);
                let tanh = self.unary(Unary::Tanh, soft);
                self.binary(Binary::Multiply, x, tanh)
            }
            Function::Hardsigmoid => self.hardsigmoid(x),
            Function::Hardswish => {
                let gate = self.hardsigmoid(x);
                self.binary(Binary::Multiply, x, gate)
            }
            Function::Scale => self.with(Binary::Multiply, x, call.stated(AttributeName::Factor)?),
            Function::Shift => self.with(Binary::Add, x, call.stated(AttributeName::Amount)?),
            Function::Pow => match call.stated(AttributeName::Exponent)? {
                // A power of 2 is a product: the function for powers knows no negative bases on every GPU.
                2.0 => self.binary(Binary::Multiply, x, x),
                exponent => self.with(Binary::Power, x, exponent),
            },
            Function::Clamp => {
                let mut value = x;
                if let Some(min) = call.number(AttributeName::Min) {
                    value = self.with(Binary::Maximum, value, min);
                }
                if let Some(max) = call.number(AttributeName::Max) {
                    value = self.with(Binary::Minimum, value, max);
                }
                value
            }
            function => return Err(EvaluationError::OneInput(function).into()),
        })
    }

    pub(super) fn reciprocal(&mut self, x: ExprId) -> ExprId {
        let one = self.number(1.0);
        self.binary(Binary::Divide, one, x)
    }

    /// `0.5 x (1 + gate)`
    fn gated(&mut self, x: ExprId, gate: ExprId) -> ExprId {
        let half = self.with(Binary::Multiply, x, 0.5);
        let gate = self.with(Binary::Add, gate, 1.0);
        self.binary(Binary::Multiply, half, gate)
    }

    fn sigmoid(&mut self, x: ExprId) -> ExprId {
        let negative = self.unary(Unary::Negate, x);
        let power = self.unary(Unary::Exp, negative);
        let sum = self.with(Binary::Add, power, 1.0);
        self.reciprocal(sum)
    }

    fn hardsigmoid(&mut self, x: ExprId) -> ExprId {
        let shifted = self.with(Binary::Add, x, 3.0);
        let above = self.with(Binary::Maximum, shifted, 0.0);
        let below = self.with(Binary::Minimum, above, 6.0);
        self.with(Binary::Divide, below, 6.0)
    }

    /// Beyond 20 the sum is x, as in PyTorch.
    fn softplus(&mut self, x: ExprId) -> ExprId {
        let power = self.unary(Unary::Exp, x);
        let sum = self.unary(Unary::Log1p, power);
        let twenty = self.number(20.0);
        let is_large = self.binary(Binary::Less, twenty, x);
        self.expressions.select(is_large, x, sum)
    }

    fn if_positive(&mut self, x: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        let zero = self.number(0.0);
        let is_positive = self.binary(Binary::Less, zero, x);
        self.expressions.select(is_positive, then, otherwise)
    }

    fn of_two(&mut self, function: Function, a: ExprId, b: ExprId) -> Option<ExprId> {
        let simple = match function {
            Function::Add | Function::Mask => Some(Binary::Add),
            Function::Sub => Some(Binary::Subtract),
            Function::Mul => Some(Binary::Multiply),
            Function::Div => Some(Binary::Divide),
            Function::Pow => Some(Binary::Power),
            Function::Maximum => Some(Binary::Maximum),
            Function::Minimum => Some(Binary::Minimum),
            Function::Lt => Some(Binary::Less),
            Function::Le => Some(Binary::LessEqual),
            Function::Eq => Some(Binary::Equal),
            Function::LogicalAnd => Some(Binary::And),
            Function::LogicalOr => Some(Binary::Or),
            _ => None,
        };
        if let Some(function) = simple {
            return Some(self.binary(function, a, b));
        }
        Some(match function {
            Function::Gt => self.binary(Binary::Less, b, a),
            Function::Ge => self.binary(Binary::LessEqual, b, a),
            Function::Ne => {
                let equal = self.binary(Binary::Equal, a, b);
                self.unary(Unary::Not, equal)
            }
            Function::LogicalXor => {
                let [no_a, no_b] = [a, b].map(|x| self.unary(Unary::Not, x));
                let equal = self.binary(Binary::Equal, no_a, no_b);
                self.unary(Unary::Not, equal)
            }
            Function::FloorDivide => {
                let quotient = self.binary(Binary::Divide, a, b);
                self.unary(Unary::Floor, quotient)
            }
            Function::Remainder => {
                // The rest has the sign of the divisor, as in PyTorch.
                let rest = self.binary(Binary::Remainder, a, b);
                let zero = self.number(0.0);
                let is_none = self.binary(Binary::Equal, rest, zero);
                let negative = self.binary(Binary::Less, rest, zero);
                let divisor_negative = self.binary(Binary::Less, b, zero);
                let same = self.binary(Binary::Equal, negative, divisor_negative);
                let stays = self.binary(Binary::Or, is_none, same);
                let moved = self.binary(Binary::Add, rest, b);
                self.expressions.select(stays, rest, moved)
            }
            _ => return None,
        })
    }

    /// `mask` hides what follows the diagonal that ends in the last row and column; `tril` and `triu` keep one side.
    fn by_diagonal(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
        let x = self.aligned(definition, x)?;
        let zero = self.expressions.constant(0);
        let (row, column, sizes) = match (definition.at, &definition.op.shape[..]) {
            (&[.., row, column], &[.., rows, columns]) => (row, column, [rows, columns]),
            (&[column], &[columns]) => (zero, column, [1, columns]),
            _ => (zero, zero, [1, 1]),
        };
        let diagonal = definition.call.size(AttributeName::Diagonal).unwrap_or(0);
        #[allow(clippy::cast_possible_wrap, reason = "sizes of tensors are below 2^63")]
        let offset = (sizes[1] as i64 - sizes[0] as i64).max(0);
        let at = if definition.function == Function::Mask {
            offset
        } else {
            diagonal
        };
        let diagonal = self.expressions.shifted(row, at);
        Ok(match definition.function {
            Function::Mask => {
                let is_hidden = self.expressions.expr(Expr::Below(diagonal, column));
                let hidden = self.number(f64::NEG_INFINITY);
                self.expressions.select(is_hidden, hidden, x)
            }
            Function::Tril => {
                let is_above = self.expressions.expr(Expr::Below(diagonal, column));
                let zero = self.number(0.0);
                self.expressions.select(is_above, zero, x)
            }
            _ => {
                let is_below = self.expressions.expr(Expr::Below(column, diagonal));
                let zero = self.number(0.0);
                self.expressions.select(is_below, zero, x)
            }
        })
    }

    fn dropout(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
        let p = definition.call.number(AttributeName::P).unwrap_or(0.5);
        if !(0.0..=1.0).contains(&p) {
            return Err(EvaluationError::NoProbability(p).into());
        }
        let x = self.aligned(definition, x)?;
        let place = self.expressions.ravel(&definition.op.shape, definition.at);
        let key = random_key(0, &definition.op.output);
        let drawn = self.expressions.expr(Expr::Uniform(key, place));
        let p_number = self.number(p);
        let is_dropped = self.binary(Binary::Less, drawn, p_number);
        let kept = self.with(Binary::Multiply, x, 1.0 / (1.0 - p));
        let zero = self.number(0.0);
        Ok(self.expressions.select(is_dropped, zero, kept))
    }

    /// The halves of each row turned by the angles of its place.
    fn rotary(&mut self, definition: &Definition<'_>, [x, cos, sin]: [Operand; 3]) -> Defined {
        let (Some(&size), Some(&column)) = (definition.op.shape.last(), definition.at.last())
        else {
            return Err(definition.unfit());
        };
        if size % 2 != 0 {
            return Err(EvaluationError::OddRow(size).into());
        }
        // Half a row further, around its end.
        #[allow(clippy::cast_possible_wrap, reason = "sizes of tensors are below 2^63")]
        let half = (size / 2) as i64;
        let shifted = self.expressions.shifted(column, half);
        let other = self.expressions.remainder(shifted, size);
        let mut at = definition.at.to_vec();
        if let Some(last) = at.last_mut() {
            *last = other;
        }
        let own = self.aligned(definition, x)?;
        let other = self.broadcast(definition, x, &definition.op.shape, &at)?;
        let middle = self.expressions.constant(half);
        let is_first = self.expressions.expr(Expr::Below(column, middle));
        let negative = self.unary(Unary::Negate, other);
        let turned = self.expressions.select(is_first, negative, other);
        let (cos, sin) = (
            self.aligned(definition, cos)?,
            self.aligned(definition, sin)?,
        );
        let kept = self.binary(Binary::Multiply, own, cos);
        let turned = self.binary(Binary::Multiply, turned, sin);
        Ok(self.binary(Binary::Add, kept, turned))
    }

    /// `x * scale + shift`, or with mean and variance of each channel.
    fn batch_norm(
        &mut self,
        definition: &Definition<'_>,
        x: Operand,
        factors: &[Operand],
    ) -> Defined {
        let &channel = definition.at.get(1).ok_or_else(|| definition.unfit())?;
        let x = self.aligned(definition, x)?;
        let mut of = Vec::with_capacity(factors.len());
        for &factor in factors {
            of.push(self.of_channel(definition, factor, channel)?);
        }
        match of[..] {
            [scale, shift] => {
                let scaled = self.binary(Binary::Multiply, x, scale);
                Ok(self.binary(Binary::Add, scaled, shift))
            }
            [mean, variance, ref rest @ ..] => {
                let eps = definition.call.number(AttributeName::Eps).unwrap_or(1e-5);
                let centered = self.binary(Binary::Subtract, x, mean);
                let mut value = self.normalized(centered, variance, eps);
                if let Some(&weight) = rest.first() {
                    value = self.binary(Binary::Multiply, value, weight);
                }
                if let Some(&bias) = rest.get(1) {
                    value = self.binary(Binary::Add, value, bias);
                }
                Ok(value)
            }
            _ => Err(definition.unfit()),
        }
    }

    /// The element of a vector that has one for each channel.
    pub(super) fn of_channel(
        &mut self,
        definition: &Definition<'_>,
        factor: Operand,
        channel: crate::kernel_code::index::IndexId,
    ) -> Defined {
        let shape = self.shape_of_operand(factor)?;
        let at = self.expressions.unravel(&shape, channel);
        self.element(definition, factor, &at)
    }

    /// `x / sqrt(variance + eps)`
    pub(super) fn normalized(&mut self, x: ExprId, variance: ExprId, eps: f64) -> ExprId {
        let sum = self.with(Binary::Add, variance, eps);
        let deviation = self.unary(Unary::Sqrt, sum);
        let scale = self.reciprocal(deviation);
        self.binary(Binary::Multiply, x, scale)
    }
}
