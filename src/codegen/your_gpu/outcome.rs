//! The outcome of a run on the visitor's GPU.

use super::check::Check;
use super::job::Limits;
use crate::interpret::NotRun;
use fuseline_core::model::device::DeviceProbe;
use fuseline_core::{Analysis, IdVec, KernelId};

/// Measured times of a partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Time of each kernel alone, in seconds; 0 for one that is not launched.
    pub kernels_s: IdVec<KernelId, f64>,
    /// Time of all kernels, one after another, in seconds.
    pub total_s: f64,
}

impl Times {
    pub fn kernel_s(&self, kernel: KernelId) -> Option<f64> {
        self.kernels_s.get(kernel).copied()
    }
}

/// Results compared with those of the interpreter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checks {
    /// Params and their values.
    pub sizes: Vec<(String, i64)>,
    /// Results of one kernel for each op.
    pub unfused: Check,
    /// Results of the fused kernels.
    pub fused: Check,
}

/// A run: its results and its times, unfused and fused.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The measured rates of the GPU.
    pub measured: DeviceProbe,
    /// The limits of the GPU.
    pub limits: Limits,
    /// Whether the GPU took the times. Otherwise the page did, and its times include the round trip
    /// to the GPU.
    pub has_clock: bool,
    /// Params and their values in the text.
    pub own_sizes: Vec<(String, i64)>,
    /// Params and their values where times were taken.
    pub timed_sizes: Vec<(String, i64)>,
    /// The results, or why the interpreter cannot compute them.
    pub checks: Result<Checks, NotRun>,
    /// Times of one kernel for each op.
    pub unfused: Times,
    /// Times of the fused kernels.
    pub fused: Times,
    /// The analysis that predicts the times of this GPU at the timed sizes.
    pub predicted: Analysis,
}

impl Outcome {
    /// Measured time of the ops of a fused kernel as separate kernels, without the ops that it
    /// recomputes.
    pub fn unfused_kernel_s(&self, kernel: KernelId) -> f64 {
        let ops = self.predicted.partition.kernels.get(kernel);
        let alone = ops.into_iter().flatten().copied().map(KernelId::of_lone_op);
        alone.filter_map(|alone| self.unfused.kernel_s(alone)).sum()
    }

    /// Measured time unfused over fused.
    pub fn speedup(&self) -> Option<f64> {
        ratio(self.unfused.total_s, self.fused.total_s)
    }

    pub fn predicted_speedup(&self) -> Option<f64> {
        ratio(self.predicted.unfused.time_s, self.predicted.fused.time_s)
    }
}

fn ratio(unfused_s: f64, fused_s: f64) -> Option<f64> {
    (unfused_s > 0.0 && fused_s > 0.0).then(|| unfused_s / fused_s)
}
