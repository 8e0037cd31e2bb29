//! Writes in place: what reads a buffer runs before it is overwritten.
//!
//! Source: `mark_buffer_mutated` in `torch/_inductor/graph.py`, which writes the pending readers of
//! the buffer, `compute_dependencies` and `fusable_weak_dep` in `torch/_inductor/scheduler.py`.

use super::facts::elements;
use super::locality::Step;
use super::lower::Lowering;
use super::node::{BufferAccess, BufferId, SchedulerNode};
use super::schedule::{GroupId, Schedule};
use super::value::{BufferView, LoweredValue, buffer_value};
use super::view::AccessedElements;
use crate::fusion::loops::Loop;
use crate::fusion::reason::Reason;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::element_count;
use std::collections::HashMap;

/// The readers of each buffer so far, and what else a write into it needs to know; empty without
/// ops in place.
#[derive(Default)]
pub(super) struct BufferReaders {
    /// For each tensor when it is last read, through views or itself.
    last_use: IdVec<TensorId, Option<usize>>,
    /// For each buffer the inlined tensors that read it.
    inlined: HashMap<BufferId, Vec<TensorId>>,
    /// For each buffer the buffers that nodes have computed from it, and whether they have read it
    /// in its own order from the first element on.
    computed: HashMap<BufferId, Vec<(BufferId, bool)>>,
    /// For each copy into which an op writes the buffer that the op gives: whoever waits for the
    /// copy waits for the write (`rename` in `Scheduler.compute_dependencies`).
    overwritten: HashMap<BufferId, BufferId>,
}

impl BufferReaders {
    /// `O(ops + reads)`.
    pub(super) fn of(graph: &Graph, order: &[Step]) -> Self {
        if !graph.ops.iter().any(|op| op.in_place) {
            return Self::default();
        }
        let mut last_use = IdVec::from_elem(None, graph.tensors.len());
        for (at, step) in order.iter().enumerate().rev() {
            let op = step.op();
            let through_view = graph.ops[op].is_view();
            let last = last_use[graph.output[op]].filter(|_| through_view);
            for &tensor in &graph.inputs[op] {
                last_use[tensor] = last_use[tensor].max(last).max(Some(at));
            }
        }
        Self {
            last_use,
            ..Self::default()
        }
    }

    fn is_on(&self) -> bool {
        !self.last_use.is_empty()
    }

    /// Notes that a tensor is inlined into its readers.
    pub(super) fn note_inlined(&mut self, tensor: TensorId, value: &LoweredValue) {
        if self.is_on() {
            for read in &value.reads {
                self.inlined.entry(read.buffer).or_default().push(tensor);
            }
        }
    }

    /// Notes that an op writes into a copy, and the buffer that it gives.
    pub(super) fn note_overwritten(&mut self, copy: BufferId, by: BufferId) {
        self.overwritten.insert(copy, by);
    }

    /// Notes what a node reads.
    pub(super) fn note_node(&mut self, node: &SchedulerNode) {
        if self.is_on() {
            for read in &node.reads {
                let computed = self.computed.entry(read.buffer).or_default();
                let is_same = read.is_straight && !read.is_shifted;
                computed.push((node.writes.buffer, is_same));
            }
        }
    }
}

impl Lowering<'_> {
    /// Whether an op overwrites its first input.
    pub(super) fn writes_in_place(&self, op: OpId) -> bool {
        self.as_values.is_in_place(self.graph, op)
    }

    /// What an op in place writes of the buffers that hold its first input.
    fn written_by(&self, op: OpId) -> Vec<BufferView> {
        if let Some((read, part)) = self.written_part(op) {
            return vec![BufferView::new(read.buffer, Some(part))];
        }
        let target = self.graph.inputs[op].first();
        target.map_or(Vec::new(), |&tensor| self.values[tensor].reads.clone())
    }

    /// Writes the inlined values that read what an op overwrites and that are needed after it, or
    /// read it in another order.
    pub(super) fn write_readers(&mut self, op: OpId) {
        let graph = self.graph;
        let buffers = self.overwritten(op);
        let written = self.written_by(op);
        // In another order, or shifted: as a concatenation reads what it moves to the front.
        let is_reordered = |tensor: TensorId| {
            self.values[tensor].reads.iter().any(|read| {
                let mut written = written.iter().filter(|write| write.buffer == read.buffer);
                written.any(|write| match (&read.view, &write.view) {
                    (Some(read), Some(write)) => {
                        let start = read.start();
                        !read.is_straight() || start.is_none() || start != write.start()
                    }
                    _ => true,
                })
            })
        };
        // Views of an inlined value may move it, too.
        let mut sources = graph.inputs[op].iter().skip(1);
        let moves = sources.any(|&tensor| is_reordered(tensor));
        let at = self.position[op];
        let composed = self.composed(op);
        let is_needed = |&tensor: &TensorId| {
            let producer = graph.tensors[tensor].producer;
            let mut last_use = self.readers.last_use[tensor];
            // What a composed write gives, the op does not read.
            if producer.is_some_and(|producer| composed.contains(&producer)) {
                last_use = last_use.filter(|&last_use| last_use > at);
            }
            producer.is_some_and(|producer| !graph.ops[producer].is_view())
                && (last_use > Some(at) || last_use == Some(at) && (moves || is_reordered(tensor)))
        };
        let readers = buffers.iter();
        let inlined = readers.filter_map(|buffer| self.readers.inlined.get(buffer));
        let mut needed: Vec<TensorId> = inlined.flatten().copied().filter(is_needed).collect();
        needed.sort_unstable();
        needed.dedup();
        for tensor in needed {
            let Some(producer) = graph.tensors[tensor].producer else {
                continue;
            };
            let own = buffer_value(BufferId::of_tensor(tensor), self.layouts[tensor].clone());
            let value = std::mem::replace(&mut self.values[tensor], own);
            // Written at an earlier write already.
            if value.ops.is_empty() {
                continue;
            }
            let definition = &graph.ops[producer];
            let space = Loop::Pointwise(elements(definition));
            self.write(value, space, tensor, &definition.shape);
        }
    }

    /// The buffers that ops in place in a value overwrite.
    pub(super) fn overwritten_by(&self, value: &LoweredValue) -> Vec<BufferId> {
        if !self.readers.is_on() {
            return Vec::new();
        }
        let mut buffers: Vec<BufferId> = value
            .ops
            .iter()
            .flat_map(|&op| self.overwritten(op))
            .collect();
        buffers.sort_unstable();
        buffers.dedup();
        buffers
    }

    /// The buffers that an op in place overwrites.
    fn overwritten(&self, op: OpId) -> Vec<BufferId> {
        let target = self.graph.inputs[op].first();
        let target = target.filter(|_| self.writes_in_place(op));
        let reads = target.map(|&tensor| &self.values[tensor].reads);
        let buffers = reads.into_iter().flatten().map(|read| read.buffer);
        let output = self.graph.output[op];
        buffers
            .filter(|&buffer| self.shares_memory(buffer, output))
            .collect()
    }

    /// Whether a buffer is in the memory that the result of an op in place is in.
    fn shares_memory(&self, buffer: BufferId, result: TensorId) -> bool {
        let memory = self.graph.tensors[result].in_memory_of;
        let Some(tensor) = buffer.tensor(self.graph) else {
            return false;
        };
        memory.map(BufferId::of_tensor) == Some(buffer)
            || tensor.in_memory_of == memory
                && tensor.producer.is_some_and(|op| self.writes_in_place(op))
    }

    /// Copies the last value of each input of the program that ops in place do not overwrite into
    /// its memory, after all that reads the input. `O(tensors)`.
    pub(super) fn copy_into_memory(&mut self) {
        let graph = self.graph;
        let copied = std::mem::take(&mut self.as_values.copied_back);
        let mut in_memory: HashMap<TensorId, Vec<BufferId>> = HashMap::with_capacity(copied.len());
        let memories = copied
            .iter()
            .map(|&op| graph.tensors[graph.output[op]].in_memory_of);
        in_memory.extend(memories.flatten().map(|memory| (memory, Vec::new())));
        for (id, tensor) in graph.tensors.iter_enumerated() {
            let buffer = BufferId::of_tensor(id);
            let memory = tensor.in_memory_of.unwrap_or(id);
            if let Some(buffers) = in_memory.get_mut(&memory)
                && (memory == id || tensor.producer.is_some_and(|op| self.writes_in_place(op)))
            {
                buffers.push(buffer);
            }
        }
        for op in copied {
            let memory = graph.tensors[graph.output[op]].in_memory_of;
            let overwrites = memory.and_then(|memory| in_memory.remove(&memory));
            self.copy_back(op, overwrites.unwrap_or_default());
        }
    }

    /// Copies the result of an op into the memory of these buffers.
    fn copy_back(&mut self, op: OpId, mut overwrites: Vec<BufferId>) {
        let graph = self.graph;
        let output = graph.output[op];
        let buffer = BufferId::of_tensor(output);
        let value = self.values[output].clone();
        if !value.ops.is_empty() {
            self.write_pointwise(op, value);
        }
        let copied = self.values[output].clone();
        let shape = graph.tensor_shape(output).unwrap_or(&[]);
        let elements = element_count(shape).unwrap_or(0);
        overwrites.retain(|&own| own != buffer);
        let node = self.node_over(copied, Loop::Pointwise(elements), shape, 0, overwrites);
        let layout = self.layouts[output].clone();
        let width = self.width_of(buffer);
        let written = self.new_buffer(width);
        self.copied_back.push((self.nodes.next_id(), op));
        let node = node.writing(written, &layout, shape, width);
        self.push(SchedulerNode {
            launch_of: Some(buffer),
            ..node
        });
    }

    /// Whether an op in place does not read the elements of its first input: a copy into an input
    /// of the program. What else reads them shares nothing with it.
    pub(super) fn only_overwrites(&self, op: OpId, first: &LoweredValue) -> bool {
        let mut reads = first.reads.iter();
        self.graph.ops[op].replaces_first() && reads.all(|read| read.is_given(self.graph))
    }

    /// The buffers that must be computed before this value is, because ops in place in it overwrite
    /// what they are computed from.
    ///
    /// What the value reads itself is left out if the kernel that computes it reads each element
    /// where the value writes it: one kernel can do both.
    pub(super) fn computed_before(
        &self,
        value: &LoweredValue,
        overwritten: &[BufferId],
    ) -> Vec<BufferId> {
        let is_read = |buffer: BufferId| value.reads.iter().any(|read| read.buffer == buffer);
        let overwritten = overwritten.iter();
        let computed = overwritten.filter_map(|buffer| self.readers.computed.get(buffer));
        let computed = computed.flatten().copied();
        let before = computed.filter(|&(buffer, is_straight)| !(is_straight && is_read(buffer)));
        let renamed = |buffer: BufferId| self.readers.overwritten.get(&buffer).copied();
        before
            .map(|(buffer, _)| renamed(buffer).unwrap_or(buffer))
            .collect()
    }
}

impl Schedule<'_> {
    /// Why a kernel of both would overwrite elements before it reads them: a node of `to` waits for
    /// what `from` computes from the overwritten buffer, and `from` reads that buffer at another
    /// index than the node writes it.
    pub(super) fn overwrites_early(&self, from: GroupId, to: GroupId) -> Option<Reason> {
        // In reordered loops, equal indices are other elements.
        let is_reordered = self.reorders && self.needs_reordering(from, to);
        let nodes = self.members[to].iter().map(|&node| &self.nodes[node]);
        let mut in_place = nodes.filter(|node| !node.overwrites.is_empty());
        in_place.find_map(|node| {
            let waits = node.reads.iter().filter(|read| read.is_wait());
            let writers = waits.filter_map(|wait| self.writer[wait.buffer]);
            let mut readers = writers.filter(|&writer| self.group_of[writer] == from);
            let reader = readers.next()?;
            let reads = self.reads[from].iter().filter(|read| !read.is_wait());
            let mut overwritten = reads.filter(|read| node.overwrites.contains(&read.buffer));
            let is_early =
                is_reordered || overwritten.any(|read| !is_same_element(read, &node.writes));
            let reader = self.nodes[reader].ops.last().copied();
            is_early.then(|| Reason::Overwrites {
                write: node.ops.last().copied().unwrap_or(self.op_of(to)),
                reader: reader.unwrap_or(self.op_of(from)),
            })
        })
    }
}

/// Whether a node reads each element of a buffer where another one overwrites it.
fn is_same_element(read: &BufferAccess, write: &BufferAccess) -> bool {
    let is_known = |access: &BufferAccess| access.access != AccessedElements::Unknown;
    is_known(read) && is_known(write) && read.dependency.exact == write.dependency.exact
}
