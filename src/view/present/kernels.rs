//! The rows of the table of kernels.

use super::limits::harms;
use crate::present::names::{kernel_ops, launches_note};
use crate::present::options::policy_phrase;
use crate::present::quantity::{Quantity, Run, Scope, Subject, Values};
use crate::present::table::{Cells, Column, Layout};
use crate::present::times::{TimeText, missing_text, missing_total};
use fuseline_core::{Analysis, KernelId, Policy};

/// The columns of the table after the names of the ops.
pub const COLUMNS: &[Column] = &[
    Column {
        explanation: "a multiply-add counts as 2",
        label: "FLOPs",
        ..Column::new("FLOPs", &[(Quantity::Flops, Run::Fused)])
    },
    Column {
        layout: Layout::Change,
        tooltip: exact_bytes,
        ..Column::new(
            "traffic unfused → fused",
            &[
                (Quantity::Bytes, Run::Unfused),
                (Quantity::Bytes, Run::Fused),
            ],
        )
    },
    Column {
        label: "reads",
        ..Column::new("reads", &[(Quantity::BytesRead, Run::Fused)])
    },
    Column {
        label: "writes",
        ..Column::new("writes", &[(Quantity::BytesWritten, Run::Fused)])
    },
    Column {
        explanation: "FLOPs / (reads + writes)",
        label: "intensity",
        ..Column::new(
            "arith\u{ad}metic intensity",
            &[(Quantity::Intensity, Run::Fused)],
        )
    },
    Column {
        explanation: "what limits the kernel: what takes longest in its predicted time, or else by the roofline",
        layout: Layout::Stacked,
        tooltip: missing,
        ..Column::new(
            "bottleneck",
            &[
                (Quantity::Bottleneck, Run::Fused),
                (Quantity::RooflineBound, Run::Fused),
            ],
        )
    },
    Column {
        tooltip: times,
        ..Column::of_time()
    },
];

/// A fused kernel with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRow {
    /// What identifies the row while kernels come and go.
    pub of: Subject,
    pub kernel: KernelId,
    /// The names of its ops.
    pub ops: String,
    /// How often it is launched, where that is not once.
    pub launches: Option<String>,
    /// Warnings that fusion costs time here; empty if there are none.
    pub harm: String,
    /// The numbers of all [`COLUMNS`].
    pub cells: Cells,
}

/// A row for each of the first `max_rows` kernels. `O(ops + reads)`.
pub fn kernel_rows(analysis: &Analysis, max_rows: usize) -> Vec<KernelRow> {
    let harms = harms(analysis);
    let values = Values::new(analysis);
    let kernels = analysis.fused.kernels.ids().take(max_rows);
    let rows = kernels.filter_map(|kernel| {
        Some(KernelRow {
            of: Subject::kernel(analysis, kernel)?,
            kernel,
            ops: kernel_ops(analysis, kernel),
            launches: launches_note(analysis, kernel),
            harm: harms.get(kernel).cloned().unwrap_or_default(),
            cells: Cells::new(&values, Scope::Kernel(kernel), COLUMNS),
        })
    });
    rows.collect()
}

/// The sum of all kernels. Bottlenecks have no sum.
pub fn kernel_total(analysis: &Analysis) -> Cells {
    let cells = Cells::new(&Values::new(analysis), Scope::Program, COLUMNS);
    cells.without(&[Quantity::Intensity, Quantity::Bottleneck])
}

/// The note that a tab is about fused kernels; `None` while the pictures show these.
pub fn fused_kernels_note(analysis: &Analysis, is_fused: bool) -> Option<String> {
    let options = &analysis.options;
    (!is_fused && options.policy != Policy::None).then(|| {
        let policy = policy_phrase(options.policy, options.fusion.objective);
        format!(
            "These are the fused kernels of {policy}. The pictures show each op as a kernel of its own."
        )
    })
}

/// All digits of the memory traffic: `2,298,478,592 B unfused, 1,962,934,272 B fused`.
fn exact_bytes(values: &Values<'_>, scope: Scope) -> Option<String> {
    let bytes = |run| Some(values.at(scope, Quantity::Bytes, run)?.exact());
    let [unfused, fused] = [bytes(Run::Unfused)?, bytes(Run::Fused)?];
    Some(format!("{unfused} unfused, {fused} fused"))
}

/// What the time leaves out.
fn missing(values: &Values<'_>, scope: Scope) -> Option<String> {
    let analysis = values.analysis();
    match scope {
        Scope::Kernel(id) => missing_text(analysis.fused.kernels.get(id)?, &analysis.options),
        _ => missing_total(analysis),
    }
}

/// Both times, and what they leave out.
fn times(values: &Values<'_>, scope: Scope) -> Option<String> {
    let time = |run| Some(TimeText::of(values, scope, run)?.joined());
    let [unfused, fused] = [time(Run::Unfused)?, time(Run::Fused)?];
    let times = format!("{unfused} unfused, {fused} fused");
    Some(match missing(values, scope) {
        None => times,
        Some(missing) => format!("{times}; {missing}"),
    })
}
