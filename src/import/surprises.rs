//! What is surprising about the record of a fused pattern: a reason to measure again, or to doubt
//! the model.

use fuseline_core::model::bound::Bound;
use fuseline_core::model::calibration::{Calibrations, FusionCalibration};
use std::ops::RangeInclusive;

/// What is surprising about a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Surprise {
    /// The fused run is slower than the unfused one.
    Slower,
    /// The pattern is memory-bound, and the speed-up is not between [`USUAL_SPEEDUP`].
    Unusual,
    /// The device model predicts this speed-up, which differs by more than [`MOST_ERROR`].
    Unexpected(f64),
    /// On another GPU the pattern was faster by more than [`WORTHWHILE`] and not on this one, or
    /// the other way round.
    Elsewhere {
        /// The other GPU.
        device: String,
        /// Its speed-up.
        speedup: f64,
        /// The work at which it was measured, in FLOPs.
        flops: f64,
    },
    /// The fused run has several kernels.
    SeveralKernels,
}

/// Usual speed-ups of memory-bound patterns.
pub const USUAL_SPEEDUP: RangeInclusive<f64> = 1.5..=3.0;
/// The larger of a measured and a predicted speed-up over the smaller. Nine of ten rows on the H200
/// are within 1.24.
pub const MOST_ERROR: f64 = 1.5;
/// The speed-up above which fusing is worth while, as by default in the search.
pub const WORTHWHILE: f64 = 1.2;
/// Runs of two GPUs are compared where the work of one is at most this many times that of the
/// other.
const NEAR: f64 = 4.0;

/// Whether two speed-ups differ by more than [`MOST_ERROR`].
pub fn differs(a: f64, b: f64) -> bool {
    (a / b).ln().abs() > MOST_ERROR.ln()
}

/// Whether the work of two runs is near enough to compare them, in FLOPs.
pub(super) fn is_near(a: f64, b: f64) -> bool {
    (a.max(1.0) / b.max(1.0)).ln().abs() <= NEAR.ln()
}

/// The surprises of a record, the worst first: by itself, beside the speed-up that the device model
/// predicts, and beside the records of other GPUs. `O(records of others)`.
pub fn surprises(
    record: &FusionCalibration,
    predicted_speedup: Option<f64>,
    others: &[Calibrations],
) -> Vec<Surprise> {
    let speedup = record.speedup_factor;
    let is_slower = speedup < 1.0;
    let mut found = Vec::new();
    if is_slower {
        found.push(Surprise::Slower);
    } else if record.bottleneck_unfused == Bound::Memory && !USUAL_SPEEDUP.contains(&speedup) {
        found.push(Surprise::Unusual);
    }
    found.extend(
        (predicted_speedup.filter(|&predicted| differs(predicted, speedup)))
            .map(Surprise::Unexpected),
    );
    for other in others {
        let nearest = other.nearest(&record.structure, record.flops);
        if let Some(near) = nearest.filter(|other| is_near(other.flops, record.flops))
            && (near.speedup_factor > WORTHWHILE) != (speedup > WORTHWHILE)
        {
            found.push(Surprise::Elsewhere {
                device: other.device.clone(),
                speedup: near.speedup_factor,
                flops: near.flops,
            });
        }
    }
    if !record.is_one_kernel() {
        found.push(Surprise::SeveralKernels);
    }
    found
}
