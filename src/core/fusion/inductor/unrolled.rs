//! Lowers reductions of short rows, which are written out as one expression.

use super::facts::{keeps_shape, reduced_axes};
use super::lower::Lowering;
use super::realized::{SHARED_OPERATIONS, SHARED_READS};
use super::reduce::ROW_VALUE_BYTES;
use super::reduced::{has_two_row_values, is_variance, row_view};
use super::value::LoweredValue;
use super::view::View;
use crate::fusion::loops::Loop;
use crate::fusion::rows::RowDomain;
use crate::model::functions::Function;
use crate::model::ids::OpId;

/// A reduction of rows shorter than this is written out as one expression
/// (`unroll_reductions_threshold`).
const UNROLLED: u64 = 8;

impl Lowering<'_> {
    /// Whether a reduction is one expression over the elements of a short row.
    pub(super) fn is_unrolled(&self, op: OpId) -> bool {
        // A scan gives a value for each element.
        let is_scan = self.graph.ops[op].function == Some(Function::Cumsum);
        let width = RowDomain::of_op(self.graph, op).width;
        width <= 1 || width < UNROLLED && !is_scan
    }

    /// Whether all inputs of a norm but the first are from outside. Only the kernel of its elements
    /// waits for others, which may run later than that of its row values: then the row values do
    /// not count as the op.
    pub(super) fn reads_no_op_beside_rows(&self, op: OpId) -> bool {
        let mut others = self.graph.inputs[op].iter().skip(1);
        others.all(|&tensor| self.graph.tensors[tensor].is_external())
    }

    /// The reads of an unrolled reduction: each element of a row. The row values of a softmax or
    /// norm, which its elements read, are a buffer like any other value that is broadcast; the mean
    /// that a variance needs always is (`var_mean_sum_`).
    pub(super) fn unrolled(&mut self, op: OpId) -> LoweredValue {
        let graph = self.graph;
        let definition = &graph.ops[op];
        let keeps_shape = keeps_shape(graph, op);
        let Some(&tensor) = graph.inputs[op].first() else {
            return LoweredValue::default();
        };
        let shape = graph.tensor_shape(tensor).unwrap_or(&definition.shape);
        let axes = reduced_axes(definition.axes, shape.len());
        let width = RowDomain::of_op(graph, op).width;
        let row = |lowering: &Self, keeps_shape: bool| {
            let mut value = LoweredValue::default();
            let places = View::of_each_place(shape, axes, keeps_shape);
            for (place, view) in places.iter().enumerate() {
                let mut input = lowering.values[tensor].clone();
                input.see(Some(view), (op, place));
                value.append(&input);
            }
            value.sort();
            (value, places.len() as u64 == width)
        };
        let (mut value, is_known) = row(self, keeps_shape);
        if !is_known || graph.inputs[op].len() > 1 && !keeps_shape {
            // The list does not say which axes, or what else is read.
            return self.inputs(op);
        }
        if !keeps_shape {
            return value;
        }
        let is_shared = value.reads.len() > SHARED_READS
            || self.operations(&value) > SHARED_OPERATIONS
            || is_variance(definition);
        if is_shared && let Some(row_view) = row_view(definition) {
            let (mut row_value, _) = row(self, false);
            if self.reads_no_op_beside_rows(op) {
                row_value.ops.push(op);
            }
            let rows = RowDomain::of_op(graph, op).rows;
            let buffer = self.new_buffer(ROW_VALUE_BYTES);
            if has_two_row_values(definition) {
                self.pairs.insert(buffer);
            }
            let node = self.node(row_value, Loop::Pointwise(rows), &[rows]);
            self.push(node.writing(buffer, &View::whole(rows), &[rows], ROW_VALUE_BYTES));
            value = self.row_value(buffer, row_view);
        }
        // The elements are computed from the inputs and the row values.
        value.append(&self.inputs(op));
        value.sort();
        value
    }
}
