//! The shortest path over downsets, from the empty set to all ops; each step runs one kernel. A
//! downset contains the producers of each of its ops.
//!
//! Paths correspond one to one to acyclic partitions with an order of their kernels, and the cost
//! is a sum over the kernels, so the shortest path is the cheapest partition. Convex kernels are
//! not enough: two of them can depend on each other.

use super::bound::Bound;
use super::candidates::{Candidate, CandidateId, Candidates, MILESTONE_FACTOR};
use crate::fusion::region::{Bits, Clock, Cost, LocalOp, Region, Set};
use crate::model::ids::{IdVec, define_ids};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The best kernels found for some ops, and a bound on better ones.
pub(super) struct FoundKernels {
    /// In an order in which they can run.
    pub(super) kernels: Vec<Set>,
    pub(super) cost: Cost,
    /// No partition costs less; equal to `cost` if the optimum is proven.
    pub(super) lower_bound: Cost,
    /// Legal kernels that were listed.
    pub(super) candidates: usize,
}

impl FoundKernels {
    /// These kernels, without a bound.
    pub(super) fn of(region: &Region<'_>, kernels: Vec<Set>, clock: Clock) -> Self {
        let costs = kernels.iter().map(|&set| region.cost(set, clock));
        Self {
            cost: costs.fold(Cost::default(), Cost::plus),
            lower_bound: Cost::default(),
            candidates: 0,
            kernels,
        }
    }
}

define_ids! {
    struct SearchNodeId;
}

/// A downset that was reached.
struct SearchNode {
    done: Set,
    cost: Cost,
    /// The previous node, and the candidate that leads here from it; `None` for the start.
    step: Option<(SearchNodeId, CandidateId)>,
    /// A lower bound on the cost of the remaining ops.
    rest: Cost,
    is_expanded: bool,
}

/// A search over the ops of `goal`; all other ops of the region count as run.
pub(super) struct Search<'s> {
    candidates: &'s IdVec<CandidateId, Candidate>,
    bound: &'s Bound<'s, 's>,
    /// For each op of the region the candidates that hold it, a bit each.
    holding: IdVec<LocalOp, Vec<u64>>,
    start: Set,
    all: Set,
    nodes: IdVec<SearchNodeId, SearchNode>,
    node_of: HashMap<Set, SearchNodeId, FxBuildHasher>,
}

/// Candidates in a word of [`Search::holding`].
const WORD_BITS: usize = u64::BITS as usize;
/// Nodes that a search may add for each state of its budget, and entries of its queue. With the
/// maps and vectors around them, which double as they grow, 1 kB for each state.
const NODES_PER_STATE: usize = 4;

impl<'s> Search<'s> {
    /// A search with the first `count` candidates.
    pub(super) fn new(
        candidates: &'s Candidates,
        count: usize,
        bound: &'s Bound<'s, 's>,
        all: Set,
        goal: Set,
    ) -> Self {
        let no_candidates = vec![0; count.div_ceil(WORD_BITS)];
        let mut holding = IdVec::from_elem(no_candidates, all.count_ones() as usize);
        for (id, candidate) in candidates.list.iter_enumerated().take(count) {
            if candidate.set & !goal == 0 {
                for place in Bits(candidate.set) {
                    if let Some(word) = holding[place].get_mut(id.index() / WORD_BITS) {
                        *word |= 1 << (id.index() % WORD_BITS);
                    }
                }
            }
        }
        Self {
            candidates: &candidates.list,
            bound,
            holding,
            start: all & !goal,
            all,
            nodes: IdVec::new(),
            node_of: HashMap::default(),
        }
    }

    /// A* from the start, without nodes that cost at least as much as `known`.
    ///
    /// Each expanded node costs one of `budget` states. If the budget ends, the smallest cost in
    /// the queue is the lower bound: every partition that was not visited passes through the queue.
    /// The kernels are then the best of those that were completed at milestones, so a search with a
    /// larger budget finds these, too.
    pub(super) fn run(mut self, mut known: FoundKernels, budget: &mut usize) -> FoundKernels {
        let mut nodes_left = budget.saturating_mul(NODES_PER_STATE);
        let (mut states, mut milestone) = (0, 0);
        let mut milestones = Vec::new();
        let mut queue = BinaryHeap::new();
        let rest = self.bound.of(self.all & !self.start);
        // Not in the table: no step leads back to it.
        let start = self.nodes.push(SearchNode {
            done: self.start,
            cost: Cost::default(),
            step: None,
            rest,
            is_expanded: false,
        });
        queue.push((Reverse(rest), 0_u32, start));
        while let Some((Reverse(least), _, id)) = queue.pop() {
            // A cheaper path to the node was found after this entry was queued, and has an entry of
            // its own.
            let node = &mut self.nodes[id];
            if node.is_expanded || node.cost.plus(node.rest) != least {
                continue;
            }
            // Entries come in ascending order and no bound is too high, so nothing that is left is
            // better.
            if least >= known.cost {
                break;
            }
            let (done, cost) = (node.done, node.cost);
            if done == self.all {
                known.kernels = self.path(id);
                known.cost = cost;
                break;
            }
            if states == milestone {
                milestone = (milestone * MILESTONE_FACTOR).max(1);
                milestones.push((done, cost, self.path(id)));
            }
            if *budget == 0 {
                return self.cut(least, milestones, known);
            }
            self.nodes[id].is_expanded = true;
            *budget -= 1;
            states += 1;
            for by in self.steps(done) {
                let step = &self.candidates[by];
                let (next, cost) = (done | step.set, cost.plus(step.cost));
                let reached = self.node_of.get(&next).copied();
                if reached.is_some_and(|old| self.nodes[old].cost <= cost) {
                    continue;
                }
                let rest = match reached {
                    Some(old) => self.nodes[old].rest,
                    None => self.bound.of(self.all & !next),
                };
                let next_least = cost.plus(rest);
                if next_least < known.cost {
                    if nodes_left == 0 {
                        // What is left must not go to another search: its result would depend on
                        // it.
                        *budget = 0;
                        return self.cut(least, milestones, known);
                    }
                    nodes_left -= 1;
                    let target = self.push(next, cost, (id, by), rest);
                    // On a tie the node with more ops run comes first: it is nearer to the goal.
                    queue.push((Reverse(next_least), next.count_ones(), target));
                }
            }
        }
        known.lower_bound = known.cost;
        known
    }

    /// The result of a search that ends before the proof: the best of `known` and of the nodes of
    /// the milestones, each completed.
    fn cut(
        &self,
        lower_bound: Cost,
        milestones: Vec<(Set, Cost, Vec<Set>)>,
        mut known: FoundKernels,
    ) -> FoundKernels {
        for (done, cost, kernels) in milestones {
            self.complete(done, cost, kernels, &mut known);
        }
        known.lower_bound = lower_bound.min(known.cost);
        known
    }

    /// Adds a node, or a cheaper path to one.
    fn push(
        &mut self,
        done: Set,
        cost: Cost,
        step: (SearchNodeId, CandidateId),
        rest: Cost,
    ) -> SearchNodeId {
        let node = SearchNode {
            done,
            cost,
            step: Some(step),
            rest,
            is_expanded: false,
        };
        if let Some(&old) = self.node_of.get(&done) {
            self.nodes[old] = node;
            return old;
        }
        let id = self.nodes.push(node);
        self.node_of.insert(done, id);
        id
    }

    /// Kernels that can run next, enough to reach every partition.
    ///
    /// In any partition the lowest op that has not run is in some kernel. If this kernel can run,
    /// it can run now at no loss. If not, it waits for another kernel: the one with the lowest op
    /// that it lacks, and so on. `O(ops * candidates / 64)`, and each candidate that can still run
    /// is looked at once.
    fn steps(&self, done: Set) -> Vec<CandidateId> {
        let left = self.all & !done;
        let mut goals = left & left.wrapping_neg();
        let mut looked_at = 0;
        let mut steps = Vec::new();
        // Candidates of which an op has run, and those that were looked at for an earlier goal.
        let mut past = vec![0; self.candidates.len().div_ceil(WORD_BITS)];
        // Candidates that hold ops outside the goal are not in the table, so `start` excludes none.
        for place in Bits(done & !self.start) {
            for (past, holding) in past.iter_mut().zip(&self.holding[place]) {
                *past |= holding;
            }
        }
        while let Some(goal) = Bits(goals & !looked_at).next() {
            looked_at |= goal.bit();
            for (word, (past, holding)) in past.iter_mut().zip(&self.holding[goal]).enumerate() {
                let mut new = holding & !*past;
                *past |= holding;
                while new != 0 {
                    let id = CandidateId::new(word * WORD_BITS + new.trailing_zeros() as usize);
                    new &= new - 1;
                    let missing = self.candidates[id].needs & !done;
                    if missing == 0 {
                        steps.push(id);
                    } else {
                        goals |= missing & missing.wrapping_neg();
                    }
                }
            }
        }
        steps
    }

    /// The kernels that lead to a node.
    fn path(&self, mut node: SearchNodeId) -> Vec<Set> {
        let mut kernels = Vec::new();
        while let Some((before, by)) = self.nodes[node].step {
            kernels.push(self.candidates[by].set);
            node = before;
        }
        kernels.reverse();
        kernels
    }

    /// Improves `known` by greedy steps, without a search.
    pub(super) fn dive(&self, known: &mut FoundKernels) {
        self.complete(self.start, Cost::default(), Vec::new(), known);
    }

    /// Completes a node by greedy steps, and keeps the result if it is better than `known`.
    fn complete(
        &self,
        mut done: Set,
        mut cost: Cost,
        mut kernels: Vec<Set>,
        known: &mut FoundKernels,
    ) {
        while done != self.all {
            let after = |&id: &CandidateId| {
                let step = &self.candidates[id];
                // On a tie the step that leaves the fewest ops, then the first.
                let left = self.all & !(done | step.set);
                (step.cost.plus(self.bound.of(left)), left.count_ones())
            };
            let Some(best) = self.steps(done).into_iter().min_by_key(after) else {
                return;
            };
            let step = &self.candidates[best];
            done |= step.set;
            cost = cost.plus(step.cost);
            kernels.push(step.set);
        }
        if cost < known.cost {
            (known.kernels, known.cost) = (kernels, cost);
        }
    }
}
