//! The state of the search over a program, and the search over one region of at most 64 ops.

use super::bound::Bound;
use super::candidates::{Candidate, CandidateId, Candidates};
use super::search::{FoundKernels, Search};
use super::start;
use crate::cost::roofline::place;
use crate::cost::traffic::kernel_traffic;
use crate::cost::work::op_work;
use crate::fusion::none;
use crate::fusion::region::{Bits, Clock, Cost, LocalOp, Region, RegionContext, Set};
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::options::Objective;
use crate::model::partition::Partition;

/// The search over the whole program.
pub(super) struct Solver<'s> {
    pub(super) context: &'s RegionContext<'s>,
    /// Partitions of other policies.
    pub(super) known: &'s [Partition],
    pub(super) clock: Clock,
    /// States that are left.
    pub(super) budget: usize,
    /// States that were visited.
    pub(super) states: usize,
    /// For each op its kernel, identified by the first op of the kernel.
    pub(super) kernel_of: IdVec<OpId, KernelId>,
}

/// The cost of a region, and a lower bound on it.
pub(super) struct Solved {
    pub(super) cost: Cost,
    /// Equal to `cost` if the optimum is proven.
    pub(super) lower_bound: Cost,
    /// Legal kernels that were listed.
    pub(super) candidates: usize,
}

impl<'s> Solver<'s> {
    pub(super) fn new(
        context: &'s RegionContext<'s>,
        known: &'s [Partition],
        clock: Clock,
        budget: usize,
    ) -> Self {
        Self {
            context,
            known,
            clock,
            budget,
            states: 0,
            kernel_of: (context.graph.ops.ids())
                .map(KernelId::of_lone_op)
                .collect(),
        }
    }

    /// The best kernels of a region of at most 64 ops. `start` are kernels to begin with, in an
    /// order in which they can run.
    ///
    /// One sequence of states, of which a smaller budget visits the first ones: a larger budget
    /// never gives worse kernels. Holds at most 1 kB for each state.
    pub(super) fn solve_region(
        &self,
        region: &Region<'_>,
        start: Vec<Set>,
        budget: &mut usize,
    ) -> FoundKernels {
        let clock = self.clock;
        if region.ops.len() == 1 {
            let mut found = FoundKernels::of(region, vec![1], clock);
            found.lower_bound = found.cost;
            found.candidates = 1;
            return found;
        }
        let all = region.all();
        let start = FoundKernels::of(region, start, clock);
        let known = self.known.iter().fold(start, |best, partition| {
            let found = start::from_partition(region, &partition.kernel_of, clock);
            if found.cost < best.cost { found } else { best }
        });
        let candidates = Candidates::of(region, region.ops.len(), clock, budget);
        let bound = Bound::new(region, clock);
        // Kernels that a search with a smaller budget would find, so that this one finds none that
        // are worse.
        let improve = |mut found: FoundKernels| {
            for &count in &candidates.milestones {
                Search::new(&candidates, count, &bound, all, all).dive(&mut found);
            }
            found
        };
        if !candidates.is_complete {
            let mut found = improve(known);
            found.lower_bound = bound.of(all).min(found.cost);
            found.candidates = candidates.list.len();
            return found;
        }
        let count = candidates.list.len();
        let mut whole = FoundKernels {
            kernels: Vec::new(),
            cost: Cost::default(),
            lower_bound: Cost::default(),
            candidates: count,
        };
        for part in parts(region, &candidates.list) {
            // A legal kernel is a candidate, so it lies in one part.
            let inside = |&kernel: &Set| kernel & part != 0;
            let kernels = known.kernels.iter().copied().filter(inside).collect();
            let known = FoundKernels::of(region, kernels, clock);
            let found = Search::new(&candidates, count, &bound, all, part).run(known, budget);
            whole.kernels.extend(found.kernels);
            whole.cost = whole.cost.plus(found.cost);
            whole.lower_bound = whole.lower_bound.plus(found.lower_bound);
        }
        if whole.lower_bound < whole.cost {
            whole = improve(whole);
        }
        whole
    }
}

/// Sets of ops that share no candidate and do not form a cycle; each is solved on its own.
fn parts(region: &Region<'_>, candidates: &IdVec<CandidateId, Candidate>) -> Vec<Set> {
    let mut part: IdVec<LocalOp, Set> = region.ops.ids().map(LocalOp::bit).collect();
    let join = |part: &mut IdVec<LocalOp, Set>, set: Set| {
        let united = Bits(set).fold(0, |all, place| all | part[place]);
        for place in Bits(united) {
            part[place] = united;
        }
    };
    for candidate in candidates {
        join(&mut part, candidate.set);
    }
    // For each op the ops that depend on it, where any op of a part stands for the whole part.
    let mut behind = region.after.clone();
    // Sets only grow, so this ends.
    loop {
        let mut has_changed = false;
        for place in part.ids() {
            let through = Bits(behind[place]).fold(0, |all, other| all | part[other]);
            let further = Bits(through | part[place]).fold(0, |all, other| all | behind[other]);
            let further = further | through;
            has_changed |= further & !behind[place] != 0;
            behind[place] |= further;
        }
        if !has_changed {
            break;
        }
    }
    // Parts that depend on each other cannot be solved one after the other.
    for place in part.ids() {
        for other in Bits(behind[place]) {
            if behind[other] & place.bit() != 0 {
                join(&mut part, place.bit() | other.bit());
            }
        }
    }
    let mut parts = Vec::new();
    let mut left = region.all();
    while let Some(first) = Bits(left).next() {
        let set = part[first];
        left &= !set;
        parts.push(set);
    }
    parts
}

/// A clock for the unfused program. No partition takes longer.
pub(super) fn clock(context: &RegionContext<'_>) -> Clock {
    let (graph, options) = (context.graph, context.options);
    let alone = none::partition(graph);
    let traffic = kernel_traffic(graph, &alone, options.conventions);
    let times = graph
        .ops
        .ids()
        .zip(traffic)
        .map(|(op, traffic)| place(options, op_work(graph, op), traffic.total(), false).time_s);
    // Measured attention is priced relative to its separate ops, which may take longer than the op
    // that stands for them.
    let is_measured = options.fusion.objective == Objective::Measured;
    let of_attention = graph.ops.ids().filter(|_| is_measured).map(|op| {
        let separate = context.separate(op);
        separate.map_or(0.0, |separate| context.separate_s(&separate).sum())
    });
    Clock::new(
        &options.device,
        times.sum::<f64>() + of_attention.sum::<f64>(),
    )
}
