//! Functions of single elements.

use super::{Defined, Definition, Definitions, Operand};
use crate::calculator::{Binary, Calculator, Unary};
use crate::elements::{self, dequantized, of_one, of_two, rotated};
use crate::evaluation_error::EvaluationError;
use crate::interpret::random_key;
use crate::kernel_code::expression::Expr;
use fuseline_core::model::functions::{AttributeName, Function};

impl Definitions<'_> {
    pub(super) fn elementwise(&mut self, definition: &Definition<'_>) -> Defined {
        let operands = self.operands(definition);
        match (definition.function, &operands[..]) {
            (Function::Full, []) => {
                Ok(self.number(definition.call.required(AttributeName::Value)?))
            }
            (Function::Arange, []) => {
                let place = self.expressions.ravel(&definition.op.shape, definition.at);
                let start = definition.call.required_size(AttributeName::Start)?;
                let step = definition.call.required_size(AttributeName::Step)?;
                let start = self.expressions.constant(start);
                let value = self.expressions.plus(start, place, step);
                Ok(self.expressions.expr(Expr::Place(value)))
            }
            (Function::Mask | Function::Tril | Function::Triu, &[x]) => {
                self.by_diagonal(definition, x)
            }
            (Function::Dropout, &[x]) => self.dropout(definition, x),
            (Function::Dequantize, &[q, scale, ref zero @ ..]) => {
                let q = self.aligned(definition, q)?;
                let mut of_block =
                    |factor| self.of_block(definition, factor, &definition.op.shape, definition.at);
                let scale = of_block(scale)?;
                let zero = zero.first().map(|&zero| of_block(zero)).transpose()?;
                Ok(dequantized(&mut self.expressions, q, scale, zero))
            }
            (Function::BatchNorm, [x, factors @ ..]) => self.batch_norm(definition, *x, factors),
            (Function::Rotary, &[x, cos, sin]) => self.rotary(definition, [x, cos, sin]),
            (Function::Where, &[condition, a, b]) => {
                let condition = self.aligned(definition, condition)?;
                let (a, b) = (self.aligned(definition, a)?, self.aligned(definition, b)?);
                Ok(self.expressions.select(condition, a, b))
            }
            (Function::Copy, &[_, source]) => self.aligned(definition, source),
            (_, &[x]) => {
                let x = self.aligned(definition, x)?;
                Ok(of_one(definition.function, definition.call)?(
                    &mut self.expressions,
                    x,
                ))
            }
            (_, &[a, b]) => {
                let (a, b) = (self.aligned(definition, a)?, self.aligned(definition, b)?);
                let value = of_two(definition.function).ok_or_else(|| definition.unfit())?;
                Ok(value(&mut self.expressions, a, b))
            }
            _ => Err(definition.unfit()),
        }
    }

    /// `mask` hides the elements after the diagonal that ends in the last row and column; `tril`
    /// and `triu` keep one side.
    fn by_diagonal(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
        let x = self.aligned(definition, x)?;
        let zero = self.expressions.constant(0);
        let (row, column, sizes) = match (definition.at, &definition.op.shape[..]) {
            (&[.., row, column], &[.., rows, columns]) => (row, column, [rows, columns]),
            (&[column], &[columns]) => (zero, column, [1, columns]),
            _ => (zero, zero, [1, 1]),
        };
        let diagonal = definition.call.required_size(AttributeName::Diagonal)?;
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
        let p = definition.call.required(AttributeName::P)?;
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

    /// Rotates the halves of each row by the angles of its position.
    fn rotary(&mut self, definition: &Definition<'_>, [x, cos, sin]: [Operand; 3]) -> Defined {
        let (Some(&size), Some(&column)) = (definition.op.shape.last(), definition.at.last())
        else {
            return Err(definition.unfit());
        };
        if size % 2 != 0 {
            return Err(EvaluationError::OddRow(size).into());
        }
        // Half a row further, wrapped around at the end of the row.
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
        Ok(rotated(&mut self.expressions, [own, turned], [cos, sin]))
    }

    /// `x * scale + shift`, or a normalization with the mean and variance of each channel.
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
        if of.len() < 2 {
            return Err(definition.unfit());
        }
        let eps = definition.call.required(AttributeName::Eps)?;
        Ok(elements::batch_norm(&mut self.expressions, x, &of, eps))
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
}
