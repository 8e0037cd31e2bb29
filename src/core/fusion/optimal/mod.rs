//! Policy `optimal`: the cheapest acyclic partition into legal kernels, proven, or with a stated gap.
//!
//! The graph is taken apart into [`regions`]; each is solved by listing all [`candidates`] and searching the
//! shortest path over downsets ([`search`]) under a consistent [`bound`]. Where the budget of states runs out
//! the best that was found stands, beside a bound that no partition goes below.
mod bound;
mod candidates;
mod known;
mod long;
mod regions;
mod search;
mod solver;
mod table;
mod window;

use super::none;
use super::record::{Decision, Log};
use super::region::{Region, Setting};
use crate::core::count;
use crate::core::model::acyclic;
use crate::core::model::ids::OpId;
use crate::core::model::options::Objective;
use crate::core::model::partition::Partition;
use serde::Serialize;
use solver::Solver;

/// Two times that differ by no more than this part of them count as equal: bounds are rounded down and costs
/// up, and sums of floats round.
pub(crate) const ROUNDING: f64 = 1e-9;

/// What is known about a partition that was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Certificate {
    /// What was made small.
    pub objective: Objective,
    /// No legal acyclic partition costs less, times but for rounding.
    pub is_optimal: bool,
    /// What the partition costs.
    pub cost: Amount,
    /// No legal acyclic partition costs less than this.
    pub lower_bound: Amount,
    /// States that were looked at.
    pub states: usize,
    /// Parts that were solved on their own.
    pub regions: usize,
    /// Those of them whose optimum is not proven.
    pub open_regions: usize,
}

/// A cost in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// Bytes through memory, by the contract.
    Bytes(#[serde(serialize_with = "count::serialize")] u64),
    /// Predicted seconds.
    Seconds(f64),
}

impl Amount {
    /// The figure in its unit.
    pub fn value(self) -> f64 {
        match self {
            Self::Bytes(bytes) => bytes as f64,
            Self::Seconds(seconds) => seconds,
        }
    }
}

impl Certificate {
    /// How far what was found lies above the optimum at most, in percent; `None` without a bound above zero.
    pub fn excess_pct(&self) -> Option<f64> {
        let bound = self.lower_bound.value();
        (bound > 0.0).then(|| (self.cost.value() / bound - 1.0) * 100.0)
    }

    /// How much less the optimum could cost at most, in percent of what was found.
    pub fn gap_pct(&self) -> f64 {
        let cost = self.cost.value();
        if cost > 0.0 {
            (cost - self.lower_bound.value()) / cost * 100.0
        } else {
            0.0
        }
    }
}

/// Searches the cheapest partition, beginning with what other policies found.
///
/// Exponential in the worst case, so bounded by the budget of states, each of which takes time linear in the
/// candidates of its region.
pub(crate) fn partition(
    setting: &Setting<'_>,
    known: &[Partition],
    log: &mut Log,
) -> (Partition, Certificate) {
    let mut solver = Solver::new(setting, known);
    let regions = regions::regions(setting);
    // The small ones first, so that a hard one gets what they leave.
    let mut order: Vec<&[OpId]> = regions.iter().filter(|ops| !ops.is_empty()).collect();
    order.sort_by_key(|ops| ops.len());
    let (mut cost, mut gap, mut open_regions) = (0, 0, 0);
    for (at, ops) in order.iter().enumerate() {
        let share = solver.budget / (order.len() - at);
        let states = solver.states;
        let found = solver.solve(ops, share);
        cost += found.cost.main;
        gap += found.cost.main - found.lower_bound.main;
        let is_proven = found.lower_bound.main == found.cost.main;
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
    let objective = setting.options.fusion.objective;
    let amount = |main: u64| match objective {
        Objective::Bytes => Amount::Bytes(main),
        Objective::Time => Amount::Seconds(main as f64 / solver.ticks_per_s),
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
    let partition = acyclic::in_order(setting.graph, &solver.kernel_of)
        .unwrap_or_else(|_| none::partition(setting.graph));
    if log.is_on() {
        for ops in partition.kernels.iter() {
            let region = Region::of(setting, ops);
            log.note(Decision::Chosen {
                ops: ops.to_vec(),
                cost: amount(region.cost(region.all(), solver.ticks_per_s).main),
            });
        }
    }
    (partition, certificate)
}
