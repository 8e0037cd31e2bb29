//! The rows of the table of kernels.

use super::limits::harms;
use crate::core::model::work::Work;
use crate::core::{Analysis, KernelId, OpId};
use crate::present::explain::has_assumed_size;
use crate::present::format::{
    at_least, format_bytes, format_exact, format_flops, format_intensity, format_seconds,
};
use crate::present::names::op_names;
use crate::present::times::{bound_name, lower_bound_text};

/// A fused kernel with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRow {
    /// Its first op, which identifies the row while kernels come and go.
    pub first_op: OpId,
    /// Its id in the analysis.
    pub kernel: KernelId,
    /// The names of its ops.
    pub ops: String,
    /// Warnings that fusion costs time here; empty if there are none.
    pub harm: String,
    /// Its figures.
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
    /// Bytes that it reads.
    pub bytes_read: String,
    /// Bytes that it writes.
    pub bytes_written: String,
    /// FLOPs for each byte.
    pub intensity: String,
    /// What limits its speed.
    pub bound: &'static str,
    /// Why its time is a lower bound; `None` where it is a prediction.
    pub lower_bound_reason: Option<String>,
    /// Its predicted time.
    pub time: String,
    /// The time of its ops when each is a kernel, beside it.
    pub times: String,
}

/// A row for each of the first `max_rows` kernels. `O(ops + reads)`.
pub fn kernel_rows(analysis: &Analysis, max_rows: usize) -> Vec<KernelRow> {
    let harms = harms(analysis);
    let kernels = analysis.fused.kernels.iter_enumerated();
    let rows = kernels.zip(&analysis.comparisons).take(max_rows);
    rows.filter_map(|((kernel, fused), before)| {
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
            lower_bound_reason: lower_bound_text(fused, &analysis.options),
            unfused_time_s: before.unfused_time_s,
            fused_time_s: placement.time_s,
        });
        Some(KernelRow {
            first_op: *fused.ops.first()?,
            kernel,
            ops: op_names(&analysis.graph, &fused.ops),
            harm: harms.get(kernel).cloned().unwrap_or_default(),
            figures: Figures {
                flops: if fused.work.is_unknown {
                    unknown.to_owned()
                } else {
                    figures.flops
                },
                intensity: placement
                    .intensity
                    .map_or_else(|| unknown.to_owned(), format_intensity),
                bound: if fused.is_free {
                    "–"
                } else {
                    bound_name(placement.bound)
                },
                ..figures
            },
        })
    })
    .collect()
}

/// The sum of all kernels.
pub fn kernel_total(analysis: &Analysis) -> Figures {
    let (before, after) = (&analysis.unfused, &analysis.fused);
    let kernels = after.kernels.iter();
    figures(&Totals {
        work: kernels.fold(Work::default(), |sum, kernel| sum.and(kernel.work)),
        unfused_bytes: before.traffic.total,
        fused_bytes: after.traffic.total,
        bytes_read: after.traffic.bytes_read,
        bytes_written: after.traffic.bytes_written,
        has_assumed_size: false,
        lower_bound_reason: (after.first_lower_bound())
            .and_then(|kernel| lower_bound_text(kernel, &analysis.options)),
        unfused_time_s: before.time_s,
        fused_time_s: after.time_s,
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
    lower_bound_reason: Option<String>,
    unfused_time_s: f64,
    fused_time_s: f64,
}

fn figures(totals: &Totals) -> Figures {
    let mark = if totals.has_assumed_size { "~" } else { "" };
    let is_lower_bound = totals.lower_bound_reason.is_some();
    let seconds = |time_s| at_least(is_lower_bound, &format_seconds(time_s));
    let (unfused_time, time) = (seconds(totals.unfused_time_s), seconds(totals.fused_time_s));
    let times = match &totals.lower_bound_reason {
        None => format!("{unfused_time} unfused, {time} fused"),
        Some(reason) => format!("{unfused_time} unfused, {time} fused; {reason}"),
    };
    Figures {
        flops: at_least(totals.work.is_unknown, &format_flops(totals.work.flops())),
        unfused_bytes: format_bytes(totals.unfused_bytes),
        fused_bytes: format!("{mark}{}", format_bytes(totals.fused_bytes)),
        exact_bytes: format!(
            "{} B unfused, {} B fused",
            format_exact(totals.unfused_bytes.into()),
            format_exact(totals.fused_bytes.into()),
        ),
        bytes_read: format!("{mark}{}", format_bytes(totals.bytes_read)),
        bytes_written: format_bytes(totals.bytes_written),
        intensity: String::new(),
        bound: "",
        lower_bound_reason: totals.lower_bound_reason.clone(),
        time,
        times,
    }
}
