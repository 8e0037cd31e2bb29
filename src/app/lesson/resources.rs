//! What kernels ask of a device: registers, blocks, bytes that its memory really has to read.

use super::quantity::Metric;
use super::value::{Unit, Value};
use crate::core::analysis::device_model::device_count;
use crate::core::analysis::limits::{KernelLimits, Warning, limits};
use crate::core::{Analysis, KernelId};
use crate::present::format::format_bytes;
use crate::present::names::joined;
use crate::present::warnings::warning_text;

/// A figure of the whole program on its device. `None` where the metric is none of these, or the device is not known well enough.
pub(super) fn of_program(analysis: &Analysis, metric: Metric) -> Option<Value> {
    let hardware = &analysis.options.device.hardware;
    Some(match metric {
        Metric::Multiprocessors => Value::Number(hardware.multiprocessors?.value, Unit::Count),
        Metric::Onchip => Value::bytes(analysis.options.device.on_chip_bytes()),
        Metric::Dram => Value::Number(device_count(analysis)?.dram_read_bytes, Unit::Bytes),
        Metric::Warnings => {
            let limits = limits(analysis)?;
            Value::count(limits.iter().map(hurting).sum())
        }
        Metric::Recomputed => {
            Value::count(analysis.partition.recomputed.iter().map(<[_]>::len).sum())
        }
        _ => return None,
    })
}

/// A figure of a kernel on its device, as [`of_program`].
pub(super) fn of_kernel(analysis: &Analysis, id: KernelId, metric: Metric) -> Option<Value> {
    match metric {
        Metric::Dram => {
            let bytes = device_count(analysis)?.kernels.get(id).copied()?;
            return Some(Value::Number(bytes, Unit::Bytes));
        }
        Metric::Recomputed => {
            return Some(Value::count(analysis.partition.recomputed.get(id)?.len()));
        }
        Metric::Registers
        | Metric::Occupancy
        | Metric::Blocks
        | Metric::Waves
        | Metric::WavesFull
        | Metric::TilesFull
        | Metric::TileRows
        | Metric::TileColumns
        | Metric::Onchip
        | Metric::Warnings => {}
        _ => return None,
    }
    let limits = limits(analysis)?;
    let limits = limits.get(id)?;
    let count = |count: u64| Value::Number(count as f64, Unit::Count);
    Some(match metric {
        Metric::Registers => count(limits.registers_per_thread),
        Metric::Occupancy => Value::Number(100.0 * limits.occupancy, Unit::Percent),
        Metric::Blocks => count(limits.blocks),
        Metric::Waves => count(limits.waves),
        Metric::WavesFull => Value::Number(100.0 * limits.tiling?.wave_efficiency, Unit::Percent),
        Metric::TilesFull => Value::Number(100.0 * limits.tiling?.tile_efficiency, Unit::Percent),
        Metric::TileRows => Value::Number(limits.tiling?.tile.rows, Unit::Count),
        Metric::TileColumns => Value::Number(limits.tiling?.tile.columns, Unit::Count),
        Metric::Onchip => Value::bytes(limits.on_chip_bytes),
        _ => Value::count(hurting(limits)),
    })
}

/// How often fusion costs a kernel time.
fn hurting(limits: &KernelLimits) -> usize {
    limits.warnings.iter().filter(|w| w.hurts()).count()
}

/// Why a figure of [`of_program`] or, with a kernel, of [`of_kernel`] has its value.
pub(super) fn reason(analysis: &Analysis, id: Option<KernelId>, metric: Metric) -> String {
    match metric {
        Metric::Dram => dram(analysis, id),
        Metric::Recomputed => recomputed(analysis, id),
        Metric::Warnings => warnings(analysis, id),
        Metric::Registers
        | Metric::Occupancy
        | Metric::Blocks
        | Metric::Waves
        | Metric::WavesFull
        | Metric::TilesFull
        | Metric::TileRows
        | Metric::TileColumns
        | Metric::Onchip => id.map_or_else(String::new, |id| resources(analysis, id)),
        _ => String::new(),
    }
}

fn resources(analysis: &Analysis, id: KernelId) -> String {
    let limits = limits(analysis);
    let Some(limits) = limits.as_ref().and_then(|limits| limits.get(id)) else {
        return String::new();
    };
    let blocks = Value::Number(limits.blocks as f64, Unit::Count).text();
    let threads = limits.threads_per_block;
    let registers = limits.registers_per_thread;
    let on_chip = format_bytes(limits.on_chip_bytes);
    let tiles = limits.tiling.map_or_else(String::new, |tiling| {
        format!(
            " Each block computes a tile of {} x {} elements; {} tiles need {} wave{} on {} multiprocessors.",
            tiling.tile.rows,
            tiling.tile.columns,
            tiling.tiles,
            tiling.waves,
            if tiling.waves > 1.0 { "s" } else { "" },
            (analysis.options.device.hardware.multiprocessors).map_or(0.0, |count| count.value)
        )
    });
    format!(
        "Blocks of {threads} threads: {blocks}. A thread needs {registers} registers, a block keeps {on_chip} on chip.{tiles}"
    )
}

fn dram(analysis: &Analysis, id: Option<KernelId>) -> String {
    let needed = match id.and_then(|id| analysis.fused.kernels.get(id)) {
        Some(kernel) => kernel.bytes_read,
        None => analysis.fused.traffic.bytes_read,
    };
    format!(
        "Each tensor once for each kernel that needs it would be {}; what the cache cannot hold is read again.",
        format_bytes(needed)
    )
}

fn recomputed(analysis: &Analysis, id: Option<KernelId>) -> String {
    let kernels = analysis.partition.recomputed.iter_enumerated();
    let ops = kernels.filter(|&(kernel, _)| id.is_none_or(|id| id == kernel));
    let names = ops.flat_map(|(_, ops)| ops.iter());
    let names: Vec<_> = names
        .filter_map(|&op| analysis.graph.ops.get(op))
        .map(|op| format!("`{}`", op.name))
        .collect();
    if names.is_empty() {
        return "Each op is computed once.".to_owned();
    }
    let names = joined(names.into_iter(), [", ", " and "], 6);
    format!("A kernel computes {names} again instead of reading what another one computed.")
}

fn warnings(analysis: &Analysis, id: Option<KernelId>) -> String {
    let Some(limits) = limits(analysis) else {
        return String::new();
    };
    let kernels = limits.iter_enumerated();
    let shown = kernels.filter(|&(kernel, _)| id.is_none_or(|id| id == kernel));
    let found = shown.flat_map(|(_, limits)| limits.warnings.iter());
    let texts: Vec<_> = found
        .filter(|warning| Warning::hurts(warning))
        .map(|warning| format!("{}.", warning_text(warning).trim_end_matches('.')))
        .take(3)
        .collect();
    if texts.is_empty() {
        "Nothing that fusion does here costs time, as far as the model knows.".to_owned()
    } else {
        texts.join(" ")
    }
}
