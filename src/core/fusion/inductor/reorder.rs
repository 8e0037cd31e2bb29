//! Brings the loops of a pointwise group into the order of another group, in the last round.
//!
//! Source: `shared_data_after_reordering_loop` in `torch/_inductor/scheduler.py` and
//! `MemoryDep.decide_loop_order_to_match` in `torch/_inductor/dependencies.py`.

use super::node::{BufferAccess, BufferId, SchedulerNode};
use super::schedule::{GroupId, Schedule};
use super::view::AccessedElements;
use crate::fusion::loops::Loop;

impl Schedule<'_> {
    /// The access of either group by which the loops of one are brought into the order of the
    /// other: that of the largest buffer.
    fn guide(&self, first: GroupId, second: GroupId) -> Option<(BufferAccess, BufferAccess)> {
        let guides = self
            .buffers_in_order(second)
            .into_iter()
            .filter_map(|buffer| {
                let (one, other) = (self.last(first, buffer)?, self.last(second, buffer)?);
                let is_same = one.access == other.access && one.access != AccessedElements::Unknown;
                is_same.then_some((one, other))
            });
        // Of the largest the first one guides.
        let mut guide: Option<(BufferAccess, BufferAccess)> = None;
        for pair in guides {
            if guide.is_none_or(|(one, _)| pair.0.elements() > one.elements()) {
                guide = Some(pair);
            }
        }
        guide
    }

    /// Bytes that both groups share once the loops of one are brought into the order of the other.
    /// Source: `shared_data_after_reordering_loop`.
    pub(super) fn bytes_reordered(&self, first: GroupId, second: GroupId) -> u64 {
        let (a, b) = (&self.touches[first], &self.touches[second]);
        let Some((one, other)) = self.guide(first, second) else {
            return 0;
        };
        if one.dependency.loops != other.dependency.loops {
            let is_same = one.dependency.merged == other.dependency.merged;
            return if is_same { one.bytes } else { 0 };
        }
        let moved = [first, second]
            .into_iter()
            .find(|&group| !self.is_reduction(group));
        let is_moved = moved.is_some_and(|group| {
            let mut sizes = self.members[group]
                .iter()
                .map(|&node| &self.node(node).sizes);
            let same = sizes.next();
            let count = same.map_or(0, Vec::len);
            sizes.all(|other| Some(other) == same)
                && count == one.dependency.loops
                && count == one.loops.count
                && one.loops == other.loops
                && matches!(self.space[group], Loop::Pointwise(_))
                && self.order_by_guide(first, second, group).is_some()
        });
        if !is_moved {
            return 0;
        }
        let mut bytes = 0_u64;
        for access in a {
            let mut others = b.iter().filter(|other| other.buffer == access.buffer);
            if others.any(|other| access.matches(other)) {
                bytes = bytes.saturating_add(access.bytes);
            }
        }
        bytes
    }

    /// Of two groups that become one, the pointwise one whose loops are brought into the order of
    /// the other, and that order.
    pub(super) fn reordered(
        &self,
        first: GroupId,
        second: GroupId,
    ) -> Option<(GroupId, Vec<usize>)> {
        if !self.reorders
            || self.shares_in_order(first, second) && !self.needs_reordering(first, second)
        {
            return None;
        }
        let mut groups = [first, second].into_iter();
        let moved = groups.find(|&group| !self.is_reduction(group))?;
        let order = self.order_by_guide(first, second, moved)?;
        Some((moved, order))
    }

    /// Brings the loops of a pointwise group into another order.
    pub(super) fn take_order(&mut self, group: GroupId, order: &[usize]) {
        for &node in &self.members[group] {
            let ordered = self.node(node).in_order(order);
            self.ordered.insert(node, ordered);
        }
        let nodes = self.members[group].iter();
        let nodes: Vec<&SchedulerNode> = nodes.map(|&node| self.node(node)).collect();
        let reads = nodes.iter().flat_map(|node| node.reads.iter().copied());
        let reads = sorted(reads.collect());
        let writes = sorted(nodes.iter().map(|node| node.writes).collect());
        let mut touches = [&reads[..], &writes].concat();
        touches.retain(|access| access.access != AccessedElements::Unknown);
        self.touches[group] = sorted(touches);
        self.reads[group] = reads;
        self.writes[group] = writes;
    }

    /// The buffers of a group in the order in which its nodes read them, then those that it writes.
    fn buffers_in_order(&self, group: GroupId) -> Vec<BufferId> {
        let mut buffers = Vec::new();
        for &node in &self.members[group] {
            let mut reads: Vec<&BufferAccess> = self.node(node).reads.iter().collect();
            reads.sort_by_key(|read| read.rank);
            buffers.extend(reads.into_iter().map(|read| read.buffer));
        }
        buffers.extend(self.writes[group].iter().map(|write| write.buffer));
        buffers
    }

    /// The last access of a buffer that a group adds to those before: where its index is compared.
    fn last(&self, group: GroupId, buffer: BufferId) -> Option<BufferAccess> {
        let mut writes = self.writes[group].iter();
        if let Some(write) = writes.find(|write| write.buffer == buffer) {
            return Some(*write);
        }
        let mut seen: Vec<BufferAccess> = Vec::new();
        for &node in &self.members[group] {
            let own = self.node(node).reads.iter();
            let own = own.filter(|read| read.buffer == buffer);
            let mut own: Vec<&BufferAccess> = own.collect();
            own.sort_by_key(|read| read.rank);
            for read in own {
                if seen
                    .iter()
                    .all(|known| known.dependency.exact != read.dependency.exact)
                {
                    seen.push(*read);
                }
            }
        }
        seen.last().copied()
    }

    /// The order of the other group's loops, as positions of those of a pointwise group.
    pub(super) fn order_by_guide(
        &self,
        first: GroupId,
        second: GroupId,
        pointwise: GroupId,
    ) -> Option<Vec<usize>> {
        let (one, other) = self.guide(first, second)?;
        let (own, fixed, by) = if pointwise == first {
            (one, other, second)
        } else {
            (other, one, first)
        };
        let steps = |group: GroupId, access: BufferAccess| {
            let mut nodes = self.members[group].iter();
            nodes.find_map(|&node| {
                let mut moves = self.node(node).moves.iter();
                moves.find(|moves| {
                    moves.buffer == access.buffer && moves.dependency == access.dependency
                })
            })
        };
        let (own, fixed) = (&steps(pointwise, own)?.steps, &steps(by, fixed)?.steps);
        let place = |step: &u64| own.iter().position(|own| own == step);
        let order: Vec<usize> = fixed.iter().filter_map(place).collect();
        let is_each_once = (0..own.len()).all(|at| order.contains(&at));
        (order.len() == own.len() && is_each_once).then_some(order)
    }
}

fn sorted(mut accesses: Vec<BufferAccess>) -> Vec<BufferAccess> {
    accesses.sort_unstable();
    accesses.dedup();
    accesses
}
