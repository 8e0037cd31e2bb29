//! A graph taken apart: ops that could share a kernel stay together, each region is solved on its own.
#![allow(
    clippy::indexing_slicing,
    reason = "op and region ids are dense indices of this graph"
)]

use crate::core::disjoint_sets::DisjointSets;
use crate::core::fusion::optimal::bound::may_share;
use crate::core::fusion::region::{Region, RegionContext};
use crate::core::model::graph::OpId;
use crate::core::model::lists::Lists;
use crate::core::model::op_type::OpType;
use crate::core::model::options::MAX_OPS;

/// What looking between two ops may cost in all, in ops; where it is spent, two ops count as able to share.
const BETWEEN_OPS: usize = 4_000_000;
/// Readers of a tensor that are compared pair by pair; more are taken together.
const COMPARED_READERS: usize = 64;

/// The regions, each with its ops ascending. No kernel can hold ops of two regions, and no two regions need
/// each other, so kernels that are in order inside each region can be put in an order over all.
///
/// `O(ops + reads)` times the ops between a producer and its consumer in the list.
pub(super) fn regions(context: &RegionContext<'_>) -> Lists {
    let graph = context.graph;
    let count = graph.ops.len();
    let mut sets = DisjointSets::new(count);
    let mut between = Between::new(context);
    for consumer in 0..count {
        for &producer in &graph.predecessors[consumer] {
            if sets.root(producer) != sets.root(consumer) && between.may_share(producer, consumer) {
                join(&mut sets, producer, consumer);
            }
        }
    }
    if context.options.fusion.horizontal {
        for readers in graph.consumers.iter() {
            for (at, &second) in readers.iter().enumerate() {
                for &first in &readers[..at] {
                    if readers.len() > COMPARED_READERS {
                        join(&mut sets, first, second);
                        break;
                    }
                    if sets.root(first) != sets.root(second) && between.may_share(first, second) {
                        join(&mut sets, first, second);
                    }
                }
            }
        }
    }
    let mut of_op = sets.roots();
    merge_cycles(context, &mut of_op);
    let mut lists = Lists::with_capacity(count, count);
    for region in of_op {
        lists.push([region]);
    }
    lists.inverted(count)
}

/// Makes the sets of two ops one, named by its smallest op.
fn join(sets: &mut DisjointSets, a: OpId, b: OpId) {
    let (a, b) = (sets.root(a), sets.root(b));
    sets.unite(a.min(b), a.max(b));
}

/// Looks at the ops on paths from one op to another.
pub(super) struct Between<'a> {
    context: &'a RegionContext<'a>,
    is_behind: Vec<bool>,
    is_ahead: Vec<bool>,
    left: usize,
}

impl<'a> Between<'a> {
    pub(super) fn new(context: &'a RegionContext<'a>) -> Self {
        let count = context.graph.ops.len();
        Self {
            context,
            is_behind: vec![false; count],
            is_ahead: vec![false; count],
            left: BETWEEN_OPS,
        }
    }

    /// Whether a legal kernel may hold this op and one of these later ones, with a tensor that ties the two.
    pub(super) fn reaches(&mut self, op: OpId, later: &[OpId]) -> bool {
        let context = self.context;
        let graph = context.graph;
        let Some(&first) = later.first() else {
            return false;
        };
        let mut is_one = |other: &OpId| {
            *other >= first && later.binary_search(other).is_ok() && self.may_share(op, *other)
        };
        graph.successors[op].iter().any(&mut is_one)
            || context.options.fusion.horizontal
                && graph.inputs[op]
                    .iter()
                    .any(|&tensor| graph.consumers[tensor].iter().any(&mut is_one))
    }

    /// Whether a legal kernel may hold both ops: what lies between them would be in it as well.
    fn may_share(&mut self, first: OpId, second: OpId) -> bool {
        let context = self.context;
        let op_type = |op: OpId| context.graph.ops[op].op_type;
        let heavy = |op: OpId| matches!(op_type(op), OpType::Matmul | OpType::Reduction);
        if heavy(first)
            && heavy(second)
            && (op_type(first), op_type(second)) != (OpType::Reduction, OpType::Reduction)
        {
            return false;
        }
        let Some(ops) = self.closed(first, second) else {
            return true;
        };
        if ops.len() > MAX_OPS {
            return false;
        }
        let region = Region::of(context, &ops);
        may_share(&region, 0, ops.len() - 1)
    }

    /// Both ops and all on paths between them, ascending; more than [`MAX_OPS`] are not all listed. `None`
    /// when looking has cost too much.
    fn closed(&mut self, first: OpId, second: OpId) -> Option<Vec<OpId>> {
        let graph = self.context.graph;
        let mut ops = vec![second];
        // The usual case: one feeds the other, and nothing else leaves the one or enters the other.
        let (next, prev) = (&graph.successors[first], &graph.predecessors[second]);
        let is_only = |ops: &[OpId], op: OpId| matches!(ops, [only] if *only == op);
        if !is_only(next, second) && !is_only(prev, first) && !next.is_empty() && !prev.is_empty() {
            self.left = self.left.checked_sub(second - first)?;
            self.is_behind[first] = true;
            for op in first + 1..second {
                self.is_behind[op] = graph.predecessors[op]
                    .iter()
                    .any(|&before| before >= first && self.is_behind[before]);
            }
            self.is_ahead[second] = true;
            for op in (first + 1..=second).rev() {
                if std::mem::take(&mut self.is_ahead[op]) {
                    if op != second && self.is_behind[op] && ops.len() <= MAX_OPS {
                        ops.push(op);
                    }
                    for &before in &graph.predecessors[op] {
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

/// Regions that need each other become one: strongly connected components of the graph of regions.
///
/// Tarjan's walk with its stack as data, for the depth of a visitor's graph has no limit.
fn merge_cycles(context: &RegionContext<'_>, of_op: &mut [usize]) {
    const UNSEEN: usize = usize::MAX;
    let graph = context.graph;
    let count = of_op.len();
    let mut members = Lists::with_capacity(count, count);
    for &region in of_op.iter() {
        members.push([region]);
    }
    let members = members.inverted(count);
    let mut next = Lists::with_capacity(count, count * 2);
    for region in members.iter() {
        let successors = region.iter().flat_map(|&op| graph.successors[op].iter());
        next.push(successors.map(|&op| of_op[op]));
    }
    let mut index = vec![UNSEEN; count];
    let mut low = vec![0; count];
    let mut component = vec![UNSEEN; count];
    let mut open = Vec::new();
    let mut seen = 0;
    for start in 0..count {
        if index[start] != UNSEEN {
            continue;
        }
        let mut walk = vec![(start, 0)];
        while let Some(&mut (region, ref mut at)) = walk.last_mut() {
            if *at == 0 {
                (index[region], low[region]) = (seen, seen);
                seen += 1;
                open.push(region);
            }
            let edge = next[region].get(*at).copied();
            *at += 1;
            match edge {
                Some(other) if index[other] == UNSEEN => walk.push((other, 0)),
                Some(other) if component[other] == UNSEEN => {
                    low[region] = low[region].min(index[other]);
                }
                Some(_) => {}
                None => {
                    walk.pop();
                    if let Some(&(before, _)) = walk.last() {
                        low[before] = low[before].min(low[region]);
                    }
                    if low[region] == index[region] {
                        while let Some(member) = open.pop() {
                            component[member] = region;
                            if member == region {
                                break;
                            }
                        }
                    }
                }
            }
        }
    }
    for region in of_op {
        *region = component[*region];
    }
}
