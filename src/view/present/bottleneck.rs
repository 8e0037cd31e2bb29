//! What most of the fused time is spent on.

use super::figure::Explanation;
use super::format::format_percent;
use fuseline_core::analysis::Execution;
use fuseline_core::cost::roofline::Placement;
use fuseline_core::model::bound::Bound;
use fuseline_core::{Analysis, KernelId};

/// What most of the fused time waits for: why a program with a quarter of the traffic is not four
/// times as fast.
pub struct Bottleneck {
    /// The name of its kernels, by prediction or by the roofline, which can differ.
    kernels: &'static str,
    /// Why fusion does not shorten their time further.
    why: &'static str,
    share_pct: f64,
}

/// The three bottlenecks: the names of their kernels by prediction and by the roofline, why fusion
/// does not shorten their time further, and the bounds that belong to them.
const BOTTLENECKS: [([&str; 2], &str, &[Bound]); 3] = [
    (
        ["kernels that wait for memory", "memory-bound kernels"],
        "Their inputs and results still go through memory.",
        &[Bound::Memory],
    ),
    (
        ["kernels that wait for arithmetic", "compute-bound kernels"],
        "Fusion saves memory traffic, not arithmetic.",
        &[Bound::Matrix, Bound::Vector],
    ),
    (
        ["kernels that wait for their launch", "launch-bound kernels"],
        "Each launch takes longer than the work of its kernel.",
        &[Bound::Launch],
    ),
];

impl Bottleneck {
    /// The bottleneck of the fused program; `None` where nothing runs, and where the times leave
    /// out FLOPs or ops.
    ///
    /// Predicted times have the bottleneck that the device model finds. Lower bounds have that of
    /// the roofline, and so has a kernel whose rate was measured for all of its work at once: see
    /// [`RatedWork::bound`](fuseline_core::analysis::device_model::RatedWork::bound).
    pub fn of(analysis: &Analysis) -> Option<Self> {
        let longest = fused_shares(analysis)?.into_iter();
        longest.max_by(|a, b| a.share_pct.total_cmp(&b.share_pct))
    }

    /// The share of memory-bound time, which fusion can shorten, before and after fusion:
    /// `memory-bound time 42.1 % → 6.4 %`.
    pub fn memory_time(analysis: &Analysis) -> Option<String> {
        let before = shares(analysis, &analysis.unfused, |kernel| {
            let times = analysis.predicted.as_ref()?.unfused_kernels.get(kernel)?;
            Some((times.time_s, times.bound()))
        });
        let [before, ..] = before?;
        let [after, ..] = fused_shares(analysis)?;
        let [before, after] = [before, after].map(|memory| format_percent(memory.share_pct));
        Some(if before == after {
            format!("memory-bound time {after}")
        } else {
            format!("memory-bound time {before} → {after}")
        })
    }

    /// The explanation of [`Self::memory_time`].
    pub fn explanation(analysis: &Analysis) -> Option<Explanation> {
        let [memory, ..] = fused_shares(analysis)?;
        let (rates, whole) = match analysis.predicted {
            Some(_) => (
                "measured rates. The roofline has the rates of the data sheet",
                " It decides where a kernel waits for the cache, and where a measured rate is of a whole loop over rows, as in a library's softmax.",
            ),
            None => ("the rates of the data sheet", ""),
        };
        Some(Explanation {
            value: format_percent(memory.share_pct),
            notes: vec![
                Self::of(analysis)?.sentence(),
                format!("A kernel waits for what takes longest at {rates}.{whole}"),
            ],
            ..Explanation::of(
                "memory-bound time",
                format!("{} of the fused program", memory.kernels),
                "time of these kernels / time of all kernels",
                None,
            )
        })
    }

    /// The bottleneck in sentences: `Of the fused time, 87 % is in compute-bound kernels. Fusion
    /// saves memory traffic, not arithmetic.`
    pub fn sentence(&self) -> String {
        let Self { kernels, why, .. } = self;
        match self.share() {
            Some(share) => format!("Of the fused time, {share} is in {kernels}. {why}"),
            None => format!("All fused time is in {kernels}. {why}"),
        }
    }

    /// The share in words; `None` if it rounds to all of the time.
    fn share(&self) -> Option<String> {
        (self.share_pct <= 99.95).then(|| format_percent(self.share_pct))
    }
}

/// The share of each bottleneck in the fused time, as in [`shares`].
fn fused_shares(analysis: &Analysis) -> Option<[Bottleneck; 3]> {
    shares(analysis, &analysis.fused, |kernel| {
        let times = analysis.predicted.as_ref()?.kernels.get(kernel)?;
        Some((times.time_s, times.bound()))
    })
}

/// The share of each bottleneck in the time of these kernels, memory first; `None` where they take
/// no time, and where the times leave out work.
fn shares(
    analysis: &Analysis,
    execution: &Execution,
    predicted: impl Fn(KernelId) -> Option<(f64, Option<Bound>)>,
) -> Option<[Bottleneck; 3]> {
    analysis.speedup?;
    let times: Vec<(f64, Bound)> = (execution.kernels.iter_enumerated())
        .map(|(id, kernel)| {
            let Placement { time_s, bound, .. } = kernel.placement;
            predicted(id).map_or((time_s, bound), |(time_s, measured)| {
                (time_s, measured.unwrap_or(bound))
            })
        })
        .collect();
    let total_s: f64 = times.iter().map(|&(time_s, _)| time_s).sum();
    let seconds_of = |of: &[Bound]| -> f64 {
        let of_kind = times.iter().filter(|(_, bound)| of.contains(bound));
        of_kind.map(|&(time_s, _)| time_s).sum()
    };
    (total_s > 0.0).then(|| {
        let is_predicted = analysis.predicted.is_some();
        BOTTLENECKS.map(|([by_prediction, by_roofline], why, of)| Bottleneck {
            kernels: if is_predicted {
                by_prediction
            } else {
                by_roofline
            },
            why,
            share_pct: seconds_of(of) / total_s * 100.0,
        })
    })
}
