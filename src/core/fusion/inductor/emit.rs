//! Adds nodes and the buffers that they write.

use super::facts::is_crossing;
use super::layout::is_copied_reshape;
use super::lower::Lowering;
use super::node::{BufferAccess, BufferId, Indices, ReducedRows, SchedulerNode};
use super::reduced::Reduced;
use super::value::{LoweredValue, buffer_value};
use super::view::{View, view_of_op};
use crate::fusion::decision::Decision;
use crate::fusion::loops::Loop;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::element_count;

impl Lowering<'_> {
    /// A buffer that no tensor of the program names.
    /// Its elements have so many bytes.
    pub(super) fn new_buffer(&mut self, width: u32) -> BufferId {
        self.widths.push(width);
        BufferId::new(self.widths.len() - 1)
    }

    /// Bytes of an element of a buffer.
    pub(super) fn width_of(&self, buffer: BufferId) -> u32 {
        self.widths.get(buffer.index()).copied().unwrap_or(0)
    }

    /// Adds a launch that no op stands for: it counts with the kernel that writes a buffer.
    pub(super) fn launch_beside(&mut self, written: BufferId) {
        let buffer = self.new_buffer(0);
        let node = SchedulerNode {
            launch_of: Some(written),
            ..SchedulerNode::default()
        };
        self.push(node.writing(buffer, &View::whole(1), &[], 0));
    }

    /// The node of a value without what it writes; its loop runs over the elements of `shape`.
    pub(super) fn node(&self, value: LoweredValue, space: Loop, shape: &[u64]) -> SchedulerNode {
        self.node_along(value, space, shape, 0)
    }

    /// The same, where the loop reduces along the axes of these bits.
    pub(super) fn node_along(
        &self,
        value: LoweredValue,
        space: Loop,
        shape: &[u64],
        axes: u32,
    ) -> SchedulerNode {
        let overwrites = self.overwritten_by(&value);
        self.node_over(value, space, shape, axes, overwrites)
    }

    /// The same for a node that overwrites these buffers.
    pub(super) fn node_over(
        &self,
        value: LoweredValue,
        space: Loop,
        shape: &[u64],
        axes: u32,
        overwrites: Vec<BufferId>,
    ) -> SchedulerNode {
        let reads = value.reads.iter().enumerate().map(|(rank, read)| {
            let access = BufferAccess::of_read(read, shape, axes, self.width_of(read.buffer));
            let seen = read.view.clone();
            let loads = read.loads;
            (
                BufferAccess {
                    rank,
                    loads,
                    ..access
                },
                seen,
            )
        });
        let mut reads: Vec<(BufferAccess, Option<View>)> = reads.collect();
        // A reader waits for every piece. Without an index it shares a kernel with none of them.
        let beside = value
            .reads
            .iter()
            .filter_map(|read| self.pieces.get(&read.buffer));
        reads.extend(
            beside
                .flatten()
                .map(|&buffer| (BufferAccess::of(buffer, None, &[], 0), None)),
        );
        // So does a write in place, for all that is computed from what it overwrites.
        let before = self.computed_before(&value, &overwrites).into_iter();
        reads.extend(before.map(|buffer| (BufferAccess::wait(buffer), None)));
        reads.sort_unstable_by_key(|&(access, _)| access);
        reads.dedup_by_key(|&mut (access, _)| access);
        let (reads, seen) = reads.into_iter().unzip();
        SchedulerNode {
            space,
            sizes: shape.iter().copied().filter(|&size| size != 1).collect(),
            indices: Some(Indices {
                shape: shape.to_vec(),
                axes,
                reads: seen,
                write: None,
            }),
            ops: value.ops,
            reads,
            overwrites,
            ..SchedulerNode::default()
        }
    }

    /// Adds the node that writes a value of this shape to a buffer, row by row. `launch_of`: the
    /// buffer with whose kernel the node counts if it has no ops.
    pub(super) fn write_by_rows(
        &mut self,
        value: LoweredValue,
        shape: &[u64],
        (buffer, width): (BufferId, u32),
        launch_of: Option<BufferId>,
    ) {
        let elements = element_count(shape).unwrap_or(0);
        let node = self.node(value, Loop::Pointwise(elements), shape);
        let node = node.writing(buffer, &View::whole(elements), shape, width);
        self.push(SchedulerNode { launch_of, ..node });
    }

    pub(super) fn push(&mut self, mut node: SchedulerNode) {
        node.order_loops();
        if self.log.is_on() && !node.ops.is_empty() {
            self.log.note(Decision::Buffer {
                node: self.nodes.next_id(),
                ops: node.ops.clone(),
                output: node.output(self.graph),
            });
        }
        self.readers.note_node(&node);
        self.nodes.push(node);
    }

    /// Marks the last node as one whose pieces wait for each other.
    pub(super) fn last_waits(&mut self) {
        if let Some(node) = self.nodes.iter_mut().next_back() {
            node.waits = true;
        }
    }

    /// Adds the node that computes a tensor; its loop runs over the elements of `shape`.
    pub(super) fn write(
        &mut self,
        value: LoweredValue,
        space: Loop,
        tensor: TensorId,
        shape: &[u64],
    ) {
        let whole = Reduced {
            shape: shape.to_vec(),
            axes: 0,
        };
        self.write_along(value, space, tensor, &whole, None);
    }

    /// The same, where the loop reduces.
    pub(super) fn write_along(
        &mut self,
        value: LoweredValue,
        space: Loop,
        tensor: TensorId,
        reduced: &Reduced,
        rows: Option<ReducedRows>,
    ) {
        let width = self.graph.tensors[tensor].addressed_bytes().unwrap_or(0);
        let own = self.graph.tensor_shape(tensor).unwrap_or(&[]);
        let buffer = BufferId::of_tensor(tensor);
        let elements = rows.map(|_| self.node(value.clone(), space, own));
        let (shape, axes) = (&reduced.shape[..], reduced.axes);
        let node = self.node_along(value, space, shape, axes);
        let is_pointwise = matches!(space, Loop::Pointwise(_));
        let pointwise = elements.as_ref().or(is_pointwise.then_some(&node));
        let pointwise = pointwise.and_then(|node| node.indices.as_ref());
        let layout = match pointwise {
            Some(indices) => self.written_layout(tensor, indices),
            None => self.layouts[tensor].clone(),
        };
        let mut node = node.writing(buffer, &layout, own, width);
        node.writes.step = layout.step(shape, axes);
        if let Some(elements) = elements {
            // The elements are a pointwise node, whose loops have an order of their own.
            node.order_loops();
            let elements = SchedulerNode {
                space: Loop::Pointwise(0),
                ..elements.writing(buffer, &layout, own, width)
            };
            node.take_accesses(elements);
        }
        self.values[tensor] = buffer_value(buffer, layout);
        // Row values and elements are two nodes of the compiler, and both read the input.
        let readings = if rows.is_some() { 2 } else { 1 };
        self.push(SchedulerNode {
            rows,
            readings,
            ..node
        });
    }

    /// Lets ops that are lowered from here on read a tensor and its views from the buffer that
    /// holds the tensor.
    pub(super) fn read_from_buffer(&mut self, tensor: TensorId) {
        let graph = self.graph;
        let buffer = BufferId::of_tensor(tensor);
        let written = &self.values[tensor].reads;
        let written = written.iter().find(|read| read.buffer == buffer);
        let layout = written.and_then(|read| read.view.clone());
        let mut open = vec![(
            tensor,
            layout.unwrap_or_else(|| self.layouts[tensor].clone()),
        )];
        while let Some((tensor, layout)) = open.pop() {
            let views = graph.consumers[tensor].iter().copied().filter(|&reader| {
                graph.ops[reader].is_view()
                    && !is_crossing(graph, reader)
                    && !is_copied_reshape(graph, &self.layouts, reader)
            });
            let seen = |view: OpId| view_of_op(graph, view)?.through(&layout);
            open.extend(views.map(|view| {
                let output = graph.output[view];
                (
                    output,
                    seen(view).unwrap_or_else(|| self.layouts[output].clone()),
                )
            }));
            self.values[tensor] = buffer_value(buffer, layout);
        }
    }
}
