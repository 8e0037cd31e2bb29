//! Which values are written to a buffer, and which each reader computes itself.
//!
//! Source: `StorageBox.should_realize_on_reuse` and `has_exceeded_max_reads` in
//! `torch/_inductor/ir.py`, `run_node` in `torch/_inductor/graph.py`.

use super::facts::operations;
use super::lower::Lowering;
use super::value::{BufferView, LoweredValue};
use crate::model::functions::Function;
use crate::model::ids::TensorId;

/// A value with several readers is inlined while it reads at most this many buffers
/// (`realize_reads_threshold`) and counts at most this many operations
/// (`realize_opcount_threshold`).
pub(super) const SHARED_READS: usize = 4;
pub(super) const SHARED_OPERATIONS: u64 = 30;
/// Most buffers and operations of an inlined value with one reader, which bounds the size of an
/// expression (`realize_acc_reads_threshold`).
const READS: usize = 8;
const OPERATIONS: u64 = 100;
/// Most ops of an expression, views included.
pub(super) const INLINED_OPS: usize = 128;

impl Lowering<'_> {
    /// Instructions of an expression for each element.
    pub(super) fn operations(&self, value: &LoweredValue) -> u64 {
        value
            .computed()
            .map(|op| operations(&self.graph.ops[op]))
            .sum()
    }

    /// Whether a pointwise value is written to a buffer instead of being inlined into each reader.
    pub(super) fn is_buffer(&self, value: &LoweredValue, output: TensorId) -> bool {
        let uses = self.uses[output];
        let is_counted = |read: &&BufferView| {
            let tensor = read.buffer.tensor(self.graph);
            tensor.is_none_or(|tensor| tensor.elements() != Some(1))
        };
        let reads = value.reads.iter().filter(is_counted);
        let is_pair = |read: &&BufferView| self.pairs.contains(&read.buffer);
        let reads = reads.clone().count() + reads.filter(is_pair).count();
        let operations = self.operations(value);
        let producer = self.graph.tensors[output].producer;
        let concatenates = producer
            .is_some_and(|producer| self.graph.ops[producer].function == Some(Function::Concat));
        uses.is_result
            || uses.feeds_library
            || uses.is_hinted && reads > 1
            || uses.feeds_window && reads > 1
            || uses.readers > 1 && (reads > SHARED_READS || operations > SHARED_OPERATIONS)
            || reads > READS
            || concatenates && reads > 1 && operations > SHARED_OPERATIONS
            || operations > OPERATIONS
            || value.ops.len() > INLINED_OPS
    }
}
