//! Policy `optimal`: the cheapest acyclic partition into legal kernels, proven, or with a stated
//! gap.
//!
//! The graph is split into `regions`. Each is solved by listing all `candidates` and searching the
//! shortest path over downsets (`search`) with a consistent lower `bound`. If the budget of states
//! ends first, the result is the best partition found so far, with a lower bound on the optimum.

mod attention;
mod bound;
mod candidates;
mod long;
mod regions;
mod search;
mod solve;
mod solver;
mod start;
mod window;

use crate::fusion::certificate::{Amount, Certificate, CertificateScope};
use crate::fusion::decision::{Decision, Log};
use crate::fusion::none;
use crate::fusion::region::{Clock, Cost, Region, RegionContext};
use crate::model::acyclic;
use crate::model::ids::OpId;
use crate::model::options::Objective;
use crate::model::partition::Partition;
use solver::{Solver, clock};
use start::partitions_of_policies;

pub(super) use attention::partition_with_attention;

/// Searches the cheapest partition, starting from those of other policies.
///
/// Exponential in the worst case, so limited by a budget of states. A state takes time linear in
/// the candidates of its region.
pub(crate) fn partition(context: &RegionContext<'_>, log: &mut Log) -> (Partition, Certificate) {
    let fusion = &context.options.fusion;
    let known = partitions_of_policies(context);
    let mut solver = Solver::new(context, &known, clock(context), fusion.budget_states);
    let regions = regions::regions(context);
    let found = solver.solve_all(regions.iter());
    let mut sum = Sum::default();
    for region in &found {
        sum.add(region.solved.cost, region.solved.lower_bound);
        log.note(region.decision());
    }
    let certificate = sum.certificate(fusion.objective, solver.clock, solver.states, found.len());
    // Neither regions nor the kernels in one form a cycle, so this order exists. The core does not
    // panic, so the fallback is the unfused program.
    let partition = acyclic::in_order(context.graph, &solver.kernel_of)
        .unwrap_or_else(|_| none::partition(context.graph));
    if log.is_on() {
        for ops in partition.kernels.iter() {
            log.note(chosen(context, solver.clock, ops, ops));
        }
    }
    (partition, certificate)
}

/// The decision that these ops are one kernel. `here` are the same ops in the graph of `context`.
fn chosen(context: &RegionContext<'_>, clock: Clock, ops: &[OpId], here: &[OpId]) -> Decision {
    let objective = context.options.fusion.objective;
    let region = Region::of(context, here);
    let cost = region.cost(region.all(), clock);
    Decision::Chosen {
        ops: ops.to_vec(),
        cost: amount(objective, clock, cost.bytes_or_ticks),
        evidence: (objective == Objective::Measured && region.is_pattern(region.all()))
            .then(|| region.evidence(region.all())),
    }
}

fn amount(objective: Objective, clock: Clock, bytes_or_ticks: u64) -> Amount {
    match objective {
        Objective::Bytes => Amount::Bytes(bytes_or_ticks),
        Objective::Time | Objective::Measured => {
            Amount::Seconds(bytes_or_ticks as f64 / clock.ticks_per_s)
        }
    }
}

/// Costs of parts of a program that were solved on their own.
#[derive(Default)]
struct Sum {
    cost: u64,
    gap: u64,
    /// Parts whose optimum is not proven.
    open: usize,
}

impl Sum {
    fn add(&mut self, cost: Cost, lower_bound: Cost) {
        // Costs saturate, so their sums do, too.
        let gap = cost
            .bytes_or_ticks
            .saturating_sub(lower_bound.bytes_or_ticks);
        self.cost = self.cost.saturating_add(cost.bytes_or_ticks);
        self.gap = self.gap.saturating_add(gap);
        self.open += usize::from(gap > 0);
    }

    fn certificate(
        &self,
        objective: Objective,
        clock: Clock,
        states: usize,
        regions: usize,
    ) -> Certificate {
        Certificate {
            objective,
            scope: CertificateScope::default(),
            is_optimal: self.open == 0,
            cost: amount(objective, clock, self.cost),
            lower_bound: amount(objective, clock, self.cost.saturating_sub(self.gap)),
            states,
            regions,
            open_regions: self.open,
        }
    }
}
