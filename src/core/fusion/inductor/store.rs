//! Writes into a part of a tensor: a loop over the source, which stores each element at its index.
//!
//! Source: `index_put_impl_` and `slice_scatter` in `torch/_inductor/lowering.py`, and
//! `torch/_inductor/fx_passes/reinplace.py`.

use super::facts::copies_before;
use super::lower::Lowering;
use super::node::{BufferAccess, BufferId, SchedulerNode};
use super::value::{BufferView, LoweredValue};
use super::view::{View, broadcast_to};
use crate::fusion::loops::Loop;
use crate::fusion::views::viewed_base;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::{Op, element_count};

/// Whether a loop over the source of an op writes into its first input, or into a copy of that.
pub(super) fn is_store(op: &Op) -> bool {
    match op.function {
        Some(Function::IndexCopy | Function::IndexPut) => true,
        _ if copies_first(op) => true,
        // Sums in bf16 are left to the library (`index_add` in `torch/_inductor/decomposition.py`).
        Some(Function::IndexAdd) => op.element_type() != Some(DType::Bf16),
        // Anything but a write in place computes all elements, of either input.
        Some(Function::SliceScatter) => op.in_place,
        _ => false,
    }
}

/// Whether the compiler writes into a copy of the first input, whatever else reads that. Source:
/// `scatter` and `scatter_add` in `torch/_inductor/lowering.py`, which `reinplace.py` leaves alone.
pub(super) const fn copies_first(op: &Op) -> bool {
    matches!(op.function, Some(Function::Scatter | Function::ScatterAdd))
}

impl Lowering<'_> {
    /// Adds the node of a write into a part.
    pub(super) fn store(&mut self, op: OpId) {
        let graph = self.graph;
        let composed = self.composed(op);
        let part = composed.last().copied().unwrap_or(op);
        let shape = loop_shape(graph, part);
        if graph.ops[part].function == Some(Function::SliceScatter)
            && let Some(&source) = graph.inputs[part].get(1)
        {
            self.write_source(source);
        }
        let mut value = LoweredValue::default();
        for (place, &tensor) in graph.inputs[part].iter().enumerate() {
            if place == 0 && self.as_values.is_on_copy(op) {
                let copy = self.copy_view(op, tensor);
                value.reads.push(BufferView::new(copy, None));
                let written = BufferId::of_tensor(graph.output[op]);
                self.readers.note_overwritten(copy, written);
                continue;
            }
            if place == 0 && copies_first(&graph.ops[op]) {
                let copy = self.copy_first(op, tensor);
                value.reads.push(BufferView::new(copy, None));
                continue;
            }
            let mut input = self.values[tensor].clone();
            if place == 0 {
                // What computes the tensor runs before, but shares no index with the writes.
                let computed = input.reads.iter().filter(|read| !read.is_given(graph));
                let waits = computed.map(|read| BufferView::new(read.buffer, None));
                value.reads.extend(waits);
                continue;
            }
            input.see(index(graph, part, place, &shape).as_ref(), (part, place));
            value.append(&input);
        }
        value.sort();
        for &write in composed.iter().rev() {
            value.compute(graph, write);
        }
        let elements = element_count(&shape).unwrap_or(0);
        let written = BufferId::of_tensor(graph.output[op]);
        let width = self.width_of(written);
        let node = self.node(value, Loop::Pointwise(elements), &shape);
        let node = if let Some((_, part)) = self.written_part(op) {
            node.writing(written, &part, &shape, width)
        } else {
            let bytes = elements.saturating_mul(width.into());
            let writes = BufferAccess::of(written, None, &[], width);
            let writes = BufferAccess { bytes, ..writes };
            SchedulerNode { writes, ..node }
        };
        self.push(node);
        if copies_first(&graph.ops[op]) {
            return;
        }
        if copies_before(graph, op) {
            self.launch_beside(written);
        } else if !graph.ops[op].in_place
            && let Some(&first) = graph.inputs[op].first()
        {
            self.placed.push((op, first));
        }
    }

    /// Adds the copy of the first input into which an op writes, and gives its buffer: what
    /// computes the input computes it into the copy.
    fn copy_first(&mut self, op: OpId, target: TensorId) -> BufferId {
        let graph = self.graph;
        let width = self.width_of(BufferId::of_tensor(target));
        let is_computed = self.is_computed(target);
        let buffer = if is_computed && self.unwritten.insert(target) {
            if !graph.ops[op].in_place {
                self.placed.push((op, target));
            }
            BufferId::of_tensor(target)
        } else {
            self.new_buffer(width)
        };
        let written = BufferId::of_tensor(graph.output[op]);
        let shape = graph.tensor_shape(target).unwrap_or(&[]);
        let value = self.values[target].clone();
        let launch_of = (!is_computed).then_some(written);
        self.write_by_rows(value, shape, (buffer, width), launch_of);
        self.readers.note_overwritten(buffer, written);
        buffer
    }

    /// Writes what is copied into a slice to a buffer of its own, if it is computed from several
    /// (`MutationLayoutSHOULDREMOVE.realize_into` in `torch/_inductor/ir.py`).
    fn write_source(&mut self, source: TensorId) {
        let graph = self.graph;
        let tensor = viewed_base(graph, source);
        let value = self.values[tensor].clone();
        if let Some(producer) = graph.tensors[tensor].producer
            && self.counted_reads(&value).count() > 1
            && self.is_computed(tensor)
        {
            self.write_pointwise(producer, value);
            self.read_from_buffer(tensor);
        }
    }

    /// A write into a part, and those that it composes: each writes into a part of the part of the
    /// one before.
    pub(super) fn composed(&self, op: OpId) -> Vec<OpId> {
        let next = |&write: &OpId| self.as_values.composed(self.graph, write);
        std::iter::successors(Some(op), next).collect()
    }

    /// The elements of a buffer that a write into a slice overwrites, in loops over the source, and
    /// how its first input reads that buffer.
    pub(super) fn written_part(&self, op: OpId) -> Option<(&BufferView, View)> {
        let graph = self.graph;
        if graph.ops[op].function != Some(Function::SliceScatter) {
            return None;
        }
        let &part = self.composed(op).last()?;
        let &[target, source] = &graph.inputs[part] else {
            return None;
        };
        let [read] = &self.values[target].reads[..] else {
            return None;
        };
        let (of, shape) = (graph.tensor_shape(target)?, graph.tensor_shape(source)?);
        let view = View::of_slice(of, shape, graph.ops[part].indexing.as_ref()?)?;
        Some((read, view.through(read.view.as_ref()?)?))
    }

    /// Adds the copy of a view through which an op writes, and gives its buffer.
    fn copy_view(&mut self, op: OpId, target: TensorId) -> BufferId {
        let graph = self.graph;
        let mut value = self.values[target].clone();
        value.ops.retain(|&op| !graph.ops[op].is_view());
        let bytes = graph.tensors[target].bytes().unwrap_or(0);
        // An op that puts the copy back where the view is counts nothing itself.
        let moves = u64::from(value.ops.is_empty()) + u64::from(self.as_values.is_put_back(op));
        self.note_copy(op, target, op, [bytes.saturating_mul(moves); 2]);
        let width = self.width_of(BufferId::of_tensor(target));
        let buffer = self.new_buffer(width);
        let shape = graph.tensor_shape(target).unwrap_or(&[]);
        let written = BufferId::of_tensor(graph.output[op]);
        self.write_by_rows(value, shape, (buffer, width), Some(written));
        buffer
    }
}

/// The shape over which a write runs: that of the elements that it writes.
fn loop_shape(graph: &Graph, op: OpId) -> Vec<u64> {
    let inputs = &graph.inputs[op];
    let shape = |place: usize| {
        inputs
            .get(place)
            .and_then(|&tensor| graph.tensor_shape(tensor))
    };
    let source = inputs.len().checked_sub(1).and_then(shape).unwrap_or(&[]);
    if graph.ops[op].function != Some(Function::IndexPut) {
        return source.to_vec();
    }
    // A source is broadcast to the indices and to the dimensions behind the indexed ones.
    let indexed = inputs.len().saturating_sub(2);
    let indices = (1..=indexed)
        .filter_map(shape)
        .max_by_key(|shape| shape.len());
    let behind = shape(0).and_then(|shape| shape.get(indexed..));
    [indices.unwrap_or(&[]), behind.unwrap_or(&[])].concat()
}

/// The element of an input that is read for each element of the loop.
fn index(graph: &Graph, op: OpId, place: usize, over: &[u64]) -> Option<View> {
    let tensor: TensorId = *graph.inputs[op].get(place)?;
    let shape = graph.tensor_shape(tensor)?;
    // The index of a scatter has the shape of the source.
    let is_scatter = copies_first(&graph.ops[op]);
    if is_scatter || place + 1 == graph.inputs[op].len() {
        return broadcast_to(shape, over);
    }
    let indexed = match graph.ops[op].function? {
        Function::IndexPut => graph.inputs[op].len().checked_sub(2)?,
        _ => graph.ops[op].indexing.as_ref()?.axis + 1,
    };
    index_of(graph, op, tensor, indexed, over)
}

/// The element of an index that belongs to each element of a shape: behind the indices are the
/// dimensions that the first input has behind its `indexed` ones.
pub(super) fn index_of(
    graph: &Graph,
    op: OpId,
    index: TensorId,
    indexed: usize,
    over: &[u64],
) -> Option<View> {
    let first = graph.tensor_shape(*graph.inputs[op].first()?)?;
    let behind = first.len().checked_sub(indexed)?;
    let shape = [graph.tensor_shape(index)?, &vec![1; behind]].concat();
    broadcast_to(&shape, over)
}
