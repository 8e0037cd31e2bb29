//! Why a kernel takes its time.

use super::wording::join_sentences;
use fuseline_core::analysis::device_model::breakdown;
use fuseline_core::cost::roofline::unit_works;
use fuseline_core::{Analysis, Kernel, KernelId};
use fuseline_view::present::format::{format_bytes, format_flops, format_seconds};
use fuseline_view::present::predicted::longest_part;
use fuseline_view::present::times::missing_text;
use fuseline_view::present::words::capitalized;

/// A time in a sentence: `27.5 µs`, `less than 1 ns`.
fn spoken(seconds: f64) -> String {
    format_seconds(seconds).replace("< ", "less than ")
}

/// The times of both sides of a speedup.
pub(super) fn speedup(analysis: &Analysis) -> String {
    let [unfused_s, fused_s] = match &analysis.predicted {
        Some(predicted) => [predicted.unfused_s, predicted.fused_s],
        None => [analysis.unfused.time_s, analysis.fused.time_s],
    };
    format!(
        "Unfused: {} for {}. Fused: {} for {}.",
        spoken(unfused_s),
        format_bytes(analysis.unfused.traffic.total),
        spoken(fused_s),
        format_bytes(analysis.fused.traffic.total)
    )
}

/// The times that a kernel takes by each limit alone.
pub(super) fn limits_words(analysis: &Analysis, kernel: &Kernel) -> String {
    if kernel.is_free {
        return "It is a view, which needs no launch.".to_owned();
    }
    let (options, device) = (&analysis.options, &analysis.options.device);
    let [memory, arithmetic @ ..] = unit_works(options, kernel.work, kernel.bytes());
    // Units work at the same time, so only the FLOPs of the slowest count.
    let slowest = arithmetic.into_iter().reduce(|slowest, one| {
        if one.time_s() > slowest.time_s() {
            one
        } else {
            slowest
        }
    });
    let (flops, arithmetic_s) = slowest
        .filter(|slowest| slowest.time_s() > 0.0)
        .map_or((0, 0.0), |slowest| (slowest.amount(), slowest.time_s()));
    let words = format!(
        "Its {} of traffic take {}, its {} {}, and its launch {}.",
        format_bytes(kernel.bytes()),
        spoken(memory.time_s()),
        format_flops(flops),
        spoken(arithmetic_s),
        spoken(device.launch_s.value),
    );
    match missing_text(kernel, options) {
        Some(missing) => format!("{words} {}.", capitalized(&missing)),
        None => words,
    }
}

pub(super) fn time_words(analysis: &Analysis, id: KernelId, kernel: &Kernel) -> String {
    let longest = breakdown(analysis, id).and_then(|breakdown| longest_part(&breakdown));
    match longest {
        // A predicted time has parts of its own.
        Some(part) => format!("The largest part: {part}."),
        None if kernel.is_free => limits_words(analysis, kernel),
        None => join_sentences(
            &limits_words(analysis, kernel),
            &format!(
                "The longer of the first two plus the launch is {}.",
                spoken(kernel.placement.time_s)
            ),
        ),
    }
}
