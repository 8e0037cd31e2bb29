//! Lowers concatenations.

use super::facts::is_call;
use super::lower::Lowering;
use super::node::{BufferAccess, BufferId, SchedulerNode};
use super::view::{AccessedElements, View};
use crate::fusion::loops::Loop;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::element_count;
use crate::model::op_type::OpType;

/// Most inputs of a concatenation that its readers inline (`max_pointwise_cat_inputs`).
const CONCATENATED: usize = 8;

impl Lowering<'_> {
    /// Whether the readers of a concatenation compute it. Source: `cat` in
    /// `torch/_inductor/lowering.py`.
    pub(super) fn is_inlined_concat(&self, op: OpId) -> bool {
        let graph = self.graph;
        let inputs = &graph.inputs[op];
        let open = inputs
            .iter()
            .filter(|&&tensor| self.is_open(tensor))
            .count();
        let output = graph.output[op];
        let readers = graph.successors[op].iter();
        let only_pointwise = !graph.is_final(output) && { readers }.all(|&reader| {
            matches!(
                graph.ops[reader].op_type,
                OpType::Elementwise | OpType::Reshape
            )
        });
        inputs.len() <= CONCATENATED && (open == inputs.len() || open > 0 && only_pointwise)
    }

    /// Adds a node for each piece of a concatenation that is no buffer; what is one is written in
    /// its place at once.
    pub(super) fn concat(&mut self, op: OpId) {
        let graph = self.graph;
        let output = graph.output[op];
        let inputs = graph.inputs[op].iter().copied();
        let (open, written): (Vec<TensorId>, Vec<TensorId>) =
            inputs.partition(|&tensor| self.is_open(tensor));
        let Some((&first, others)) = open.split_first() else {
            let mut value = self.inputs(op);
            value.ops.push(op);
            self.values[output] = value;
            return;
        };
        let whole = BufferId::of_tensor(output);
        let mut pieces: Vec<BufferId> = (written.iter())
            .flat_map(|&tensor| self.values[tensor].reads.iter().map(|read| read.buffer))
            .collect();
        self.piece(first, whole, whole, Some(op));
        for &tensor in others {
            let buffer = self.new_buffer();
            self.piece(tensor, buffer, whole, None);
            pieces.push(buffer);
        }
        self.pieces.insert(whole, pieces);
    }

    /// Adds the node of a piece. The first one stands for the concatenation, whose readers wait for
    /// all: none of them is fused.
    fn piece(
        &mut self,
        tensor: TensorId,
        into: BufferId,
        whole: BufferId,
        concatenation: Option<OpId>,
    ) {
        let graph = self.graph;
        let shape = graph.tensor_shape(tensor).unwrap_or(&[]);
        let elements = element_count(shape).unwrap_or(0);
        let width = graph.tensors[tensor].bytes_per_element.unwrap_or(0);
        let mut value = self.values[tensor].clone();
        value.ops.extend(concatenation);
        value.sort();
        let node = self.node(value, Loop::Pointwise(elements), shape);
        let node = node.writing(into, &View::whole(elements), shape, width);
        let writes = BufferAccess {
            access: AccessedElements::Unknown,
            ..node.writes
        };
        self.push(SchedulerNode {
            writes,
            launch_of: concatenation.is_none().then_some(whole),
            ..node
        });
    }

    /// Whether a piece of a concatenation needs a copy: what is inlined or external does, the
    /// result of a library, too; another buffer is written in its place.
    fn is_open(&self, tensor: TensorId) -> bool {
        let writer = self.graph.tensors[tensor].producer;
        let is_library = writer.is_none_or(|op| is_call(&self.graph.ops[op]));
        is_library || !self.values[tensor].ops.is_empty()
    }
}
