//! Row values that one kernel passes to others.

use super::reduction::Rows;
use super::{Defined, Definition, Definitions};
use crate::interpret::function_of;
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::{Expr, ExprId};
use crate::kernel_code::index::{IndexId, VariableId};
use crate::kernel_code::row_values::{self, tensor};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::ids::OpId;
use fuseline_core::model::op::element_count;
use hashbrown::HashMap;

impl Definitions<'_> {
    /// Shape and element type of the row values of an op: one for each row, as wide as kernels
    /// compute.
    pub(super) fn type_of_row_value(&self, id: OpId) -> Result<(Vec<u64>, DType), CodegenError> {
        let op = &self.graph.ops[id];
        let (shape, reduced) = row_values::rows(op, &op.shape).ok_or(CodegenError::UnknownInput)?;
        let rows = element_count(&kept(&shape, &reduced)).ok_or(CodegenError::TensorTooLarge)?;
        let is_double = op.element_type() == Some(DType::F64);
        let dtype = if is_double { DType::F64 } else { DType::F32 };
        Ok((vec![rows], dtype))
    }

    /// A row value of an op of this kernel, of the row at this index.
    pub(super) fn row_value(
        &mut self,
        id: OpId,
        which: usize,
        at: &[IndexId],
        only_if: Option<ExprId>,
    ) -> Defined {
        let op = &self.graph.ops[id];
        let (&[row], Some((shape, reduced))) = (at, row_values::rows(op, &op.shape)) else {
            return Err(CodegenError::UnknownInput);
        };
        let mut of_row = self
            .expressions
            .unravel(&kept(&shape, &reduced), row)
            .into_iter();
        let zero = self.expressions.constant(0);
        let first: Vec<IndexId> = (0..shape.len())
            .map(|place| {
                if reduced.contains(&place) {
                    zero
                } else {
                    of_row.next().unwrap_or(zero)
                }
            })
            .collect();
        let place = self.expressions.ravel(&shape, &first);
        let at = self.expressions.unravel(&op.shape, place);
        let definition = Definition {
            id,
            op,
            call: &self.calls[id],
            function: function_of(op)?,
            at: &at,
            only_if,
        };
        let (value, rows) = self.of_row(&definition)?;
        let folds = self.folds(value, rows.variable);
        folds.get(which).copied().ok_or_else(|| definition.unfit())
    }

    /// An element of a softmax or a norm, with the row values that another kernel has written in
    /// the place of its folds.
    pub(super) fn with_row_values(
        &mut self,
        definition: &Definition<'_>,
        rows: &Rows,
        value: ExprId,
    ) -> ExprId {
        if !self.reads_row_values.contains(&definition.id) {
            return value;
        }
        let of_row: Vec<IndexId> = (rows.at.iter().enumerate())
            .filter(|(place, _)| !rows.reduced.contains(place))
            .map(|(_, &at)| at)
            .collect();
        let place = self
            .expressions
            .ravel(&kept(&rows.shape, &rows.reduced), &of_row);
        let mut replaced = HashMap::default();
        for (which, fold) in self.folds(value, rows.variable).into_iter().enumerate() {
            let read = self.expressions.expr(Expr::Read {
                tensor: tensor(self.graph, definition.id, which),
                place,
                only_if: definition.only_if,
            });
            replaced.insert(fold, read);
        }
        self.expressions.rewritten(&[value], &replaced, None)[0]
    }

    /// The folds over a row that a value depends on, in the order in which they are computed.
    fn folds(&self, value: ExprId, over: VariableId) -> Vec<ExprId> {
        let needed = self.expressions.needed([value], |_| false).into_iter();
        let is_fold = |&expr: &ExprId| matches!(self.expressions.exprs[expr], Expr::Fold(_, own, _) if own == over);
        needed.filter(is_fold).collect()
    }
}

/// The sizes of the dimensions that are not along a row.
fn kept(shape: &[u64], reduced: &[usize]) -> Vec<u64> {
    let sizes = shape.iter().enumerate();
    let sizes = sizes.filter(|(place, _)| !reduced.contains(place));
    sizes.map(|(_, &size)| size).collect()
}
