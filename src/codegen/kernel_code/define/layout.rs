//! Ops that move elements, as the position in the input of each element of the output.

use super::{Defined, Definition, Definitions, Operand};
use crate::calculator::{Binary, Calculator};
use crate::evaluation_error::EvaluationError;
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::Expr;
use crate::kernel_code::index::IndexId;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::operand_parts::{Heads, heads_between};

impl Definitions<'_> {
    pub(super) fn layout(&mut self, definition: &Definition<'_>) -> Defined {
        let operands = self.operands(definition);
        match (definition.function, &operands[..]) {
            (Function::Reshape | Function::Contiguous, &[x]) => self.kept(definition, x),
            (Function::Bitcast, _) => Err(CodegenError::NoKernel(definition.function)),
            (Function::Rearrange, &[x]) => self.rearranged(definition, x),
            (Function::Rearrange, _) => Err(EvaluationError::UnknownOrder.into()),
            (Function::Concat, operands) => self.concatenated(definition, operands),
            (Function::Expand, &[x]) => self.aligned(definition, x),
            (Function::Pad, &[x]) => self.padded(definition, x),
            (Function::Embedding, &[index, table]) => {
                let (&column, places) =
                    (definition.at.split_last()).ok_or_else(|| definition.unfit())?;
                let shape = self.shape_of_operand(index)?;
                let place = self.expressions.ravel(&definition.op.shape, places);
                let at = self.expressions.unravel(&shape, place);
                let rows = self.shape_of_operand(table)?.first().copied();
                let row = self.index_at(definition, index, &at, rows)?;
                self.element(definition, table, &[row, column])
            }
            (Function::Gather, &[x, index]) => {
                let axis = (definition.op.indexing.as_ref()).map_or(0, |indexing| indexing.axis);
                let size = self.shape_of_operand(x)?.get(axis).copied();
                let mut at = definition.at.to_vec();
                let place = self.index_at(definition, index, &at, size)?;
                *at.get_mut(axis).ok_or_else(|| definition.unfit())? = place;
                self.element(definition, x, &at)
            }
            (Function::Index, [x, indices @ ..]) => self.indexed(definition, *x, indices),
            (Function::OneHot, &[index]) => {
                let (&class, places) =
                    (definition.at.split_last()).ok_or_else(|| definition.unfit())?;
                let index = self.element(definition, index, places)?;
                let class = self.expressions.expr(Expr::Place(class));
                Ok(self.binary(Binary::Equal, index, class))
            }
            (Function::Interpolate | Function::InterpolateBilinear, &[x]) => {
                self.interpolated(definition, x)
            }
            (_, &[x]) => {
                let at = self.source(definition, x)?;
                self.element(definition, x, &at)
            }
            _ => Err(definition.unfit()),
        }
    }

    /// The element at the same position in row-major order.
    fn kept(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
        let shape = self.shape_of_operand(x)?;
        let place = self.expressions.ravel(&definition.op.shape, definition.at);
        let at = self.expressions.unravel(&shape, place);
        self.element(definition, x, &at)
    }

    /// Columns split into heads, or heads merged; the shapes show no other rearrangement.
    fn rearranged(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
        let shape = self.shape_of_operand(x)?;
        let moved = heads_between(&shape, &definition.op.shape);
        let (moved, heads) = moved.ok_or(EvaluationError::UnknownOrder)?;
        let at = definition.at;
        let from = match moved {
            Heads::Split => {
                let d = definition.op.shape.last().copied().unwrap_or(1);
                self.expressions.joined_heads(at, heads, d)
            }
            Heads::Joined => {
                let d = shape.last().copied().unwrap_or(1);
                self.expressions.split_heads(at, heads, d)
            }
        };
        let from = from.ok_or_else(|| definition.unfit())?;
        self.element(definition, x, &from)
    }

    /// The index of the element in the input, for ops that take each element from one position.
    #[allow(clippy::cast_possible_wrap, reason = "sizes of tensors are below 2^63")]
    fn source(
        &mut self,
        definition: &Definition<'_>,
        x: Operand,
    ) -> Result<Vec<IndexId>, CodegenError> {
        let refuse = || definition.unfit();
        let shape = self.shape_of_operand(x)?;
        let rank = shape.len();
        let mut at = definition.at.to_vec();
        let indexing = definition.op.indexing.as_ref();
        match definition.function {
            Function::Transpose => {
                let perm = &indexing.ok_or_else(refuse)?.perm;
                if perm.len() != rank || at.len() != rank {
                    return Err(refuse());
                }
                for (&old, &place) in perm.iter().zip(definition.at) {
                    *at.get_mut(old).ok_or_else(refuse)? = place;
                }
            }
            Function::Split | Function::Slice => {
                let indexing = indexing.ok_or_else(refuse)?;
                let own = at.get_mut(indexing.axis).ok_or_else(refuse)?;
                let stepped = self.expressions.times(*own, indexing.step);
                *own = self.expressions.shifted(stepped, indexing.start as i64);
            }
            Function::Repeat => {
                let added = at.len().checked_sub(rank).ok_or_else(refuse)?;
                at.drain(..added);
                for (own, &size) in at.iter_mut().zip(&shape) {
                    *own = self.expressions.remainder(*own, size);
                }
            }
            Function::RepeatInterleave => {
                let axis = definition.call.axis(rank).ok_or_else(refuse)?;
                let times = definition.op.shape.get(axis).zip(shape.get(axis));
                let times = times
                    .and_then(|(all, own)| all.checked_div(*own))
                    .ok_or_else(refuse)?;
                let own = at.get_mut(axis).ok_or_else(refuse)?;
                *own = self.expressions.quotient(*own, times);
            }
            Function::Flip => {
                for axis in definition.call.axes(rank).ok_or_else(refuse)? {
                    let own = at.get_mut(axis).ok_or_else(refuse)?;
                    let last = self.expressions.constant(shape[axis] as i64 - 1);
                    *own = self.expressions.plus(last, *own, -1);
                }
            }
            Function::Roll => {
                let axis = definition.call.axis(rank).ok_or_else(refuse)?;
                let &size = shape.get(axis).ok_or_else(refuse)?;
                let shift = definition
                    .call
                    .size(AttributeName::Shift)
                    .ok_or_else(refuse)?;
                let back = shift.checked_rem_euclid(size as i64).ok_or_else(refuse)?;
                let own = at.get_mut(axis).ok_or_else(refuse)?;
                let shifted = self.expressions.shifted(*own, size as i64 - back);
                *own = self.expressions.remainder(shifted, size);
            }
            function => return Err(CodegenError::NoKernel(function)),
        }
        Ok(at)
    }

    fn concatenated(&mut self, definition: &Definition<'_>, operands: &[Operand]) -> Defined {
        let axis = (definition.op.indexing.as_ref()).map_or(0, |indexing| indexing.axis);
        let &place = definition.at.get(axis).ok_or_else(|| definition.unfit())?;
        let mut pieces = Vec::with_capacity(operands.len());
        let mut start = 0_i64;
        for &operand in operands {
            let shape = self.shape_of_operand(operand)?;
            let size = shape.get(axis).copied().ok_or_else(|| definition.unfit())?;
            let own = self.expressions.shifted(place, -start);
            let mut at = definition.at.to_vec();
            at[axis] = own;
            let condition = self.expressions.inside(own, size);
            let value = self.element_if(definition, operand, &at, condition)?;
            let size = i64::try_from(size).map_err(|_| definition.unfit())?;
            start = start.saturating_add(size);
            let end = self.expressions.constant(start);
            let is_before_end = self.expressions.expr(Expr::Below(place, end));
            pieces.push((is_before_end, value));
        }
        let last = pieces.pop().ok_or_else(|| definition.unfit())?;
        let rest = pieces.into_iter().rev();
        Ok(rest.fold(last.1, |behind, (is_before_end, value)| {
            self.expressions.select(is_before_end, value, behind)
        }))
    }

    fn padded(&mut self, definition: &Definition<'_>, x: Operand) -> Defined {
        let refuse = || definition.unfit();
        let border = definition
            .call
            .sizes(AttributeName::Pad)
            .ok_or_else(refuse)?;
        let shape = self.shape_of_operand(x)?;
        let mut at = definition.at.to_vec();
        for (place, sides) in border.chunks(2).enumerate() {
            let axis = shape.len().checked_sub(place + 1).ok_or_else(refuse)?;
            let own = at.get_mut(axis).ok_or_else(refuse)?;
            *own = self.expressions.shifted(*own, -sides[0]);
        }
        let mut condition = None;
        for (&place, &size) in at.iter().zip(&shape) {
            if let Some(inside) = self.expressions.inside(place, size) {
                condition = Some(self.expressions.both(condition, inside));
            }
        }
        let value = self.element_if(definition, x, &at, condition)?;
        Ok(match condition {
            Some(condition) => {
                let border = definition.call.required(AttributeName::Value)?;
                let border = self.number(border);
                self.expressions.select(condition, value, border)
            }
            None => value,
        })
    }

    /// The value of an index as a position below `size`.
    fn index_at(
        &mut self,
        definition: &Definition<'_>,
        index: Operand,
        at: &[IndexId],
        size: Option<u64>,
    ) -> Result<IndexId, CodegenError> {
        let size = size.ok_or_else(|| definition.unfit())?;
        let value = self.element(definition, index, at)?;
        Ok(self.expressions.index_of(value, size))
    }

    /// `x[i, j, ..]`
    fn indexed(&mut self, definition: &Definition<'_>, x: Operand, indices: &[Operand]) -> Defined {
        let refuse = || definition.unfit();
        let shape = self.shape_of_operand(x)?;
        let behind = shape.len().checked_sub(indices.len()).ok_or_else(refuse)?;
        let outer = definition.at.len().checked_sub(behind).ok_or_else(refuse)?;
        let (places, inner) = definition.at.split_at(outer);
        let sizes = definition.op.shape.get(..outer).ok_or_else(refuse)?;
        let mut at = Vec::with_capacity(shape.len());
        for (&index, &size) in indices.iter().zip(&shape) {
            let value = self.broadcast(definition, index, sizes, places)?;
            at.push(self.expressions.index_of(value, size));
        }
        at.extend(inner);
        self.element(definition, x, &at)
    }
}
