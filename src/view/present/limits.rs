//! The rows of the table of limits: the resources that each kernel needs, and warnings where fusion costs time.

use crate::present::format::{format_bytes, format_exact, format_percent};
use crate::present::names::op_names;
use crate::present::warnings::warning_text;
use fuseline_core::analysis::limits::{KernelLimits, Warning, limits};
use fuseline_core::{Analysis, Graph, IdVec, KernelId, OpId};

/// The resources that a fused kernel needs.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitRow {
    /// Its first op, which identifies the row while kernels come and go.
    pub first_op: OpId,
    /// Its id in the analysis.
    pub kernel: KernelId,
    /// The names of its ops.
    pub ops: String,
    /// On-chip memory that one block needs.
    pub on_chip: String,
    /// What a block can allocate; `None` for a view, which is not launched.
    pub on_chip_available: Option<String>,
    /// Number of live values, which explains the registers.
    pub live_values: String,
    /// Registers of one thread.
    pub registers: String,
    /// Resident threads as a share of those that a multiprocessor can hold.
    pub occupancy: String,
    /// Its blocks.
    pub blocks: String,
    /// Rounds of blocks.
    pub waves: String,
    /// Wave and tile efficiency of a matmul.
    pub efficiency: Option<[String; 2]>,
    /// Warnings.
    pub warnings: String,
}

/// A row for each of the first `max_rows` kernels; `None` if the multiprocessors of the device are unknown.
/// `O(ops + reads)`.
pub fn limit_rows(analysis: &Analysis, max_rows: usize) -> Option<Vec<LimitRow>> {
    let limits = limits(analysis)?;
    let rows = limits.iter_enumerated().take(max_rows);
    Some(
        rows.filter_map(|(kernel, limits)| row(analysis, kernel, limits))
            .collect(),
    )
}

fn row(analysis: &Analysis, kernel: KernelId, limits: &KernelLimits) -> Option<LimitRow> {
    let fused = &analysis.fused.kernels[kernel];
    // A view that is not launched needs nothing.
    let is_launched = !fused.is_free;
    let launched = |text: String| {
        if is_launched { text } else { "–".to_owned() }
    };
    let efficiency = limits.tiling.map(|tiling| {
        [tiling.wave_efficiency, tiling.tile_efficiency].map(|share| format_percent(share * 100.0))
    });
    Some(LimitRow {
        first_op: *fused.ops.first()?,
        kernel,
        ops: op_names(&analysis.graph, &fused.ops),
        on_chip: launched(format_bytes(limits.on_chip_bytes)),
        on_chip_available: is_launched.then(|| format_bytes(limits.on_chip_available_bytes)),
        live_values: format!("values live at once: {}", limits.live_values),
        registers: launched(limits.registers_per_thread.to_string()),
        occupancy: launched(format_percent(limits.occupancy * 100.0)),
        blocks: launched(format_exact(limits.blocks.into())),
        waves: launched(format_exact(limits.waves.into())),
        efficiency,
        warnings: joined(&analysis.graph, limits.warnings.iter()),
    })
}

fn joined<'a>(graph: &Graph, warnings: impl Iterator<Item = &'a Warning>) -> String {
    let texts: Vec<String> = warnings
        .map(|warning| warning_text(graph, warning))
        .collect();
    texts.join("; ")
}

/// For each kernel the warnings that fusion costs time, in words; empty if there are none. No entries if the
/// multiprocessors of the device are unknown.
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
