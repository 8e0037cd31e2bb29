//! `--limits`: the resources that each kernel needs of a multiprocessor, and warnings where fusing costs time.

use fuseline_core::Analysis;
use fuseline_core::analysis::device_model::Tiling;
use fuseline_core::analysis::limits::{KernelLimits, limits};
use fuseline_view::present::format::{format_bytes, format_percent};
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

/// One line for each kernel, and one for each warning.
pub(super) fn limits_table(analysis: &Analysis) -> String {
    let Some(all) = limits(analysis) else {
        return "\nno limits: the number of multiprocessors of this device is unknown\n".to_owned();
    };
    let mut text = format!(
        "\n{:>3}  {:>20}  {:>9}  {:>8}  {:>9}  {:>5}  {:>15}  {:>15}\n",
        "#",
        "on chip, available",
        "registers",
        "blocks",
        "occupancy",
        "waves",
        "wave efficiency",
        "tile efficiency"
    );
    for (index, kernel) in all.iter().enumerate() {
        let on_chip = format!(
            "{}, {}",
            format_bytes(kernel.on_chip_bytes),
            format_bytes(kernel.on_chip_available_bytes)
        );
        let efficiency = |part: fn(Tiling) -> f64| {
            let part = kernel.tiling.map(part);
            part.map_or_else(|| "-".to_owned(), |part| format_percent(part * 100.0))
        };
        let _ = writeln!(
            text,
            "{:>3}  {on_chip:>20}  {:>9}  {:>8}  {:>9}  {:>5}  {:>15}  {:>15}",
            index + 1,
            kernel.registers_per_thread,
            kernel.blocks,
            format_percent(kernel.occupancy * 100.0),
            kernel.waves,
            efficiency(|tiling| tiling.wave_efficiency),
            efficiency(|tiling| tiling.tile_efficiency)
        );
        for warning in &kernel.warnings {
            let _ = writeln!(text, "     {}", warning_text(&analysis.graph, warning));
        }
    }
    text
}
