//! Nodes to kernels: pairs that share a buffer, the one that saves most first, in at most ten rounds.

use crate::core::fusion::decision::{Decision, Log};
use crate::core::fusion::inductor::library::first_matmul;
use crate::core::fusion::inductor::lower::{Node, buffer, is_aligned};
use crate::core::fusion::loops::Loop;
use crate::core::fusion::reason::Reason;
use crate::core::model::graph::{Graph, OpId};
use crate::core::model::lists::Lists;
use std::cmp::Reverse;

/// Rounds of fusion; the compiler stops there as well.
const ROUNDS: usize = 10;
/// Most nodes of one kernel (`max_fusion_size`).
const NODES: usize = 64;
/// How many later readers of a buffer each one is tried with (`max_fusion_buffer_group_pairwise_attempts`).
const ATTEMPTS: usize = 64;
/// Kernels that only share inputs share at least so many bytes of them and stand so close.
const HORIZONTAL_BYTES: u64 = 10;
const HORIZONTAL_PLACES: usize = 64;
/// In the order of groups, the place of one that another took.
const GONE: usize = usize::MAX;
/// A fusion reorders at most so many kernels, which keeps the whole linear.
const REGION: usize = 4096;

/// For each node its kernel, kernels numbered in an order in which they can run, and how many there are.
pub(super) fn fuse(graph: &Graph, nodes: &[Node], log: &mut Log) -> (Vec<usize>, usize) {
    let mut schedule = Schedule::new(graph, nodes);
    for round in 1..=ROUNDS {
        if !schedule.round(round, log) {
            break;
        }
    }
    schedule.close_gaps();
    let kernel_of = schedule.group_of.iter().map(|&group| schedule.place[group]);
    (kernel_of.collect(), schedule.order.len())
}

struct Schedule<'a> {
    graph: &'a Graph,
    nodes: &'a [Node],
    /// For each buffer its bytes.
    bytes: Vec<u64>,
    /// For each buffer the node that writes it.
    writer: Vec<Option<usize>>,
    /// A group goes by its first node, so a node's group is also where the group of that node went.
    group_of: Vec<usize>,
    /// For each group; the taken ones are empty.
    members: Vec<Vec<usize>>,
    space: Vec<Loop>,
    /// For each group the buffers that it reads in order or writes, ascending.
    touches: Vec<Vec<usize>>,
    /// Whether it has taken another since the round before; at first, true.
    has_grown: Vec<bool>,
    /// Groups as they would run, [`GONE`] where one was taken, and for each its place there.
    order: Vec<usize>,
    place: Vec<usize>,
}

/// Two groups, the earlier one first, and the bytes that they share.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pair {
    first: usize,
    second: usize,
    shared_bytes: u64,
}

impl<'a> Schedule<'a> {
    fn new(graph: &'a Graph, nodes: &'a [Node]) -> Self {
        let mut schedule = Self {
            graph,
            nodes,
            bytes: graph
                .tensors
                .iter()
                .map(|t| t.bytes().unwrap_or(0))
                .collect(),
            writer: vec![None; graph.tensors.len() + graph.ops.len()],
            group_of: (0..nodes.len()).collect(),
            members: (0..nodes.len()).map(|node| vec![node]).collect(),
            space: nodes.iter().map(|node| node.space).collect(),
            touches: Vec::with_capacity(nodes.len()),
            has_grown: vec![true; nodes.len()],
            order: (0..nodes.len()).collect(),
            place: (0..nodes.len()).collect(),
        };
        schedule.bytes.resize(schedule.writer.len(), 0);
        for (id, node) in nodes.iter().enumerate() {
            schedule.writer[node.writes] = Some(id);
            if let (Loop::Reduction { rows, .. }, true) =
                (node.space, node.writes >= graph.tensors.len())
            {
                // Row values are kept in f32.
                schedule.bytes[node.writes] = rows * 4;
            }
            let reads = node.reads.iter().filter(|&&read| is_aligned(read));
            let mut touches: Vec<usize> = reads.map(|&read| buffer(read)).collect();
            touches.push(node.writes);
            touches.sort_unstable();
            schedule.touches.push(touches);
        }
        schedule
    }

    /// Takes every pair that is still legal when its turn comes; whether there was any.
    fn round(&mut self, round: usize, log: &mut Log) -> bool {
        self.close_gaps();
        let pairs = self.pairs(round, log);
        self.has_grown.fill(false);
        let mut is_changed = false;
        for pair in pairs {
            // Earlier fusions of this round may have taken either side.
            let (mut first, mut second) = (self.group_of[pair.first], self.group_of[pair.second]);
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

    /// The op that a group goes by: what its first node writes.
    fn op_of(&self, group: usize) -> OpId {
        self.nodes[group].ops.last().copied().unwrap_or(0)
    }

    fn close_gaps(&mut self) {
        self.order.retain(|&group| group != GONE);
        for (place, &group) in self.order.iter().enumerate() {
            self.place[group] = place;
        }
    }

    /// Pairs worth a try, best first.
    fn pairs(&self, round: usize, log: &mut Log) -> Vec<Pair> {
        let mut touching = Lists::with_capacity(self.order.len(), self.order.len() * 4);
        for &group in &self.order {
            touching.push(self.touches[group].iter().copied());
        }
        let (mut pairs, mut others) = (Vec::new(), Vec::new());
        for places in touching.inverted(self.bytes.len()).iter() {
            for (index, &place) in places.iter().enumerate() {
                for &later in places.iter().skip(index + 1).take(ATTEMPTS) {
                    let (first, second) = (self.order[place], self.order[later]);
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
                let places = (self.place[pair.first], self.place[pair.second]);
                (Reverse(pair.shared_bytes), places)
            });
            list.dedup();
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

    /// Bytes of the buffers that both touch, each once.
    fn shared_bytes(&self, first: usize, second: usize) -> u64 {
        let (a, b) = (&self.touches[first], &self.touches[second]);
        let (mut i, mut j, mut bytes) = (0, 0, 0);
        while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
            if x == y {
                bytes += self.bytes[*x];
            }
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        bytes
    }

    /// Everything but cycles: both loop alike, and what one writes the other reads in order.
    fn fits(&self, first: usize, second: usize) -> Result<(), Reason> {
        let is_call = |group: &usize| self.space[*group] == Loop::Library;
        let call = [first, second].into_iter().find(is_call);
        let matmul = call.and_then(|group| first_matmul(self.graph, &self.nodes[group].ops));
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
        let (mut feeds, mut is_crooked) = (false, false);
        for &node in &self.members[second] {
            for &read in &self.nodes[node].reads {
                if self.writer[buffer(read)].is_some_and(|w| self.group_of[w] == first) {
                    feeds = true;
                    is_crooked |= !is_aligned(read);
                }
            }
        }
        if is_crooked {
            return Err(Reason::Reordered);
        }
        let places = self.place[second] - self.place[first];
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

    /// Makes one group of both unless another one would have to run between them.
    ///
    /// Only groups between their places can: what depends on the first moves behind the new group, the rest
    /// stays in front of it.
    fn merge(&mut self, first: usize, second: usize) -> Result<(), Reason> {
        let (start, end) = (self.place[first], self.place[second]);
        let feeds = self.depends_on_any(second, |group| group == first);
        let space = joint(self.space[first], self.space[second], feeds)?;
        if end - start > REGION {
            return Err(Reason::TooFar {
                places: end - start,
            });
        }
        let mut depends = vec![false; end - start];
        depends[0] = true;
        for place in start + 1..end {
            let group = self.order[place];
            depends[place - start] = group != GONE
                && self.depends_on_any(group, |from| self.is_marked(&depends, start, from));
        }
        let between = self.dependency(second, |from| {
            from != first && self.is_marked(&depends, start, from)
        });
        if let Some(group) = between {
            let through = self.op_of(group);
            return Err(Reason::Between { through });
        }

        let mut order: Vec<usize> = Vec::with_capacity(end - start + 1);
        let between = || (start + 1..end).filter(|&place| self.order[place] != GONE);
        order.extend(
            between()
                .filter(|&p| !depends[p - start])
                .map(|p| self.order[p]),
        );
        order.push(first);
        order.extend(
            between()
                .filter(|&p| depends[p - start])
                .map(|p| self.order[p]),
        );
        order.resize(end - start + 1, GONE);
        for (offset, &group) in order.iter().enumerate() {
            self.order[start + offset] = group;
            if group != GONE {
                self.place[group] = start + offset;
            }
        }

        let taken = std::mem::take(&mut self.members[second]);
        for &node in &taken {
            self.group_of[node] = first;
        }
        self.members[first].extend(taken);
        self.space[first] = space;
        let touches = std::mem::take(&mut self.touches[second]);
        let own = &mut self.touches[first];
        own.extend(touches);
        own.sort_unstable();
        own.dedup();
        self.has_grown[first] = true;
        Ok(())
    }

    /// Whether the group stands in the region from `start` on and depends on its first one.
    fn is_marked(&self, depends: &[bool], start: usize, group: usize) -> bool {
        let index = self.place[group].checked_sub(start);
        index.and_then(|i| depends.get(i)) == Some(&true)
    }

    fn depends_on_any(&self, group: usize, matches: impl Fn(usize) -> bool) -> bool {
        self.dependency(group, matches).is_some()
    }

    /// Another group that matches and writes what this one reads.
    fn dependency(&self, group: usize, matches: impl Fn(usize) -> bool) -> Option<usize> {
        let nodes = self.members[group].iter();
        let mut reads = nodes.flat_map(|&node| &self.nodes[node].reads);
        reads.find_map(|&read| {
            let from = self.group_of[self.writer[buffer(read)]?];
            (from != group && matches(from)).then_some(from)
        })
    }
}

/// How the two loop together, if they can; `feeds`: the second reads what the first writes.
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
