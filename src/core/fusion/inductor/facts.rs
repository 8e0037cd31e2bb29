//! What the compiler knows about one op: its loop, its length, its kind.

use crate::core::fusion::loops::Loop;
use crate::core::fusion::rows::RowDomain;
use crate::core::model::functions;
use crate::core::model::functions::ShapeRule;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{OpId, TensorId};
use crate::core::model::op::{Op, element_count};
use crate::core::model::op_type::OpType;

/// Rows and width of a reduction along its axes.
pub(super) fn reduction_space(graph: &Graph, op: OpId) -> Loop {
    let rows = RowDomain::of_op(graph, op);
    Loop::Reduction {
        rows: rows.rows,
        width: rows.width,
        inner: rows.stride.max(rows.apart),
    }
}

/// Whether an op meets a value of each row of a reduction elsewhere than in that row: it is read in another order than
/// it was written in.
pub(super) fn is_across(graph: &Graph, reduction: OpId, value: TensorId, reader: &Op) -> bool {
    let rows = RowDomain::of_op(graph, reduction);
    let value = graph.tensor_shape(value).unwrap_or(&[]);
    element_count(value) == Some(rows.rows)
        && element_count(&reader.shape) == Some(rows.full_elements())
        && rows.width > 1
        && RowDomain::of_read(value, reader) != Some(rows)
}

/// A reduction that gives each element back: softmax and the norms.
pub(super) fn keeps_shape(graph: &Graph, op: OpId) -> bool {
    let definition = &graph.ops[op];
    definition.op_type == OpType::Reduction
        && match definition.function.as_deref().and_then(functions::find) {
            Some(function) => function.shape_rule == ShapeRule::SameAsFirst,
            None => graph.inputs[op]
                .first()
                .and_then(|&t| graph.tensor_shape(t))
                .is_none_or(|shape| *shape == definition.shape),
        }
}

/// Pools are pointwise loops that read a small window for each element.
pub(super) fn is_windowed(op: &Op) -> bool {
    let function = op.function.as_deref().and_then(functions::find);
    function.is_some_and(|f| f.shape_rule == ShapeRule::Pool2d)
}

/// Instructions for an element, for which the FLOPs stand; a copy or a view counts none.
pub(super) fn operations(op: &Op) -> u64 {
    let function = op.function.as_deref().and_then(functions::find);
    function.map_or(1, |f| f.flops_per_element)
}

/// Elements of the output.
pub(super) fn elements(op: &Op) -> u64 {
    element_count(&op.shape).unwrap_or(0)
}
