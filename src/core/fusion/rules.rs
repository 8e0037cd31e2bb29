//! Policy `rules`, the baseline rules: one forward scan.
//!
//! A group is an in-tree: every member but the tail has exactly one consuming op, and that one is inside.
//! So only the tail's tensor is written, groups are convex, and tails ordered by place give an order in
//! which the groups can run.
#![allow(
    clippy::indexing_slicing,
    reason = "op and group ids are dense indices of this graph"
)]

use crate::core::disjoint_sets::DisjointSets;
use crate::core::fusion::decision::{Decision, Log};
use crate::core::fusion::reason::Reason;
use crate::core::model::graph::{Graph, OpId};
use crate::core::model::op_type::OpType;
use crate::core::model::partition::Partition;

/// What decides whether an open group takes another op.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Elementwise and reshape ops only.
    Light,
    /// One matmul and its epilogue.
    Matmul,
    /// A reduction: the next op starts a new group.
    Closed,
}

/// Groups grow during the scan.
struct Scan {
    holds: Vec<Holds>,
    /// The op that began each group.
    head: Vec<OpId>,
    tail: Vec<OpId>,
    merged: DisjointSets,
    group_of: Vec<usize>,
}

/// Runs the scan. `O(ops + reads)`: an op joins by its producers' tails, and a group is merged at most once.
pub(crate) fn partition(graph: &Graph, log: &mut Log) -> Partition {
    let mut scan = Scan {
        holds: Vec::new(),
        head: Vec::new(),
        tail: Vec::new(),
        merged: DisjointSets::new(0),
        group_of: Vec::with_capacity(graph.ops.len()),
    };
    for op in 0..graph.ops.len() {
        scan.place(graph, op, log);
    }
    scan.finish()
}

impl Scan {
    fn place(&mut self, graph: &Graph, op: OpId, log: &mut Log) {
        let op_type = graph.ops[op].op_type;
        let mut matmul_group = None;
        let mut light_groups = Vec::new();
        for &producer in &graph.predecessors[op] {
            let group = self.group_of[producer];
            // A tail with one consumer has never been merged away, so its group id is still its own.
            if self.tail[group] != producer || graph.successors[producer].len() != 1 {
                continue;
            }
            match (self.holds[group], op_type) {
                (Holds::Light, OpType::Elementwise | OpType::Reduction | OpType::Reshape) => {
                    light_groups.push(group);
                }
                // Predecessors ascend, so the last one that qualifies has the latest tail.
                (Holds::Matmul, OpType::Elementwise | OpType::Reshape) => {
                    matmul_group = Some(group);
                }
                _ => {}
            }
        }
        let base = matmul_group
            .or_else(|| light_groups.first().copied())
            .unwrap_or_else(|| {
                log.note(Decision::Started { op });
                self.holds.push(match op_type {
                    OpType::Matmul => Holds::Matmul,
                    OpType::Reduction => Holds::Closed,
                    OpType::Elementwise | OpType::Reshape => Holds::Light,
                });
                self.head.push(op);
                self.tail.push(op);
                self.merged.push()
            });
        if log.is_on() {
            self.note(graph, op, base, &light_groups, log);
        }
        for group in light_groups {
            self.merged.unite(base, group);
        }
        if op_type == OpType::Reduction {
            self.holds[base] = Holds::Closed;
            log.note(Decision::Closed { reduction: op });
        }
        self.tail[base] = op;
        self.group_of.push(base);
    }

    /// What becomes of each producer's kernel.
    fn note(&self, graph: &Graph, op: OpId, base: usize, merged: &[usize], log: &mut Log) {
        // Before the tail moves, a group is named by it; a group that has just started has no producer.
        if self.tail[base] != op {
            let producer = self.tail[base];
            log.note(Decision::Joined { op, producer });
        }
        for &producer in &graph.predecessors[op] {
            let group = self.group_of[producer];
            let is_tail = self.tail[group] == producer;
            if is_tail && group == base {
                continue;
            }
            if is_tail && merged.contains(&group) {
                log.note(Decision::Merged { op, producer });
            } else {
                log.refuse(&[producer, op], self.refusal(graph, producer, op, base));
            }
        }
    }

    /// Why an op does not go on in its producer's kernel.
    fn refusal(&self, graph: &Graph, producer: OpId, op: OpId, base: usize) -> Reason {
        let group = self.group_of[producer];
        // A matmul begins its group.
        let matmul_of =
            |group: usize| (self.holds[group] == Holds::Matmul).then(|| self.head[group]);
        let is_matmul = graph.ops[op].op_type == OpType::Matmul;
        let mut others = graph.successors[producer].iter();
        let other = others.find(|&&reader| reader != op);
        match (matmul_of(group), other) {
            (Some(first), _) if is_matmul => Reason::TwoMatmuls { first, second: op },
            _ if is_matmul => Reason::MatmulStarts {
                matmul: op,
                before: producer,
            },
            _ if self.holds[group] == Holds::Closed => Reason::ReductionEnds {
                reduction: producer,
                after: op,
            },
            (_, Some(&consumer)) => Reason::AnotherConsumer { consumer },
            (Some(matmul), None) if graph.ops[op].op_type == OpType::Reduction => {
                Reason::MatmulAndReduction {
                    matmul,
                    reduction: op,
                }
            }
            (first, None) => Reason::TwoMatmuls {
                first: first.unwrap_or(producer),
                second: matmul_of(base).unwrap_or(op),
            },
        }
    }

    fn finish(mut self) -> Partition {
        let merged_into = self.merged.roots();
        // Kernels are numbered as their tails come.
        let mut kernel_of = vec![0; merged_into.len()];
        let mut kernels = 0;
        for (op, &group) in self.group_of.iter().enumerate() {
            let root = merged_into[group];
            if self.tail[root] == op {
                kernel_of[root] = kernels;
                kernels += 1;
            }
        }
        let of_op = |&group: &usize| kernel_of[merged_into[group]];
        Partition::of_ops(self.group_of.iter().map(of_op).collect(), kernels)
    }
}
