//! What a reduction to a single value makes of its input: the compiler writes it to a buffer, and
//! cuts it as an earlier reduction or the memory does.

use super::lower::Lowering;
use super::reduced::is_variance;
use super::value::{BufferView, LoweredValue};
use crate::fusion::loops::Loop;
use crate::fusion::rows::RowDomain;
use crate::fusion::views::viewed_base;
use crate::model::functions::Function;
use crate::model::ids::OpId;
use crate::model::op::element_count;

impl Lowering<'_> {
    /// Writes the input of a reduction to one value in pieces to a buffer, which later ops read,
    /// and fixes its layout.
    ///
    /// Source: `Reduction.check_for_split_dense_dim_reindexing` in `torch/_inductor/ir.py`.
    pub(super) fn write_input(&mut self, op: OpId) {
        let graph = self.graph;
        let Some(&input) = graph.inputs[op].first() else {
            return;
        };
        let tensor = viewed_base(graph, input);
        let value = self.values[tensor].clone();
        // A conversion or a variance reads what is computed from the input.
        if self.converts(op) || is_variance(&graph.ops[op]) {
            return;
        }
        self.fixed.insert(tensor);
        let is_inlined = !value.ops.is_empty();
        let producer = graph.tensors[tensor].producer;
        let is_read_later = producer.is_some_and(|producer| self.is_read_after(producer, op));
        if let (true, true, Some(producer)) = (is_inlined, is_read_later, producer) {
            let shape = &graph.ops[producer].shape;
            let elements = element_count(shape).unwrap_or(0);
            self.write(value, Loop::Pointwise(elements), tensor, shape);
            self.read_from_buffer(tensor);
        }
    }

    /// Whether an op that is lowered after another one reads what an op computes, if only through a
    /// view.
    fn is_read_after(&self, producer: OpId, op: OpId) -> bool {
        let mut open = vec![producer];
        while let Some(read) = open.pop() {
            for &reader in &self.graph.successors[read] {
                if self.graph.ops[reader].is_view() {
                    open.push(reader);
                } else if reader != op && !self.is_lowered[reader] {
                    return true;
                }
            }
        }
        false
    }

    /// The loop of the row values from which a single value is reduced: it is cut into their rows,
    /// if they are of as many elements. Source: `extract_input_node_reduction_ranges` in
    /// `torch/_inductor/dependencies.py`.
    pub(super) fn rows_before(
        &self,
        op: OpId,
        value: &LoweredValue,
        shape: &[u64],
    ) -> Option<(Loop, u64)> {
        let elements = element_count(shape)?;
        if RowDomain::of_op(self.graph, op).rows != 1 || self.pieces_of(1, elements, true) <= 1 {
            return None;
        }
        let input = *self.graph.inputs[op].first()?;
        let own = &self.values[input];
        let producer = self.graph.tensors[input].producer;
        let is_view = producer.is_some_and(|producer| self.graph.ops[producer].is_view());
        if is_view && self.is_computed(input) && !self.converts(op) {
            // A view of what no buffer held is not followed to what it reads.
            return None;
        }
        if let [read] = &own.reads[..]
            && own.ops.is_empty()
            && !self.converts(op)
            && !self.reduced.contains_key(&read.buffer)
        {
            // What is written already has the rows of its own loop, and none if nothing is reduced.
            return None;
        }
        let known = |read: &BufferView| {
            let reduced = self.reduced.get(&read.buffer);
            reduced.or_else(|| self.normed.get(&read.buffer)).copied()
        };
        let mut loops = value.reads.iter().filter_map(known);
        let first = loops.next()?;
        let Loop::Reduction { rows, width, .. } = first else {
            return None;
        };
        (loops.all(|other| other == first) && rows.checked_mul(width) == Some(elements))
            .then_some((first, rows))
    }

    /// The dimension of a reduction's input along which neighbours lie side by side in memory, if
    /// it is not the last one. Source: `check_for_split_dense_dim_reindexing`, as above.
    pub(super) fn dense_dimension(&self, op: OpId, shape: &[u64]) -> Option<usize> {
        let &input = self.graph.inputs[op].first()?;
        let producer = self.graph.tensors[input].producer;
        let is_view = producer.is_some_and(|producer| self.graph.ops[producer].is_view());
        if is_view && self.is_computed(input) && !self.converts(op) {
            // A view of what no buffer held has no strides, unless a conversion writes it.
            return None;
        }
        let strides = self.layouts[input].strides(shape)?;
        let dimension = strides.iter().position(|&stride| stride == 1)?;
        (dimension + 1 < shape.len()).then_some(dimension)
    }

    /// Whether a reduction reads what its input is after a conversion: a mean of 16 bits.
    pub(super) fn converts(&self, op: OpId) -> bool {
        let input = self.graph.inputs[op].first();
        let bytes = input.and_then(|&tensor| self.graph.tensors[tensor].addressed_bytes());
        self.graph.ops[op].function == Some(Function::Mean) && bytes.is_none_or(|bytes| bytes < 4)
    }
}
