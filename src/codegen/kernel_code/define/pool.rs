//! Pools, as folds over the elements of a window.

use super::{Defined, Definition, Definitions, Operand};
use crate::calculator::{Binary, Calculator, Fold};
use crate::kernel_code::expression::ExprId;
use crate::kernel_code::index::{IndexId, VariableId};
use fuseline_core::model::functions::Function;

impl Definitions<'_> {
    /// A pool over windows of height and width. A maximum ignores the padding outside the image,
    /// and an average counts it as 0.
    pub(super) fn pool(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
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

    /// The maximum, or the sum divided by a number of elements, of the values for which the
    /// condition holds.
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
