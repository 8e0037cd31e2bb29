//! Sorts of short rows, which the compiler generates.
//!
//! Source: `Sort.create` in `torch/_inductor/ir.py`, `sort_stable` in
//! `torch/_inductor/lowering.py`.

use super::lower::Lowering;
use super::reduced::Reduced;
use super::value::LoweredValue;
use crate::fusion::loops::Loop;
use crate::fusion::rows::RowDomain;
use crate::model::functions::Function;
use crate::model::ids::OpId;
use crate::model::op::Op;

/// Most elements of a row that one block sorts. Longer rows are left to the library.
const MOST: u64 = 512;

/// Whether the compiler generates the kernel of a sort.
pub(super) fn is_generated_sort(op: &Op) -> bool {
    let is_sort = matches!(op.function, Some(Function::Sort | Function::Argsort));
    is_sort && axis(op).is_some_and(|axis| op.shape.get(axis).is_some_and(|&row| row <= MOST))
}

fn axis(sort: &Op) -> Option<usize> {
    sort.indexing.as_ref().map(|indexing| indexing.axis)
}

impl Lowering<'_> {
    /// Adds the node of a sort, which writes each element itself, as a scan does.
    pub(super) fn sort(&mut self, op: OpId, value: LoweredValue) {
        let definition = &self.graph.ops[op];
        let place = axis(definition).and_then(|axis| u32::try_from(axis).ok());
        let axes = place
            .and_then(|place| 1_u32.checked_shl(place))
            .unwrap_or(0);
        let rows = RowDomain::along(&definition.shape, axes);
        let space = Loop::Reduction {
            rows: rows.rows,
            width: rows.width,
            inner: rows.stride,
        };
        let sorted = Reduced {
            shape: definition.shape.clone(),
            axes,
        };
        self.write_along(value, space, self.graph.output[op], &sorted, None);
    }
}
