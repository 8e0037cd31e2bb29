//! Policy `rules`, the textbook rules: one forward scan.
//!
//! A group is an in-tree: every member but the tail has exactly one consuming op, and that one is
//! inside. So only the tensor of the tail is written, groups are convex, and they can run in the
//! order of their tails.

use crate::disjoint_sets::DisjointSets;
use crate::fusion::decision::{Decision, Log};
use crate::fusion::in_place::clash;
use crate::fusion::reason::Reason;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, define_ids};
use crate::model::op_type::OpType;
use crate::model::partition::Partition;

define_ids! {
    /// A kernel as it grows during the scan.
    struct GroupId;
}

/// The content of a group, which decides what may join it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Elementwise and reshape ops only.
    Light,
    /// One matmul and its epilogue.
    Matmul,
    /// A reduction: the next op starts a new group.
    Closed,
    /// An opaque op, which stays alone.
    Opaque,
}

/// The state of the scan.
struct Scan {
    holds: IdVec<GroupId, Holds>,
    /// The op that began each group.
    head: IdVec<GroupId, OpId>,
    tail: IdVec<GroupId, OpId>,
    merged: DisjointSets<GroupId>,
    group_of: IdVec<OpId, GroupId>,
}

/// Runs the scan. `O(ops + reads)`: an op joins by its producers' tails, and a group is merged at
/// most once.
pub(crate) fn partition(graph: &Graph, log: &mut Log) -> Partition {
    let mut scan = Scan {
        holds: IdVec::new(),
        head: IdVec::new(),
        tail: IdVec::new(),
        merged: DisjointSets::new(0),
        group_of: IdVec::with_capacity(graph.ops.len()),
    };
    for op in graph.ops.ids() {
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
            // A tail with one consumer is in no merged group, so its group is a root.
            if self.tail[group] != producer || !is_only_consumer(graph, producer, op) {
                continue;
            }
            if self.clashes(graph, op, group) {
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
                    OpType::Opaque => Holds::Opaque,
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

    /// Whether an op overwrites in place what an op of a group reads, in another order.
    fn clashes(&mut self, graph: &Graph, op: OpId, group: GroupId) -> bool {
        self.clash(graph, op, group).is_some()
    }

    /// The op of a group that reads, in another order, what an op overwrites in place.
    fn clash(&mut self, graph: &Graph, op: OpId, group: GroupId) -> Option<OpId> {
        let mut readers = graph.waits_for[op].iter().copied();
        readers.find(|&reader| {
            self.merged.root(self.group_of[reader]) == group && clash(graph, op, reader)
        })
    }

    /// Notes what becomes of the kernel of each producer.
    fn note(&self, graph: &Graph, op: OpId, base: GroupId, merged: &[GroupId], log: &mut Log) {
        // The tail has not moved to `op` yet, except in a group that has just started, which has no
        // producer.
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

    /// Why an op does not join its producer's kernel.
    fn refusal(&self, graph: &Graph, producer: OpId, op: OpId, base: GroupId) -> Reason {
        let group = self.group_of[producer];
        // The head of a group with a matmul is the matmul.
        let matmul_of =
            |group: GroupId| (self.holds[group] == Holds::Matmul).then(|| self.head[group]);
        if self.holds[group] == Holds::Opaque {
            return Reason::Opaque { opaque: producer };
        }
        if graph.ops[op].op_type == OpType::Opaque {
            return Reason::Opaque { opaque: op };
        }
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
            _ if graph.ops[producer].unknown_reader.is_some() => Reason::UnknownConsumer,
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
        // Kernels are numbered in the order of their tails.
        let mut kernel_of = IdVec::from_elem(KernelId::new(0), merged_into.len());
        let mut kernels = 0;
        for (op, &group) in self.group_of.iter_enumerated() {
            let root = merged_into[group];
            if self.tail[root] == op {
                kernel_of[root] = KernelId::new(kernels);
                kernels += 1;
            }
        }
        let of_op = |&group: &GroupId| kernel_of[merged_into[group]];
        Partition::of_ops(self.group_of.iter().map(of_op).collect(), kernels)
    }
}

/// Whether no other op needs the output of a producer: neither a reader nor, so that the producer
/// ends its kernel before that op, one that overwrites what the producer reads.
fn is_only_consumer(graph: &Graph, producer: OpId, op: OpId) -> bool {
    let has_unknown_consumer = graph.ops[producer].unknown_reader.is_some();
    let mut later = graph.runs_before(producer);
    !has_unknown_consumer && later.all(|other| other == op)
}
