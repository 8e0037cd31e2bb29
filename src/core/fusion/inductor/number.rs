//! Numbers kernels: in an order in which they can run, and else by the list of ops, in which a
//! visitor looks for them. The compiler lowers ops in another order.

use super::node::{NodeId, SchedulerNode};
use super::schedule::{GroupId, Schedule};
use crate::model::ids::{IdVec, KernelId, OpId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Schedule<'_> {
    /// The kernel of each group. Of those that could run next, the first one is that whose last op
    /// comes first in the list.
    pub(super) fn kernels(&self) -> IdVec<GroupId, KernelId> {
        let last_op = self.last_ops();
        let rank = |group: GroupId| {
            let ops = self.members[group].iter().map(|&node| last_op[node]);
            Reverse((ops.max().flatten(), self.place[group], group))
        };
        let mut readers: IdVec<GroupId, Vec<GroupId>> =
            IdVec::from_elem(Vec::new(), self.members.len());
        let mut awaited: IdVec<GroupId, usize> = IdVec::from_elem(0, self.members.len());
        let mut open = BinaryHeap::with_capacity(self.order.len());
        for &group in self.order.iter().flatten() {
            let writers = self.reads[group]
                .iter()
                .filter_map(|read| self.writer[read.buffer]);
            let writers = writers.map(|node| self.group_of[node]);
            for writer in writers.filter(|&writer| writer != group) {
                readers[writer].push(group);
                awaited[group] += 1;
            }
            if awaited[group] == 0 {
                open.push(rank(group));
            }
        }
        let mut kernels = IdVec::from_elem(KernelId::new(0), self.members.len());
        let mut number = 0;
        while let Some(Reverse((_, _, group))) = open.pop() {
            kernels[group] = KernelId::new(number);
            number += 1;
            for reader in std::mem::take(&mut readers[group]) {
                awaited[reader] -= 1;
                if awaited[reader] == 0 {
                    open.push(rank(reader));
                }
            }
        }
        kernels
    }

    /// For each node its last op in the list; of a node without ops that of what it reads.
    fn last_ops(&self) -> IdVec<NodeId, Option<OpId>> {
        let mut last_ops: IdVec<NodeId, Option<OpId>> = IdVec::with_capacity(self.nodes.len());
        for node in self.nodes {
            let SchedulerNode {
                ops,
                reads,
                launch_of,
                ..
            } = node;
            let own = ops.iter().copied().max();
            let before = reads.iter().map(|read| read.buffer).chain(*launch_of);
            let before = before.filter_map(|buffer| *last_ops.get(self.writer[buffer]?)?);
            let last = own.or_else(|| before.max());
            last_ops.push(last);
        }
        last_ops
    }
}
