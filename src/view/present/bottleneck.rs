//! What most of the fused time is spent on.

use super::format::format_percent;
use fuseline_core::Analysis;
use fuseline_core::model::bound::Bound;

/// The bottleneck of the kernels that take most of the fused time, with their share: why a program with a quarter of the traffic
/// is not four times as fast.
pub struct Bottleneck {
    name: &'static str,
    /// Why fusion does not shorten their time further.
    why: &'static str,
    share_pct: f64,
}

impl Bottleneck {
    /// `None` where nothing runs, and where the times leave out FLOPs or ops.
    pub fn of(analysis: &Analysis) -> Option<Self> {
        analysis.speedup?;
        let bounds = [
            (
                "memory-bound",
                "Their inputs and results still go through memory.",
                &[Bound::Memory][..],
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
        let total_s = analysis.time_s();
        let seconds_of = |of: &[Bound]| -> f64 {
            (analysis.fused.kernels.iter_enumerated())
                .filter(|(_, kernel)| of.contains(&kernel.placement.bound))
                .filter_map(|(id, _)| analysis.kernel_time_s(id))
                .sum()
        };
        let longest = bounds
            .map(|(name, why, of)| Self {
                name,
                why,
                share_pct: seconds_of(of) / total_s * 100.0,
            })
            .into_iter()
            .max_by(|a, b| a.share_pct.total_cmp(&b.share_pct))?;
        (total_s > 0.0).then_some(longest)
    }

    /// `fused: 87 % compute-bound`.
    pub fn text(&self) -> String {
        match self.share() {
            Some(share) => format!("fused: {share} {}", self.name),
            None => format!("fused: all {}", self.name),
        }
    }

    /// The same as sentences: `Of the fused time, 87 % is in compute-bound kernels. Fusion saves memory traffic, not arithmetic.`
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
