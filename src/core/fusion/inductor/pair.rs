//! Which two groups of nodes may share a kernel, and how many bytes that saves.

use super::library::call_reason;
use super::mixed::are_mixed;
use super::node::BufferAccess;
use super::schedule::{GroupId, Lone, Schedule};
use super::view::{AccessedElements, Dependency};
use crate::fusion::loops::Loop;
use crate::fusion::reason::Reason;
use crate::sorted::common;

/// Most nodes of one kernel (`max_fusion_size`).
const NODES: usize = 64;
/// Kernels that only share inputs share at least this many bytes and are at most this many nodes
/// apart.
const HORIZONTAL_BYTES: u64 = 10;
const HORIZONTAL_PLACES: usize = 64;
/// How many elements of memory that cannot be used again a shared byte is worth.
const WORTH: u64 = 32;

impl Schedule<'_> {
    pub(super) fn is_reduction(&self, group: GroupId) -> bool {
        matches!(self.space[group], Loop::Reduction { .. })
    }

    /// What orders the pair among others: the more, the earlier it is tried.
    pub(super) fn score(&self, first: GroupId, second: GroupId) -> u64 {
        match self.rows[first] {
            // Elements, not bytes, as the compiler scores such a pair: others that share as many
            // elements go first (`MixOrderReduction.get_fusion_score`).
            Some(rows) if self.mixes(first, second) => rows.elements(),
            // What only another order of the loops shares does not count.
            _ => self.bytes_in_order(first, second),
        }
    }

    /// Bytes of the accesses that both groups have, each once.
    pub(super) fn shared_bytes(&self, first: GroupId, second: GroupId) -> u64 {
        if let (Some(rows), true) = (self.rows[first], self.mixes(first, second)) {
            // One of the two reads the tensor in another order, so no access is equal.
            return self.bytes_of_mixed(first, second, rows.elements());
        }
        let bytes = self.bytes_in_order(first, second);
        if bytes < HORIZONTAL_BYTES && self.reorders {
            return bytes.max(self.bytes_reordered(first, second));
        }
        bytes
    }

    /// Whether what both groups share without another order of the loops is enough.
    pub(super) fn shares_in_order(&self, first: GroupId, second: GroupId) -> bool {
        self.bytes_in_order(first, second) >= HORIZONTAL_BYTES
    }

    /// Bytes of the accesses that both groups have by the same index in the same loops.
    fn bytes_in_order(&self, first: GroupId, second: GroupId) -> u64 {
        let mut bytes = 0_u64;
        let (a, b) = (&self.touches[first], &self.touches[second]);
        let by_index = |a: &BufferAccess, b: &BufferAccess| {
            (a.buffer, a.dependency.exact).cmp(&(b.buffer, b.dependency.exact))
        };
        let mut last = None;
        common(a, b, by_index, |read, _| {
            if last != Some((read.buffer, read.dependency.exact)) {
                last = Some((read.buffer, read.dependency.exact));
                bytes = bytes.saturating_add(read.bytes);
            }
        });
        bytes
    }

    /// Bytes of the tensors that both groups read whole, in whichever order.
    fn bytes_of_mixed(&self, first: GroupId, second: GroupId, elements: u64) -> u64 {
        let (from, to) = (&self.reads[first], &self.reads[second]);
        let by_buffer = |a: &BufferAccess, b: &BufferAccess| a.buffer.cmp(&b.buffer);
        let (mut bytes, mut last) = (0_u64, None);
        common(from, to, by_buffer, |a, b| {
            let shared = a.bytes.min(b.bytes);
            if last != Some(a.buffer) && shared / u64::from(a.width.max(1)) >= elements {
                last = Some(a.buffer);
                bytes = bytes.saturating_add(shared);
            }
        });
        bytes
    }

    /// Whether a reduction of rows and one of columns share a kernel.
    pub(super) fn mixes(&self, first: GroupId, second: GroupId) -> bool {
        let (Some(a), Some(b)) = (self.rows[first], self.rows[second]) else {
            return false;
        };
        if !are_mixed(a, b, self.target.is_2_15) || self.is_mixed[first] || self.is_mixed[second] {
            return false;
        }
        // A broadcast buffer does not count: both must read it whole (`_is_full_access`).
        self.bytes_of_mixed(first, second, a.elements()) > 0 && !self.feeds(first, second).0
    }

    /// Checks everything but cycles: sizes, loops, and whether reads follow the order of the
    /// writes.
    pub(super) fn fits(&self, first: GroupId, second: GroupId) -> Result<(), Reason> {
        let is_call = |group: &GroupId| self.space[*group] == Loop::Library;
        let call = [first, second].into_iter().find(is_call);
        let reason =
            call.and_then(|group| call_reason(self.graph, &self.nodes[group.first_node()].ops));
        if let Some(reason) = reason {
            return Err(reason);
        }
        let nodes = self.members[first].len() + self.members[second].len();
        if nodes > NODES {
            return Err(Reason::TooManyNodes {
                nodes,
                limit: NODES,
            });
        }
        // Rows and columns read in different orders by design, so no check of the order follows.
        if self.mixes(first, second) {
            return Ok(());
        }
        let (feeds, is_reordered) = self.feeds(first, second);
        if is_reordered {
            return Err(Reason::Reordered);
        }
        if let Some(reason) = self.overwrites_early(first, second) {
            return Err(reason);
        }
        if self.is_mixed[second] {
            // Nothing is fused in front of reductions of rows and columns.
            let (first, second) = (self.space[first], self.space[second]);
            return Err(Reason::Loops { first, second });
        }
        let shared_bytes = self.shared_bytes(first, second);
        if !feeds {
            let places = self.distance(first, second);
            if places > HORIZONTAL_PLACES || shared_bytes < HORIZONTAL_BYTES {
                return Err(Reason::TooLittleShared {
                    shared_bytes,
                    places,
                });
            }
        }
        if shared_bytes == 0 {
            let places = self.distance(first, second);
            return Err(Reason::TooLittleShared {
                shared_bytes,
                places,
            });
        }
        if self.tiles_apart(first, second) || self.cuts_apart(first, second) {
            return Err(Reason::Reordered);
        }
        let kept_elements = self.kept_elements(first, second);
        if kept_elements > shared_bytes.saturating_mul(WORTH) {
            return Err(Reason::KeepsMemory {
                kept_elements,
                shared_bytes,
            });
        }
        joint(self.space[first], self.space[second], feeds).map(|_| ())
    }

    /// The nodes of a pointwise group and the rows of a reduction, if one group has all elements of
    /// the other one's rows.
    fn over_rows(&self, first: GroupId, second: GroupId) -> Option<(GroupId, u64, u64)> {
        let (pointwise, elements, rows, width) = match (self.space[first], self.space[second]) {
            (Loop::Pointwise(n), Loop::Reduction { rows, width, .. }) => (first, n, rows, width),
            (Loop::Reduction { rows, width, .. }, Loop::Pointwise(n)) => (second, n, rows, width),
            _ => return None,
        };
        (rows.checked_mul(width) == Some(elements)).then_some((pointwise, rows, width))
    }

    /// Whether one group is pointwise over all elements of the other one's rows, and runs over
    /// tiles that are no rows. Source: `tiling_prevents_reduction_fusion`.
    fn tiles_apart(&self, first: GroupId, second: GroupId) -> bool {
        let is_reordered = self.reorders && !self.shares_in_order(first, second);
        self.over_rows(first, second)
            .is_some_and(|(pointwise, rows, width)| {
                // In the order of the reduction, tiles of its columns are tiles of its rows.
                let are_rows = |tile: u64| tile == rows || is_reordered && tile == width;
                let mut nodes = self.members[pointwise].iter();
                let order = self.order_by_guide(first, second, pointwise);
                if let Some(order) = order.filter(|_| is_reordered) {
                    return nodes
                        .any(|&node| self.node(node).tiles_in(&order).any(|tile| tile != rows));
                }
                nodes.any(|&node| self.node(node).tiles().any(|tile| !are_rows(tile)))
            })
    }

    /// Whether the loops of a pointwise group cannot be cut where the rows of a reduction end.
    /// Loops of the same sizes are brought into the order of the reduction.
    fn cuts_apart(&self, first: GroupId, second: GroupId) -> bool {
        let over = self.over_rows(first, second);
        let is_cut = over.is_some_and(|(pointwise, rows, width)| {
            let mut nodes = self.members[pointwise].iter();
            nodes.any(|&node| !self.node(node).has_rows(rows, width))
        });
        if !is_cut || !self.reorders {
            return is_cut;
        }
        let (a, b) = (&self.touches[first], &self.touches[second]);
        let by_access =
            |a: &BufferAccess, b: &BufferAccess| (a.buffer, a.access).cmp(&(b.buffer, b.access));
        let mut has_same_loops = false;
        common(a, b, by_access, |a, b| {
            has_same_loops |= a.matches(b) && a.loops == b.loops;
        });
        !has_same_loops
    }

    /// Nodes between the ends of two groups that are farthest apart.
    pub(super) fn distance(&self, a: GroupId, b: GroupId) -> usize {
        let ends = |from: GroupId, to: GroupId| {
            let (first, last) = (from.first_node().index(), self.last_node[to].index());
            first.abs_diff(last)
        };
        ends(a, b).max(ends(b, a))
    }

    /// Elements of the buffers that one kernel of both keeps at once, where of two kernels the
    /// later one could use the memory of the earlier one's again. Source:
    /// `can_fusion_increase_peak_memory` in `torch/_inductor/scheduler.py`.
    fn kept_elements(&self, first: GroupId, second: GroupId) -> u64 {
        let mut elements = 0_u64;
        let mut last = None;
        let by_size = |a: &Lone, b: &Lone| (a.width, a.elements).cmp(&(b.width, b.elements));
        common(&self.lone[first], &self.lone[second], by_size, |a, _| {
            // The compiler intersects sets of types and sizes, so equal buffers count once.
            if last != Some((a.width, a.elements)) {
                last = Some((a.width, a.elements));
                elements = elements.saturating_add(a.elements);
            }
        });
        elements
    }

    /// Whether a reader finds its elements where another node of the same kernel writes them.
    /// Source: `fusable_read_and_write`.
    fn agree(&self, read: &BufferAccess, write: &BufferAccess) -> bool {
        let (one, other) = (read.dependency, write.dependency);
        let is_same_way = read.step.is_none() || write.step.is_none() || read.step == write.step;
        if read.access == AccessedElements::Unknown || read.buffer != write.buffer || !is_same_way {
            return false;
        }
        is_in_order(one, other) || self.reorders && read.matches(write)
    }

    /// Whether the loops of one of two groups must be reordered before the later one finds its
    /// elements where the earlier one writes them.
    pub(super) fn needs_reordering(&self, from: GroupId, to: GroupId) -> bool {
        let mut needs_reordering = false;
        let order = |read: &BufferAccess, write: &BufferAccess| read.buffer.cmp(&write.buffer);
        common(&self.reads[to], &self.writes[from], order, |read, write| {
            needs_reordering |= !read.is_wait() && !is_in_order(read.dependency, write.dependency);
        });
        needs_reordering
    }

    /// Whether a group reads what another one writes, and whether any of it in another order.
    pub(super) fn feeds(&self, from: GroupId, to: GroupId) -> (bool, bool) {
        let (mut feeds, mut is_reordered) = (false, false);
        // The loops of a template are fixed: unlike those of a pointwise kernel, the compiler
        // cannot reorder them for a transposed access.
        let is_template = matches!(self.space[from], Loop::Template(_));
        let order = |read: &BufferAccess, write: &BufferAccess| read.buffer.cmp(&write.buffer);
        common(&self.reads[to], &self.writes[from], order, |read, write| {
            feeds = true;
            if read.is_wait() {
                return;
            }
            is_reordered |= !self.agree(read, write) || is_template && !read.is_straight;
        });
        (feeds, is_reordered)
    }
}

/// Whether two indices are equal in loops that follow each other in the same order.
fn is_in_order(one: Dependency, other: Dependency) -> bool {
    one.exact == other.exact || one.loops != other.loops && one.merged == other.merged
}

/// The loop of both in one kernel, if there is one. `feeds`: the second reads what the first
/// writes.
pub(super) fn joint(first: Loop, second: Loop, feeds: bool) -> Result<Loop, Reason> {
    let space = match (first, second) {
        (Loop::Pointwise(a), Loop::Pointwise(b)) => (a == b).then_some(first),
        (Loop::Template(a), Loop::Pointwise(b)) => (feeds && a == b).then_some(first),
        // Which elements are neighbours in a row is part of each access.
        (
            Loop::Reduction { rows, width, .. },
            Loop::Reduction {
                rows: other_rows,
                width: other_width,
                ..
            },
        ) => ((rows, width) == (other_rows, other_width)).then_some(first),
        (Loop::Pointwise(elements), space @ Loop::Reduction { rows, width, .. })
        | (space @ Loop::Reduction { rows, width, .. }, Loop::Pointwise(elements)) => {
            (elements == rows || rows.checked_mul(width) == Some(elements)).then_some(space)
        }
        _ => None,
    };
    space.ok_or(Reason::Loops { first, second })
}
