//! Improves the kernels of a region of more than 64 ops step by step, without an exact search.
//!
//! The states that a step may take do not depend on the budget, and a step that does not pay is
//! undone. So a larger budget tries the same steps and then more, and never gives worse kernels.

use super::solver::Solver;
use super::start;
use crate::fusion::legality::{check_in, check_set};
use crate::fusion::region::{Bits, Cost, LocalOp, Region, Set};
use crate::model::ids::{IdVec, KernelId, OpId, define_ids};
use crate::model::options::MAX_OPS;
use crate::model::partition::Partition;
use std::ops::Range;

define_ids! {
    /// A position between two ops of a sequence, before the first or after the last.
    struct Cut;
}

/// Ops of a window that are settled before the next window.
const SETTLED_OPS: usize = MAX_OPS / 2;
/// States of each window at first, and the factor by which they grow while some window needs more.
const FIRST_STATES: usize = 32;
const MORE_STATES: usize = 8;
/// Most ops of a block whose cuts are chosen together.
const BLOCK_OPS: usize = 4 * MAX_OPS;
/// States that the up to 64 kernels which start at one op count as; checking one takes less than a
/// state of a search.
const STATES_OF_START: usize = 16;
/// With at least this many inputs per op, cutting the ops anew counts further states: one for every
/// `READINGS_OF_CUT` inputs.
const FEW_READINGS: usize = 4;
const READINGS_OF_CUT: usize = 4;

/// The best kernels so far, in an order in which they can run.
pub(super) struct Long<'l, 's> {
    solver: &'l Solver<'s>,
    ops: &'l [OpId],
    pub(super) kernels: Vec<PricedKernel>,
    /// States that are left.
    pub(super) left: usize,
    /// Legal kernels that were listed.
    pub(super) candidates: usize,
    /// A window needed more states than it was allowed.
    is_cut: bool,
}

/// A kernel with its cost; its ops ascend.
pub(super) struct PricedKernel {
    pub(super) ops: Vec<OpId>,
    cost: Cost,
}

pub(super) fn sum(kernels: &[PricedKernel]) -> Cost {
    let costs = kernels.iter().map(|kernel| kernel.cost);
    costs.fold(Cost::default(), Cost::plus)
}

impl<'l, 's> Long<'l, 's> {
    /// Starts with the best kernels that are known without a search.
    pub(super) fn new(solver: &'l Solver<'s>, ops: &'l [OpId], budget: usize) -> Self {
        let mut long = Self {
            solver,
            ops,
            kernels: Vec::new(),
            left: budget,
            candidates: 0,
            is_cut: false,
        };
        // Without states a window takes the better of single ops and the kernels of known
        // partitions.
        long.kernels = long.windows(0);
        // Kernels that compute ops again may have no order in which each op runs once, so their
        // partitions are left out.
        let whole = |partition: &&Partition| partition.recomputed.iter().all(<[OpId]>::is_empty);
        for partition in solver.known.iter().filter(whole) {
            if let Some(kernels) = long.of_partition(partition)
                && sum(&kernels) < sum(&long.kernels)
            {
                long.kernels = kernels;
            }
        }
        long
    }

    /// Improves the kernels until no step helps. `None` if the budget ends first.
    pub(super) fn improve(&mut self) -> Option<()> {
        let mut states = FIRST_STATES;
        loop {
            self.is_cut = false;
            // Each window may spend all its states. A pass that the budget ended halfway would
            // depend on it.
            if self.left < states.saturating_mul(self.ops.len().div_ceil(SETTLED_OPS)) {
                return None;
            }
            let kernels = self.windows(states);
            self.replace(0..self.kernels.len(), kernels);
            loop {
                // Costs are integers that fall in every turn but the last, so this ends.
                let before = sum(&self.kernels);
                self.cut_anew()?;
                self.solve_anew(states)?;
                if sum(&self.kernels) >= before {
                    break;
                }
            }
            if !self.is_cut {
                return Some(());
            }
            states = states.saturating_mul(MORE_STATES);
        }
    }

    /// Solves window by window in execution order. The first half of each is settled; the rest is
    /// part of the next.
    fn windows(&mut self, states: usize) -> Vec<PricedKernel> {
        let mut kernels = Vec::new();
        let mut left = self.ops.to_vec();
        while !left.is_empty() {
            let region = Region::of(self.solver.context, &left);
            let is_last = left.len() <= MAX_OPS;
            let singles = region.ops.ids().map(LocalOp::bit).collect();
            let mut settled: Set = 0;
            for set in self.solve(&region, singles, states) {
                if is_last || (settled.count_ones() as usize) < SETTLED_OPS {
                    kernels.push(self.kernel(&region, set));
                    settled |= set;
                }
            }
            left.retain(|&op| {
                let place = region.place_of(op);
                place.is_none_or(|place| settled & place.bit() == 0)
            });
        }
        kernels
    }

    /// The kernels of a region, in an order in which they can run, with at most this many states.
    fn solve(&mut self, region: &Region<'_>, start: Vec<Set>, states: usize) -> Vec<Set> {
        let mut unspent = states;
        let found = self.solver.solve_region(region, start, &mut unspent);
        self.left = self.left.saturating_sub(states - unspent + region.states());
        self.is_cut |= unspent == 0;
        self.candidates += found.candidates;
        let (mut kernels, stuck) = start::in_order(region, found.kernels);
        kernels.extend(Bits(stuck).map(LocalOp::bit));
        kernels
    }

    fn kernel(&self, region: &Region<'_>, set: Set) -> PricedKernel {
        PricedKernel {
            ops: region.ops_of(set),
            cost: region.cost(set, self.solver.clock),
        }
    }

    /// The kernels of another policy, if all of them are legal.
    fn of_partition(&self, partition: &Partition) -> Option<Vec<PricedKernel>> {
        let context = self.solver.context;
        let kernels = self.ops.iter().map(|&op| partition.kernel_of[op]);
        let mut kernels: Vec<KernelId> = kernels.collect();
        kernels.sort_unstable();
        kernels.dedup();
        let kernels = kernels.into_iter().map(|kernel| {
            let ops = &partition.kernels[kernel];
            // A kernel that reaches into another region is illegal, even if its ops in this region
            // would be legal.
            check_in(context, ops).ok()?;
            let region = Region::of(context, ops);
            Some(self.kernel(&region, region.all()))
        });
        kernels.collect()
    }

    /// Replaces these kernels by others of the same ops if they cost less.
    fn replace(&mut self, place: Range<usize>, kernels: Vec<PricedKernel>) {
        if sum(&kernels) < sum(self.run_of(place.clone())) {
            self.kernels.splice(place, kernels);
        }
    }

    /// Cuts the sequence of ops into kernels again, block by block, in the best of all ways.
    fn cut_anew(&mut self) -> Option<()> {
        let mut start = 0;
        while start < self.kernels.len() {
            let block = self.run(start, BLOCK_OPS);
            let ops = self.ops_of(block.clone());
            self.left = self.left.checked_sub(self.states_of_cuts(&ops))?;
            // Counted from the end, because `replace` changes how many kernels precede it.
            let (behind, kernels) = (self.kernels.len() - block.end, self.best_cuts(&ops));
            self.replace(block, kernels);
            start = self.next(start, self.kernels.len() - behind);
        }
        Some(())
    }

    /// States that cutting these ops anew counts as. Each op is part of up to 64 regions.
    fn states_of_cuts(&self, ops: &[OpId]) -> usize {
        let inputs = &self.solver.context.graph.inputs;
        let readings: usize = ops.iter().map(|&op| inputs[op].len()).sum();
        let few = readings < FEW_READINGS * ops.len();
        ops.len() * STATES_OF_START + if few { 0 } else { readings / READINGS_OF_CUT }
    }

    /// The best kernels of consecutive ops: a shortest path over the cuts, with an edge for each
    /// legal kernel.
    fn best_cuts(&self, ops: &[OpId]) -> Vec<PricedKernel> {
        // For each cut the least cost of kernels up to it, and where the last of them starts.
        let mut best: IdVec<Cut, Option<(Cost, Cut)>> = IdVec::from_elem(None, ops.len() + 1);
        for from in best.ids().take(ops.len()) {
            let before = best[from].map_or(Cost::default(), |(cost, _)| cost);
            let ahead: Vec<OpId> = ops
                .iter()
                .skip(from.index())
                .take(MAX_OPS)
                .copied()
                .collect();
            let region = Region::of(self.solver.context, &ascending(&ahead));
            // Consecutive ops of an order in which they can run are convex, so no closure is
            // needed.
            let mut set: Set = 0;
            for (to, op) in best.ids().skip(from.index() + 1).zip(ahead) {
                set |= region.place_of(op).map_or(0, LocalOp::bit);
                match check_set(&region, set) {
                    Ok(()) => {
                        let cost = before.plus(region.cost(set, self.solver.clock));
                        if best[to].is_none_or(|(least, _)| cost < least) {
                            best[to] = Some((cost, from));
                        }
                    }
                    // Every longer run of ops contains this one.
                    Err(reason) if reason.is_lasting() => break,
                    Err(_) => {}
                }
            }
        }
        let mut kernels = Vec::new();
        let mut to = Cut::new(ops.len());
        while let Some((_, from)) = best[to] {
            let ops = ops.get(from.index()..to.index()).unwrap_or_default();
            let region = Region::of(self.solver.context, &ascending(ops));
            kernels.push(self.kernel(&region, region.all()));
            to = from;
        }
        kernels.reverse();
        kernels
    }

    /// Solves runs of kernels with at most 64 ops again. Each run starts in the middle of the
    /// previous one.
    fn solve_anew(&mut self, states: usize) -> Option<()> {
        let mut start = 0;
        while start < self.kernels.len() {
            let window = self.run(start, MAX_OPS);
            let behind = self.kernels.len() - window.end;
            if window.len() > 1 {
                if self.left < states {
                    return None;
                }
                let ops = ascending(&self.ops_of(window.clone()));
                let region = Region::of(self.solver.context, &ops);
                let present = self.run_of(window.clone()).iter();
                let present = present.map(|kernel| region.set_of(&kernel.ops)).collect();
                let sets = self.solve(&region, present, states);
                let kernels = sets.into_iter().map(|set| self.kernel(&region, set));
                let kernels = kernels.collect();
                self.replace(window, kernels);
            }
            start = self.next(start, self.kernels.len() - behind);
        }
        Some(())
    }

    /// Kernels from this one on that have at most this many ops together.
    fn run(&self, start: usize, most_ops: usize) -> Range<usize> {
        let mut ops = 0;
        let fit = self.kernels.iter().skip(start).take_while(|kernel| {
            ops += kernel.ops.len();
            ops <= most_ops
        });
        start..start + fit.count()
    }

    fn run_of(&self, kernels: Range<usize>) -> &[PricedKernel] {
        self.kernels.get(kernels).unwrap_or_default()
    }

    /// Where the next run starts: in the middle of these kernels, or at the end if they are the
    /// last ones.
    fn next(&self, start: usize, end: usize) -> usize {
        if end == self.kernels.len() {
            return end;
        }
        let ops = self.run_of(start..end).iter().map(|k| k.ops.len());
        let half = ops.sum::<usize>() / 2;
        // At least one kernel further, or a kernel with more than half of the ops would stop the
        // loop.
        self.run(start, half).end.max(start + 1)
    }

    fn ops_of(&self, kernels: Range<usize>) -> Vec<OpId> {
        let kernels = self.run_of(kernels).iter();
        kernels
            .flat_map(|kernel| kernel.ops.iter().copied())
            .collect()
    }
}

fn ascending(ops: &[OpId]) -> Vec<OpId> {
    let mut ops = ops.to_vec();
    ops.sort_unstable();
    ops
}
