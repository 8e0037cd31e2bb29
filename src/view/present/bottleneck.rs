//! What most of the fused time is spent on.

use super::figure::Explanation;
use super::format::format_percent;
use fuseline_core::analysis::Execution;
use fuseline_core::cost::roofline::Placement;
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
    /// That of the fused program; `None` where nothing runs, and where the times leave out FLOPs or ops. Predicted times have the
    /// bottleneck that the device model finds, lower bounds that of the roofline.
    pub fn of(analysis: &Analysis) -> Option<Self> {
        let shares = shares(analysis, &analysis.fused, |kernel| {
            let times = analysis.predicted.as_ref()?.kernels.get(kernel)?;
            Some((times.time_s, times.bound))
        });
        let longest = shares?.into_iter();
        longest.max_by(|a, b| a.share_pct.total_cmp(&b.share_pct))
    }

    /// The share of the time that kernels of the fused program's bottleneck take, before and after fusion:
    /// `compute-bound time 57.9 % → 93.6 %`.
    pub fn change_text(analysis: &Analysis) -> Option<String> {
        let after = Self::of(analysis)?;
        let before = shares(analysis, &analysis.unfused, |kernel| {
            let times = analysis.predicted.as_ref()?.unfused_kernels.get(kernel)?;
            Some((times.time_s, times.bound))
        });
        let before = (before?.into_iter()).find(|before| before.name == after.name)?;
        let [before, share] = [&before, &after].map(|of| format_percent(of.share_pct));
        let name = after.name;
        Some(if before == share {
            format!("{name} time {share}")
        } else {
            format!("{name} time {before} → {share}")
        })
    }

    /// What [`Self::change_text`] says.
    pub fn explanation(analysis: &Analysis) -> Option<Explanation> {
        let after = Self::of(analysis)?;
        let rates = match analysis.predicted {
            Some(_) => "measured rates",
            None => "the rates of the data sheet",
        };
        Some(Explanation {
            value: format_percent(after.share_pct),
            notes: vec![
                after.sentence(),
                format!("The bottleneck of a kernel is what takes longest at {rates}."),
            ],
            ..Explanation::of(
                "bottleneck",
                format!("{} kernels of the fused program", after.name),
                "time of these kernels / time of all kernels",
                None,
            )
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

/// What each bottleneck takes of the time of these kernels; `None` where they take none, and where the times leave out work.
fn shares(
    analysis: &Analysis,
    execution: &Execution,
    predicted: impl Fn(KernelId) -> Option<(f64, Bound)>,
) -> Option<[Bottleneck; 3]> {
    analysis.speedup?;
    let times: Vec<(f64, Bound)> = (execution.kernels.iter_enumerated())
        .map(|(id, kernel)| {
            let Placement { time_s, bound, .. } = kernel.placement;
            predicted(id).unwrap_or((time_s, bound))
        })
        .collect();
    let total_s: f64 = times.iter().map(|&(time_s, _)| time_s).sum();
    let seconds_of = |of: &[Bound]| -> f64 {
        let of_kind = times.iter().filter(|(_, bound)| of.contains(bound));
        of_kind.map(|&(time_s, _)| time_s).sum()
    };
    (total_s > 0.0).then(|| {
        BOTTLENECKS.map(|(name, why, of)| Bottleneck {
            name,
            why,
            share_pct: seconds_of(of) / total_s * 100.0,
        })
    })
}
