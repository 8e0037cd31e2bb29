//! Lowers calls of libraries and templates, with the copies that they read.

use super::facts::{is_call, is_crossing, keeps_shape};
use super::layout::{bias_behind, has_no_rows, is_copied};
use super::lower::Lowering;
use super::node::{BufferId, NodeId};
use super::unwritten::{copies_unwritten, is_converted_mask};
use super::value::{BufferView, LoweredValue};
use super::view::{View, broadcast, broadcast_to, view_of_op};
use super::weight_only::{CONVERSIONS, int8_call, is_copied_for};
use crate::fusion::loops::Loop;
use crate::fusion::views::viewed_base;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::element_count;
use crate::model::op_type::OpType;
use crate::model::partition::OperandCopy;
use crate::model::sizes::{broadcast_operand_shape, broadcast_operand_size};

/// Channels that cuDNN wants a multiple of, in types of two bytes.
const CHANNELS: u64 = 8;

impl Lowering<'_> {
    /// Adds one node, a library call or a template, for all of these ops in order.
    pub(super) fn call(&mut self, ops: &[OpId], space: Loop) {
        let graph = self.graph;
        let made: Vec<TensorId> = ops.iter().map(|&op| graph.output[op]).collect();
        let bias = self.bias_behind(ops);
        let mut value = LoweredValue::default();
        let mut further = 0;
        let mut unwritten = Vec::new();
        let first_copy = self.nodes.next_id();
        // A flash kernel reads its operands by their strides, so it needs no copies.
        let matmuls = ops
            .iter()
            .filter(|&&op| graph.ops[op].op_type == OpType::Matmul);
        let is_flash = matmuls.count() > 1;
        let is_int8 = ops.iter().any(|&op| int8_call(graph, op).is_some());
        if is_int8 {
            further += CONVERSIONS;
        }
        for &op in ops {
            for &tensor in &graph.inputs[op] {
                if made.contains(&tensor) {
                    continue;
                }
                if is_converted_mask(graph, op, tensor) {
                    value.reads.push(self.mask_numbers(op, tensor));
                    continue;
                }
                let is_relaid = || self.is_relaid_image(op, tensor);
                let is_read_from_copy = if is_int8 {
                    is_copied_for(graph, &self.layouts, op, tensor)
                } else {
                    !is_flash
                        && (is_copied(graph, &self.layouts, op, tensor)
                            || is_relaid()
                            || self.is_behind_crossing(tensor))
                };
                if is_read_from_copy {
                    let copy = self.copy(op, tensor);
                    value.reads.push(BufferView::new(copy, None));
                } else if self.is_computed(tensor)
                    && copies_unwritten(graph, &self.replaced, op, tensor)
                {
                    let is_read = unwritten.contains(&tensor);
                    value.append(&self.unwritten(op, tensor, is_read));
                    unwritten.push(tensor);
                } else if Some(tensor) != bias {
                    value.append(&self.values[tensor]);
                    if !is_flash && !is_int8 && has_no_rows(graph, &self.layouts, op, tensor) {
                        further += 1;
                        let bytes = graph.tensors[tensor].bytes().unwrap_or(0);
                        self.note_copy(op, tensor, op, [bytes; 2]);
                    }
                }
            }
        }
        value.ops.extend(ops);
        value.sort();
        let copies = first_copy.index()..self.nodes.len();
        let call = self.nodes.next_id();
        if let (&[op], Some(bias)) = (ops, bias) {
            self.call_then_bias(op, bias, value, space);
        } else if let Some(&last) = ops.last() {
            self.write(value, space, graph.output[last], &graph.ops[last].shape);
            let written = BufferId::of_tensor(graph.output[last]);
            self.pad_channels(last, written);
            for _ in 0..further {
                self.launch_beside(written);
            }
        }
        let written = self.nodes.get(call).map(|call| call.writes.buffer);
        for copy in copies {
            if let Some(copy) = self.nodes.get_mut(NodeId::new(copy)) {
                copy.launch_of = written;
            }
        }
    }

    /// Whether a convolution reads a copy of an image, which lies channels last: what a library or
    /// a concatenation has written otherwise.
    fn is_relaid_image(&self, op: OpId, tensor: TensorId) -> bool {
        let graph = self.graph;
        let is_image = graph.inputs[op].first() == Some(&tensor);
        let shape = graph.tensor_shape(tensor).unwrap_or(&[]);
        if !is_image
            || !graph.ops[op].is_convolution()
            || self.layouts[tensor] == View::channels_last(shape)
        {
            return false;
        }
        // Views launch nothing, so the op that wrote the image counts. Only a library or a
        // concatenation has a layout of its own; other ops write the layout that is wanted.
        let producer = graph.tensors[viewed_base(graph, tensor)].producer;
        producer.is_some_and(|producer| {
            let definition = &graph.ops[producer];
            let concatenates = definition.function == Some(Function::Concat);
            is_call(definition) || concatenates && !self.is_inlined_concat(producer)
        })
    }

    pub(super) fn note_copy(
        &mut self,
        op: OpId,
        tensor: TensorId,
        written_by: OpId,
        [bytes_read, bytes_written]: [u64; 2],
    ) {
        if bytes_read > 0 || bytes_written > 0 {
            self.copied.push(OperandCopy {
                op,
                tensor,
                written_by,
                bytes_read,
                bytes_written,
            });
        }
    }

    /// Adds a node that lays a tensor out anew, for a library, unless an earlier call has it.
    fn copy(&mut self, op: OpId, tensor: TensorId) -> BufferId {
        let graph = self.graph;
        let own = graph.tensors[tensor].bytes().unwrap_or(0);
        let whole = broadcast_operand_size(graph, op, tensor).unwrap_or(own);
        let beyond = whole.saturating_sub(own);
        if let Some(&known) = self.copies.get(&(tensor, whole)) {
            self.note_copy(op, tensor, op, [beyond, 0]);
            return known;
        }
        let width = graph.tensors[tensor].addressed_bytes().unwrap_or(0);
        let mut value = self.values[tensor].clone();
        // What the copy computes is written as the copy alone, not as the operand first.
        let is_free = |&&op: &&OpId| self.target.reshape.is_free_view(graph, op);
        let computed = value.ops.iter().rev().find(|op| !is_free(op));
        let computed = computed.copied();
        let view = graph.tensors[tensor].producer;
        match (computed, view.filter(|&view| graph.ops[view].is_view())) {
            (None, _) => self.note_copy(op, tensor, op, [whole; 2]),
            // Of a view, the copy computes what the view shows, and writes that in its place.
            (Some(_), Some(view)) => {
                self.copied_views.push(view);
                self.note_copy(op, tensor, view, [beyond; 2]);
            }
            (Some(first), None) => self.note_copy(op, tensor, first, [beyond; 2]),
        }
        let mut shape = graph.tensor_shape(tensor).unwrap_or(&[]).to_vec();
        if beyond > 0
            && let Some(broadcast) = broadcast_operand_shape(graph, op, tensor)
        {
            let place = graph.inputs[op].iter().position(|&input| input == tensor);
            value.see(
                broadcast_to(&shape, &broadcast).as_ref(),
                (op, place.unwrap_or(0)),
            );
            shape = broadcast;
        }
        let buffer = self.new_buffer(width);
        if computed.is_none() {
            self.copied_buffers.push((op, tensor, buffer));
        }
        self.write_by_rows(value, &shape, (buffer, width), None);
        self.copies.insert((tensor, whole), buffer);
        buffer
    }

    /// The caller gets a copy of a part of a pointwise result that lies in another order than its
    /// dimensions, or of a view of it in other dimensions: the compiler writes the whole row by
    /// row. Source: `ExternKernel.convert_to_reinterpret_view` in `torch/_inductor/ir.py`.
    pub(super) fn copy_part(&mut self, op: OpId) {
        let graph = self.graph;
        let base = viewed_base(graph, graph.output[op]);
        let producer = graph.tensors[base].producer;
        let is_pointwise = producer.is_some_and(|op| graph.ops[op].op_type == OpType::Elementwise);
        // Loops that only move in another order are brought into one order.
        let is_permuted = self.layout_by_rows(op, base).is_some_and(|view| {
            view.strides(&graph.ops[op].shape).is_some()
                && graph.tensors[base].elements() == Some(view.elements())
        });
        if is_pointwise
            && !is_permuted
            && graph.is_final(graph.output[op])
            && !graph.is_final(base)
            && !self.layouts[base].is_flat()
        {
            self.launch_beside(BufferId::of_tensor(base));
        }
    }

    /// Where the elements of a view lie if what it views lies row by row.
    fn layout_by_rows(&self, view: OpId, base: TensorId) -> Option<View> {
        let graph = self.graph;
        if graph.output[view] == base {
            return Some(View::whole(graph.tensors[base].elements()?));
        }
        let input = *graph.inputs[view].first()?;
        let own = view_of_op(graph, view)?;
        match graph.tensors[input].producer {
            Some(producer) => own.through(&self.layout_by_rows(producer, base)?),
            None => Some(own),
        }
    }

    /// The caller, or attention, gets a copy of a pointwise result whose dimensions are both cut
    /// and joined. Returns whether it gets one.
    pub(super) fn copy_crossing_view(&mut self, op: OpId) -> bool {
        let graph = self.graph;
        let output = graph.output[op];
        let uses = self.uses[output];
        let mut inputs = graph.inputs[op].iter();
        let is_copied = uses.copies_unwritten && !inputs.any(|&input| self.is_computed(input));
        let is_seen = uses.is_result || is_copied;
        let is_launched = is_seen && is_crossing(graph, op) && self.is_behind_crossing(output);
        if is_launched {
            self.launch_beside(BufferId::of_tensor(viewed_base(graph, output)));
        }
        is_launched
    }

    /// Whether a tensor shows a pointwise result by a view that both cuts and joins its dimensions:
    /// the compiler does not see that the elements keep their order, so a library gets a copy of
    /// what is shown. Source: `ExternKernel.convert_to_reinterpret_view` in
    /// `torch/_inductor/ir.py`.
    fn is_behind_crossing(&self, tensor: TensorId) -> bool {
        let graph = self.graph;
        let mut shown = tensor;
        let mut crosses = false;
        while let Some(view) = graph.tensors[shown].producer
            && graph.ops[view].is_view()
            && let Some(&input) = graph.inputs[view].first()
        {
            crosses |= is_crossing(graph, view);
            shown = input;
        }
        let Some(source) = graph.tensors[shown].producer.filter(|_| crosses) else {
            return false;
        };
        let definition = &graph.ops[source];
        let has_bias = definition.is_convolution() && graph.inputs[source].len() > 2;
        // The elements of a norm are a pointwise op.
        let is_norm = definition.function != Some(Function::Cumsum) && keeps_shape(graph, source);
        definition.op_type == OpType::Elementwise || is_norm || has_bias
    }

    /// The bias that a pointwise op adds afterwards: that of each convolution, and of some linear
    /// layers. Source: `convolution` in `torch/_inductor/kernel/conv.py`.
    fn bias_behind(&self, ops: &[OpId]) -> Option<TensorId> {
        let &[op] = ops else {
            return None;
        };
        if self.graph.ops[op].is_convolution() {
            return self.graph.inputs[op].get(2).copied();
        }
        bias_behind(self.graph, &self.layouts, op)
    }

    fn call_then_bias(&mut self, op: OpId, bias: TensorId, value: LoweredValue, space: Loop) {
        let graph = self.graph;
        let (output, shape) = (graph.output[op], &graph.ops[op].shape);
        let layout = self.layouts[output].clone();
        let width = graph.tensors[output].addressed_bytes().unwrap_or(0);
        let product = self.new_buffer(width);
        let node = self.node(value, space, shape);
        self.push(node.writing(product, &layout, shape, width));
        let mut added = self.values[bias].clone();
        let seen = if graph.ops[op].is_convolution() {
            View::per_channel(shape)
        } else {
            broadcast(graph.tensor_shape(bias).unwrap_or(&[]), &graph.ops[op])
        };
        added.see(seen.as_ref(), (op, 2));
        added.reads.push(BufferView::new(product, Some(layout)));
        added.sort();
        self.pad_channels(op, product);
        if self.is_buffer(&added, output) {
            let elements = element_count(shape).unwrap_or(0);
            self.write(added, Loop::Pointwise(elements), output, shape);
        } else {
            self.values[output] = added;
        }
    }

    /// Adds the launches by which the library pads image and filters, if their channels do not fill
    /// the matrix units.
    fn pad_channels(&mut self, op: OpId, written: BufferId) {
        let graph = self.graph;
        let definition = &graph.ops[op];
        let shapes = graph.inputs[op]
            .iter()
            .map(|&tensor| graph.tensor_shape(tensor));
        let shapes: Vec<&[u64]> = shapes.map(Option::unwrap_or_default).collect();
        let (Some(&[_, channels, ..]), Some(&[filters, each, ..])) =
            (shapes.first(), shapes.get(1))
        else {
            return;
        };
        let is_half = definition.element_type().is_some_and(DType::is_half);
        let is_convolution = definition.is_convolution();
        let is_odd = !channels.is_multiple_of(CHANNELS) && filters.is_multiple_of(CHANNELS);
        // A filter of a grouped convolution has fewer channels than the image.
        if is_convolution && is_half && channels == each && is_odd {
            // One launch for the image, one for the filters.
            for _ in 0..2 {
                self.launch_beside(written);
            }
        }
    }
}
