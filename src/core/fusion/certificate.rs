//! Certificates: the proof of a search about its result.

use crate::model::options::Objective;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// Times whose relative difference is at most this count as equal, because bounds are rounded down,
/// costs are rounded up, and sums of floats round.
pub const ROUNDING: f64 = 1e-9;

/// The proof of a search about a partition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Certificate {
    /// The objective that the search minimized.
    pub objective: Objective,
    /// The partitions that it searched.
    pub scope: CertificateScope,
    /// No legal acyclic partition costs less; for times, up to rounding.
    pub is_optimal: bool,
    /// Cost of the partition.
    pub cost: Amount,
    /// No legal acyclic partition costs less than this.
    pub lower_bound: Amount,
    /// States of the budget that the search used.
    pub states: usize,
    /// Regions, each solved on its own.
    pub regions: usize,
    /// Regions whose optimum is not proven.
    pub open_regions: usize,
}

/// The partitions of which a certificate speaks: those into legal kernels, and what else they may
/// contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum CertificateScope {
    /// Nothing else.
    #[default]
    LegalKernels,
    /// Each attention as one kernel or not, whichever costs less.
    AttentionAllowed,
    /// The attentions of a region each as one kernel or none of them, whichever costs less.
    AttentionAllOrNone,
    /// Each attention as one kernel.
    AttentionRewritten,
}

/// A cost in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum Amount {
    /// Bytes through memory: compulsory traffic.
    Bytes(u64),
    /// Seconds, as a lower bound or from records of fused patterns.
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
    /// Upper bound on how far the cost is above the optimum, in percent of the lower bound; `None`
    /// if that is zero.
    pub fn excess_pct(&self) -> Option<f64> {
        let bound = self.lower_bound.value();
        (bound > 0.0).then(|| (self.cost.value() / bound - 1.0) * 100.0)
    }

    /// Upper bound on how far the optimum is below the cost, in percent of the cost.
    pub fn gap_pct(&self) -> f64 {
        let cost = self.cost.value();
        if cost > 0.0 {
            (cost - self.lower_bound.value()) / cost * 100.0
        } else {
            0.0
        }
    }
}
