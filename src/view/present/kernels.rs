//! The rows of the table of kernels.

use super::limits::harms;
use crate::present::bottleneck_names::{bottleneck_name, bound_name};
use crate::present::explain::{assumed, has_assumed_size};
use crate::present::format::{
    at_least, format_bytes, format_exact, format_flops, format_intensity,
};
use crate::present::names::{kernel_ops, launches_note};
use crate::present::options::policy_phrase;
use crate::present::quantity::Subject;
use crate::present::times::{Seconds, TimeText, missing_text, missing_total};
use fuseline_core::analysis::device_model::Outside;
use fuseline_core::model::work::Work;
use fuseline_core::{Analysis, KernelId, Policy};

/// A fused kernel with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRow {
    /// What identifies the row while kernels come and go.
    pub of: Subject,
    /// Its id in the analysis.
    pub kernel: KernelId,
    /// The names of its ops.
    pub ops: String,
    /// How often it is launched, where that is not once.
    pub launches: Option<String>,
    /// Warnings that fusion costs time here; empty if there are none.
    pub harm: String,
    pub figures: Figures,
}

/// The figures of a kernel, or the sum of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Its work.
    pub flops: String,
    /// Bytes that its ops move when each is a kernel.
    pub unfused_bytes: String,
    /// Bytes that it moves.
    pub fused_bytes: String,
    /// Both, exactly.
    pub exact_bytes: String,
    pub bytes_read: String,
    /// Bytes that it writes.
    pub bytes_written: String,
    /// FLOPs for each byte.
    pub intensity: String,
    /// What limits its speed.
    pub bottleneck: &'static str,
    /// What limits it on the roofline, where its predicted time has another bottleneck.
    pub roofline_bound: Option<&'static str>,
    /// What its time leaves out; `None` where it counts all work.
    pub missing: Option<String>,
    pub time: TimeText,
    /// The time of its ops when each is a kernel, beside it.
    pub times: String,
}

/// A row for each of the first `max_rows` kernels. `O(ops + reads)`.
pub fn kernel_rows(analysis: &Analysis, max_rows: usize) -> Vec<KernelRow> {
    let harms = harms(analysis);
    let kernels = analysis.fused.kernels.iter_enumerated().take(max_rows);
    let rows = kernels.filter_map(|(kernel, _)| {
        Some(KernelRow {
            of: Subject::kernel(analysis, kernel)?,
            kernel,
            ops: kernel_ops(analysis, kernel),
            launches: launches_note(analysis, kernel),
            harm: harms.get(kernel).cloned().unwrap_or_default(),
            figures: kernel_figures(analysis, kernel)?,
        })
    });
    rows.collect()
}

/// Which kernels a tab is about while the pictures show none of them; `None` where they show them.
pub fn fused_kernels_note(analysis: &Analysis, is_fused: bool) -> Option<String> {
    let options = &analysis.options;
    (!is_fused && options.policy != Policy::None).then(|| {
        let policy = policy_phrase(options.policy, options.fusion.objective);
        format!(
            "These are the fused kernels of {policy}. The pictures show each op as a kernel of its own."
        )
    })
}

/// The figures of a kernel; `None` for one that is not among those of the analysis.
pub fn kernel_figures(analysis: &Analysis, kernel: KernelId) -> Option<Figures> {
    let fused = analysis.fused.kernels.get(kernel)?;
    let before = analysis.comparisons.get(kernel)?;
    let predicted = analysis.predicted.as_ref();
    let predicted = predicted.and_then(|predicted| predicted.kernels.get(kernel));
    let unknown = if fused.work.is_unknown {
        "unknown"
    } else {
        "–"
    };
    let placement = &fused.placement;
    let figures = figures(&Totals {
        work: fused.work,
        unfused_bytes: before.unfused_bytes,
        fused_bytes: fused.bytes(),
        bytes_read: fused.bytes_read,
        bytes_written: fused.bytes_written,
        has_assumed_size: has_assumed_size(fused),
        is_partial: false,
        missing: missing_text(fused, &analysis.options),
        bounds_s: [before.unfused_time_s, placement.time_s],
        predicted_s: predicted.map(|times| [times.unfused_s, times.time_s]),
        outside: predicted.map_or([None; 2], |times| [times.unfused_outside, times.outside]),
    });
    Some(Figures {
        flops: if fused.work.is_unknown {
            unknown.to_owned()
        } else {
            figures.flops
        },
        intensity: placement
            .intensity
            .map_or_else(|| unknown.to_owned(), format_intensity),
        bottleneck: bottleneck_name(analysis, kernel),
        roofline_bound: predicted
            .filter(|times| !fused.is_free && times.bound() != Some(placement.bound))
            .map(|_| bound_name(placement.bound)),
        ..figures
    })
}

/// The sum of all kernels.
pub fn kernel_total(analysis: &Analysis) -> Figures {
    let (before, after) = (&analysis.unfused, &analysis.fused);
    let kernels = after.kernels.iter();
    let predicted = analysis.predicted.as_ref();
    figures(&Totals {
        work: kernels.fold(Work::default(), |sum, kernel| sum.and(kernel.work)),
        unfused_bytes: before.traffic.total,
        fused_bytes: after.traffic.total,
        bytes_read: after.traffic.bytes_read,
        bytes_written: after.traffic.bytes_written,
        has_assumed_size: after.kernels.iter().any(has_assumed_size),
        is_partial: analysis.is_partial(),
        missing: missing_total(analysis),
        bounds_s: [before.time_s, after.time_s],
        predicted_s: predicted.map(|times| [times.unfused_s, times.fused_s]),
        outside: predicted.map_or([None; 2], |times| {
            [times.unfused_outside, times.fused_outside]
        }),
    })
}

/// The figures that a kernel and the sum of all share.
struct Totals {
    work: Work,
    unfused_bytes: u64,
    fused_bytes: u64,
    bytes_read: u64,
    bytes_written: u64,
    has_assumed_size: bool,
    /// Ops of unknown shape are missing.
    is_partial: bool,
    missing: Option<String>,
    /// Unfused and fused.
    bounds_s: [f64; 2],
    /// Unfused and fused.
    predicted_s: Option<[f64; 2]>,
    /// How both are outside the measured sizes.
    outside: [Option<Outside>; 2],
}

fn figures(totals: &Totals) -> Figures {
    let least = |figure: &str| at_least(totals.is_partial, figure);
    let bytes = |bytes| least(&assumed(totals.has_assumed_size, &format_bytes(bytes)));
    let is_incomplete = totals.missing.is_some();
    let [unfused_bound_s, bound_s] = totals.bounds_s;
    let unfused_s = totals.predicted_s.map(|[unfused_s, _]| unfused_s);
    let [unfused_outside, outside] = totals.outside;
    let time = |bound_s, predicted_s, outside| {
        TimeText::new(Seconds {
            outside,
            bound_s,
            is_incomplete,
            predicted_s,
            is_assumed: totals.has_assumed_size,
        })
    };
    let unfused = time(unfused_bound_s, unfused_s, unfused_outside).joined();
    let fused_s = totals.predicted_s.map(|[_, fused_s]| fused_s);
    let time = time(bound_s, fused_s, outside);
    let times = format!("{unfused} unfused, {} fused", time.joined());
    let times = match &totals.missing {
        None => times,
        Some(missing) => format!("{times}; {missing}"),
    };
    Figures {
        flops: at_least(
            totals.work.is_unknown || totals.is_partial,
            &format_flops(totals.work.flops()),
        ),
        unfused_bytes: bytes(totals.unfused_bytes),
        fused_bytes: bytes(totals.fused_bytes),
        exact_bytes: format!(
            "{} B unfused, {} B fused",
            format_exact(totals.unfused_bytes.into()),
            format_exact(totals.fused_bytes.into()),
        ),
        bytes_read: bytes(totals.bytes_read),
        bytes_written: least(&format_bytes(totals.bytes_written)),
        intensity: String::new(),
        bottleneck: "",
        roofline_bound: None,
        missing: totals.missing.clone(),
        time,
        times,
    }
}
