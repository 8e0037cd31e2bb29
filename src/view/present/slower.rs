//! Why fusing two kernels would make them slower.

use crate::present::format::{format_amount, format_percent, format_seconds};
use crate::present::names::op_names;
use fuseline_core::analysis::Analysis;
use fuseline_core::analysis::device_model::{
    Breakdown, BreakdownPart, RatedWork, breakdown, generated_matmul,
};
use fuseline_core::analysis::why::{Price, Prices};
use fuseline_core::model::ids::{KernelId, OpId};

/// The smallest loss that a sentence mentions, as a share of the unfused time.
const LEAST_LOSS: f64 = 0.01;

/// A sentence about what makes the merged kernel slower than the two; `None` where it is not
/// predicted to be. `O(ops + reads log reads)`.
pub(super) fn slower_because(
    analysis: &Analysis,
    kernels: [KernelId; 2],
    price: Price,
) -> Option<String> {
    let merged = |[a, b]: [KernelId; 2]| Prices::new(analysis).merged_breakdown(a, b);
    let cause = slower_cause(analysis, kernels, price, merged)?;
    let names = op_names(&analysis.graph, &ops_of_both(analysis, kernels)?);
    Some(format!("{names} as one kernel is {cause}."))
}

/// The fused kernel that loses most against its ops as separate kernels; `None` where none loses a
/// hundredth of the program's time.
pub(super) fn slowest_loss(analysis: &Analysis) -> Option<KernelId> {
    let predicted = analysis.predicted.as_ref()?;
    let lost_s = |id: KernelId| {
        let times = predicted.kernels.get(id);
        times.map_or(0.0, |times| times.time_s - times.unfused_s)
    };
    let kernels = analysis.partition.kernels.ids();
    let slowest = kernels.max_by(|&a, &b| lost_s(a).total_cmp(&lost_s(b)))?;
    (lost_s(slowest) > LEAST_LOSS * predicted.unfused_s).then_some(slowest)
}

/// A sentence about the kernel of [`slowest_loss`], and why it is slower.
pub(super) fn slower_kernel(analysis: &Analysis) -> Option<String> {
    let id = slowest_loss(analysis)?;
    let times = analysis.predicted.as_ref()?.kernels.get(id)?;
    let ops = analysis.partition.kernels.get(id)?;
    let graph = &analysis.graph;
    let why = if generated_matmul(
        graph,
        analysis.options.policy,
        analysis.fused.kernels.get(id)?,
    )
    .is_some()
    {
        "its matmul is generated, because the library has no call for all of it"
    } else {
        "it is generated, and PyTorch's library is faster here"
    };
    Some(format!(
        "Kernel {} ({}) takes {} where its ops took {} one by one: {why}.",
        id.number(),
        op_names(graph, ops),
        format_seconds(times.time_s),
        format_seconds(times.unfused_s)
    ))
}

/// What makes the fusion of two kernels slower:
/// `a generated matmul, at 90 % of the library's rate`. `merged` is [`Prices::merged_breakdown`].
pub(super) fn slower_cause(
    analysis: &Analysis,
    [a, b]: [KernelId; 2],
    price: Price,
    merged: impl FnOnce([KernelId; 2]) -> Option<Breakdown>,
) -> Option<String> {
    price.predicted_saved_s().filter(|&saved_s| saved_s < 0.0)?;
    let now = [breakdown(analysis, a)?, breakdown(analysis, b)?];
    cause(&now, &merged([a, b])?)
}

/// The ops of two kernels, in execution order.
pub(super) fn ops_of_both(analysis: &Analysis, [a, b]: [KernelId; 2]) -> Option<Vec<OpId>> {
    let kernels = &analysis.partition.kernels;
    let mut ops = [kernels.get(a)?, kernels.get(b)?].concat();
    ops.sort_unstable();
    Some(ops)
}

/// What the merged kernel does more slowly, or more of, in the decisive part of its time.
///
/// That is a matmul or another op that leaves the library. In any other merge each part takes as
/// long as before or less.
fn cause(now: &[Breakdown; 2], merged: &Breakdown) -> Option<String> {
    let longest = merged.longest_part()?;
    let share = |part: &BreakdownPart, what| {
        let mut shares = part.shares.iter();
        shares.find(|share| share.what == what).copied()
    };
    let before = |what| {
        let mut parts = now.iter().flat_map(|now| now.phases.iter().flatten());
        parts.find_map(|part| share(part, what))
    };
    if let (Some(then), Some(now)) = (
        share(longest, RatedWork::WaveFlops),
        before(RatedWork::WaveFlops),
    ) {
        let (work, rate) = (then.amount / now.amount, then.per_s / now.per_s);
        return Some(if work * rate > 1.0 {
            format!(
                "a generated matmul, whose tiles compute {} instead of {}",
                format_amount(then.amount, "FLOP"),
                format_amount(now.amount, "FLOP")
            )
        } else {
            let percent = format_percent(rate * 100.0);
            format!("a generated matmul, at {percent} of the library's rate")
        });
    }
    if let Some(steps) = share(longest, RatedWork::Steps) {
        return Some(format!(
            "a generated matmul, whose loop along K takes {}",
            format_seconds(steps.seconds())
        ));
    }
    if let Some(again) = share(longest, RatedWork::BytesAgain) {
        return Some(format!(
            "a generated matmul, which reads {} from memory again",
            format_amount(again.amount, "B")
        ));
    }
    let [merged_s, now_s] = [merged.time_s(), now.iter().map(Breakdown::time_s).sum()];
    Some(format!(
        "generated code, which takes {} where PyTorch's library kernels take {}",
        format_seconds(merged_s),
        format_seconds(now_s)
    ))
}
