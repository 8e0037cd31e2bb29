//! Lowers concatenations.
//!
//! Source: `cat` in `torch/_inductor/lowering.py` and `ConcatKernel` in `torch/_inductor/ir.py`.

use super::facts::{is_call, is_repeat, keeps_shape};
use super::layout::{is_copied, is_copied_reshape};
use super::library::begins_pointwise;
use super::lower::Lowering;
use super::node::{BufferId, SchedulerNode};
use super::store::is_store;
use super::value::{LoweredValue, buffer_value};
use super::view::View;
use crate::fusion::loops::Loop;
use crate::fusion::views::viewed_base;
use crate::model::functions::Function;
use crate::model::graph::Tensor;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::element_count;
use crate::model::op_type::OpType;

/// Most inputs of a concatenation that its readers inline (`max_pointwise_cat_inputs`).
const CONCATENATED: usize = 8;

impl Lowering<'_> {
    /// Whether the readers of a concatenation compute it.
    pub(super) fn is_inlined_concat(&self, op: OpId) -> bool {
        if is_repeat(&self.graph.ops[op]) {
            return true;
        }
        let inputs = &self.graph.inputs[op];
        let is_open = |&&tensor: &&TensorId| self.is_open(tensor) && !self.is_written_for(tensor);
        let mut open = inputs.iter().filter(is_open);
        let count = open.clone().count();
        inputs.len() <= CONCATENATED
            && !(self.target.is_2_15
                && inputs
                    .iter()
                    .any(|&tensor| self.is_shared_piece(tensor, op)))
            && (count == inputs.len() && !open.any(|&tensor| self.reads_row_values(tensor))
                || count > 0 && self.only_pointwise_reads(op))
    }

    /// Whether a piece broadcasts a view of a value that is written for this broadcast alone. The
    /// view was there before the buffer, so the compiler does not see that it shows one in a layout
    /// that is fixed (`should_lower_cat_input` in `cat`), and takes the piece for what it can write
    /// in its place.
    fn is_written_for(&self, piece: TensorId) -> bool {
        let graph = self.graph;
        let Some(expand) = graph.tensors[piece].producer else {
            return false;
        };
        let Some(&viewed) = graph.inputs[expand].first() else {
            return false;
        };
        let value = viewed_base(graph, viewed);
        let producer = graph.tensors[value].producer;
        graph.ops[expand].function == Some(Function::Expand)
            && value != viewed
            && producer.is_some_and(|op| graph.ops[op].op_type == OpType::Elementwise)
            && graph.consumers[value].len() == 1
            && !graph.is_final(value)
            && !self.is_computed(piece)
    }

    /// Whether a piece has another reader that computes with its elements, or one beside which the
    /// concatenation would compute it again. Source: `any_input_has_multi_consumers` in `cat` of
    /// torch 2.15.
    fn is_shared_piece(&self, tensor: TensorId, concatenation: OpId) -> bool {
        let graph = self.graph;
        let others = graph.consumers[tensor].iter();
        let mut others = others
            .copied()
            .filter(|&reader| reader != concatenation)
            .peekable();
        others.peek().is_some()
            && (self.is_computed(tensor) || others.any(|reader| self.is_pointwise_use(reader)))
    }

    /// Whether a value is not in a buffer yet.
    pub(super) fn is_computed(&self, tensor: TensorId) -> bool {
        let mut ops = self.values[tensor].ops.iter();
        ops.any(|&op| !self.graph.ops[op].is_view())
    }

    /// Whether a reader computes with single elements: of a view, all that read the view.
    fn is_pointwise_use(&self, reader: OpId) -> bool {
        let graph = self.graph;
        let mut open = vec![reader];
        while let Some(reader) = open.pop() {
            let definition = &graph.ops[reader];
            if definition.is_view() {
                let readers = &graph.successors[reader];
                if readers.is_empty() || graph.is_final(graph.output[reader]) {
                    return false;
                }
                open.extend(readers);
            } else if !self.subtracts_rows(reader)
                && definition.function != Some(Function::Concat)
                && !begins_pointwise(graph, reader)
            {
                return false;
            }
        }
        true
    }

    /// Whether a norm reads its input again for its elements.
    fn subtracts_rows(&self, reader: OpId) -> bool {
        let is_norm = self.graph.ops[reader].op_type == OpType::Reduction;
        is_norm
            && keeps_shape(self.graph, reader)
            && self.graph.ops[reader].function != Some(Function::Cumsum)
    }

    /// Whether the value that a piece has, or of which it is computed, is the result of a
    /// reduction.
    fn reads_row_values(&self, tensor: TensorId) -> bool {
        let mut reads = self.values[tensor].reads.iter();
        reads.any(|read| self.reduced.contains_key(&read.buffer))
    }

    /// Whether all that reads an op begins with a pointwise op. A caller is no such reader.
    fn only_pointwise_reads(&self, op: OpId) -> bool {
        let graph = self.graph;
        let mut open = vec![op];
        while let Some(read) = open.pop() {
            // The result of a write is given to the caller only if the program says so.
            let is_given = if graph.ops[read].in_place {
                graph.ops[read].is_output
            } else {
                graph.is_final(graph.output[read]) || graph.successors[read].is_empty()
            };
            if is_given {
                return false;
            }
            for &reader in &graph.successors[read] {
                let definition = &graph.ops[reader];
                // A copy is pointwise.
                if self.copies_operand(reader, graph.output[read]) {
                    continue;
                }
                // The compiler takes a write at indices for a view, by its signature, and goes on
                // with what reads it, if anything does (`is_view` in `torch/_inductor/utils.py`).
                let is_slice = definition.function == Some(Function::SliceScatter);
                let is_write = self.writes_in_place(reader) && is_store(definition) && !is_slice;
                if is_write || definition.is_view() {
                    open.push(reader);
                } else if !matches!(definition.function, Some(Function::Pad | Function::Concat))
                    && !begins_pointwise(graph, reader)
                {
                    return false;
                }
            }
        }
        true
    }

    /// Whether the program copies a tensor for an op that reads it: a reshape that no strides show,
    /// or a matmul whose operand is broadcast.
    fn copies_operand(&self, reader: OpId, tensor: TensorId) -> bool {
        let (graph, layouts) = (self.graph, &self.layouts);
        is_copied_reshape(graph, layouts, reader)
            || is_copied(graph, layouts, reader, tensor) && self.replaced[reader].is_none()
    }

    /// Writes each piece of a concatenation in its place: in the kernel that computes it, or by a
    /// copy.
    pub(super) fn concat(&mut self, op: OpId) {
        let graph = self.graph;
        let mut pieces: Vec<BufferId> = Vec::with_capacity(graph.inputs[op].len());
        let mut owner = None;
        let of_caller: Vec<TensorId> = if self.target.is_2_15 {
            let inputs = graph.inputs[op].iter().copied();
            inputs.filter(|&tensor| self.is_of_caller(tensor)).collect()
        } else {
            Vec::new()
        };
        // One kernel copies all inputs of the program, and shares nothing with another one.
        let together = of_caller.len() > 1;
        if together {
            let buffer = self.copy_together(&of_caller, op);
            owner = Some(buffer);
            pieces.push(buffer);
        }
        for &tensor in &graph.inputs[op] {
            if together && of_caller.contains(&tensor) {
                continue;
            }
            let buffer = if let Some(buffer) = self.written_piece(tensor) {
                self.note_placed(op, tensor);
                buffer
            } else {
                let buffer = self.piece(tensor, op, owner);
                owner = owner.or(Some(buffer));
                buffer
            };
            pieces.push(buffer);
        }
        if owner.is_none() {
            // No kernel is left for the concatenation alone, so the last piece stands for it.
            let last = pieces.last();
            let mut nodes = self.nodes.iter_mut().rev();
            match nodes.find(|node| Some(&node.writes.buffer) == last) {
                Some(node) => node.ops.push(op),
                None => self.launch_beside(BufferId::of_tensor(graph.output[op])),
            }
        }
        // Its readers wait for every piece, and none shares a kernel with one.
        self.pieces
            .insert(BufferId::of_tensor(graph.output[op]), pieces);
    }

    /// Whether a piece is an input of the program, or a view of one. Source: `ConcatKernel.create`
    /// in `torch/_inductor/ir.py`, which registers such pieces for one kernel.
    fn is_of_caller(&self, tensor: TensorId) -> bool {
        let value = &self.values[tensor];
        let mut reads = value
            .reads
            .iter()
            .map(|read| read.buffer.tensor(self.graph));
        !self.is_computed(tensor) && reads.all(|read| read.is_some_and(Tensor::is_external))
    }

    /// Adds the node that copies several pieces.
    fn copy_together(&mut self, tensors: &[TensorId], concatenation: OpId) -> BufferId {
        let graph = self.graph;
        let shape = &graph.ops[concatenation].shape;
        let output = graph.output[concatenation];
        let width = graph.tensors[output].addressed_bytes().unwrap_or(0);
        let mut value = LoweredValue::default();
        for &tensor in tensors {
            value.append(&self.values[tensor]);
        }
        value.ops.push(concatenation);
        value.sort();
        let buffer = self.new_buffer(width);
        let node = self.node(value, Loop::Library, shape);
        let whole = View::whole(element_count(shape).unwrap_or(0));
        self.push(node.writing(buffer, &whole, shape, width));
        buffer
    }

    /// Adds the node that writes a piece, in the order of the concatenation. `after`: the buffer
    /// with whose kernel a copy counts.
    fn piece(
        &mut self,
        tensor: TensorId,
        concatenation: OpId,
        after: Option<BufferId>,
    ) -> BufferId {
        let graph = self.graph;
        let shape = graph.tensor_shape(tensor).unwrap_or(&[]);
        let elements = element_count(shape).unwrap_or(0);
        let width = graph.tensors[tensor].addressed_bytes().unwrap_or(0);
        let mut value = self.values[tensor].clone();
        let is_computed = !value.ops.is_empty();
        let is_written = self.is_computed(tensor);
        value.ops.extend(after.is_none().then_some(concatenation));
        value.sort();
        let node = self.node(value, Loop::Pointwise(elements), shape);
        let whole = &graph.ops[concatenation].shape;
        let is_image = self.layouts[graph.output[concatenation]] == View::channels_last(whole);
        let layout = if is_image {
            View::channels_last(shape)
        } else {
            View::whole(elements)
        };
        // What no buffer holds is a buffer from here on.
        let buffer = if is_computed && graph.tensors[tensor].producer.is_some() {
            BufferId::of_tensor(tensor)
        } else {
            self.new_buffer(width)
        };
        if is_computed {
            self.values[tensor] = buffer_value(buffer, layout.clone());
            if is_written {
                self.note_placed(concatenation, tensor);
            }
        }
        let node = node.writing(buffer, &layout, shape, width);
        self.push(SchedulerNode {
            launch_of: after,
            ..node
        });
        buffer
    }

    /// Notes that the kernel which computes a piece writes it where the concatenation has it. What
    /// is in memory of the caller stays there, and a view may show other elements than its kernel
    /// computes: such a piece counts as copied.
    fn note_placed(&mut self, concatenation: OpId, piece: TensorId) {
        let graph = self.graph;
        let computed = viewed_base(graph, piece);
        let size = |tensor: TensorId| graph.tensors[tensor].elements();
        if graph.tensors[computed].in_memory_of.is_none() && size(piece) == size(computed) {
            self.placed.push((concatenation, piece));
        }
    }

    /// Whether an op is a call of a matrix product alone, which fixes the layout of its operands
    /// before anything reads them. Source: `need_fixed_layout` in `torch/_inductor/graph.py`.
    fn multiplies(&self, op: OpId) -> bool {
        let definition = &self.graph.ops[op];
        definition.op_type == OpType::Matmul
            && !definition.is_convolution()
            && definition.shape.len() == 2
            && self.adds[op].is_none()
    }

    /// Whether a concatenation may take a piece as an expression: one that is inlined, external, a
    /// result, or in a layout that is fixed, because a library chose it, or a view of it or a
    /// reduction to a single value read it.
    fn is_open(&self, tensor: TensorId) -> bool {
        let graph = self.graph;
        let Some(producer) = graph.tensors[tensor].producer else {
            return true;
        };
        let definition = &graph.ops[producer];
        // Only `mm` and `addmm` write where they are told to. A product of more dimensions is a
        // batched one, or is read through a view.
        let is_placeable = matches!(
            definition.function,
            None | Some(Function::Matmul | Function::Linear)
        ) && definition.shape.len() == 2
            && self.replaced[producer].is_none();
        let chooses_layout = is_call(definition) && !is_placeable;
        let readers = &graph.successors[producer];
        // A broadcast sees a view, too.
        let is_viewed = |reader: OpId| {
            let reader = &graph.ops[reader];
            let is_spread = element_count(&reader.shape) != graph.tensors[tensor].elements();
            reader.is_view() || reader.op_type == OpType::Elementwise && is_spread
        };
        let fixes_layout =
            |reader: OpId| self.is_lowered[reader] && is_viewed(reader) || self.multiplies(reader);
        graph.is_final(tensor)
            || chooses_layout
            || definition.is_view()
            || !self.values[tensor].ops.is_empty()
            || self.fixed.contains(&tensor)
            || readers.len() > 1 && readers.iter().any(|&reader| fixes_layout(reader))
    }

    /// The buffer of a piece whose kernel can write it in its place.
    fn written_piece(&self, tensor: TensorId) -> Option<BufferId> {
        let is_open = self.is_open(tensor);
        (!is_open).then_some(BufferId::of_tensor(tensor))
    }
}
