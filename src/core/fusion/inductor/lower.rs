//! Lowers ops to nodes of the scheduler: decides which values are written to a buffer and which each reader
//! computes itself.

use super::attention::flash_kernels;
use super::facts::{elements, is_across, is_windowed, keeps_shape, operations, reduction_space};
use super::library::{bias_add, matmul_space};
use crate::core::fusion::decision::{Decision, Log};
use crate::core::fusion::loops::Loop;
use crate::core::model::graph::{Graph, Tensor};
use crate::core::model::ids::{IdVec, OpId, TensorId, define_ids};
use crate::core::model::op_type::OpType;

define_ids! {
    /// A node of the scheduler; nodes are in the order of their ops.
    pub(super) struct NodeId;
    /// The buffer of a tensor or, after all tensors, of the row values of a norm.
    pub(super) struct BufferId;
}

impl BufferId {
    /// The buffer of a tensor.
    pub(super) const fn of_tensor(tensor: TensorId) -> Self {
        Self::new(tensor.index())
    }

    /// The row values of this norm.
    fn row_values(graph: &Graph, norm: OpId) -> Self {
        Self::new(graph.tensors.len() + norm.index())
    }

    /// Number of buffers that a graph can have.
    pub(super) fn count(graph: &Graph) -> usize {
        graph.tensors.len() + graph.ops.len()
    }

    /// The tensor that it holds; `None` for row values.
    pub(super) fn tensor(self, graph: &Graph) -> Option<&Tensor> {
        graph.tensors.get(TensorId::new(self.index()))
    }
}

/// A node of the scheduler; it writes one buffer.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its loop.
    pub(super) space: Loop,
    /// The ops that it computes, inlined ones included.
    pub(super) ops: Vec<OpId>,
    /// The buffers that it reads, ascending and each once.
    pub(super) reads: Vec<Read>,
    /// The buffer that it writes.
    pub(super) writes: BufferId,
}

/// A buffer that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Read {
    pub(super) buffer: BufferId,
    /// It is read in another order than it is written in, so reader and writer cannot share a kernel.
    pub(super) is_reordered: bool,
}

/// A value with several readers is inlined while it reads at most this many buffers (`realize_reads_threshold`)
/// and counts at most this many operations (`realize_opcount_threshold`).
const SHARED_READS: usize = 4;
const SHARED_OPERATIONS: u64 = 30;
/// The same for a value with one reader, which bounds the size of an expression
/// (`realize_acc_reads_threshold`).
const READS: usize = 8;
const OPERATIONS: u64 = 100;
/// Most ops of an expression, views included.
const INLINED_OPS: usize = 128;

/// How a reader obtains a tensor: it reads these buffers and computes these ops.
#[derive(Clone, Default)]
struct Value {
    reads: Vec<Read>,
    ops: Vec<OpId>,
}

/// How a tensor is used, directly or through views.
#[derive(Clone, Copy, Default)]
struct Uses {
    readers: usize,
    is_result: bool,
    feeds_library: bool,
    feeds_window: bool,
}

/// The nodes of a graph, each after those that it reads. `O(ops + reads)`, because the size of a value is
/// bounded.
pub(super) fn nodes(graph: &Graph, max_autotune: bool, log: &mut Log) -> IdVec<NodeId, Node> {
    let flash = flash_kernels(graph);
    let mut lowering = Lowering {
        graph,
        uses: uses(graph, &flash),
        values: (graph.tensors.ids())
            .map(|tensor| buffer_value(BufferId::of_tensor(tensor)))
            .collect(),
        nodes: IdVec::new(),
        log,
    };
    // For each bias add the matmul whose library call includes it.
    let mut bias_of = IdVec::from_elem(None, graph.ops.len());
    let mut of_flash: IdVec<OpId, Vec<OpId>> = IdVec::from_elem(Vec::new(), graph.ops.len());
    for op in graph.ops.ids() {
        if let Some(last) = flash[op] {
            of_flash[last].push(op);
            if last == op {
                let members = std::mem::take(&mut of_flash[op]);
                lowering.call(&members, Loop::Library);
            }
        } else if let Some(matmul) = bias_of[op] {
            lowering.call(&[matmul, op], matmul_space(graph, op, max_autotune));
        } else if graph.ops[op].op_type != OpType::Matmul {
            lowering.place(op);
        } else if let Some(add) = bias_add(graph, op) {
            bias_of[add] = Some(op);
        } else {
            lowering.call(&[op], matmul_space(graph, op, max_autotune));
        }
    }
    lowering.nodes
}

struct Lowering<'a> {
    log: &'a mut Log,
    graph: &'a Graph,
    uses: IdVec<TensorId, Uses>,
    values: IdVec<TensorId, Value>,
    nodes: IdVec<NodeId, Node>,
}

impl Lowering<'_> {
    /// Adds one node, a library call or a template, for all of these ops in order.
    fn call(&mut self, ops: &[OpId], space: Loop) {
        let made: Vec<TensorId> = ops.iter().map(|&op| self.graph.output[op]).collect();
        let mut value = Value::default();
        for &op in ops {
            let inputs = self.graph.inputs[op].iter();
            let outside = inputs.filter(|tensor| !made.contains(tensor));
            value.take(outside.map(|&tensor| &self.values[tensor]), true);
        }
        value.ops.extend(ops);
        if let Some(&writes) = made.last() {
            self.write(value, space, BufferId::of_tensor(writes));
        }
    }

    fn place(&mut self, op: OpId) {
        let graph = self.graph;
        let definition = &graph.ops[op];
        let output = graph.output[op];
        let is_view = definition.is_view();
        // A `contiguous` copy exists because the order changes.
        let is_reordered = match definition.function.as_deref() {
            None | Some("reshape") => false,
            function => is_view || function == Some("contiguous"),
        };
        let keeps_order = !is_reordered && !is_windowed(definition);
        let mut value = self.inputs(op, usize::MAX, keeps_order);
        if is_view {
            let is_of_buffer = value.ops.is_empty()
                && graph.inputs[op]
                    .iter()
                    .all(|&t| !graph.tensors[t].is_external());
            if !is_of_buffer {
                value.ops.push(op);
            }
            if value.ops.len() <= INLINED_OPS {
                self.values[output] = value;
                return;
            }
        } else {
            value.ops.push(op);
        }
        if definition.op_type != OpType::Reduction || is_windowed(definition) {
            if self.is_buffer(&value, output) {
                let space = Loop::Pointwise(elements(definition));
                self.write(value, space, BufferId::of_tensor(output));
            } else {
                self.log.note(Decision::Inlined {
                    op,
                    readers: graph.successors[op].len(),
                });
                self.values[output] = value;
            }
            return;
        }
        let space = reduction_space(graph, op);
        // Computed weights must exist when a kernel that reads them starts, so the op is not split.
        let computed = |t: &TensorId| !graph.tensors[*t].is_external();
        let is_whole = graph.inputs[op].iter().skip(1).any(computed);
        if is_whole || !keeps_shape(graph, op) || self.is_buffer(&value, output) {
            self.write(value, space, BufferId::of_tensor(output));
            return;
        }
        // A norm is a reduction to row values and a pointwise op on them, which its readers inline.
        let row_values = BufferId::row_values(graph, op);
        let mut first = self.inputs(op, 1, true);
        first.ops.push(op);
        self.write(first, space, row_values);
        value.take([&buffer_value(row_values)], true);
        self.log.note(Decision::Inlined {
            op,
            readers: graph.successors[op].len(),
        });
        self.values[output] = value;
    }

    /// What is needed to compute the first `count` inputs of an op.
    fn inputs(&self, op: OpId, count: usize, keeps_order: bool) -> Value {
        let graph = self.graph;
        let mut value = Value::default();
        for &tensor in graph.inputs[op].iter().take(count) {
            let input = &self.values[tensor];
            let is_across = input.reads.iter().any(|&read| {
                let writer = read.buffer.tensor(graph).and_then(|t| t.producer);
                writer.is_some_and(|writer| {
                    graph.ops[writer].op_type == OpType::Reduction
                        && is_across(graph, writer, tensor, &graph.ops[op])
                })
            });
            value.append(input, keeps_order && !is_across);
        }
        value.sort();
        value
    }

    fn write(&mut self, value: Value, space: Loop, writes: BufferId) {
        if self.log.is_on() {
            self.log.note(Decision::Buffer {
                ops: value.ops.clone(),
                is_row_values: writes.tensor(self.graph).is_none(),
            });
        }
        self.nodes.push(Node {
            space,
            ops: value.ops,
            reads: value.reads,
            writes,
        });
    }

    /// Whether a pointwise value is written to a buffer instead of being inlined into each reader.
    fn is_buffer(&self, value: &Value, output: TensorId) -> bool {
        let uses = self.uses[output];
        let reads = value
            .reads
            .iter()
            .filter(|&&read| self.counts(read))
            .count();
        let operations: u64 = value
            .ops
            .iter()
            .map(|&op| operations(&self.graph.ops[op]))
            .sum();
        uses.is_result
            || uses.feeds_library
            || uses.feeds_window && reads > 1
            || uses.readers > 1 && (reads > SHARED_READS || operations > SHARED_OPERATIONS)
            || reads > READS
            || operations > OPERATIONS
            || value.ops.len() > INLINED_OPS
    }

    /// Whether a read counts towards the thresholds; a single number does not.
    fn counts(&self, read: Read) -> bool {
        let tensor = read.buffer.tensor(self.graph);
        tensor.is_none_or(|tensor| tensor.elements() != Some(1))
    }
}

impl Value {
    /// Adds the reads and the ops of other values.
    fn take<'a>(&mut self, others: impl IntoIterator<Item = &'a Self>, keeps_order: bool) {
        for other in others {
            self.append(other, keeps_order);
        }
        self.sort();
    }

    /// The same for one value. [`Self::sort`] follows after the last.
    fn append(&mut self, other: &Self, keeps_order: bool) {
        self.ops.extend(&other.ops);
        self.reads.extend(other.reads.iter().map(|&read| Read {
            is_reordered: read.is_reordered || !keeps_order,
            ..read
        }));
    }

    fn sort(&mut self) {
        self.ops.sort_unstable();
        self.ops.dedup();
        self.reads.sort_unstable();
        self.reads.dedup();
    }
}

fn buffer_value(buffer: BufferId) -> Value {
    Value {
        reads: vec![Read {
            buffer,
            is_reordered: false,
        }],
        ops: Vec::new(),
    }
}

/// The uses of each tensor. Runs backwards, so that the uses of a view are known before those of its input.
fn uses(graph: &Graph, flash: &IdVec<OpId, Option<OpId>>) -> IdVec<TensorId, Uses> {
    let mut uses = IdVec::from_elem(Uses::default(), graph.tensors.len());
    for op in graph.ops.ids().rev() {
        let definition = &graph.ops[op];
        let output = graph.output[op];
        uses[output].is_result |= graph.is_final(output);
        let of_output = uses[output];
        for tensor in graph.distinct_inputs(op) {
            let of_input = &mut uses[tensor];
            // A norm reads its input for the row values and again for the elements.
            of_input.readers += if keeps_shape(graph, op) { 2 } else { 1 };
            if definition.is_view() {
                of_input.readers = of_input.readers.max(of_output.readers);
                of_input.is_result |= of_output.is_result;
                of_input.feeds_library |= of_output.feeds_library;
                of_input.feeds_window |= of_output.feeds_window;
            }
            of_input.feeds_library |= definition.op_type == OpType::Matmul || flash[op].is_some();
            of_input.feeds_window |= is_windowed(definition);
        }
    }
    uses
}
