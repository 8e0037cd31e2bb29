//! When kernels are launched and when they run, as a profiler's timeline shows them.
//!
//! Python needs longer for one launch than a small kernel runs, so the GPU waits between such
//! kernels. Kernels that wait in the queue follow each other closely, and so do those of a CUDA
//! graph, which one call launches. The three constants are measured with PyTorch 2.11 beside an
//! H200, as `docs/measurement.md` says. Other hosts have other ones.

use crate::analysis::Analysis;
use crate::model::ids::KernelId;

/// From one launch to the next, where Python makes each call: 10 to 17 µs on the hosts of two H200,
/// eager or compiled.
pub const PYTHON_LAUNCH_S: f64 = 13e-6;
/// From a call to the start of its kernel on an idle GPU.
pub const LATENCY_S: f64 = 6e-6;
/// From the end of a kernel to the start of the next one in the queue. The model's launch time
/// covers it.
pub const GAP_S: f64 = 1.2e-6;

/// Who launches the kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Launcher {
    /// Python, one call after the other.
    #[default]
    Python,
    /// A CUDA graph: one call for all.
    CudaGraph,
}

/// A kernel on the timeline, in seconds from the first call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchedKernel {
    /// Which kernel of the partition is launched.
    pub kernel: KernelId,
    /// When it is launched.
    pub call_s: f64,
    /// When it starts to run.
    pub start_s: f64,
    /// When it ends.
    pub end_s: f64,
}

/// The launches of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchTimeline {
    /// The kernels, in order; views that are not launched are left out.
    pub kernels: Vec<LaunchedKernel>,
    /// From the start of the first kernel to the end of the last.
    pub span_s: f64,
    /// The part of it in which a kernel runs.
    pub busy_s: f64,
}

impl LaunchTimeline {
    /// The share of `span_s` in which no kernel runs; 0 for a program without kernels.
    pub fn idle_share(&self) -> f64 {
        if self.span_s > 0.0 {
            1.0 - self.busy_s / self.span_s
        } else {
            0.0
        }
    }
}

/// The timeline of the fused kernels. `O(kernels)`.
pub fn launch_timeline(analysis: &Analysis, by: Launcher) -> LaunchTimeline {
    let mut timeline = LaunchTimeline::default();
    let mut launched: u32 = 0;
    let mut next_s: f64 = 0.0;
    for (kernel, fused) in analysis.fused.kernels.iter_enumerated() {
        let time_s = analysis.kernel_time_s(kernel).filter(|_| !fused.is_free);
        let Some(time_s) = time_s else { continue };
        let call_s = match by {
            Launcher::Python => f64::from(launched) * PYTHON_LAUNCH_S,
            Launcher::CudaGraph => 0.0,
        };
        launched += 1 + analysis.partition.further_launches_of(kernel);
        let start_s = (call_s + LATENCY_S).max(next_s);
        // The time of a kernel has the gap in it.
        let end_s = start_s + (time_s - GAP_S).max(0.0);
        next_s = end_s + GAP_S;
        timeline.busy_s += end_s - start_s;
        timeline.kernels.push(LaunchedKernel {
            kernel,
            call_s,
            start_s,
            end_s,
        });
    }
    if let (Some(first), Some(last)) = (timeline.kernels.first(), timeline.kernels.last()) {
        timeline.span_s = last.end_s - first.start_s;
    }
    timeline
}
