//! The rows of the table of limits: the resources that each kernel needs, and warnings where fusion
//! costs time.

use crate::present::names::op_names;
use crate::present::quantity::{Figure, Quantity, Subject, Values};
use crate::present::warnings::warning_text;
use fuseline_core::analysis::limits::{KernelLimits, Warning, limits};
use fuseline_core::{Analysis, Graph, IdVec, KernelId, OpId};

/// A column of the table: quantities that are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub title: &'static str,
    /// What its head says on demand; empty where the title says all.
    pub explanation: &'static str,
    /// The quantities of each kernel.
    pub quantities: &'static [Quantity],
    /// What stands between them.
    pub separator: &'static str,
}

/// The columns of the table.
pub const COLUMNS: &[Column] = &[
    Column {
        title: "on chip",
        explanation: "what one block needs / what it may use",
        quantities: &[Quantity::OnChip, Quantity::OnChipAvailable],
        separator: " / ",
    },
    column(
        "registers",
        "estimate per thread, before spills",
        &[Quantity::Registers],
    ),
    column(
        "occupancy",
        "resident threads / threads that a multiprocessor can hold",
        &[Quantity::Occupancy],
    ),
    column("blocks", "", &[Quantity::Blocks]),
    column(
        "waves",
        "how many times the blocks fill the device",
        &[Quantity::Waves],
    ),
    Column {
        title: "wave · tile efficiency",
        explanation: "wave efficiency: the share of the slots of all waves that compute; tile efficiency: the share of the tiles that lies inside the output",
        quantities: &[Quantity::WaveEfficiency, Quantity::TileEfficiency],
        separator: " · ",
    },
];

const fn column(
    title: &'static str,
    explanation: &'static str,
    quantities: &'static [Quantity],
) -> Column {
    Column {
        title,
        explanation,
        quantities,
        separator: "",
    }
}

/// The resources that a fused kernel needs.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitRow {
    /// Its first op, which identifies the row while kernels come and go.
    pub first_op: OpId,
    /// Its id in the analysis.
    pub kernel: KernelId,
    /// The names of its ops.
    pub ops: String,
    /// The numbers of all [`COLUMNS`]; a view, which is not launched, has none.
    pub numbers: Vec<(Quantity, String)>,
    /// Number of live values, which explains the registers.
    pub live_values: String,
    pub warnings: String,
}

impl LimitRow {
    /// The number of a quantity as it is shown; `None` where the kernel has none.
    pub fn number(&self, quantity: Quantity) -> Option<&str> {
        let mut numbers = self.numbers.iter();
        numbers.find_map(|(of, text)| (*of == quantity).then_some(text.as_str()))
    }
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
    let of = Subject::Kernel(first_op);
    // A view that is not launched needs nothing.
    let columns = COLUMNS.iter().filter(|_| !fused.is_free);
    let quantities = columns.flat_map(|column| column.quantities);
    Some(LimitRow {
        first_op,
        kernel,
        ops: op_names(&analysis.graph, &fused.ops),
        numbers: quantities
            .filter_map(|&quantity| {
                let value = values.of(Figure::fused(of, quantity))?;
                Some((quantity, value.text()))
            })
            .collect(),
        live_values: format!("values live at once: {}", limits.live_values),
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
