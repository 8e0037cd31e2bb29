//! Reductions, normalizations and pools, as folds over the elements of a row.

use super::{Defined, Definition, Definitions, Operand};
use crate::calculator::{Binary, Calculator, Unary};
use crate::elements::normalized;
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::{Expr, ExprId, Fold};
use crate::kernel_code::index::{IndexId, VariableId};
use fuseline_core::model::functions::{AttributeName, Function};

/// The rows that a reduction takes together.
struct Rows {
    x: Operand,
    shape: Vec<u64>,
    /// Dimensions along a row.
    reduced: Vec<usize>,
    /// The index of the element of `x` at the place of the output; along the row, of its first
    /// element where the output has one value for each row.
    at: Vec<IndexId>,
    /// Elements of a row.
    width: u64,
    /// What runs along the row.
    variable: VariableId,
}

impl Definitions<'_> {
    pub(super) fn reduction(&mut self, definition: &Definition<'_>) -> Defined {
        let operands = self.operands(definition);
        let [x, factors @ ..] = &operands[..] else {
            return Err(definition.unfit());
        };
        match definition.function {
            Function::MaxPool2d | Function::AvgPool2d => return self.pool(definition, *x),
            Function::AdaptiveAvgPool2d | Function::AdaptiveMaxPool2d => {
                return self.adaptive_pool(definition, *x);
            }
            _ => {}
        }
        let rows = self.rows(definition, *x)?;
        let eps = |default: f64| {
            definition
                .call
                .number(AttributeName::Eps)
                .unwrap_or(default)
        };
        let value = match definition.function {
            Function::Softmax => {
                let own = self.shifted_power(definition, &rows, None)?;
                let along = self.expressions.place(rows.variable);
                let each = self.shifted_power(definition, &rows, Some(along))?;
                let sum = self.sum(rows.variable, each);
                self.binary(Binary::Divide, own, sum)
            }
            Function::LogSoftmax => {
                let along = self.expressions.place(rows.variable);
                let each = self.shifted_power(definition, &rows, Some(along))?;
                let sum = self.sum(rows.variable, each);
                let log = self.unary(Unary::Log, sum);
                let largest = self.folded(definition, &rows, Fold::Maximum)?;
                let own = self.at(definition, &rows, &rows.at)?;
                let shifted = self.binary(Binary::Subtract, own, largest);
                self.binary(Binary::Subtract, shifted, log)
            }
            Function::LayerNorm | Function::BatchNormTrain | Function::GroupNorm => {
                let mean = self.mean(definition, &rows)?;
                let variance = self.squares(definition, &rows, mean)?;
                let variance = self.with(Binary::Divide, variance, rows.width as f64);
                let own = self.at(definition, &rows, &rows.at)?;
                let centered = self.binary(Binary::Subtract, own, mean);
                let normal = normalized(&mut self.expressions, centered, variance, eps(1e-5));
                self.weighted(definition, normal, factors)?
            }
            Function::RmsNorm => {
                let zero = self.number(0.0);
                let squares = self.squares(definition, &rows, zero)?;
                let mean = self.with(Binary::Divide, squares, rows.width as f64);
                let own = self.at(definition, &rows, &rows.at)?;
                let normal = normalized(&mut self.expressions, own, mean, eps(1e-6));
                self.weighted(definition, normal, factors)?
            }
            Function::L2Norm => {
                let zero = self.number(0.0);
                let squares = self.squares(definition, &rows, zero)?;
                let length = self.unary(Unary::Sqrt, squares);
                let length = self.with(Binary::Maximum, length, eps(1e-12));
                let own = self.at(definition, &rows, &rows.at)?;
                self.binary(Binary::Divide, own, length)
            }
            Function::Cumsum => self.cumsum(definition, &rows)?,
            _ => return self.of_row(definition, &rows),
        };
        Ok(value)
    }

    /// A reduction that gives one value for each row.
    fn of_row(&mut self, definition: &Definition<'_>, rows: &Rows) -> Defined {
        Ok(match definition.function {
            Function::Sum => self.folded(definition, rows, Fold::Sum)?,
            Function::Mean => self.mean(definition, rows)?,
            Function::Max => self.folded(definition, rows, Fold::Maximum)?,
            Function::Min => self.folded(definition, rows, Fold::Minimum)?,
            Function::Prod => self.folded(definition, rows, Fold::Product)?,
            Function::Any | Function::All => {
                let each = self.along(definition, rows)?;
                let is_zero = self.unary(Unary::Not, each);
                let is_set = self.unary(Unary::Not, is_zero);
                let fold = if definition.function == Function::Any {
                    Fold::Maximum
                } else {
                    Fold::Minimum
                };
                let bounded = self.expressions.fold(fold, rows.variable, is_set);
                // Of an empty row.
                let least = self.with(Binary::Maximum, bounded, 0.0);
                self.with(Binary::Minimum, least, 1.0)
            }
            Function::Argmax | Function::Argmin => {
                let fold = if definition.function == Function::Argmax {
                    Fold::Maximum
                } else {
                    Fold::Minimum
                };
                let best = self.folded(definition, rows, fold)?;
                let each = self.along(definition, rows)?;
                let is_best = self.binary(Binary::Equal, each, best);
                let along = self.expressions.place(rows.variable);
                let place = self.expressions.expr(Expr::Place(along));
                let none = self.number(rows.width as f64);
                let place = self.expressions.select(is_best, place, none);
                (self.expressions).fold(Fold::Minimum, rows.variable, place)
            }
            // As PyTorch does, over one less than the elements of a row.
            Function::Var => {
                let mean = self.mean(definition, rows)?;
                let squares = self.squares(definition, rows, mean)?;
                self.with(Binary::Divide, squares, rows.width as f64 - 1.0)
            }
            name => return Err(CodegenError::NoKernel(name)),
        })
    }

    fn rows(&mut self, definition: &Definition<'_>, x: Operand) -> Result<Rows, CodegenError> {
        let mut shape = self.shape_of_operand(x)?;
        let out = &definition.op.shape;
        let mut at = definition.at.to_vec();
        let mut reduced = definition.op.reduced_axes(shape.len());
        if definition.function == Function::GroupNorm {
            // The channels of a group stand one behind the other.
            let groups = definition.op.indexing.as_ref().map_or(0, |own| own.groups);
            let &batch = shape.first().ok_or_else(|| definition.unfit())?;
            let rows = (batch.checked_mul(groups)).filter(|&rows| rows > 0);
            let rows = rows.ok_or_else(|| definition.unfit())?;
            let place = self.expressions.ravel(out, &at);
            shape = vec![rows, Self::count(definition, &shape)? / rows];
            at = self.expressions.unravel(&shape, place);
            reduced = vec![1];
        } else if *out != shape {
            let row = self.expressions.ravel(out, &at);
            let kept = (0..shape.len()).filter(|place| !reduced.contains(place));
            let kept: Vec<usize> = kept.collect();
            let sizes: Vec<u64> = kept.iter().map(|&place| shape[place]).collect();
            if Self::count(definition, &sizes)? != Self::count(definition, out)? {
                return Err(definition.unfit());
            }
            let zero = self.expressions.constant(0);
            at = vec![zero; shape.len()];
            for (place, own) in kept.into_iter().zip(self.expressions.unravel(&sizes, row)) {
                at[place] = own;
            }
        }
        if reduced.iter().any(|&place| place >= shape.len()) {
            return Err(definition.unfit());
        }
        let sizes: Vec<u64> = reduced.iter().map(|&place| shape[place]).collect();
        let width = Self::count(definition, &sizes)?;
        let variable = self.loop_over(definition, 0, width);
        Ok(Rows {
            x,
            shape,
            reduced,
            at,
            width,
            variable,
        })
    }

    /// The element of the row at this place along it.
    fn in_row(&mut self, definition: &Definition<'_>, rows: &Rows, along: IndexId) -> Defined {
        let sizes: Vec<u64> = rows
            .reduced
            .iter()
            .map(|&place| rows.shape[place])
            .collect();
        let along = self.expressions.unravel(&sizes, along);
        let mut at = rows.at.clone();
        for (&place, own) in rows.reduced.iter().zip(along) {
            at[place] = own;
        }
        self.at(definition, rows, &at)
    }

    /// The element at an index of the shape that the rows have, which groups of channels have of
    /// their own.
    fn at(&mut self, definition: &Definition<'_>, rows: &Rows, at: &[IndexId]) -> Defined {
        let own = self.shape_of_operand(rows.x)?;
        if own == rows.shape {
            return self.element(definition, rows.x, at);
        }
        let place = self.expressions.ravel(&rows.shape, at);
        let at = self.expressions.unravel(&own, place);
        self.element(definition, rows.x, &at)
    }

    fn along(&mut self, definition: &Definition<'_>, rows: &Rows) -> Defined {
        let along = self.expressions.place(rows.variable);
        self.in_row(definition, rows, along)
    }

    fn folded(&mut self, definition: &Definition<'_>, rows: &Rows, fold: Fold) -> Defined {
        let each = self.along(definition, rows)?;
        Ok(self.expressions.fold(fold, rows.variable, each))
    }

    fn mean(&mut self, definition: &Definition<'_>, rows: &Rows) -> Defined {
        let sum = self.folded(definition, rows, Fold::Sum)?;
        Ok(self.with(Binary::Divide, sum, rows.width as f64))
    }

    /// The sum of the squared distances from a center.
    fn squares(&mut self, definition: &Definition<'_>, rows: &Rows, center: ExprId) -> Defined {
        let mut each = self.along(definition, rows)?;
        if center != self.number(0.0) {
            each = self.binary(Binary::Subtract, each, center);
        }
        let square = self.binary(Binary::Multiply, each, each);
        Ok(self.sum(rows.variable, square))
    }

    /// `exp(x - max)` at the place of the output, or along the row.
    fn shifted_power(
        &mut self,
        definition: &Definition<'_>,
        rows: &Rows,
        along: Option<IndexId>,
    ) -> Defined {
        let largest = self.folded(definition, rows, Fold::Maximum)?;
        let x = match along {
            Some(along) => self.in_row(definition, rows, along)?,
            None => self.at(definition, rows, &rows.at)?,
        };
        let shifted = self.binary(Binary::Subtract, x, largest);
        Ok(self.unary(Unary::Exp, shifted))
    }

    /// Times the weight, plus the bias, where there are any: one for each element of a row, or for
    /// each channel.
    fn weighted(
        &mut self,
        definition: &Definition<'_>,
        mut value: ExprId,
        factors: &[Operand],
    ) -> Defined {
        let is_by_channel =
            definition.function != Function::LayerNorm && definition.function != Function::RmsNorm;
        for (&factor, function) in factors.iter().zip([Binary::Multiply, Binary::Add]) {
            let factor = if is_by_channel {
                let &channel = definition.at.get(1).ok_or_else(|| definition.unfit())?;
                self.of_channel(definition, factor, channel)?
            } else {
                self.aligned(definition, factor)?
            };
            value = self.binary(function, value, factor);
        }
        Ok(value)
    }

    /// The sum of the elements up to this one.
    fn cumsum(&mut self, definition: &Definition<'_>, rows: &Rows) -> Defined {
        let &[axis] = &rows.reduced[..] else {
            return Err(definition.unfit());
        };
        let along = self.expressions.place(rows.variable);
        let mut at = rows.at.clone();
        let own = std::mem::replace(&mut at[axis], along);
        let is_after = self.expressions.expr(Expr::Below(own, along));
        let each = self.element(definition, rows.x, &at)?;
        let zero = self.number(0.0);
        let counted = self.expressions.select(is_after, zero, each);
        Ok(self.sum(rows.variable, counted))
    }

    /// A pool over windows of height and width. Outside of the image is padding, which a maximum
    /// does not see and an average counts as 0.
    fn pool(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
        let window = (definition.op.indexing.as_ref())
            .and_then(|indexing| indexing.window)
            .ok_or_else(|| definition.unfit())?;
        let shape = self.shape_of_operand(x)?;
        let (&[_, _, height, width], &[image, channel, row, column]) = (&shape[..], definition.at)
        else {
            return Err(definition.unfit());
        };
        let elements = window.size[0].saturating_mul(window.size[1]);
        let variable = self.loop_over(definition, 0, elements);
        let along = self.expressions.place(variable);
        let within = self.expressions.unravel(&window.size, along);
        let places = [(row, height), (column, width)];
        let mut at = vec![image, channel];
        let mut condition = None;
        for (axis, (start, size)) in places.into_iter().enumerate() {
            let place = self.in_window(
                start,
                window.stride[axis],
                within[axis],
                1,
                window.padding[axis],
            );
            if let Some(inside) = self.expressions.inside(place, size) {
                condition = Some(self.expressions.both(condition, inside));
            }
            at.push(place);
        }
        let is_max = definition.function == Function::MaxPool2d;
        let each = self.element_if(definition, x, &at, condition)?;
        Ok(self.pooled(variable, each, condition, is_max, elements))
    }

    /// `start * stride + step * dilation - padding`
    pub(super) fn in_window(
        &mut self,
        start: IndexId,
        stride: u64,
        step: IndexId,
        dilation: u64,
        padding: u64,
    ) -> IndexId {
        #[allow(clippy::cast_possible_wrap, reason = "sizes of tensors are below 2^63")]
        let padding = padding as i64;
        let start = self.expressions.times(start, stride);
        let step = self.expressions.times(step, dilation);
        let place = self.expressions.plus(start, step, 1);
        self.expressions.shifted(place, -padding)
    }

    /// The largest value, or the sum over a number of elements, of those for which the condition
    /// holds.
    pub(super) fn pooled(
        &mut self,
        over: VariableId,
        each: ExprId,
        condition: Option<ExprId>,
        is_max: bool,
        elements: u64,
    ) -> ExprId {
        let fold = if is_max { Fold::Maximum } else { Fold::Sum };
        let outside = self.number(fold.start());
        let each = match condition {
            Some(condition) => self.expressions.select(condition, each, outside),
            None => each,
        };
        let folded = self.expressions.fold(fold, over, each);
        if is_max || elements == 1 {
            folded
        } else {
            self.with(Binary::Divide, folded, elements as f64)
        }
    }
}
