//! Splits a graph into regions: ops that could share a kernel are in one region, and each region is
//! solved on its own.

use crate::disjoint_sets::DisjointSets;
use crate::fusion::optimal::bound::may_share;
use crate::fusion::region::{LocalOp, Region, RegionContext};
use crate::model::adjacency::Adjacency;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, define_ids};
use crate::model::op_type::OpType;
use crate::model::options::MAX_OPS;

define_ids! {
    /// A region, by its smallest op.
    pub(super) struct RegionId;
}

/// Most ops to visit, in total, while looking for paths between two ops; after that, any two ops
/// count as able to share a kernel.
const BETWEEN_OPS: usize = 4_000_000;
/// Most readers of a tensor that are compared pair by pair; more are put into one region.
const COMPARED_READERS: usize = 64;

/// The regions, each with its ops ascending. No kernel can contain ops of two regions, and regions
/// do not form a cycle, so an order of the kernels in each region extends to an order of all.
///
/// `O(ops + reads)` times the ops between a producer and its consumer in the list.
pub(super) fn regions(context: &RegionContext<'_>) -> Adjacency<RegionId, OpId> {
    let graph = context.graph;
    let count = graph.ops.len();
    let mut sets = DisjointSets::new(count);
    let mut between = Between::new(context);
    for consumer in graph.ops.ids() {
        for &producer in &graph.predecessors[consumer] {
            // Roots first: they cost little, and the search for paths between two ops much.
            if sets.root(producer) != sets.root(consumer) && between.may_share(producer, consumer) {
                join(&mut sets, producer, consumer);
            }
        }
    }
    for (second, first) in graph.results.pairs() {
        if sets.root(first) != sets.root(second) && between.may_share(first, second) {
            join(&mut sets, first, second);
        }
    }
    if context.options.fusion.horizontal {
        for readers in graph.consumers.iter() {
            // Pairs grow with the square of the readers. A region that is too large is still
            // correct, because only what could share a kernel must share a region.
            if readers.len() > COMPARED_READERS {
                join_readers(graph, &mut sets, readers);
                continue;
            }
            for (at, &second) in readers.iter().enumerate() {
                for &first in readers.iter().take(at) {
                    if sets.root(first) != sets.root(second) && between.may_share(first, second) {
                        join(&mut sets, first, second);
                    }
                }
            }
        }
    }
    let roots = sets.roots();
    let mut region_of: IdVec<OpId, RegionId> =
        roots.iter().map(|op| RegionId::new(op.index())).collect();
    merge_cycles(context, &mut region_of);
    members(&region_of)
}

/// Joins all readers of a tensor that could share a kernel by their types: a matmul needs a reader
/// that is light.
fn join_readers(graph: &Graph, sets: &mut DisjointSets<OpId>, readers: &[OpId]) {
    let op_type = |op: OpId| graph.ops[op].op_type;
    let joined = readers.iter().copied();
    let joined = joined.filter(|&op| op_type(op) != OpType::Opaque);
    let has_light = joined.clone().any(|op| !is_heavy(op_type(op)));
    let mut joined = joined.filter(|&op| has_light || op_type(op) != OpType::Matmul);
    if let Some(first) = joined.next() {
        joined.for_each(|op| join(sets, first, op));
    }
}

fn is_heavy(op_type: OpType) -> bool {
    matches!(op_type, OpType::Matmul | OpType::Reduction)
}

/// Whether the types of two ops alone allow them a common kernel.
fn may_meet(first: OpType, second: OpType) -> bool {
    let both = [first, second];
    !both.contains(&OpType::Opaque)
        && (!both.into_iter().all(is_heavy) || both == [OpType::Reduction; 2])
}

/// The ops of each region.
fn members(region_of: &IdVec<OpId, RegionId>) -> Adjacency<RegionId, OpId> {
    let pairs = region_of
        .iter_enumerated()
        .map(|(op, &region)| (region, op));
    Adjacency::from_pairs(region_of.len(), pairs)
}

/// Unites the sets of two ops; the root is the smallest op.
fn join(sets: &mut DisjointSets<OpId>, a: OpId, b: OpId) {
    let (a, b) = (sets.root(a), sets.root(b));
    sets.unite(a.min(b), a.max(b));
}

/// Finds the ops on paths between two ops.
pub(super) struct Between<'a> {
    context: &'a RegionContext<'a>,
    is_behind: IdVec<OpId, bool>,
    is_ahead: IdVec<OpId, bool>,
    /// For each op that was asked about the last one that it may share a kernel with.
    furthest: IdVec<OpId, Option<OpId>>,
    left: usize,
}

impl<'a> Between<'a> {
    pub(super) fn new(context: &'a RegionContext<'a>) -> Self {
        let count = context.graph.ops.len();
        Self {
            context,
            is_behind: IdVec::from_elem(false, count),
            is_ahead: IdVec::from_elem(false, count),
            furthest: IdVec::from_elem(None, count),
            left: BETWEEN_OPS,
        }
    }

    /// Whether a legal kernel can contain this op and one from `first` on that shares a tensor with
    /// it. An op is asked about several times, so the answer for all `first` is kept.
    pub(super) fn reaches(&mut self, op: OpId, first: OpId) -> bool {
        let furthest = if let Some(known) = self.furthest[op] {
            known
        } else {
            let furthest = self.furthest(op);
            self.furthest[op] = Some(furthest);
            furthest
        };
        furthest >= first
    }

    /// The last op that shares a tensor with this one and that a legal kernel can contain beside
    /// it; the op itself if there is none.
    fn furthest(&mut self, op: OpId) -> OpId {
        let graph = self.context.graph;
        let is_horizontal = self.context.options.fusion.horizontal;
        let inputs = graph.inputs[op].iter().filter(|_| is_horizontal);
        let others = inputs.map(|&tensor| &graph.consumers[tensor]);
        let second = graph.results.second(op);
        let mut furthest = op;
        for others in others.chain([&graph.successors[op], second.as_slice()]) {
            let later = others.iter().rev().copied();
            let before = furthest;
            for other in later.take_while(|&other| other > before) {
                match self.left.checked_sub(1) {
                    Some(left) => self.left = left,
                    None => return OpId::new(graph.ops.len()),
                }
                if self.may_share(op, other) {
                    furthest = other;
                    break;
                }
            }
        }
        furthest
    }

    /// Whether a legal kernel can contain both ops and all ops on paths between them.
    fn may_share(&mut self, first: OpId, second: OpId) -> bool {
        let context = self.context;
        let op_type = |op: OpId| context.graph.ops[op].op_type;
        if !may_meet(op_type(first), op_type(second)) {
            return false;
        }
        // Without an answer the pair counts as possible: a larger region costs time, a split one
        // could cost the optimum.
        let Some(ops) = self.closed(first, second) else {
            return true;
        };
        if ops.len() > MAX_OPS {
            return false;
        }
        let region = Region::of(context, &ops);
        may_share(&region, LocalOp::new(0), LocalOp::new(ops.len() - 1))
    }

    /// Both ops and all ops on paths between them, ascending; beyond [`MAX_OPS`] not all are
    /// listed. `None` once [`BETWEEN_OPS`] were visited.
    fn closed(&mut self, first: OpId, second: OpId) -> Option<Vec<OpId>> {
        let graph = self.context.graph;
        let mut ops = vec![second];
        // Usually one feeds the other, and the first has no other reader or the second no other
        // producer.
        let is_only =
            |mut ops: Box<dyn Iterator<Item = OpId> + '_>, op: OpId| ops.all(|other| other == op);
        if !is_only(Box::new(graph.runs_before(first)), second)
            && !is_only(Box::new(graph.runs_after(second)), first)
        {
            let between = first.index() + 1..second.index();
            self.left = self.left.checked_sub(between.len() + 1)?;
            self.is_behind[first] = true;
            // Ids ascend in execution order, so one sweep forwards marks all ops behind `first` and
            // one backwards all ops ahead of `second`.
            for op in between.clone().map(OpId::new) {
                self.is_behind[op] = graph
                    .runs_after(op)
                    .any(|before| before >= first && self.is_behind[before]);
            }
            self.is_ahead[second] = true;
            for op in between.map(OpId::new).chain([second]).rev() {
                if std::mem::take(&mut self.is_ahead[op]) {
                    if op != second && self.is_behind[op] && ops.len() <= MAX_OPS {
                        ops.push(op);
                    }
                    for before in graph.runs_after(op) {
                        if before > first {
                            self.is_ahead[before] = true;
                        }
                    }
                }
            }
            self.is_behind[first] = false;
        }
        ops.push(first);
        ops.reverse();
        Some(ops)
    }
}

/// Merges regions that form a cycle: the strongly connected components of the graph of regions.
///
/// Tarjan's algorithm with an explicit stack, because the depth of the graph has no limit.
fn merge_cycles(context: &RegionContext<'_>, region_of: &mut IdVec<OpId, RegionId>) {
    let graph = context.graph;
    let count = region_of.len();
    let mut next: Adjacency<RegionId, RegionId> = Adjacency::with_capacity(count, count * 2);
    for region in members(region_of).iter() {
        let later = region.iter().flat_map(|&op| graph.runs_before(op));
        next.push(later.map(|op| region_of[op]));
    }
    // For each region its index in the order of visits, and the smallest index that it leads back
    // to.
    let mut index: IdVec<RegionId, Option<usize>> = IdVec::from_elem(None, count);
    let mut low: IdVec<RegionId, usize> = IdVec::from_elem(0, count);
    let mut component: IdVec<RegionId, Option<RegionId>> = IdVec::from_elem(None, count);
    let mut open = Vec::new();
    let mut seen = 0;
    for start in next.ids() {
        if index[start].is_some() {
            continue;
        }
        let mut walk = vec![(start, 0)];
        while let Some(&mut (region, ref mut at)) = walk.last_mut() {
            if *at == 0 {
                (index[region], low[region]) = (Some(seen), seen);
                seen += 1;
                open.push(region);
            }
            let edge = next[region].get(*at).copied();
            *at += 1;
            match edge.map(|other| (other, index[other])) {
                Some((other, None)) => walk.push((other, 0)),
                Some((other, Some(index))) if component[other].is_none() => {
                    low[region] = low[region].min(index);
                }
                Some(_) => {}
                None => {
                    walk.pop();
                    if let Some(&(before, _)) = walk.last() {
                        low[before] = low[before].min(low[region]);
                    }
                    if Some(low[region]) == index[region] {
                        while let Some(member) = open.pop() {
                            component[member] = Some(region);
                            if member == region {
                                break;
                            }
                        }
                    }
                }
            }
        }
    }
    for region in region_of {
        *region = component[*region].unwrap_or(*region);
    }
}
