//! How each tensor is used, directly or through views.

use super::facts::{is_windowed, keeps_shape};
use super::layout::{Layouts, is_copied};
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, OpId, TensorId};
use crate::core::model::op_type::OpType;

/// How a tensor is used, directly or through views.
#[derive(Clone, Copy, Default)]
pub(super) struct Uses {
    pub(super) readers: usize,
    pub(super) is_result: bool,
    /// A library reads it, and not a copy.
    pub(super) feeds_library: bool,
    pub(super) feeds_window: bool,
}

/// The uses of each tensor. Runs backwards, so that the uses of a view are known before those of its input. `O(ops + reads)`.
pub(super) fn uses(
    graph: &Graph,
    layouts: &Layouts,
    flash: &IdVec<OpId, Option<OpId>>,
) -> IdVec<TensorId, Uses> {
    let mut uses = IdVec::from_elem(Uses::default(), graph.tensors.len());
    for op in graph.ops.ids().rev() {
        let definition = &graph.ops[op];
        let output = graph.output[op];
        uses[output].is_result |= graph.is_final(output);
        let of_output = uses[output];
        for tensor in graph.distinct_inputs(op) {
            let of_input = &mut uses[tensor];
            // A norm reads its input for the row values and again for the elements.
            of_input.readers += if keeps_shape(graph, op) { 2 } else { 1 };
            if definition.is_view() {
                of_input.readers = of_input.readers.max(of_output.readers);
                of_input.is_result |= of_output.is_result;
                of_input.feeds_library |= of_output.feeds_library;
                of_input.feeds_window |= of_output.feeds_window;
            }
            let is_library = definition.op_type == OpType::Matmul;
            of_input.feeds_library |=
                flash[op].is_some() || is_library && !is_copied(graph, layouts, op, tensor);
            of_input.feeds_window |= is_windowed(definition);
        }
    }
    uses
}
