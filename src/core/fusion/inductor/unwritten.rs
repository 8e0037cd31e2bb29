//! The operands of calls of attention and of products with scales, which read a copy of what no
//! buffer holds yet: only the part that a view shows is computed, and other readers compute it
//! again.
//!
//! Source: `sdpa_constraint` in `torch/_inductor/lowering.py`, the tag `needs_exact_strides` of
//! `_scaled_mm`, `ExternKernel.require_strides` in `torch/_inductor/ir.py`.

use super::facts::elements;
use super::lower::Lowering;
use super::node::BufferId;
use super::value::{BufferView, LoweredValue, buffer_value};
use super::view::View;
use super::weight_only::int8_call;
use crate::fusion::loops::Loop;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::element_count;
use crate::model::op_type::OpType;

/// Whether an op reads a tensor as Q, K or V of a call of attention, or as an operand of a product
/// with scales. `replaced`: for each op of a call its last one.
pub(super) fn copies_unwritten(
    graph: &Graph,
    replaced: &IdVec<OpId, Option<OpId>>,
    op: OpId,
    tensor: TensorId,
) -> bool {
    match graph.ops[op].function {
        Some(Function::Sdpa) => graph.inputs[op].iter().take(3).any(|&read| read == tensor),
        Some(Function::ScaledMatmul) => true,
        _ => {
            let is_product = graph.ops[op].op_type == OpType::Matmul;
            is_product && replaced[op].is_some() && int8_call(graph, op).is_none()
        }
    }
}

/// Whether a tensor is the Boolean mask of a call of attention, which PyTorch converts to numbers.
pub(super) fn is_converted_mask(graph: &Graph, op: OpId, tensor: TensorId) -> bool {
    graph.ops[op].function == Some(Function::Sdpa)
        && graph.inputs[op].get(3) == Some(&tensor)
        && graph.tensors[tensor].dtype == Some(DType::Bool)
}

impl Lowering<'_> {
    /// The numbers to which PyTorch converts the Boolean mask of a call of attention, each call its
    /// own: the kernel of what computes the mask writes them, or one that reads the mask.
    pub(super) fn mask_numbers(&mut self, op: OpId, mask: TensorId) -> BufferView {
        let graph = self.graph;
        let shape = graph.tensor_shape(mask).unwrap_or(&[]);
        let elements = element_count(shape).unwrap_or(0);
        let output = &graph.tensors[graph.output[op]];
        let width = output.addressed_bytes().unwrap_or(0);
        let numbers = elements.saturating_mul(width.into());
        let beyond = numbers.saturating_sub(graph.tensors[mask].bytes().unwrap_or(0));
        let producer = graph.tensors[mask].producer;
        let buffer = if let Some(producer) = producer.filter(|_| self.is_computed(mask)) {
            if graph.ops[producer].is_view() {
                self.copied_views.push(producer);
            }
            if self.unwritten.insert(mask) {
                self.note_copy(op, mask, producer, [beyond; 2]);
                BufferId::of_tensor(mask)
            } else {
                self.note_copy(op, mask, producer, [beyond, numbers]);
                self.new_buffer(width)
            }
        } else {
            let buffer = self.new_buffer(width);
            self.note_copy(op, mask, op, [numbers; 2]);
            self.copied_buffers.push((op, mask, buffer));
            buffer
        };
        let value = self.values[mask].clone();
        self.write_by_rows(value, shape, (buffer, width), None);
        BufferView::new(buffer, None)
    }

    /// The buffer of the copy that a call reads of a value that is in none: each operand its own,
    /// the first of which stands for the tensor. `is_read`: the call reads another one already.
    pub(super) fn unwritten(&mut self, op: OpId, tensor: TensorId, is_read: bool) -> LoweredValue {
        let graph = self.graph;
        let shape = graph.tensor_shape(tensor).unwrap_or(&[]);
        let layout = View::laid_out_as(shape, &self.layouts[tensor], shape);
        let Some(producer) = graph.tensors[tensor].producer else {
            return buffer_value(BufferId::of_tensor(tensor), layout);
        };
        let width = graph.tensors[tensor].addressed_bytes().unwrap_or(0);
        let buffer = if self.unwritten.insert(tensor) {
            BufferId::of_tensor(tensor)
        } else {
            let bytes = graph.tensors[tensor].bytes().unwrap_or(0);
            let read = if is_read { bytes } else { 0 };
            self.note_copy(op, tensor, producer, [read, bytes]);
            self.new_buffer(width)
        };
        if graph.ops[producer].is_view() {
            self.copied_views.push(producer);
        }
        let space = Loop::Pointwise(elements(&graph.ops[producer]));
        let node = self.node(self.values[tensor].clone(), space, shape);
        self.push(node.writing(buffer, &layout, shape, width));
        buffer_value(buffer, layout)
    }
}
