//! What most of the fused time is spent on.

use super::format::format_percent;
use fuseline_core::analysis::Execution;
use fuseline_core::model::bound::Bound;
use fuseline_core::{Analysis, KernelId};

/// The bottleneck of the kernels that take most of the fused time, with their share: why a program with a quarter of the traffic
/// is not four times as fast.
pub struct Bottleneck {
    name: &'static str,
    /// Why fusion does not shorten their time further.
    why: &'static str,
    share_pct: f64,
}

/// The three bottlenecks: name, why fusion does not shorten such a time further, and the bounds that count as it.
const BOTTLENECKS: [(&str, &str, &[Bound]); 3] = [
    (
        "memory-bound",
        "Their inputs and results still go through memory.",
        &[Bound::Memory],
    ),
    (
        "compute-bound",
        "Fusion saves memory traffic, not arithmetic.",
        &[Bound::Matrix, Bound::Vector],
    ),
    (
        "launch-bound",
        "Each launch takes longer than the work of its kernel.",
        &[Bound::Launch],
    ),
];

impl Bottleneck {
    /// That of the fused program; `None` where nothing runs, and where the times leave out FLOPs or ops.
    pub fn of(analysis: &Analysis) -> Option<Self> {
        let time_s = |kernel| analysis.kernel_time_s(kernel);
        Self::of_kernels(analysis, &analysis.fused, time_s)
    }

    /// That of the program before fusion, as [`Self::of`].
    fn of_unfused(analysis: &Analysis) -> Option<Self> {
        Self::of_kernels(analysis, &analysis.unfused, |kernel| {
            match &analysis.predicted {
                Some(predicted) => predicted.unfused_kernels_s.get(kernel).copied(),
                None => Some(analysis.unfused.kernels.get(kernel)?.placement.time_s),
            }
        })
    }

    fn of_kernels(
        analysis: &Analysis,
        execution: &Execution,
        time_s: impl Fn(KernelId) -> Option<f64>,
    ) -> Option<Self> {
        analysis.speedup?;
        let total_s: f64 = execution.kernels.ids().filter_map(&time_s).sum();
        let seconds_of = |of: &[Bound]| -> f64 {
            (execution.kernels.iter_enumerated())
                .filter(|(_, kernel)| of.contains(&kernel.placement.bound))
                .filter_map(|(id, _)| time_s(id))
                .sum()
        };
        let longest = BOTTLENECKS
            .map(|(name, why, of)| Self {
                name,
                why,
                share_pct: seconds_of(of) / total_s * 100.0,
            })
            .into_iter()
            .max_by(|a, b| a.share_pct.total_cmp(&b.share_pct))?;
        (total_s > 0.0).then_some(longest)
    }

    /// The bottleneck before and after fusion: `87 % memory-bound → all compute-bound`, `56.9 % → 93.6 % compute-bound`.
    pub fn change_text(analysis: &Analysis) -> Option<String> {
        let [before, after] = [Self::of_unfused(analysis)?, Self::of(analysis)?];
        let [before_share, after_share] =
            [&before, &after].map(|of| of.share().unwrap_or_else(|| "all".to_owned()));
        let name = after.name;
        Some(if before.name != name {
            format!("{before_share} {} → {after_share} {name}", before.name)
        } else if before_share != after_share {
            format!("{before_share} → {after_share} {name}")
        } else {
            format!("{after_share} {name}")
        })
    }

    /// That of the fused time as sentences: `Of the fused time, 87 % is in compute-bound kernels. Fusion saves memory traffic, not arithmetic.`
    pub fn sentence(&self) -> String {
        let Self { name, why, .. } = self;
        match self.share() {
            Some(share) => format!("Of the fused time, {share} is in {name} kernels. {why}"),
            None => format!("All fused time is in {name} kernels. {why}"),
        }
    }

    /// The share in words; `None` for all of the time, as it would be rounded.
    fn share(&self) -> Option<String> {
        (self.share_pct <= 99.95).then(|| format_percent(self.share_pct))
    }
}
