//! The costs of a policy at one value of the param.

use crate::analysis::device_model::Outside;
use borsh::{BorshDeserialize, BorshSerialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The figure that is drawn over the values.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    VariantArray,
    IntoStaticStr,
    EnumString,
    BorshSerialize,
    BorshDeserialize,
)]
#[strum(serialize_all = "lowercase")]
pub enum Measure {
    /// Bytes through memory.
    #[default]
    Bytes,
    /// Predicted times, or lower bounds where the device has no measured rates.
    Time,
    /// Kernels that are launched.
    Kernels,
    /// FLOPs of all kernels over their bytes.
    Intensity,
}

/// The costs of one policy at one value.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct SweepFigures {
    /// Bytes through memory.
    pub bytes: u64,
    /// Time, as [`Sweep::is_predicted`](super::Sweep::is_predicted) says.
    pub time_s: f64,
    /// The time that the roofline allows.
    pub lower_bound_s: f64,
    /// Kernels that are launched.
    pub kernels: usize,
    /// FLOPs of all kernels; `None` where they are unknown.
    pub flops: Option<u128>,
    /// Ops of unknown shape are missing, so that all others are lower bounds.
    pub is_partial: bool,
    /// The times leave out FLOPs or ops, so that they are lower bounds.
    pub is_time_least: bool,
    /// How the predicted time is outside the measured sizes, if it is.
    pub outside: Option<Outside>,
}

impl SweepFigures {
    /// One of the figures as a number of its unit.
    pub fn value(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Bytes => Some(self.bytes as f64),
            Measure::Time => Some(self.time_s),
            Measure::Kernels => Some(self.kernels as f64),
            Measure::Intensity => self.intensity(),
        }
    }

    /// FLOPs of all kernels over their bytes; `None` without bytes, and where FLOPs are unknown.
    pub fn intensity(&self) -> Option<f64> {
        (self.bytes > 0).then_some(self.flops? as f64 / self.bytes as f64)
    }
}
