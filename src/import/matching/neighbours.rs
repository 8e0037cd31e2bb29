//! Pairs of kernels that a profile shows as worth fusing: consecutive, memory-bound and short.

use super::Matching;
use fuseline_core::analysis::Analysis;
use fuseline_core::analysis::why::{Price, Why};
use fuseline_core::fusion::reason::Reason;
use fuseline_core::model::bound::Bound;
use fuseline_core::model::ids::KernelId;

/// A kernel is short if it takes at most as long as this many launches.
pub const SHORT_LAUNCHES: f64 = 10.0;
/// Most pairs whose fusion is priced.
const MAX_NEIGHBOURS: usize = 200;

/// Two kernels in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    pub first: KernelId,
    pub second: KernelId,
    /// Measured times of both.
    pub times_s: [f64; 2],
    /// How long the GPU waited between them, if starts are known.
    pub gap_s: Option<f64>,
    /// What one fused kernel would save, or why the two cannot be fused.
    pub merge: Result<Price, Reason>,
}

/// The pairs of consecutive kernels that are memory-bound and each take at most [`SHORT_LAUNCHES`]
/// launches, as measured. Pairs that save the most time come first, pairs that cannot be fused
/// last. At most 200 are priced, each at the cost of [`Why::merge`].
pub fn short_neighbours(analysis: &Analysis, matching: &Matching) -> Vec<Neighbours> {
    let limit_s = analysis.options.device.launch_s.value * SHORT_LAUNCHES;
    let time = |kernel| matching.time_s(kernel).filter(|time_s| *time_s <= limit_s);
    let is_memory_bound = |kernel: KernelId| {
        let kernel = &analysis.fused.kernels[kernel];
        // A kernel that is over before the next launch would be memory-bound if it were longer.
        matches!(kernel.placement.bound, Bound::Memory | Bound::Launch)
            && kernel.work.matrix_dtype.is_none()
    };
    let gaps = matching.run.gaps_s();
    let why = Why::new(analysis);
    let mut found: Vec<Neighbours> = Vec::new();
    for (at, pair) in matching.of_measured.windows(2).enumerate() {
        let [Some(first), Some(second)] = pair else {
            continue;
        };
        let (first, second) = (first.kernel, second.kernel);
        let is_known = |known: &Neighbours| known.first == first && known.second == second;
        if first == second
            || !is_memory_bound(first)
            || !is_memory_bound(second)
            || found.iter().any(is_known)
        {
            continue;
        }
        if let Some(times_s) = time(first).zip(time(second)) {
            found.push(Neighbours {
                first,
                second,
                times_s: times_s.into(),
                gap_s: gaps.get(at + 1).copied().flatten(),
                merge: why.merge(first, second),
            });
        }
        if found.len() == MAX_NEIGHBOURS {
            break;
        }
    }
    let saved_s = |of: &Neighbours| {
        of.merge
            .as_ref()
            .ok()
            .and_then(|price| price.time_s())
            .unwrap_or(f64::NEG_INFINITY)
    };
    found.sort_by(|a, b| saved_s(b).total_cmp(&saved_s(a)));
    found
}
