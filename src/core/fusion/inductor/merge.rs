//! Makes one group of two, and keeps the groups in an order in which they can run.

use super::mixed::join;
use super::pair::joint;
use super::schedule::{GroupId, Schedule, SchedulePosition};
use crate::fusion::reason::Reason;
use crate::model::ids::IdVec;
use std::iter::repeat;

/// A fusion reorders at most this many kernels, which keeps the total time linear.
const REGION: usize = 4096;

impl Schedule<'_> {
    /// Merges two groups, unless another one has to run between them.
    ///
    /// Only groups at positions between the two can. Groups that depend on the first one move
    /// behind the merged group, the others in front of it.
    pub(super) fn merge(&mut self, first: GroupId, second: GroupId) -> Result<(), Reason> {
        let (start, end) = (self.place[first], self.place[second]);
        let (feeds, _) = self.feeds(first, second);
        let mixes = self.mixes(first, second);
        let is_first_along = self.rows[first].is_some_and(|rows| rows.is_contiguous);
        let space = match (mixes, is_first_along) {
            (true, true) => self.space[first],
            (true, false) => self.space[second],
            _ => joint(self.space[first], self.space[second], feeds)?,
        };
        let places = end.behind(start);
        if places > REGION {
            return Err(Reason::TooFar { places });
        }
        // For each position, beginning at the first group, whether the group there depends on the
        // first group.
        let mut depends = vec![true];
        // Writers come before their readers, so their marks are set when a reader asks.
        for place in start.next().until(end) {
            let is_marked = |from| self.is_marked(&depends, start, from);
            let group = self.order[place];
            let depends_on_first = group.is_some_and(|g| self.depends_on_any(g, is_marked));
            depends.push(depends_on_first);
        }
        let between = self.dependency(second, |from| {
            from != first && self.is_marked(&depends, start, from)
        });
        if let Some(group) = between {
            let through = self.op_of(group);
            return Err(Reason::Between { through });
        }

        if let Some((moved, order)) = self.reordered(first, second).filter(|_| !mixes) {
            self.take_order(moved, &order);
        }

        let (mut ahead, mut behind) = (Vec::new(), Vec::new());
        for (place, depends) in start.until(end).zip(depends).skip(1) {
            let side = if depends { &mut behind } else { &mut ahead };
            side.extend(self.order[place]);
        }
        let groups = ahead.into_iter().chain([first]).chain(behind).map(Some);
        // The merged group needs one position, not two, so the last one is empty until
        // `close_gaps`.
        for (place, group) in start.until(end.next()).zip(groups.chain(repeat(None))) {
            self.order[place] = group;
            if let Some(group) = group {
                self.place[group] = place;
            }
        }

        if mixes {
            let columns = if is_first_along { second } else { first };
            self.mixed.extend(&self.members[columns]);
            let along = if is_first_along { first } else { second };
            self.rows[first] = self.rows[along];
        } else {
            self.rows[first] = join(self.rows[first], self.rows[second]);
        }
        self.is_mixed[first] |= mixes || self.is_mixed[second];
        let taken = std::mem::take(&mut self.members[second]);
        for &node in &taken {
            self.group_of[node] = first;
        }
        self.members[first].extend(taken);
        self.space[first] = space;
        unite(&mut self.touches, first, second);
        unite(&mut self.reads, first, second);
        unite(&mut self.writes, first, second);
        let written = &self.writes[first];
        let taken = std::mem::take(&mut self.lone[second]);
        self.lone[first].extend(taken);
        // A buffer whose only reader is in the kernel that writes it leaves no memory that a later
        // kernel could use again.
        self.lone[first].retain(|lone| written.iter().all(|write| write.buffer != lone.buffer));
        self.lone[first].sort_unstable();
        self.last_node[first] = self.last_node[first].max(self.last_node[second]);
        self.has_grown[first] = true;
        Ok(())
    }

    /// Whether `depends`, which starts at place `start`, marks the group.
    fn is_marked(&self, depends: &[bool], start: SchedulePosition, group: GroupId) -> bool {
        let ahead = self.place[group].index().checked_sub(start.index());
        ahead.and_then(|ahead| depends.get(ahead)) == Some(&true)
    }

    /// Whether the group reads what a group that matches writes. Later buffers first: ops mostly
    /// read recent ones.
    fn depends_on_any(&self, group: GroupId, matches: impl Fn(GroupId) -> bool) -> bool {
        let writers = self.reads[group].iter().rev();
        let mut writers = writers.filter_map(|read| self.writer[read.buffer]);
        writers.any(|writer| {
            let from = self.group_of[writer];
            from != group && matches(from)
        })
    }

    /// Another group that matches and writes what this one reads.
    fn dependency(&self, group: GroupId, matches: impl Fn(GroupId) -> bool) -> Option<GroupId> {
        let nodes = self.members[group].iter();
        let mut reads = nodes.flat_map(|&node| &self.nodes[node].reads);
        reads.find_map(|read| {
            let from = self.group_of[self.writer[read.buffer]?];
            (from != group && matches(from)).then_some(from)
        })
    }
}

/// Moves the items of a group to those of another one, which stay ascending and each once.
fn unite<T: Ord>(lists: &mut IdVec<GroupId, Vec<T>>, into: GroupId, from: GroupId) {
    let items = std::mem::take(&mut lists[from]);
    let own = &mut lists[into];
    own.extend(items);
    own.sort_unstable();
    own.dedup();
}
