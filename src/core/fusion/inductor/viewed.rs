//! Lowers views: most are indices that their readers apply, and some are copies.

use super::facts::{elements, is_call, is_crossing, keeps_shape};
use super::layout::is_copied_reshape;
use super::lower::Lowering;
use super::node::BufferId;
use super::realized::INLINED_OPS;
use super::value::{LoweredValue, buffer_value};
use super::view::view_of_op;
use crate::fusion::loops::Loop;
use crate::fusion::views::viewed_base;
use crate::model::ids::OpId;

impl Lowering<'_> {
    pub(super) fn view(&mut self, op: OpId) {
        let graph = self.graph;
        let Some(&input) = graph.inputs[op].first() else {
            return;
        };
        let output = graph.output[op];
        let mut value = self.values[input].clone();
        value.see(view_of_op(graph, op).as_ref(), (op, 0));
        let is_launched = self.copy_crossing_view(op);
        let is_copy = !is_launched && is_copied_reshape(graph, &self.layouts, op);
        let is_of_buffer = value.ops.is_empty() && !graph.tensors[input].is_external() && !is_copy;
        if !is_of_buffer {
            value.ops.push(op);
        }
        self.copy_part(op);
        if is_copy && self.copy_unshown(op, &value) {
            return;
        }
        // A result is written where it is lowered, and who reads it later reads that buffer.
        let base = viewed_base(graph, output);
        if graph.is_final(output) && self.computes(&value) && self.uses[base].is_viewed {
            self.read_from_buffer(base);
            value = buffer_value(BufferId::of_tensor(base), self.layouts[output].clone());
        }
        // Each view of an inlined value copies the value, so without a bound a chain of views
        // would take quadratic time.
        if value.ops.len() <= INLINED_OPS {
            self.values[output] = value;
        } else {
            let space = Loop::Pointwise(elements(&graph.ops[op]));
            self.write(value, space, output, &graph.ops[op].shape);
        }
    }

    /// Writes the value of a reshape that no strides show, where the caller or a library gets it.
    /// Returns whether later ops read that buffer.
    fn copy_unshown(&mut self, op: OpId, value: &LoweredValue) -> bool {
        let graph = self.graph;
        let (output, shape) = (graph.output[op], &graph.ops[op].shape);
        let space = Loop::Pointwise(elements(&graph.ops[op]));
        let (is_computed, is_crossing) = (self.computes(value), is_crossing(graph, op));
        let producer = graph.tensors[viewed_base(graph, output)].producer;
        let is_of_call = producer.is_some_and(|producer| is_call(&graph.ops[producer]));
        let is_of_norm = producer.is_some_and(|producer| keeps_shape(graph, producer));
        // It computes what it views, in loops over the old shape.
        let viewed = graph.inputs[op].first().filter(|_| !is_crossing);
        let viewed = viewed.and_then(|&input| graph.tensor_shape(input));
        let loops = viewed.unwrap_or(shape);
        if graph.is_final(output) {
            let is_given = producer.is_none();
            if is_computed && !is_crossing || !is_computed && (is_given || is_of_call || is_of_norm)
            {
                self.copied_views.push(op);
                self.write(value.clone(), space, output, loops);
            }
        }
        let uses = self.uses[output];
        let is_operand = uses.feeds_library && !(is_computed && is_crossing)
            || uses.copies_unwritten && !is_computed;
        if is_operand {
            self.copied_views.push(op);
            self.write(value.clone(), space, output, loops);
            if is_of_call && is_crossing {
                // The compiler does not see that the elements keep their order, and copies again.
                self.launch_beside(BufferId::of_tensor(output));
            }
        }
        is_operand
    }

    /// Whether a value contains more than views.
    fn computes(&self, value: &LoweredValue) -> bool {
        (value.ops.iter()).any(|&op| !self.graph.ops[op].is_view())
    }
}
