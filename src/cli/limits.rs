//! `--limits`: the resources that each kernel needs of a multiprocessor, and warnings where fusing
//! costs time.

use fuseline_core::analysis::limits::{KernelLimits, limits};
use fuseline_core::{Analysis, KernelId};
use fuseline_view::present::quantity::{Figure, Quantity, Subject, Unit, Values};
use fuseline_view::present::warnings::warning_text;
use serde::Serialize;
use std::fmt::Write as _;

/// The resources of one kernel.
#[derive(Serialize)]
pub(super) struct LimitsReport {
    #[serde(flatten)]
    limits: KernelLimits,
    /// Warnings in words.
    warnings: Vec<String>,
}

/// One object for each kernel, in order; `None` if the multiprocessors of the device are unknown.
pub(super) fn limits_report(analysis: &Analysis) -> Option<Vec<LimitsReport>> {
    let of_kernel = |limits: KernelLimits| LimitsReport {
        warnings: (limits.warnings.iter())
            .map(|warning| warning_text(&analysis.graph, warning))
            .collect(),
        limits,
    };
    Some(limits(analysis)?.into_iter().map(of_kernel).collect())
}

/// The columns behind the number of the kernel: head, width, quantities.
const COLUMNS: [(&str, usize, &[Quantity]); 7] = [
    (
        "on chip, available",
        20,
        &[Quantity::OnChip, Quantity::OnChipAvailable],
    ),
    ("registers", 9, &[Quantity::Registers]),
    ("blocks", 8, &[Quantity::Blocks]),
    ("occupancy", 9, &[Quantity::Occupancy]),
    ("waves", 5, &[Quantity::Waves]),
    ("wave efficiency", 15, &[Quantity::WaveEfficiency]),
    ("tile efficiency", 15, &[Quantity::TileEfficiency]),
];

/// One line for each kernel, and one for each warning.
pub(super) fn limits_table(analysis: &Analysis) -> String {
    let values = Values::new(analysis);
    let Some(limits) = values.limits() else {
        return "\nno limits: the number of multiprocessors of this device is unknown\n".to_owned();
    };
    let mut text = format!("\n{:>3}", "#");
    for (head, width, _) in COLUMNS {
        let _ = write!(text, "  {head:>width$}");
    }
    text.push('\n');
    for (id, kernel) in limits.iter_enumerated() {
        let _ = write!(text, "{:>3}", id.number());
        for (_, width, quantities) in COLUMNS {
            let cell = cell(analysis, &values, id, quantities);
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
        for warning in &kernel.warnings {
            let _ = writeln!(text, "     {}", warning_text(&analysis.graph, warning));
        }
    }
    text
}

fn cell(
    analysis: &Analysis,
    values: &Values<'_>,
    kernel: KernelId,
    quantities: &[Quantity],
) -> String {
    let text = |&quantity| {
        let of = Subject::kernel(analysis, kernel)?;
        let value = values.of(Figure::fused(of, quantity))?;
        // Counts have no commas here, so that columns stay narrow and easy to parse.
        Some(match quantity.unit() {
            Some(Unit::Count) => value.digits(),
            _ => value.text(),
        })
    };
    let texts = quantities.iter().map(text);
    let texts = texts.map(|text| text.unwrap_or_else(|| "-".to_owned()));
    texts.collect::<Vec<_>>().join(", ")
}
