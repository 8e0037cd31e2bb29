//! `--compare`: all policies side by side, the best first.

use fuseline_core::analysis::compare::{Compared, compare, ranked};
use fuseline_core::analysis::device_model::Outside;
use fuseline_core::fusion::certificate::Certificate;
use fuseline_core::{Analysis, Objective};
use fuseline_view::present::compare::policy_rows;
use fuseline_view::present::quantity::Quantity;
use fuseline_view::present::times::TimeKind;
use serde::Serialize;
use std::fmt::Write as _;

/// The figures of the fused program.
#[derive(Serialize)]
pub(super) struct FusedReport {
    /// Number of launches, further ones included.
    launches: usize,
    /// Memory traffic in bytes.
    bytes: u64,
    /// Lower bound of the time.
    lower_bound_s: f64,
    /// Predicted time; `null` without measured rates.
    predicted_s: Option<f64>,
    predicted_outside: Option<Outside>,
    /// The most bytes of tensors that are live at once.
    peak_memory_bytes: u64,
}

impl FusedReport {
    pub(super) fn new(analysis: &Analysis) -> Self {
        let (fused, predicted) = (&analysis.fused, analysis.predicted.as_ref());
        Self {
            launches: fused.launches,
            bytes: fused.traffic.total,
            lower_bound_s: fused.time_s,
            predicted_s: predicted.map(|predicted| predicted.fused_s),
            predicted_outside: predicted.and_then(|predicted| predicted.fused_outside),
            peak_memory_bytes: fused.peak_memory.bytes,
        }
    }
}

/// The result of one policy.
#[derive(Serialize)]
pub(super) struct PolicyReport {
    policy: &'static str,
    #[serde(flatten)]
    fused: FusedReport,
    /// What the search has proven, if the policy searched.
    certificate: Option<Certificate>,
}

/// One object for each policy, the best first.
pub(super) fn policies(analysis: &Analysis, by: Objective) -> Vec<PolicyReport> {
    let report = |compared: &Compared| PolicyReport {
        policy: compared.policy.name(),
        fused: FusedReport::new(&compared.analysis),
        certificate: compared.analysis.certificate,
    };
    let all = compare(analysis);
    ranked(&all, by).into_iter().map(report).collect()
}

/// One line for each policy, the best first.
pub(super) fn policies_table(analysis: &Analysis, by: Objective) -> String {
    let rows = policy_rows(&compare(analysis), analysis.options.policy, by);
    let kind = TimeKind::of(analysis).name();
    let times = rows.iter().map(|row| row.time.chars().count());
    let time_width = times.chain([kind.len()]).max().unwrap_or(0);
    let mut text = format!(
        "\n{:<8}  {:>7}  {:>9}  {kind:>time_width$}  {:>11}  note\n",
        "policy", "kernels", "bytes", "peak memory"
    );
    for row in rows {
        let mut notes: Vec<&str> = Vec::new();
        if row.is_too_large {
            notes.push("does not fit");
        }
        if !row.note.is_empty() {
            notes.push(&row.note);
        }
        let number = |quantity| row.cells.fused(quantity).unwrap_or_default();
        let line = format!(
            "{:<8}  {:>7}  {:>9}  {:>time_width$}  {:>11}  {}",
            row.policy.name(),
            number(Quantity::Launches),
            number(Quantity::Bytes),
            row.time,
            number(Quantity::PeakMemory),
            notes.join("; ")
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
