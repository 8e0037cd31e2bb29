//! Policy `rules`, the textbook rules: one forward scan.
//!
//! A group is an in-tree: every member but the tail has exactly one consuming op, and that one is
//! inside. So only the tensor of the tail is written, groups are convex, and they can run in the
//! order of their tails. A group whose members read what an op outside it overwrites in place ends
//! before that op, which keeps this order.

use crate::disjoint_sets::DisjointSets;
use crate::fusion::decision::{Decision, Log};
use crate::fusion::in_place::{clash, moves_elements};
use crate::fusion::reason::Reason;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, define_ids};
use crate::model::op_type::OpType;
use crate::model::options::MAX_OPS;
use crate::model::partition::Partition;
use std::collections::BTreeSet;

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
    /// The ops in place that overwrite what members of each group read, as far as they may come
    /// after its tail.
    writes: IdVec<GroupId, BTreeSet<OpId>>,
    merged: DisjointSets<GroupId>,
    group_of: IdVec<OpId, GroupId>,
}

/// Runs the scan. `O(ops + reads)`: an op joins by its producers' tails, and a group is merged at
/// most once. With ops in place `O(n log n)` of what they wait for.
pub(crate) fn partition(graph: &Graph, log: &mut Log) -> Partition {
    let mut scan = Scan {
        holds: IdVec::new(),
        head: IdVec::new(),
        tail: IdVec::new(),
        writes: IdVec::new(),
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
        let mut refused = Vec::new();
        for &producer in &graph.predecessors[op] {
            let group = self.group_of[producer];
            // A tail with one consumer is in no merged group, so its group is a root.
            if self.tail[group] != producer || !is_only_consumer(graph, producer, op) {
                continue;
            }
            if let Some(reason) = self.overwritten(graph, op, group) {
                refused.push((producer, reason));
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
                self.writes.push(BTreeSet::new());
                self.merged.push()
            });
        if log.is_on() {
            self.note(graph, op, base, &light_groups, &refused, log);
        }
        for group in light_groups {
            if self.merged.unite(base, group) {
                let mut writes = std::mem::take(&mut self.writes[group]);
                let own = &mut self.writes[base];
                // The smaller set moves.
                if writes.len() > own.len() {
                    std::mem::swap(&mut writes, own);
                }
                own.extend(writes);
            }
        }
        self.writes[base].extend(&graph.awaited_by[op]);
        if op_type == OpType::Reduction {
            self.holds[base] = Holds::Closed;
            log.note(Decision::Closed { reduction: op });
        }
        self.tail[base] = op;
        self.group_of.push(base);
    }

    /// Why writes in place keep an op out of a group.
    ///
    /// Either the op overwrites what a member reads, and the value that it writes depends on other
    /// elements of that, or another op that runs before it overwrites what a member reads.
    fn overwritten(&mut self, graph: &Graph, op: OpId, group: GroupId) -> Option<Reason> {
        while let Some(&write) = self.writes[group].first() {
            if write >= op {
                break;
            }
            if self.merged.root(self.group_of[write]) != group {
                let mut readers = graph.waits_for[write].iter().copied();
                let reader = readers.find(|&reader| self.is_in(reader, group));
                return reader.map(|reader| Reason::EndsBeforeWrite { write, reader });
            }
            self.writes[group].pop_first();
        }
        let mut readers = graph.waits_for[op].iter().copied();
        let reader = readers.find(|&reader| {
            self.is_in(reader, group)
                && (clash(graph, op, reader) || moves_on_path(graph, reader, op))
        });
        reader.map(|reader| Reason::Overwrites { write: op, reader })
    }

    fn is_in(&mut self, op: OpId, group: GroupId) -> bool {
        self.merged.root(self.group_of[op]) == group
    }

    /// Notes what becomes of the kernel of each producer.
    fn note(
        &self,
        graph: &Graph,
        op: OpId,
        base: GroupId,
        merged: &[GroupId],
        refused: &[(OpId, Reason)],
        log: &mut Log,
    ) {
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
                let overwritten = refused.iter().find(|(other, _)| *other == producer);
                let reason = match overwritten {
                    Some((_, reason)) => reason.clone(),
                    None => self.refusal(graph, producer, op, base),
                };
                log.refuse(&[producer, op], reason);
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

/// Whether no other op reads the output of a producer.
fn is_only_consumer(graph: &Graph, producer: OpId, op: OpId) -> bool {
    let has_unknown_consumer = graph.ops[producer].unknown_reader.is_some();
    !has_unknown_consumer && graph.successors[producer].iter().all(|&other| other == op)
}

/// Whether one op between a member of a group and an op that reads its tail combines other
/// elements. Each member has one consumer. More than [`MAX_OPS`] ops are not looked at and count as
/// such.
fn moves_on_path(graph: &Graph, from: OpId, to: OpId) -> bool {
    let next = |&op: &OpId| graph.successors[op].first().copied();
    let path = std::iter::successors(Some(from), next).skip(1);
    let mut path = path.take_while(|&op| op != to);
    moves_elements(graph, path.by_ref().take(MAX_OPS)) || path.next().is_some()
}
