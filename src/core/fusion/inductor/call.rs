//! Lowers calls of libraries and templates, with the copies that they read.

use super::layout::is_copied;
use super::lower::Lowering;
use super::node::BufferId;
use super::value::{Source, Value};
use super::view::View;
use crate::core::fusion::loops::Loop;
use crate::core::model::ids::{OpId, TensorId};
use crate::core::model::op::element_count;
use crate::core::model::op_type::OpType;

impl Lowering<'_> {
    /// Adds one node, a library call or a template, for all of these ops in order.
    pub(super) fn call(&mut self, ops: &[OpId], space: Loop) {
        let graph = self.graph;
        let made: Vec<TensorId> = ops.iter().map(|&op| graph.output[op]).collect();
        let bias = self.bias_of_convolution(ops);
        let mut value = Value::default();
        for &op in ops {
            for &tensor in &graph.inputs[op] {
                if made.contains(&tensor) {
                    continue;
                }
                let is_flash = ops
                    .iter()
                    .filter(|&&op| graph.ops[op].op_type == OpType::Matmul)
                    .count()
                    > 1;
                if !is_flash && is_copied(graph, &self.layouts, op, tensor) {
                    let copy = self.copy(tensor);
                    value.reads.push(Source::new(copy, None));
                } else if Some(tensor) != bias {
                    value.append(&self.values[tensor]);
                }
            }
        }
        value.ops.extend(ops);
        value.sort();
        if let (&[op], Some(bias)) = (ops, bias) {
            self.convolution(op, bias, value, space);
        } else if let Some(&last) = ops.last() {
            self.write(value, space, graph.output[last], &graph.ops[last].shape);
        }
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

    /// The bias of a convolution, which a pointwise op adds afterwards. Source: `convolution` in `torch/_inductor/kernel/conv.py`.
    fn bias_of_convolution(&self, ops: &[OpId]) -> Option<TensorId> {
        let &[op] = ops else {
            return None;
        };
        let is_convolution = self.graph.ops[op].function.as_deref() == Some("conv2d");
        self.graph.inputs[op]
            .get(2)
            .copied()
            .filter(|_| is_convolution)
    }

    fn convolution(&mut self, op: OpId, bias: TensorId, value: Value, space: Loop) {
        let graph = self.graph;
        let (output, shape) = (graph.output[op], &graph.ops[op].shape);
        let layout = self.layouts[output].clone();
        let product = self.new_buffer();
        let width = graph.tensors[output].bytes_per_element.unwrap_or(0);
        let node = self.node(value, space, shape);
        self.push(node.writing(product, &layout, shape, width));
        let mut added = self.values[bias].clone();
        added.see(View::per_channel(shape).as_ref(), (op, 2));
        added.reads.push(Source::new(product, Some(layout)));
        added.sort();
        if self.is_buffer(&added, output) {
            let elements = element_count(shape).unwrap_or(0);
            self.write(added, Loop::Pointwise(elements), output, shape);
        } else {
            self.values[output] = added;
        }
    }
}
