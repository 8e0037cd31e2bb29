//! Which values are written to a buffer, and which each reader computes itself.
//!
//! Source: `StorageBox.should_realize_on_reuse` and `has_exceeded_max_reads` in
//! `torch/_inductor/ir.py`, `run_node` in `torch/_inductor/graph.py`.

use super::instructions::{Instructions, powers, saved_conversions};
use super::lower::Lowering;
use super::reduced::is_softmax;
use super::value::{BufferView, LoweredValue};
use crate::model::functions::Function;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::Op;
use std::collections::HashSet;

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
    /// Different values of an expression for each element: loads, constants and operations.
    pub(super) fn operations(&self, value: &LoweredValue) -> u64 {
        let graph = self.graph;
        let producer = |read: &BufferView| read.buffer.tensor(graph)?.producer;
        let mut constants = Constants::default();
        let mut computed = HashSet::new();
        let pairs = value.reads.iter();
        let pairs = pairs.filter(|read| self.pairs.contains(&read.buffer));
        let is_bitcast = |op: &&OpId| graph.ops[**op].function == Some(Function::Bitcast);
        let bitcasts = value.ops.iter().filter(is_bitcast).count();
        let mut count = (value.reads.len() + pairs.count() + bitcasts) as u64;
        for read in &value.reads {
            if let Some(op) = producer(read) {
                let definition = &graph.ops[op];
                count += constants.count(definition, Instructions::of_end(definition));
            }
        }
        for result in &value.computed {
            let Some(op) = producer(result) else {
                continue;
            };
            let definition = &graph.ops[op];
            let is_plain = |function: &Function| function.row().attributes.is_empty();
            if let Some(function) = definition.function.filter(is_plain) {
                let inputs = (&graph.inputs[op], &definition.literals);
                if !computed.insert((function, inputs, &result.view, result.hidden)) {
                    // The same value again.
                    continue;
                }
            }
            count += constants.count(definition, Instructions::of(definition));
            let first = graph.inputs[op].first();
            let before = first.and_then(|&tensor| graph.tensors[tensor].producer);
            if let Some(before) = before.filter(|before| value.ops.contains(before)) {
                let is_alone = graph.successors[before].len() == 1;
                let saved = saved_conversions(&graph.ops[before], definition, is_alone);
                count = count.saturating_sub(saved);
                if is_softmax(definition) && self.is_scaled(before) {
                    count += 1 + u64::from(constants.literals.insert("1"));
                }
            }
        }
        count
    }

    /// Whether a number scales this result, in another type or not. The compiler moves the number
    /// of a softmax behind its subtraction and multiplies by its sign before. Source:
    /// `mul_softmax_pattern` in `torch/_inductor/fx_passes/joint_graph.py`.
    fn is_scaled(&self, op: OpId) -> bool {
        let graph = self.graph;
        let is_cast = graph.ops[op].function == Some(Function::Cast);
        let first = graph.inputs[op].first().filter(|_| is_cast);
        let op = first
            .and_then(|&input| graph.tensors[input].producer)
            .unwrap_or(op);
        let definition = &graph.ops[op];
        match definition.function {
            Some(Function::Scale) => true,
            Some(Function::Mul | Function::Div) => !definition.literals.is_empty(),
            _ => false,
        }
    }

    /// What an expression reads, without tensors of one element.
    pub(super) fn counted_reads<'v>(
        &self,
        value: &'v LoweredValue,
    ) -> impl Iterator<Item = &'v BufferView> + Clone {
        let graph = self.graph;
        value.reads.iter().filter(move |read| {
            let tensor = read.buffer.tensor(graph);
            tensor.is_none_or(|tensor| tensor.elements() != Some(1))
        })
    }

    /// Whether a pointwise value is written to a buffer instead of being inlined into each reader.
    pub(super) fn is_buffer(&self, value: &LoweredValue, output: TensorId) -> bool {
        let uses = self.uses[output];
        let reads = self.counted_reads(value);
        let is_pair = |read: &&BufferView| self.pairs.contains(&read.buffer);
        let reads = reads.clone().count() + reads.filter(is_pair).count();
        let operations = self.operations(value);
        uses.is_result
            || uses.feeds_library
            || uses.is_hinted && reads > 1
            || uses.feeds_window && reads > 1
            || uses.readers > 1 && (reads > SHARED_READS || operations > SHARED_OPERATIONS)
            || reads > READS
            || reads > 1 && operations > SHARED_OPERATIONS
            || operations > OPERATIONS
            || value.ops.len() > INLINED_OPS
    }
}

/// The constants of an expression, of which equal ones are one value.
#[derive(Default)]
struct Constants<'a> {
    literals: HashSet<&'a str>,
    of_functions: HashSet<Function>,
}

impl<'a> Constants<'a> {
    /// The values of an op that the expression did not have before.
    fn count(&mut self, op: &'a Op, of: Instructions) -> u64 {
        let literals = op.literals.iter().filter(|_| powers(op).is_none());
        let new = literals.filter(|literal| self.literals.insert(literal));
        let new = new.count() as u64;
        let own = op.function.filter(|_| of.constants > 0);
        let is_first = own.is_some_and(|function| self.of_functions.insert(function));
        of.computed + new + if is_first { of.constants } else { 0 }
    }
}
