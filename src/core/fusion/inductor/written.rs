//! How the buffer of a pointwise value lies in memory: where nothing asks for an order of its
//! dimensions, in the order of most of its reads.
//!
//! Source: `ComputedBuffer.get_fill_order` and `ExternKernel.convert_to_reinterpret_view` in
//! `torch/_inductor/ir.py`, `run_node` in `torch/_inductor/graph.py`.

use super::facts::elements;
use super::lower::Lowering;
use super::node::Indices;
use super::uses::Operand;
use super::value::LoweredValue;
use super::view::{View, loop_order};
use crate::fusion::loops::Loop;
use crate::model::functions::Function;
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
        let is_image = shape.len() == 4 && self.has_convolution;
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
            _ => filled(indices, shape).unwrap_or_else(|| eager.clone()),
        }
    }

    /// The same for a reduction to one value for each row.
    pub(super) fn reduced_layout(&self, tensor: TensorId, indices: &Indices) -> View {
        let graph = self.graph;
        let shape = graph.tensor_shape(tensor).unwrap_or(&[]);
        let uses = self.uses[tensor];
        if graph.is_final(tensor) || uses.is_viewed || uses.operand != Operand::Free {
            return self.layouts[tensor].clone();
        }
        filled(indices, shape).unwrap_or_else(|| self.layouts[tensor].clone())
    }

    /// Adds the node that computes an op's output. A copy may give another shape; its loop runs
    /// over the shape of what it copies.
    pub(super) fn write_pointwise(&mut self, op: OpId, value: LoweredValue) {
        let graph = self.graph;
        let definition = &graph.ops[op];
        let copied = graph.inputs[op].first().filter(|_| is_copy(definition));
        let shape = copied.and_then(|&tensor| graph.tensor_shape(tensor));
        let space = Loop::Pointwise(elements(definition));
        self.write(
            value,
            space,
            graph.output[op],
            shape.unwrap_or(&definition.shape),
        );
    }

    /// Whether a reduction that reads a tensor is lowered before a call does: the compiler decides
    /// how to split it by the order of what it reads, and so decides the order (`num_splits`).
    fn is_reduced_before(&self, tensor: TensorId, call: Option<OpId>) -> bool {
        let position = &self.position;
        let mut readers = self.graph.consumers[tensor].iter();
        readers.any(|&op| {
            self.graph.ops[op].op_type == OpType::Reduction
                && call.is_some_and(|call| position[op] < position[call])
        })
    }
}

fn is_copy(op: &Op) -> bool {
    op.function == Some(Function::Contiguous)
}

/// A new buffer of this shape whose dimensions are nested as most reads nest them. `None` if it has
/// others than what is not reduced.
fn filled(indices: &Indices, shape: &[u64]) -> Option<View> {
    let from = &indices.shape[..];
    let is_reduced = |at: usize| at < 32 && indices.axes >> at & 1 == 1;
    let sized = |shape: &[u64]| -> Vec<usize> {
        let sizes = shape.iter().enumerate();
        sizes
            .filter(|&(_, &size)| size > 1)
            .map(|(at, _)| at)
            .collect()
    };
    let (own, mut kept) = (sized(shape), sized(from));
    kept.retain(|&at| !is_reduced(at));
    let reads = indices.reads.iter().flatten();
    let steps: Vec<_> = reads.map(|view| (view.steps(from), 1)).collect();
    let order = loop_order(&kept, &steps);
    let place = |at: &usize| kept.iter().position(|kept| kept == at);
    let order = order.iter().filter_map(|at| own.get(place(at)?).copied());
    (own.len() == kept.len()).then(|| View::in_order(shape, &order.collect::<Vec<_>>()))
}
