//! Lowers calls of libraries and templates, with the copies that they read.

use super::facts::{crosses, is_call};
use super::layout::{bias_behind, has_no_rows, is_copied};
use super::lower::Lowering;
use super::node::BufferId;
use super::value::{BufferView, LoweredValue};
use super::view::{View, broadcast};
use crate::fusion::loops::Loop;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::element_count;
use crate::model::op_type::OpType;

/// Channels that cuDNN wants a multiple of, in types of two bytes.
const CHANNELS: u64 = 8;

impl Lowering<'_> {
    /// Adds one node, a library call or a template, for all of these ops in order.
    pub(super) fn call(&mut self, ops: &[OpId], space: Loop) {
        let graph = self.graph;
        let made: Vec<TensorId> = ops.iter().map(|&op| graph.output[op]).collect();
        let bias = self.bias_behind(ops);
        let mut value = LoweredValue::default();
        let mut copies = 0;
        for &op in ops {
            for &tensor in &graph.inputs[op] {
                if made.contains(&tensor) {
                    continue;
                }
                // A flash kernel reads its operands by their strides, so it needs no copies.
                let is_flash = ops
                    .iter()
                    .filter(|&&op| graph.ops[op].op_type == OpType::Matmul)
                    .count()
                    > 1;
                let is_relaid = || self.is_relaid_image(op, tensor);
                if !is_flash && (is_copied(graph, &self.layouts, op, tensor) || is_relaid()) {
                    let copy = self.copy(tensor);
                    value.reads.push(BufferView::new(copy, None));
                } else if Some(tensor) != bias {
                    value.append(&self.values[tensor]);
                    copies +=
                        usize::from(!is_flash && has_no_rows(graph, &self.layouts, op, tensor));
                }
            }
        }
        value.ops.extend(ops);
        value.sort();
        if let (&[op], Some(bias)) = (ops, bias) {
            self.call_then_bias(op, bias, value, space);
        } else if let Some(&last) = ops.last() {
            self.write(value, space, graph.output[last], &graph.ops[last].shape);
            let written = BufferId::of_tensor(graph.output[last]);
            self.pad_channels(last, written);
            for _ in 0..copies {
                self.launch_beside(written);
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
        let mut producer = graph.tensors[tensor].producer;
        while let Some(view) = producer.filter(|&op| graph.ops[op].is_view()) {
            let input = graph.inputs[view].first();
            producer = input.and_then(|&input| graph.tensors[input].producer);
        }
        producer.is_some_and(|producer| {
            let definition = &graph.ops[producer];
            let concatenates = definition.function == Some(Function::Concat);
            is_call(definition) || concatenates && !self.is_inlined_concat(producer)
        })
    }

    /// Adds a node that lays a tensor out anew, for a library.
    fn copy(&mut self, tensor: TensorId) -> BufferId {
        if let Some(&known) = self.copies.get(&tensor) {
            return known;
        }
        let shape = self.graph.tensor_shape(tensor).unwrap_or(&[]);
        let elements = element_count(shape).unwrap_or(0);
        let (value, buffer) = (self.values[tensor].clone(), self.new_buffer());
        let width = self.graph.tensors[tensor].bytes_per_element.unwrap_or(0);
        let node = self.node(value, Loop::Pointwise(elements), shape);
        self.push(node.writing(buffer, &View::whole(elements), shape, width));
        self.copies.insert(tensor, buffer);
        buffer
    }

    /// A library, or the caller, gets a copy of a pointwise result whose dimensions are both cut
    /// and joined: the compiler does not see that the elements keep their order. Source:
    /// `ExternKernel.convert_to_reinterpret_view` in `torch/_inductor/ir.py`.
    pub(super) fn copy_crossing_view(&mut self, op: OpId) {
        let graph = self.graph;
        let output = graph.output[op];
        let shape = graph.inputs[op]
            .first()
            .and_then(|&t| graph.tensor_shape(t));
        let uses = self.uses[output];
        let is_seen = uses.is_result || uses.feeds_library;
        let is_reshape = graph.ops[op].function == Some(Function::Reshape);
        if !is_seen
            || !is_reshape
            || !shape.is_some_and(|shape| crosses(shape, &graph.ops[op].shape))
        {
            return;
        }
        let mut source = op;
        while graph.ops[source].is_view()
            && let Some(producer) =
                (graph.inputs[source].first()).and_then(|&tensor| graph.tensors[tensor].producer)
        {
            source = producer;
        }
        let definition = &graph.ops[source];
        let has_bias = definition.is_convolution() && graph.inputs[source].len() > 2;
        if definition.op_type == OpType::Elementwise || has_bias {
            self.launch_beside(BufferId::of_tensor(graph.output[source]));
        }
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
        let product = self.new_buffer();
        let width = graph.tensors[output].bytes_per_element.unwrap_or(0);
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
        let is_half = matches!(definition.element_type(), Some(DType::F16 | DType::Bf16));
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
