//! Fuses nodes to kernels: in each of at most ten rounds, pairs that share a buffer, most shared bytes first.

use crate::core::fusion::decision::{Decision, Log};
use crate::core::fusion::inductor::library::first_matmul;
use crate::core::fusion::inductor::mixed::{are_mixed, join};
use crate::core::fusion::inductor::node::{BufferId, Node, NodeId, Read, Rows};
use crate::core::fusion::inductor::view::Access;
use crate::core::fusion::loops::Loop;
use crate::core::fusion::reason::Reason;
use crate::core::model::adjacency::Adjacency;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, KernelId, OpId, define_ids};
use crate::core::sorted::common;
use std::cmp::Reverse;
use std::iter::repeat;

define_ids! {
    /// A group of fused nodes, by its first node.
    struct GroupId;
    /// A place in the order in which groups run.
    struct Place;
}

impl GroupId {
    const fn first_node(self) -> NodeId {
        NodeId::new(self.index())
    }
}

impl Place {
    /// The places from this one up to another one.
    fn until(self, end: Self) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (self.index()..end.index()).map(Self::new)
    }

    const fn next(self) -> Self {
        Self::new(self.index() + 1)
    }

    /// Distance from an earlier place.
    const fn behind(self, earlier: Self) -> usize {
        self.index() - earlier.index()
    }
}

/// Most rounds of fusion, as in the compiler.
const ROUNDS: usize = 10;
/// Most nodes of one kernel (`max_fusion_size`).
const NODES: usize = 64;
/// Most later kernels that each kernel with access to a buffer is paired with
/// (`max_fusion_buffer_group_pairwise_attempts`).
const ATTEMPTS: usize = 64;
/// Kernels that only share inputs share at least this many bytes and are at most this many places apart.
const HORIZONTAL_BYTES: u64 = 10;
const HORIZONTAL_PLACES: usize = 64;
/// A fusion reorders at most this many kernels, which keeps the total time linear.
const REGION: usize = 4096;

/// The nodes in kernels.
pub(super) struct Fused {
    /// For each node its kernel, kernels numbered in an order in which they can run.
    pub(super) kernel_of: IdVec<NodeId, KernelId>,
    /// How many kernels there are.
    pub(super) kernels: usize,
    /// Reductions of columns that share a kernel with one of rows.
    pub(super) mixed: Vec<NodeId>,
}

/// The kernels of nodes that access this many buffers.
pub(super) fn fuse(
    graph: &Graph,
    nodes: &IdVec<NodeId, Node>,
    buffers: usize,
    log: &mut Log,
) -> Fused {
    let mut schedule = Schedule::new(graph, nodes, buffers);
    for round in 1..=ROUNDS {
        if !schedule.round(round, log) {
            break;
        }
    }
    schedule.close_gaps();
    let kernel = |&group: &GroupId| KernelId::new(schedule.place[group].index());
    let kernel_of = schedule.group_of.iter().map(kernel);
    Fused {
        kernel_of: kernel_of.collect(),
        kernels: schedule.order.len(),
        mixed: schedule.mixed,
    }
}

struct Schedule<'a> {
    graph: &'a Graph,
    nodes: &'a IdVec<NodeId, Node>,
    /// For each buffer the node that writes it.
    writer: IdVec<BufferId, Option<NodeId>>,
    /// For each node its group. The first node of a merged group gives the group that it was merged into.
    group_of: IdVec<NodeId, GroupId>,
    /// The nodes of each group; empty after it was merged into another.
    members: IdVec<GroupId, Vec<NodeId>>,
    space: IdVec<GroupId, Loop>,
    /// For each group its accesses that others can share; ascending.
    touches: IdVec<GroupId, Vec<Read>>,
    /// For each group all that it reads and writes; ascending.
    reads: IdVec<GroupId, Vec<Read>>,
    writes: IdVec<GroupId, Vec<Read>>,
    /// For each group the rows that its reductions have, and whether reductions of columns have joined them.
    rows: IdVec<GroupId, Option<Rows>>,
    is_mixed: IdVec<GroupId, bool>,
    mixed: Vec<NodeId>,
    /// Whether the group has grown since the previous round; true before the first round.
    has_grown: IdVec<GroupId, bool>,
    /// Groups in the order in which they run; `None` where a group was merged into another.
    order: IdVec<Place, Option<GroupId>>,
    /// For each group its place in the order.
    place: IdVec<GroupId, Place>,
}

/// Two groups, the earlier one first, and the bytes that they share.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pair {
    first: GroupId,
    second: GroupId,
    shared_bytes: u64,
}

impl<'a> Schedule<'a> {
    fn new(graph: &'a Graph, nodes: &'a IdVec<NodeId, Node>, buffers: usize) -> Self {
        let count = nodes.len();
        let mut schedule = Self {
            graph,
            nodes,
            writer: IdVec::from_elem(None, buffers),
            group_of: (0..count).map(GroupId::new).collect(),
            members: nodes.ids().map(|node| vec![node]).collect(),
            space: nodes.iter().map(|node| node.space).collect(),
            touches: IdVec::with_capacity(count),
            reads: nodes.iter().map(|node| node.reads.clone()).collect(),
            writes: nodes.iter().map(|node| vec![node.writes]).collect(),
            rows: nodes.iter().map(|node| node.rows).collect(),
            is_mixed: IdVec::from_elem(false, count),
            mixed: Vec::new(),
            has_grown: IdVec::from_elem(true, count),
            order: (0..count).map(|group| Some(GroupId::new(group))).collect(),
            place: (0..count).map(Place::new).collect(),
        };
        for (id, node) in nodes.iter_enumerated() {
            schedule.writer[node.writes.buffer] = Some(id);
            let all = node.reads.iter().chain([&node.writes]).copied();
            let mut touches: Vec<Read> =
                all.filter(|read| read.access != Access::Unknown).collect();
            touches.sort_unstable();
            touches.dedup();
            schedule.touches.push(touches);
        }
        schedule
    }

    /// Merges every pair that is still legal when its turn comes. Returns whether it merged any.
    fn round(&mut self, round: usize, log: &mut Log) -> bool {
        self.close_gaps();
        let pairs = self.pairs(round, log);
        self.has_grown
            .iter_mut()
            .for_each(|has_grown| *has_grown = false);
        let mut is_changed = false;
        for pair in pairs {
            // Earlier fusions of this round may have merged either group.
            let (mut first, mut second) = (self.now(pair.first), self.now(pair.second));
            if self.place[first] > self.place[second] {
                (first, second) = (second, first);
            }
            if first == second {
                continue;
            }
            let named = [self.op_of(first), self.op_of(second)];
            let is_named = self.has_ops(first) && self.has_ops(second);
            let shared_bytes = pair.shared_bytes;
            match self
                .fits(first, second)
                .and_then(|()| self.merge(first, second))
            {
                Ok(()) => {
                    is_changed = true;
                    if is_named {
                        log.note(Decision::Fused {
                            first: named[0],
                            second: named[1],
                            shared_bytes,
                        });
                    }
                }
                Err(reason) if is_named => log.refuse(&named, reason),
                Err(_) => {}
            }
        }
        is_changed
    }

    /// The group that this one is part of now.
    fn now(&self, group: GroupId) -> GroupId {
        self.group_of[group.first_node()]
    }

    fn has_ops(&self, group: GroupId) -> bool {
        let members = self.members[group].iter();
        members
            .copied()
            .any(|node| !self.nodes[node].ops.is_empty())
    }

    /// The op that identifies a group: the last op of its first node that computes one, or of the node whose half it is.
    fn op_of(&self, group: GroupId) -> OpId {
        /// A reduction in two has two halves, of a norm four.
        const HALVES: usize = 4;
        let last = |node: NodeId| self.nodes[node].ops.last().copied();
        let members = self.members[group].iter().copied();
        let mut node = group.first_node();
        let named = members.chain([node]).find_map(last);
        for _ in 0..HALVES {
            let reads = self.nodes[node].reads.iter();
            match { reads }.find_map(|read| self.writer[read.buffer]) {
                Some(writer) if last(node).is_none() => node = writer,
                _ => break,
            }
        }
        named.or_else(|| last(node)).unwrap_or(OpId::new(0))
    }

    fn close_gaps(&mut self) {
        let left = self.order.iter().filter(|group| group.is_some());
        self.order = left.copied().collect();
        for (place, group) in self.order.iter_enumerated() {
            if let Some(group) = *group {
                self.place[group] = place;
            }
        }
    }

    /// The pairs to try, best first.
    fn pairs(&self, round: usize, log: &mut Log) -> Vec<Pair> {
        let groups = self.order.iter().copied().flatten();
        let groups: IdVec<Place, GroupId> = groups.collect();
        let mut touching: Adjacency<Place, BufferId> =
            Adjacency::with_capacity(groups.len(), groups.len() * 4);
        for &group in &groups {
            let accesses = self.reads[group].iter().chain(&self.writes[group]);
            let mut buffers: Vec<BufferId> = accesses.map(|read| read.buffer).collect();
            buffers.sort_unstable();
            buffers.dedup();
            touching.push(buffers);
        }
        let (mut pairs, mut others) = (Vec::new(), Vec::new());
        let buffers = self.writer.len();
        let places_of = touching.inverted(buffers);
        // For each buffer how many places with access to it were visited.
        let mut visited = IdVec::from_elem(0, buffers);
        // For each place the last one that it was paired with: most pairs share several buffers.
        let mut paired_with = IdVec::from_elem(None, groups.len());
        for (place, buffers) in touching.iter_enumerated() {
            for &buffer in buffers {
                visited[buffer] += 1;
                let behind = places_of[buffer].iter().skip(visited[buffer]);
                for &later in behind.take(ATTEMPTS) {
                    if paired_with[later].replace(place) == Some(place) {
                        continue;
                    }
                    let (first, second) = (groups[place], groups[later]);
                    let fits = self.fits(first, second).is_ok();
                    // What was refused in the round before is not noted again.
                    let is_news = log.is_on() && (self.has_grown[first] || self.has_grown[second]);
                    if fits || is_news {
                        let pair = Pair {
                            first,
                            second,
                            shared_bytes: self.shared_bytes(first, second),
                        };
                        if fits { &mut pairs } else { &mut others }.push(pair);
                    }
                }
            }
        }
        for list in [&mut pairs, &mut others] {
            list.sort_by_key(|pair| {
                // Two reductions, or two pointwise kernels, before a mixed pair.
                let is_mixed = self.is_reduction(pair.first) != self.is_reduction(pair.second);
                (
                    is_mixed,
                    Reverse(pair.shared_bytes),
                    self.place[pair.first],
                    self.place[pair.second],
                )
            });
        }
        log.note(Decision::Round {
            round,
            pairs: pairs.len(),
        });
        for pair in others {
            if let Err(reason) = self.fits(pair.first, pair.second)
                && self.has_ops(pair.first)
                && self.has_ops(pair.second)
            {
                log.refuse(&[self.op_of(pair.first), self.op_of(pair.second)], reason);
            }
        }
        pairs
    }

    fn is_reduction(&self, group: GroupId) -> bool {
        matches!(self.space[group], Loop::Reduction { .. })
    }

    /// Bytes of the accesses that both groups have, each once.
    fn shared_bytes(&self, first: GroupId, second: GroupId) -> u64 {
        if let (Some(rows), true) = (self.rows[first], self.mixes(first, second)) {
            return rows.elements();
        }
        let mut bytes = 0_u64;
        let (a, b) = (&self.touches[first], &self.touches[second]);
        let by_access = |a: &Read, b: &Read| (a.buffer, a.access).cmp(&(b.buffer, b.access));
        let mut last = None;
        common(a, b, by_access, |read, other| {
            if read.matches(other) && last != Some((read.buffer, read.access)) {
                last = Some((read.buffer, read.access));
                bytes = bytes.saturating_add(read.bytes);
            }
        });
        bytes
    }

    /// Whether a reduction of rows and one of columns share a kernel.
    fn mixes(&self, first: GroupId, second: GroupId) -> bool {
        let (Some(a), Some(b)) = (self.rows[first], self.rows[second]) else {
            return false;
        };
        if !are_mixed(a, b) || self.is_mixed[first] || self.is_mixed[second] {
            return false;
        }
        let (from, to) = (&self.reads[first], &self.reads[second]);
        let mut is_shared = false;
        let by_buffer = |a: &Read, b: &Read| a.buffer.cmp(&b.buffer);
        common(from, to, by_buffer, |a, b| {
            let width = (a.buffer.tensor(self.graph)).and_then(|t| t.bytes_per_element);
            let whole = (a.bytes.min(b.bytes)) / u64::from(width.unwrap_or(4).max(1));
            is_shared |= self.rows[first].is_some_and(|rows| whole >= rows.elements());
        });
        is_shared && !self.feeds(first, second).0
    }

    /// Checks everything but cycles: sizes, loops, and whether reads follow the order of the writes.
    fn fits(&self, first: GroupId, second: GroupId) -> Result<(), Reason> {
        let is_call = |group: &GroupId| self.space[*group] == Loop::Library;
        let call = [first, second].into_iter().find(is_call);
        let matmul =
            call.and_then(|group| first_matmul(self.graph, &self.nodes[group.first_node()].ops));
        if let Some(matmul) = matmul {
            return Err(Reason::LibraryCall { matmul });
        }
        let nodes = self.members[first].len() + self.members[second].len();
        if nodes > NODES {
            return Err(Reason::TooManyNodes {
                nodes,
                limit: NODES,
            });
        }
        if self.mixes(first, second) {
            return Ok(());
        }
        let (feeds, is_reordered) = self.feeds(first, second);
        if is_reordered {
            return Err(Reason::Reordered);
        }
        if self.is_mixed[second] {
            // Nothing is fused in front of reductions of rows and columns.
            let (first, second) = (self.space[first], self.space[second]);
            return Err(Reason::Loops { first, second });
        }
        let places = self.place[second].behind(self.place[first]);
        if !feeds {
            let shared_bytes = self.shared_bytes(first, second);
            if places > HORIZONTAL_PLACES || shared_bytes < HORIZONTAL_BYTES {
                return Err(Reason::TooLittleShared {
                    shared_bytes,
                    places,
                });
            }
        }
        joint(self.space[first], self.space[second], feeds).map(|_| ())
    }

    /// Whether a group reads what another one writes, and whether any of it in another order.
    fn feeds(&self, from: GroupId, to: GroupId) -> (bool, bool) {
        let (mut feeds, mut is_reordered) = (false, false);
        // The loops of a template have their order.
        let is_template = matches!(self.space[from], Loop::Template(_));
        let order = |read: &Read, write: &Read| read.buffer.cmp(&write.buffer);
        common(&self.reads[to], &self.writes[from], order, |read, write| {
            feeds = true;
            is_reordered |= !read.matches(write) || is_template && !read.is_straight;
        });
        (feeds, is_reordered)
    }

    /// Merges two groups, unless another one has to run between them.
    ///
    /// Only groups at places between the two can. Those that depend on the first group move behind the merged
    /// one, the others in front of it.
    fn merge(&mut self, first: GroupId, second: GroupId) -> Result<(), Reason> {
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
        // For each place from the first group on, whether the group there depends on the first group.
        let mut depends = vec![true];
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

        let (mut ahead, mut behind) = (Vec::new(), Vec::new());
        for (place, depends) in start.until(end).zip(depends).skip(1) {
            let side = if depends { &mut behind } else { &mut ahead };
            side.extend(self.order[place]);
        }
        let groups = ahead.into_iter().chain([first]).chain(behind).map(Some);
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
        self.has_grown[first] = true;
        Ok(())
    }

    /// Whether `depends`, which starts at place `start`, marks the group.
    fn is_marked(&self, depends: &[bool], start: Place, group: GroupId) -> bool {
        let ahead = self.place[group].index().checked_sub(start.index());
        ahead.and_then(|ahead| depends.get(ahead)) == Some(&true)
    }

    /// Whether the group reads what a group that matches writes. Later buffers first: ops mostly read recent ones.
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

/// The loop of both in one kernel, if there is one. `feeds`: the second reads what the first writes.
fn joint(first: Loop, second: Loop, feeds: bool) -> Result<Loop, Reason> {
    let space = match (first, second) {
        (Loop::Pointwise(a), Loop::Pointwise(b)) => (a == b).then_some(first),
        (Loop::Template(a), Loop::Pointwise(b)) => (feeds && a == b).then_some(first),
        (Loop::Reduction { .. }, Loop::Reduction { .. }) => (first == second).then_some(first),
        (Loop::Pointwise(elements), space @ Loop::Reduction { rows, width, .. })
        | (space @ Loop::Reduction { rows, width, .. }, Loop::Pointwise(elements)) => {
            (elements == rows || rows.checked_mul(width) == Some(elements)).then_some(space)
        }
        _ => None,
    };
    space.ok_or(Reason::Loops { first, second })
}
