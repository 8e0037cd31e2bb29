//! What measured runs of a pattern say about a kernel: the objective *measured* of the search.

use crate::core::cost::work::op_work;
use crate::core::fusion::region::{Bits, Clock, Region, Set};
use crate::core::fusion::structure::structure;
use crate::core::model::ids::OpId;
use borsh::{BorshDeserialize, BorshSerialize};

/// What measured runs say about a kernel of several ops.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub enum Evidence {
    /// The pattern was not measured on this device: the model decides.
    Unmeasured,
    /// At the nearest size the pattern ran faster by more than the threshold, but not as one kernel: the model decides.
    Apart(Nearest),
    /// At the nearest size one kernel was faster by more than the threshold.
    Fuses(Nearest),
    /// It was not, in however many kernels it ran: the ops stay apart.
    Refuses(Nearest),
}

/// The measured run whose work is nearest to that of a kernel.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Nearest {
    /// The name of its pattern.
    pub pattern: String,
    /// Its work, in FLOPs.
    pub flops: f64,
    /// Unfused over fused time.
    pub speedup: f64,
}

impl Region<'_> {
    /// What measured runs on the device say about a kernel of these ops. `O(ops * inputs + patterns)`.
    pub(crate) fn evidence(&self, set: Set) -> Evidence {
        let options = self.context.options;
        let Some(calibrations) = options.calibrations() else {
            return Evidence::Unmeasured;
        };
        let graph = self.context.graph;
        let is_view = |op: OpId| self.context.is_view(op);
        let ops = || Bits(set).map(|place| self.ops[place]);
        if ops().filter(|&op| !is_view(op)).count() > calibrations.most_operators() {
            return Evidence::Unmeasured;
        }
        let flops = ops().map(|op| op_work(graph, op).flops() as f64).sum();
        let Some(record) = calibrations.nearest(&structure(graph, ops(), is_view), flops) else {
            return Evidence::Unmeasured;
        };
        let nearest = Nearest {
            pattern: record.fusion_pattern.clone(),
            flops: record.flops,
            speedup: record.speedup_factor,
        };
        let threshold = f64::from(options.fusion.min_speedup_percent) / 100.0;
        match (nearest.speedup > threshold, record.is_one_kernel()) {
            (true, true) => Evidence::Fuses(nearest),
            (true, false) => Evidence::Apart(nearest),
            (false, _) => Evidence::Refuses(nearest),
        }
    }

    /// The time of a kernel of these ops as measured runs tell it; `bound_ticks` is its lower bound, which nothing undercuts,
    /// `alone_ticks` the bound of one op.
    ///
    /// A measured speed-up divides the bounds of the ops one by one. Ops that stay apart cost a tick more as one kernel.
    pub(crate) fn measured_ticks(
        &self,
        set: Set,
        bound_ticks: u64,
        alone_ticks: impl Fn(Set) -> u64,
    ) -> u64 {
        if (set & !self.views).count_ones() < 2 {
            return bound_ticks;
        }
        let apart_ticks = || {
            Bits(set).fold(0_u64, |sum, place| {
                sum.saturating_add(alone_ticks(place.bit()))
            })
        };
        match self.evidence(set) {
            Evidence::Unmeasured | Evidence::Apart(_) => bound_ticks,
            Evidence::Fuses(nearest) => {
                bound_ticks.max(Clock::divided(apart_ticks(), nearest.speedup))
            }
            Evidence::Refuses(_) => bound_ticks.max(apart_ticks().saturating_add(1)),
        }
    }
}
