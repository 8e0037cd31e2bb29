//! The rows of the table of limits: the resources that each kernel needs, and warnings where fusion
//! costs time.

use crate::present::names::op_names;
use crate::present::quantity::{Quantity, Run, Scope, Values};
use crate::present::table::{Cells, Column, Layout};
use crate::present::warnings::warning_text;
use fuseline_core::analysis::limits::{KernelLimits, Warning, limits};
use fuseline_core::{Analysis, Graph, IdVec, KernelId, OpId};

/// The columns of the table after the names of the ops.
pub const COLUMNS: &[Column] = &[
    Column {
        layout: Layout::Line(" / "),
        ..column(
            "on chip",
            "what one block needs / what it may use",
            &[
                (Quantity::OnChip, Run::Fused),
                (Quantity::OnChipAvailable, Run::Fused),
            ],
        )
    },
    Column {
        tooltip: live_values,
        ..column(
            "registers",
            "estimate per thread, before spills",
            &[(Quantity::Registers, Run::Fused)],
        )
    },
    column(
        "occupancy",
        "resident threads / threads that a multiprocessor can hold",
        &[(Quantity::Occupancy, Run::Fused)],
    ),
    column("blocks", "", &[(Quantity::Blocks, Run::Fused)]),
    column(
        "waves",
        "how many times the blocks fill the device",
        &[(Quantity::Waves, Run::Fused)],
    ),
    Column {
        layout: Layout::Line(" · "),
        ..column(
            "wave · tile efficiency",
            "wave efficiency: the share of the slots of all waves that compute; tile efficiency: the share of the tiles that lies inside the output",
            &[
                (Quantity::WaveEfficiency, Run::Fused),
                (Quantity::TileEfficiency, Run::Fused),
            ],
        )
    },
];

/// A column whose head a narrow page hides.
const fn column(
    title: &'static str,
    explanation: &'static str,
    quantities: &'static [(Quantity, Run)],
) -> Column {
    Column {
        explanation,
        label: title,
        ..Column::new(title, quantities)
    }
}

/// How many values are live, which explains the registers.
fn live_values(values: &Values<'_>, scope: Scope) -> Option<String> {
    let live_values = values.at(scope, Quantity::LiveValues, Run::Fused)?;
    Some(format!("values live at once: {}", live_values.digits()))
}

/// The resources that a fused kernel needs.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitRow {
    /// Its first op, which identifies the row while kernels come and go.
    pub first_op: OpId,
    pub kernel: KernelId,
    /// The names of its ops.
    pub ops: String,
    /// The numbers of all [`COLUMNS`]; a view, which is not launched, has none.
    pub cells: Cells,
    pub warnings: String,
}

/// A row for each of the first `max_rows` kernels; `None` if the multiprocessors of the device are
/// unknown. `O(ops + reads)`.
pub fn limit_rows(analysis: &Analysis, max_rows: usize) -> Option<Vec<LimitRow>> {
    let values = Values::new(analysis);
    let limits = values.limits()?.iter_enumerated().take(max_rows);
    let rows = limits.filter_map(|(kernel, limits)| row(analysis, &values, kernel, limits));
    Some(rows.collect())
}

fn row(
    analysis: &Analysis,
    values: &Values<'_>,
    kernel: KernelId,
    limits: &KernelLimits,
) -> Option<LimitRow> {
    let fused = &analysis.fused.kernels[kernel];
    let first_op = *fused.ops.first()?;
    // A view that is not launched needs nothing.
    let columns = COLUMNS.iter().filter(|_| !fused.is_free);
    Some(LimitRow {
        first_op,
        kernel,
        ops: op_names(&analysis.graph, &fused.ops),
        cells: Cells::new(values, Scope::Kernel(kernel), columns),
        warnings: joined(&analysis.graph, limits.warnings.iter()),
    })
}

fn joined<'a>(graph: &Graph, warnings: impl Iterator<Item = &'a Warning>) -> String {
    let texts: Vec<String> = warnings
        .map(|warning| warning_text(graph, warning))
        .collect();
    texts.join("; ")
}

/// For each kernel the warnings that fusion costs time, in words; empty if there are none. No
/// entries if the multiprocessors of the device are unknown.
pub fn harms(analysis: &Analysis) -> IdVec<KernelId, String> {
    let limits = limits(analysis).unwrap_or_default();
    let of_kernel = |limits: &KernelLimits| joined(&analysis.graph, limits.harms());
    limits.iter().map(of_kernel).collect()
}

/// The text instead of rows if the multiprocessors of the device are unknown.
pub fn unknown_device(analysis: &Analysis) -> String {
    format!(
        "The number of multiprocessors of {} is unknown, so its kernels have no limits. Choose another device.",
        analysis.options.device.name,
    )
}
