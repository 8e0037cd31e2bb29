//! Resampling of images: interpolation and adaptive pools.

use super::{Defined, Definition, Definitions, Operand};
use crate::calculator::{Binary, Unary};
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::{Expr, ExprId};
use crate::kernel_code::index::IndexId;
use fuseline_core::model::functions::{AttributeName, Function};

/// One axis of an image, with the position of the output's element on it.
#[derive(Clone, Copy)]
struct Axis {
    place: IndexId,
    /// Its size in the input.
    from: u64,
    /// Its size in the output.
    to: u64,
}

impl Definitions<'_> {
    /// Image and channel of the element, then its rows and columns.
    fn axes(
        &self,
        definition: &Definition<'_>,
        x: Operand,
    ) -> Result<([IndexId; 2], [Axis; 2]), CodegenError> {
        let shape = self.shape_of_operand(x)?;
        let (&[_, _, rows, columns], &[_, _, height, width], &[image, channel, row, column]) =
            (&shape[..], &definition.op.shape[..], definition.at)
        else {
            return Err(definition.unfit());
        };
        let axes = [(row, rows, height), (column, columns, width)].map(|(place, from, to)| Axis {
            place,
            from,
            to,
        });
        Ok(([image, channel], axes))
    }

    pub(super) fn interpolated(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
        let ([image, channel], axes) = self.axes(definition, x)?;
        if definition.function == Function::Interpolate {
            let [row, column] = axes.map(|Axis { place, from, to }| {
                let place = self.expressions.times(place, from);
                self.expressions.quotient(place, to)
            });
            return self.element(definition, x, &[image, channel, row, column]);
        }
        let aligns = definition.call.is_set(AttributeName::AlignCorners);
        let [(up, down, below), (left, right, behind)] =
            axes.map(|axis| self.between(axis, aligns));
        let mut along = Vec::with_capacity(2);
        for row in [up, down] {
            let a = self.element(definition, x, &[image, channel, row, left])?;
            let b = self.element(definition, x, &[image, channel, row, right])?;
            along.push(self.mixed(a, b, behind));
        }
        Ok(self.mixed(along[0], along[1], below))
    }

    /// `a + (b - a) share`
    fn mixed(&mut self, a: ExprId, b: ExprId, share: ExprId) -> ExprId {
        let difference = self.binary(Binary::Subtract, b, a);
        let part = self.binary(Binary::Multiply, difference, share);
        self.binary(Binary::Add, a, part)
    }

    /// The two positions between which an element lies, and its distance from the first.
    fn between(
        &mut self,
        Axis { place, from, to }: Axis,
        aligns: bool,
    ) -> (IndexId, IndexId, ExprId) {
        let place = self.expressions.expr(Expr::Place(place));
        let at = if aligns {
            let ratio = match to {
                ..2 => 0.0,
                _ => (from - 1) as f64 / (to - 1) as f64,
            };
            self.with(Binary::Multiply, place, ratio)
        } else {
            let middle = self.with(Binary::Add, place, 0.5);
            let scaled = self.with(Binary::Multiply, middle, from as f64 / to as f64);
            let start = self.with(Binary::Subtract, scaled, 0.5);
            self.with(Binary::Maximum, start, 0.0)
        };
        let last = from.saturating_sub(1) as f64;
        let floor = self.unary(Unary::Floor, at);
        let first = self.with(Binary::Minimum, floor, last);
        let next = self.with(Binary::Add, first, 1.0);
        let second = self.with(Binary::Minimum, next, last);
        let share = self.binary(Binary::Subtract, at, first);
        let [first, second] = [first, second].map(|value| self.expressions.index_of(value, from));
        (first, second, share)
    }

    /// An adaptive pool, with one window for each element of the output. Windows differ in size, so
    /// a loop over the largest skips the positions past the end of a smaller one.
    pub(super) fn adaptive_pool(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
        let ([image, channel], axes) = self.axes(definition, x)?;
        let largest = axes.map(|Axis { from, to, .. }| match from.checked_rem(to) {
            Some(0) => from / to,
            // A window may begin and end inside of an element.
            _ => from.min(from.div_ceil(to.max(1)) + 1),
        });
        let variable = self.loop_over(definition, 0, largest[0].saturating_mul(largest[1]));
        let along = self.expressions.place(variable);
        let within = self.expressions.unravel(&largest, along);
        let mut at = vec![image, channel];
        let mut condition = None;
        let mut elements = self.number(1.0);
        for (Axis { place, from, to }, step) in axes.into_iter().zip(within) {
            let scaled = self.expressions.times(place, from);
            let start = self.expressions.quotient(scaled, to);
            // (place * from + from + to - 1) / to is the end, rounded up.
            #[allow(clippy::cast_possible_wrap, reason = "sizes of tensors are below 2^63")]
            let raised = self.expressions.shifted(scaled, (from + to - 1) as i64);
            let end = self.expressions.quotient(raised, to);
            let own = self.expressions.plus(start, step, 1);
            let is_inside = self.expressions.expr(Expr::Below(own, end));
            condition = Some(self.expressions.both(condition, is_inside));
            at.push(own);
            let size = self.expressions.plus(end, start, -1);
            let size = self.expressions.expr(Expr::Place(size));
            elements = self.binary(Binary::Multiply, elements, size);
        }
        let each = self.element_if(definition, x, &at, condition)?;
        let is_max = definition.function == Function::AdaptiveMaxPool2d;
        let folded = self.pooled(variable, each, condition, is_max, 1);
        if is_max {
            return Ok(folded);
        }
        Ok(self.binary(Binary::Divide, folded, elements))
    }
}
