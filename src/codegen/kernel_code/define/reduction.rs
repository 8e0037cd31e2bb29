//! Reductions and normalizations, as folds over the elements of a row.

use super::{Defined, Definition, Definitions, Operand};
use crate::calculator::{Binary, Calculator, Fold, Unary};
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::{Expr, ExprId, Expressions};
use crate::kernel_code::index::{IndexId, VariableId};
use crate::kernel_code::row_values;
use crate::rows::{Reduced, Row, reduced};
use fuseline_core::model::functions::{Function, ShapeRule};

/// The rows that a reduction combines.
pub(super) struct Rows {
    x: Operand,
    pub(super) shape: Vec<u64>,
    /// Dimensions along a row.
    pub(super) reduced: Vec<usize>,
    /// The index in `x` of the output's element. If the output has one value for each row, it is
    /// the index of the first element of the row.
    pub(super) at: Vec<IndexId>,
    /// Elements of a row.
    width: u64,
    /// The loop variable along the row.
    pub(super) variable: VariableId,
}

/// A row as a loop over its elements.
pub(super) struct RowLoop {
    /// The element at the index of the output.
    pub(super) own: ExprId,
    /// The element at the loop variable.
    pub(super) each: ExprId,
    pub(super) over: VariableId,
    pub(super) width: u64,
}

impl Row<Expressions> for RowLoop {
    fn width(&self) -> f64 {
        self.width as f64
    }

    fn map(&self, c: &mut Expressions, each: impl Fn(&mut Expressions, ExprId) -> ExprId) -> Self {
        Self {
            own: each(c, self.own),
            each: each(c, self.each),
            ..*self
        }
    }

    fn fold(
        &self,
        c: &mut Expressions,
        fold: Fold,
        each: impl Fn(&mut Expressions, ExprId) -> ExprId,
    ) -> ExprId {
        let value = each(c, self.each);
        c.fold(fold, self.over, value)
    }

    fn index_of(&self, c: &mut Expressions, value: ExprId) -> ExprId {
        let is_equal = c.binary(Binary::Equal, self.each, value);
        let along = c.place(self.over);
        let place = c.expr(Expr::Place(along));
        let none = c.number(self.width());
        let key = c.select(is_equal, place, none);
        // The first NaN is found first, as in PyTorch, by a negative key. A NaN equals no value,
        // and not every language folds a row with NaN to NaN.
        let is_nan = c.unary(Unary::IsNan, self.each);
        let before = c.with(Binary::Subtract, place, self.width());
        let key = c.select(is_nan, before, key);
        let first = c.fold(Fold::Minimum, self.over, key);
        let zero = c.number(0.0);
        let is_nan = c.binary(Binary::Less, first, zero);
        let of_nan = c.with(Binary::Add, first, self.width());
        c.select(is_nan, of_nan, first)
    }
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
        if definition.function == Function::Cumsum {
            return self.cumsum(definition, &rows);
        }
        match self.reduced(definition, &rows)? {
            Reduced::Value(value) => Ok(value),
            Reduced::Row(row) => {
                let own = self.with_row_values(definition, &rows, row.own);
                self.weighted(definition, own, factors)
            }
        }
    }

    /// The value of the row, or its element at the index of the output, without weights.
    fn reduced(
        &mut self,
        definition: &Definition<'_>,
        rows: &Rows,
    ) -> Result<Reduced<Expressions, RowLoop>, CodegenError> {
        let (function, call) = (definition.function, definition.call);
        let each = self.along(definition, rows)?;
        let is_reduced = function.row().shape_rule == ShapeRule::Reduce;
        let own = if is_reduced {
            // The output has one value for the row, and no element of its own.
            each
        } else {
            self.at(definition, rows, &rows.at)?
        };
        let row = RowLoop {
            own,
            each,
            over: rows.variable,
            width: rows.width,
        };
        Ok(reduced(&mut self.expressions, &row, function, call)?)
    }

    /// The element of a softmax or a norm at the index of the output, without weights, and its
    /// rows.
    pub(super) fn of_row(
        &mut self,
        definition: &Definition<'_>,
    ) -> Result<(ExprId, Rows), CodegenError> {
        let operands = self.operands(definition);
        let &x = operands.first().ok_or_else(|| definition.unfit())?;
        let rows = self.rows(definition, x)?;
        match self.reduced(definition, &rows)? {
            Reduced::Value(_) => Err(definition.unfit()),
            Reduced::Row(row) => Ok((row.own, rows)),
        }
    }

    fn rows(&mut self, definition: &Definition<'_>, x: Operand) -> Result<Rows, CodegenError> {
        let mut shape = self.shape_of_operand(x)?;
        let out = &definition.op.shape;
        let mut at = definition.at.to_vec();
        let rows = row_values::rows(definition.op, &shape);
        let (in_rows, reduced) = rows.ok_or_else(|| definition.unfit())?;
        if in_rows != shape {
            let place = self.expressions.ravel(out, &at);
            at = self.expressions.unravel(&in_rows, place);
            shape = in_rows;
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

    /// The element of the row at this index along it.
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

    /// The element at an index of the rows' shape, which in a group norm differs from the shape of
    /// `x`.
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

    /// Multiplies by the weight and adds the bias, if there are any. Each has one value for each
    /// element of a row, or for each channel.
    fn weighted(
        &mut self,
        definition: &Definition<'_>,
        mut value: ExprId,
        factors: &[Operand],
    ) -> Defined {
        let is_by_channel = definition.function.row().shape_rule == ShapeRule::PerChannel;
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
}
