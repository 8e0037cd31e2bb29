//! Kernels drawn as what they write: an op whose output stays on chip is in the box of the op that
//! it leads to. An op that leads to several boxes has a box of its own, so a line to a box never
//! belongs to another box.
//!
//! ```text
//!   +------------+
//!   |   square   |        +------------------+
//!   |     :      |        |       mean       |
//!   |    mean    |  --->  | with 1 more op   |
//!   +-----|------+        +--------|---------+
//! ```

use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::{Graph, IdVec, OpId, Partition, TensorId};
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

/// For each op the box that stands for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Inside {
    /// Empty where all ops have boxes of their own.
    box_of: IdVec<OpId, OpId>,
}

/// A tensor that comes to a box, and the first op in the box that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoxRead {
    pub(super) tensor: TensorId,
    pub(super) by: OpId,
}

impl Inside {
    /// Leaves out each op whose output only one box of its own kernel reads. `O(ops + reads)`.
    pub fn of(graph: &Graph, partition: &Partition) -> Self {
        let mut box_of: IdVec<OpId, OpId> = graph.ops.ids().collect();
        let mut is_empty = true;
        // Readers first: members come in execution order.
        for (kernel, members) in partition.kernels.iter_enumerated() {
            for &op in members.iter().rev() {
                let readers = &graph.successors[op];
                let Some(place) = readers.first().map(|&reader| box_of[reader]) else {
                    continue;
                };
                let is_in_box = |&reader: &OpId| {
                    partition.kernel_of[reader] == kernel && box_of[reader] == place
                };
                if !graph.is_final(graph.output[op]) && readers.iter().all(is_in_box) {
                    box_of[op] = place;
                    is_empty = false;
                }
            }
        }
        if is_empty {
            return Self::default();
        }
        Self { box_of }
    }

    /// Whether all ops have boxes of their own.
    pub fn is_empty(&self) -> bool {
        self.box_of.is_empty()
    }

    /// The op whose box stands for this one: itself, or one of its kernel that its output leads to.
    pub fn box_of(&self, op: OpId) -> OpId {
        self.box_of.get(op).copied().unwrap_or(op)
    }

    /// The reads of the box of `op` from outside its kernel, or from another box of the kernel, in
    /// the order in which it is read.
    pub(super) fn reads(&self, graph: &Graph, op: OpId) -> Vec<BoxRead> {
        let producer = |tensor: TensorId| graph.tensors[tensor].producer;
        let is_left_out = |op: OpId| self.box_of(op) != op;
        let mut ops = vec![op];
        let mut next = 0;
        while let Some(&reader) = ops.get(next) {
            next += 1;
            let before = graph.inputs[reader]
                .iter()
                .filter_map(|&read| producer(read));
            for op in before.filter(|&op| is_left_out(op)) {
                if !ops.contains(&op) {
                    ops.push(op);
                }
            }
        }
        // In execution order, so that `by` is the first op that reads a tensor.
        ops.sort_unstable();
        let reads = ops.iter().flat_map(|&by| {
            let tensors = graph.inputs[by].iter();
            tensors.map(move |&tensor| BoxRead { tensor, by })
        });
        let mut seen: HashSet<TensorId, FxBuildHasher> = HashSet::default();
        // What an op of the kernel has read already is on chip for the next one.
        let mut is_new = |read: &BoxRead| ops.len() == 1 || seen.insert(read.tensor);
        reads
            .filter(|read| !producer(read.tensor).is_some_and(is_left_out) && is_new(read))
            .collect()
    }
}
