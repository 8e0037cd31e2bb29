//! What a search knows about the partition that it found.

use crate::core::model::options::Objective;
use serde::Serialize;

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
    /// Bytes through memory: compulsory traffic.
    Bytes(u64),
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
