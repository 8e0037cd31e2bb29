//! How the buffer of a pointwise value lies in memory: where nothing asks for an order of its
//! dimensions, in the order of most of its reads.
//!
//! Source: `ComputedBuffer.get_fill_order` and `ExternKernel.convert_to_reinterpret_view` in
//! `torch/_inductor/ir.py`, `run_node` in `torch/_inductor/graph.py`.

use super::lower::Lowering;
use super::node::Indices;
use super::uses::Operand;
use super::view::{View, loop_order};
use crate::model::ids::{OpId, TensorId};
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;

impl Lowering<'_> {
    /// Where the elements of a tensor lie in the buffer that a pointwise node with these accesses
    /// writes.
    pub(super) fn written_layout(&self, tensor: TensorId, indices: &Indices) -> View {
        let graph = self.graph;
        let eager = &self.layouts[tensor];
        let shape = graph.tensor_shape(tensor).unwrap_or(&[]);
        let uses = self.uses[tensor];
        let is_image = shape.len() == 4 && graph.ops.iter().any(Op::is_convolution);
        // The caller gets the order of eager PyTorch, and convolutions want channels last.
        if graph.is_final(tensor) || uses.is_viewed || is_image || indices.shape != shape {
            return eager.clone();
        }
        match uses.operand {
            Operand::Ordered => eager.clone(),
            Operand::Viewed if *eager == View::channels_last(shape) => eager.clone(),
            Operand::Viewed if !self.is_reduced_before(tensor, uses.called_by) => {
                View::whole(element_count(shape).unwrap_or(0))
            }
            _ => filled(indices),
        }
    }

    /// Whether a reduction that reads a tensor is lowered before a call does: the compiler decides
    /// how to split it by the order of what it reads, and so decides the order (`num_splits`).
    fn is_reduced_before(&self, tensor: TensorId, call: Option<OpId>) -> bool {
        let mut readers = self.graph.consumers[tensor].iter();
        readers.any(|&op| {
            self.graph.ops[op].op_type == OpType::Reduction && call.is_some_and(|call| op < call)
        })
    }
}

/// A new buffer whose dimensions are nested as most reads of it nest them.
fn filled(indices: &Indices) -> View {
    let shape = &indices.shape[..];
    let sized = |&at: &usize| shape.get(at).is_some_and(|&size| size > 1);
    let dimensions: Vec<usize> = (0..shape.len()).filter(sized).collect();
    let reads = indices.reads.iter().flatten();
    let steps: Vec<_> = reads.map(|view| (view.steps(shape), 1)).collect();
    View::in_order(shape, &loop_order(&dimensions, &steps))
}
