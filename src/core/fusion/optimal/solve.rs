//! Solves a region: exactly if it fits a word and the budget, otherwise step by step.

use super::long::{self, Long};
use super::solver::{Solved, Solver};
use super::window;
use crate::cost::roofline::{Times, times};
use crate::cost::traffic::kernel_traffic;
use crate::cost::work::op_work;
use crate::fusion::certificate::ROUNDING;
use crate::fusion::decision::Decision;
use crate::fusion::pieces::join;
use crate::fusion::region::{Cost, LocalOp, Region, Set};
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::op_type::OpType;
use crate::model::options::{MAX_OPS, Objective};
use crate::model::partition::Partition;

/// A region with what was found for it.
pub(super) struct SolvedRegion {
    pub(super) ops: Vec<OpId>,
    pub(super) solved: Solved,
    /// States that were visited.
    states: usize,
}

impl SolvedRegion {
    pub(super) fn decision(&self) -> Decision {
        let (cost, bound) = (self.solved.cost, self.solved.lower_bound);
        Decision::Searched {
            ops: self.ops.clone(),
            candidates: self.solved.candidates,
            states: self.states,
            is_proven: bound.bytes_or_ticks == cost.bytes_or_ticks,
        }
    }
}

impl Solver<'_> {
    /// Solves regions: small ones first, so that a hard one gets the states that they leave.
    pub(super) fn solve_all<'r>(
        &mut self,
        regions: impl Iterator<Item = &'r [OpId]>,
    ) -> Vec<SolvedRegion> {
        let mut order: Vec<&[OpId]> = regions.filter(|ops| !ops.is_empty()).collect();
        order.sort_by_key(|ops| ops.len());
        let solve = |(at, ops): (usize, &&[OpId])| {
            let states = self.states;
            // An equal share of what is left: states that a region does not need go to later,
            // larger ones.
            let solved = self.solve(ops, self.budget / (order.len() - at));
            SolvedRegion {
                ops: ops.to_vec(),
                solved,
                states: self.states - states,
            }
        };
        order.iter().enumerate().map(solve).collect()
    }

    /// Solves a region with at most this share of the budget.
    fn solve(&mut self, ops: &[OpId], share: usize) -> Solved {
        let mut left = share;
        let mut solved = if ops.len() > MAX_OPS {
            self.solve_windows(ops, &mut left)
        } else {
            let region = Region::of(self.context, ops);
            let singles = region.ops.ids().map(LocalOp::bit).collect();
            let found = self.solve_region(&region, singles, &mut left);
            self.states += share - left;
            for &kernel in &found.kernels {
                join(&mut self.kernel_of, &region.ops_of(kernel));
            }
            Solved {
                cost: found.cost,
                lower_bound: found.lower_bound,
                candidates: found.candidates,
            }
        };
        self.budget -= share - left;
        // Bytes are exact; times are equal up to rounding.
        let is_time = self.context.options.fusion.objective != Objective::Bytes;
        let (cost, bound) = (
            solved.cost.bytes_or_ticks as f64,
            solved.lower_bound.bytes_or_ticks as f64,
        );
        if is_time && cost - bound <= cost * ROUNDING {
            solved.lower_bound = solved.cost;
        }
        solved
    }

    /// Exactly with at most three quarters of the budget, otherwise step by step with the rest. If
    /// kernels reach too far for an exact solution, any larger budget takes as many states to find
    /// that out.
    fn solve_windows(&mut self, ops: &[OpId], budget: &mut usize) -> Solved {
        let share = *budget - *budget / 4;
        let mut unspent = share;
        let exact = window::solve(self, ops, &mut unspent);
        self.states += share - unspent;
        if let Some((kernels, solved)) = exact {
            *budget -= share - unspent;
            for kernel in &kernels {
                join(&mut self.kernel_of, kernel);
            }
            return solved;
        }
        *budget -= share - unspent;
        self.solve_long(ops, budget)
    }

    /// Step by step, without a proof; the lower bound is the cost of the region as one kernel.
    fn solve_long(&mut self, ops: &[OpId], budget: &mut usize) -> Solved {
        let mut long = Long::new(self, ops, *budget);
        let is_done = long.improve().is_some();
        let (kernels, candidates, left) = (long.kernels, long.candidates, long.left);
        self.states += *budget - left;
        // States that no further step could use must not go to a later region: its result would
        // depend on them.
        *budget = if is_done { left } else { 0 };
        let cost = long::sum(&kernels);
        for kernel in &kernels {
            join(&mut self.kernel_of, &kernel.ops);
        }
        Solved {
            cost,
            lower_bound: self.least(ops).min(cost),
            candidates,
        }
    }

    /// A lower bound on the cost of these ops: every partition reads and writes at least what one
    /// kernel of all of them would.
    fn least(&self, ops: &[OpId]) -> Cost {
        let context = self.context;
        let graph = context.graph;
        let (one, others) = (KernelId::new(0), KernelId::new(1));
        let mut kernel_of = IdVec::from_elem(others, graph.ops.len());
        let (mut matmuls, mut moved) = (0_u32, 0_u32);
        let options = context.options;
        let mut busy = Times::default();
        for &op in ops {
            kernel_of[op] = one;
            matmuls += u32::from(graph.ops[op].op_type == OpType::Matmul);
            moved += u32::from(!context.is_view(op));
            busy = busy.and(times(options, op_work(graph, op), 0));
        }
        let as_one = Partition::of_ops(kernel_of, 2);
        let bytes = kernel_traffic(graph, &as_one, options.conventions)
            .next()
            .map_or(0, |traffic| traffic.total());
        // A kernel has at most as many ops as a word has bits, and views launch nothing.
        let launches = matmuls.max(moved.div_ceil(Set::BITS));
        Cost::at_least(options, self.clock, bytes, busy, launches)
    }
}
