//! Fuses nodes to kernels: in each of at most ten rounds, pairs that share a buffer, most shared bytes first.

use crate::core::fusion::decision::{Decision, Log};
use crate::core::fusion::inductor::library::first_matmul;
use crate::core::fusion::inductor::lower::{BufferId, Node, NodeId, Read};
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

/// For each node its kernel, kernels numbered in an order in which they can run, and how many there are.
pub(super) fn fuse(
    graph: &Graph,
    nodes: &IdVec<NodeId, Node>,
    log: &mut Log,
) -> (IdVec<NodeId, KernelId>, usize) {
    let mut schedule = Schedule::new(graph, nodes);
    for round in 1..=ROUNDS {
        if !schedule.round(round, log) {
            break;
        }
    }
    schedule.close_gaps();
    let kernel = |&group: &GroupId| KernelId::new(schedule.place[group].index());
    let kernel_of = schedule.group_of.iter().map(kernel);
    (kernel_of.collect(), schedule.order.len())
}

struct Schedule<'a> {
    graph: &'a Graph,
    nodes: &'a IdVec<NodeId, Node>,
    bytes: IdVec<BufferId, u64>,
    /// For each buffer the node that writes it.
    writer: IdVec<BufferId, Option<NodeId>>,
    /// For each node its group. The first node of a merged group gives the group that it was merged into.
    group_of: IdVec<NodeId, GroupId>,
    /// The nodes of each group; empty after it was merged into another.
    members: IdVec<GroupId, Vec<NodeId>>,
    space: IdVec<GroupId, Loop>,
    /// For each group the buffers that it writes, or reads in the order in which they are written; ascending.
    touches: IdVec<GroupId, Vec<BufferId>>,
    /// For each group what it reads and the buffers that it writes; ascending.
    reads: IdVec<GroupId, Vec<Read>>,
    writes: IdVec<GroupId, Vec<BufferId>>,
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
    fn new(graph: &'a Graph, nodes: &'a IdVec<NodeId, Node>) -> Self {
        let count = nodes.len();
        let mut schedule = Self {
            graph,
            nodes,
            bytes: IdVec::from_elem(0, BufferId::count(graph)),
            writer: IdVec::from_elem(None, BufferId::count(graph)),
            group_of: (0..count).map(GroupId::new).collect(),
            members: nodes.ids().map(|node| vec![node]).collect(),
            space: nodes.iter().map(|node| node.space).collect(),
            touches: IdVec::with_capacity(count),
            reads: nodes.iter().map(|node| node.reads.clone()).collect(),
            writes: nodes.iter().map(|node| vec![node.writes]).collect(),
            has_grown: IdVec::from_elem(true, count),
            order: (0..count).map(|group| Some(GroupId::new(group))).collect(),
            place: (0..count).map(Place::new).collect(),
        };
        for (id, tensor) in graph.tensors.iter_enumerated() {
            schedule.bytes[BufferId::of_tensor(id)] = tensor.bytes().unwrap_or(0);
        }
        for (id, node) in nodes.iter_enumerated() {
            schedule.writer[node.writes] = Some(id);
            if let (Loop::Reduction { rows, .. }, None) = (node.space, node.writes.tensor(graph)) {
                // Row values are kept in f32.
                schedule.bytes[node.writes] = rows * 4;
            }
            let reads = node.reads.iter().filter(|read| !read.is_reordered);
            let mut touches: Vec<BufferId> = reads.map(|read| read.buffer).collect();
            touches.push(node.writes);
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
            let shared_bytes = pair.shared_bytes;
            match self
                .fits(first, second)
                .and_then(|()| self.merge(first, second))
            {
                Ok(()) => {
                    is_changed = true;
                    log.note(Decision::Fused {
                        first: named[0],
                        second: named[1],
                        shared_bytes,
                    });
                }
                Err(reason) => log.refuse(&named, reason),
            }
        }
        is_changed
    }

    /// The group that this one is part of now.
    fn now(&self, group: GroupId) -> GroupId {
        self.group_of[group.first_node()]
    }

    /// The op that identifies a group: the last op of its first node. Every node computes an op.
    fn op_of(&self, group: GroupId) -> OpId {
        let ops = &self.nodes[group.first_node()].ops;
        ops.last().copied().unwrap_or(OpId::new(0))
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
            touching.push(self.touches[group].iter().copied());
        }
        let (mut pairs, mut others) = (Vec::new(), Vec::new());
        let places_of = touching.inverted(self.bytes.len());
        // For each buffer how many places with access to it were visited.
        let mut visited = IdVec::from_elem(0, self.bytes.len());
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
                (
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
            if let Err(reason) = self.fits(pair.first, pair.second) {
                log.refuse(&[self.op_of(pair.first), self.op_of(pair.second)], reason);
            }
        }
        pairs
    }

    /// Bytes of the buffers that both groups access, each once.
    fn shared_bytes(&self, first: GroupId, second: GroupId) -> u64 {
        let mut bytes = 0;
        let (a, b) = (&self.touches[first], &self.touches[second]);
        common(a, b, BufferId::cmp, |&buffer, _| {
            bytes += self.bytes[buffer];
        });
        bytes
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
        let (feeds, is_reordered) = self.feeds(first, second);
        if is_reordered {
            return Err(Reason::Reordered);
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
        let order = |read: &Read, buffer: &BufferId| read.buffer.cmp(buffer);
        common(&self.reads[to], &self.writes[from], order, |read, _| {
            feeds = true;
            is_reordered |= read.is_reordered;
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
        let space = joint(self.space[first], self.space[second], feeds)?;
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
