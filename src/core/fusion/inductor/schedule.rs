//! Fuses nodes to kernels: in each of at most ten rounds, pairs that share a buffer, most shared
//! bytes first. [`super::pair`] says which pairs may fuse, [`super::merge`] makes one group of two.

use crate::fusion::decision::{Decision, Log, NodeKernel};
use crate::fusion::inductor::lower::Target;
use crate::fusion::inductor::node::{BufferAccess, BufferId, NodeId, ReducedRows, SchedulerNode};
use crate::fusion::inductor::view::AccessedElements;
use crate::fusion::loops::Loop;
use crate::model::adjacency::Adjacency;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, TensorId, define_ids};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

define_ids! {
    /// A group of fused nodes, by its first node.
    pub(super) struct GroupId;
    /// A position in the order in which groups run.
    pub(super) struct SchedulePosition;
}

impl GroupId {
    pub(super) const fn first_node(self) -> NodeId {
        NodeId::new(self.index())
    }
}

impl SchedulePosition {
    /// The positions from this one up to another one.
    pub(super) fn until(self, end: Self) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (self.index()..end.index()).map(Self::new)
    }

    pub(super) const fn next(self) -> Self {
        Self::new(self.index() + 1)
    }

    /// Distance from an earlier position.
    pub(super) const fn behind(self, earlier: Self) -> usize {
        self.index() - earlier.index()
    }
}

/// Most rounds of fusion, as in the compiler.
const ROUNDS: usize = 10;
/// Most later kernels that each kernel with access to a buffer is paired with
/// (`max_fusion_buffer_group_pairwise_attempts`).
const ATTEMPTS: usize = 64;

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
    nodes: &IdVec<NodeId, SchedulerNode>,
    buffers: usize,
    target: Target,
    log: &mut Log,
) -> Fused {
    let mut schedule = Schedule::new(graph, nodes, buffers, target);
    for round in 1..=ROUNDS {
        if !schedule.round(round, log) {
            break;
        }
    }
    // Loops are reordered in a last round, where nothing else is shared.
    schedule.reorder_norms();
    schedule.round(ROUNDS + 1, log);
    schedule.close_gaps();
    let kernels = schedule.kernels();
    let kernel_of = schedule.group_of.iter().map(|&group| kernels[group]);
    Fused {
        kernel_of: kernel_of.collect(),
        kernels: schedule.order.len(),
        mixed: schedule.mixed,
    }
}

pub(super) struct Schedule<'a> {
    pub(super) graph: &'a Graph,
    pub(super) nodes: &'a IdVec<NodeId, SchedulerNode>,
    pub(super) target: Target,
    /// For each buffer the node that writes it.
    pub(super) writer: IdVec<BufferId, Option<NodeId>>,
    /// For each node its group. The first node of a merged group gives the group that it was merged
    /// into.
    pub(super) group_of: IdVec<NodeId, GroupId>,
    /// The nodes of each group; empty after it was merged into another.
    pub(super) members: IdVec<GroupId, Vec<NodeId>>,
    pub(super) space: IdVec<GroupId, Loop>,
    /// For each group its accesses that others can share; ascending.
    pub(super) touches: IdVec<GroupId, Vec<BufferAccess>>,
    /// For each group all that it reads and writes; ascending.
    pub(super) reads: IdVec<GroupId, Vec<BufferAccess>>,
    pub(super) writes: IdVec<GroupId, Vec<BufferAccess>>,
    /// For each group the buffers that it alone reads, and that so could be used again once it has
    /// run; ascending.
    pub(super) lone: IdVec<GroupId, Vec<Lone>>,
    /// For each group its last node; its first one is its name.
    pub(super) last_node: IdVec<GroupId, NodeId>,
    /// For each group the rows that its reductions have, and whether reductions of columns have
    /// joined them.
    pub(super) rows: IdVec<GroupId, Option<ReducedRows>>,
    pub(super) is_mixed: IdVec<GroupId, bool>,
    pub(super) mixed: Vec<NodeId>,
    /// The nodes whose loops were brought into another order, as they are then.
    pub(super) ordered: HashMap<NodeId, SchedulerNode>,
    /// Whether the loops of a pointwise group may be brought into another order.
    pub(super) reorders: bool,
    /// Whether the group has grown since the previous round; true before the first round.
    pub(super) has_grown: IdVec<GroupId, bool>,
    /// Groups in the order in which they run; `None` where a group was merged into another.
    pub(super) order: IdVec<SchedulePosition, Option<GroupId>>,
    /// For each group its position in the order.
    pub(super) place: IdVec<GroupId, SchedulePosition>,
}

/// A buffer that one group reads. Memory of the same size and type can be used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lone {
    pub(super) width: u32,
    pub(super) elements: u64,
    pub(super) buffer: BufferId,
}

/// Two groups, the earlier one first, and the bytes that they share.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pair {
    first: GroupId,
    second: GroupId,
    shared_bytes: u64,
    /// What orders pairs: the bytes, except where rows and columns share a kernel.
    score: u64,
}

impl<'a> Schedule<'a> {
    fn new(
        graph: &'a Graph,
        nodes: &'a IdVec<NodeId, SchedulerNode>,
        buffers: usize,
        target: Target,
    ) -> Self {
        let count = nodes.len();
        let mut schedule = Self {
            graph,
            nodes,
            target,
            writer: IdVec::from_elem(None, buffers),
            group_of: (0..count).map(GroupId::new).collect(),
            members: nodes.ids().map(|node| vec![node]).collect(),
            space: nodes.iter().map(|node| node.space).collect(),
            touches: IdVec::with_capacity(count),
            reads: nodes.iter().map(|node| node.reads.clone()).collect(),
            writes: nodes.iter().map(|node| vec![node.writes]).collect(),
            lone: lone_reads(graph, nodes, buffers),
            last_node: nodes.ids().collect(),
            rows: nodes.iter().map(|node| node.rows).collect(),
            is_mixed: IdVec::from_elem(false, count),
            mixed: Vec::new(),
            ordered: HashMap::new(),
            reorders: false,
            has_grown: IdVec::from_elem(true, count),
            order: (0..count).map(|group| Some(GroupId::new(group))).collect(),
            place: (0..count).map(SchedulePosition::new).collect(),
        };
        for (id, node) in nodes.iter_enumerated() {
            schedule.writer[node.writes.buffer] = Some(id);
            let all = node.reads.iter().chain([&node.writes]).copied();
            let mut touches: Vec<BufferAccess> = all
                .filter(|read| read.access != AccessedElements::Unknown)
                .collect();
            touches.sort_unstable();
            touches.dedup();
            schedule.touches.push(touches);
        }
        schedule
    }

    /// Brings the elements of norms into the order of their reductions.
    fn reorder_norms(&mut self) {
        self.reorders = true;
        for (id, node) in self.nodes.iter_enumerated() {
            let Some(dependency) = node.write_by_rows else {
                continue;
            };
            let group = self.group_of[id];
            for list in [&mut self.writes[group], &mut self.touches[group]] {
                let own = list.iter_mut().filter(|access| {
                    access.buffer == node.writes.buffer
                        && access.dependency == node.writes.dependency
                });
                own.for_each(|access| access.dependency = dependency);
                list.sort_unstable();
            }
        }
    }

    /// Merges every pair that is still legal when its turn comes. Returns whether it merged any.
    fn round(&mut self, round: usize, log: &mut Log) -> bool {
        self.close_gaps();
        let pairs = self.pairs(round, log);
        // Only groups that merge from here on have grown when the next round looks.
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
            // Named before the merge, after which both are one group.
            let named = self.kernel_of(first).zip(self.kernel_of(second));
            let shared_bytes = pair.shared_bytes;
            let mut is_vertical = false;
            // `merge` comes last: it walks over the kernels between the two.
            match self.fits(first, second).and_then(|()| {
                is_vertical = self.feeds(first, second).0;
                self.merge(first, second)
            }) {
                Ok(()) => {
                    is_changed = true;
                    if let Some((first, second)) = named {
                        log.note(Decision::Fused {
                            first,
                            second,
                            shared_bytes,
                            is_vertical,
                        });
                    }
                }
                Err(reason) => {
                    if let Some((first, second)) = named {
                        log.refuse(&[first.op, second.op], reason);
                    }
                }
            }
        }
        is_changed
    }

    /// A node, with its loops in the order that they have now.
    pub(super) fn node(&self, node: NodeId) -> &SchedulerNode {
        self.ordered.get(&node).unwrap_or(&self.nodes[node])
    }

    /// The group that this one is part of now.
    fn now(&self, group: GroupId) -> GroupId {
        self.group_of[group.first_node()]
    }

    /// The name of the kernel of a group; `None` if it computes no op.
    fn kernel_of(&self, group: GroupId) -> Option<NodeKernel> {
        self.members[group].iter().find_map(|&node| {
            let SchedulerNode { ops, writes, .. } = &self.nodes[node];
            ops.last().map(|&op| NodeKernel {
                node,
                op,
                is_output: writes.buffer.tensor(self.graph).is_some(),
            })
        })
    }

    /// The op that identifies a group: the last op of its first node that computes one, or of the
    /// node whose half it is.
    pub(super) fn op_of(&self, group: GroupId) -> OpId {
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
        let groups: IdVec<SchedulePosition, GroupId> = groups.collect();
        let mut touching: Adjacency<SchedulePosition, BufferId> =
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
        // For each buffer how many groups with access to it were visited.
        let mut visited = IdVec::from_elem(0, buffers);
        // For each group the last one that it was paired with: most pairs share several buffers.
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
                            score: self.score(first, second),
                        };
                        if fits { &mut pairs } else { &mut others }.push(pair);
                    }
                }
            }
        }
        for list in [&mut pairs, &mut others] {
            list.sort_by_key(|pair| {
                // Epilogues of templates come last. Two reductions, or two pointwise kernels, come
                // before a mixed pair (`score_fusion` in `torch/_inductor/choices.py`).
                let is_epilogue = matches!(self.space[pair.first], Loop::Template(_));
                let is_mixed = pair.score == 0
                    || self.is_reduction(pair.first) != self.is_reduction(pair.second);
                (
                    is_epilogue,
                    is_mixed,
                    Reverse(pair.score),
                    self.distance(pair.first, pair.second),
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
                && let Some(first) = self.kernel_of(pair.first)
                && let Some(second) = self.kernel_of(pair.second)
            {
                log.refuse(&[first.op, second.op], reason);
            }
        }
        pairs
    }
}

/// For each node the buffers that no other one reads, and that are no results.
fn lone_reads(
    graph: &Graph,
    nodes: &IdVec<NodeId, SchedulerNode>,
    buffers: usize,
) -> IdVec<GroupId, Vec<Lone>> {
    let mut readers: IdVec<BufferId, u32> = IdVec::from_elem(0, buffers);
    let mut written: IdVec<BufferId, Option<Lone>> = IdVec::from_elem(None, buffers);
    for node in nodes {
        // A node that stands for several of the compiler's, such as a norm, has as many readings:
        // its buffer is not read by one alone.
        for buffer in buffers_of(node) {
            readers[buffer] += node.readings;
        }
        let buffer = node.writes.buffer;
        let tensor = TensorId::new(buffer.index());
        // The caller keeps results, as it keeps inputs, so their memory is never used again.
        let is_result = graph.tensors.get(tensor).is_some() && graph.is_final(tensor);
        let width = node.writes.width.max(1);
        let elements = node.writes.bytes / u64::from(width);
        written[buffer] = (!is_result).then_some(Lone {
            width,
            elements,
            buffer,
        });
    }
    let lone = nodes.iter().map(|node| {
        let mut lone: Vec<Lone> = buffers_of(node)
            .into_iter()
            .filter(|&buffer| readers[buffer] == 1)
            .filter_map(|buffer| written[buffer])
            .collect();
        lone.sort_unstable();
        lone
    });
    lone.collect()
}

/// The buffers that a node reads, each once, however many indices it reads them by.
fn buffers_of(node: &SchedulerNode) -> BTreeSet<BufferId> {
    node.reads.iter().map(|read| read.buffer).collect()
}
