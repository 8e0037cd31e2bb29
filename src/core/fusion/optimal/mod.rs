//! Policy `optimal`: the cheapest acyclic partition into legal kernels, proven, or with a stated gap.
//!
//! The graph is split into `regions`. Each is solved by listing all `candidates` and searching the shortest
//! path over downsets (`search`) with a consistent lower `bound`. If the budget of states ends first, the
//! result is the best partition found so far, with a lower bound on the optimum.

mod bound;
mod candidates;
mod long;
mod regions;
mod search;
mod solve;
mod solver;
mod start;
mod window;

use crate::core::fusion::certificate::{Amount, Certificate};
use crate::core::fusion::decision::{Decision, Log};
use crate::core::fusion::none;
use crate::core::fusion::region::{Region, RegionContext};
use crate::core::model::acyclic;
use crate::core::model::ids::OpId;
use crate::core::model::options::Objective;
use crate::core::model::partition::Partition;
use solver::Solver;

/// Searches the cheapest partition, starting from those of other policies.
///
/// Exponential in the worst case, so limited by a budget of states. A state takes time linear in the candidates
/// of its region.
pub(crate) fn partition(
    context: &RegionContext<'_>,
    known: &[Partition],
    log: &mut Log,
) -> (Partition, Certificate) {
    let mut solver = Solver::new(context, known);
    let regions = regions::regions(context);
    // Small regions first, so that a hard one gets the states that they leave.
    let mut order: Vec<&[OpId]> = regions.iter().filter(|ops| !ops.is_empty()).collect();
    order.sort_by_key(|ops| ops.len());
    let (mut cost, mut gap, mut open_regions) = (0, 0, 0);
    for (at, ops) in order.iter().enumerate() {
        let share = solver.budget / (order.len() - at);
        let states = solver.states;
        let found = solver.solve(ops, share);
        cost += found.cost.bytes_or_ticks;
        gap += found.cost.bytes_or_ticks - found.lower_bound.bytes_or_ticks;
        let is_proven = found.lower_bound.bytes_or_ticks == found.cost.bytes_or_ticks;
        open_regions += usize::from(!is_proven);
        if log.is_on() {
            log.note(Decision::Searched {
                ops: ops.to_vec(),
                candidates: found.candidates,
                states: solver.states - states,
                is_proven,
            });
        }
    }
    let objective = context.options.fusion.objective;
    let amount = |bytes_or_ticks: u64| match objective {
        Objective::Bytes => Amount::Bytes(bytes_or_ticks),
        Objective::Time => Amount::Seconds(bytes_or_ticks as f64 / solver.clock.ticks_per_s),
    };
    let certificate = Certificate {
        objective,
        is_optimal: open_regions == 0,
        cost: amount(cost),
        lower_bound: amount(cost - gap),
        states: solver.states,
        regions: order.len(),
        open_regions,
    };
    let partition = acyclic::in_order(context.graph, &solver.kernel_of)
        .unwrap_or_else(|_| none::partition(context.graph));
    if log.is_on() {
        for ops in partition.kernels.iter() {
            let region = Region::of(context, ops);
            log.note(Decision::Chosen {
                ops: ops.to_vec(),
                cost: amount(region.cost(region.all(), solver.clock).bytes_or_ticks),
            });
        }
    }
    (partition, certificate)
}
