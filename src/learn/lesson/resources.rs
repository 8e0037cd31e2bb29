//! What kernels need of a device: registers, blocks, bytes that are read from DRAM.

use super::value::{FigureValue, Unit};
use super::wording::join_sentences;
use fuseline_core::analysis::device_model::{Product, device_count};
use fuseline_core::analysis::limits::{KernelLimits, limits};
use fuseline_core::analysis::tiling::COMPUTING_THREADS;
use fuseline_core::model::op_type::OpType;
use fuseline_core::{Analysis, KernelId};
use fuseline_view::present::format::format_bytes;
use fuseline_view::present::names::listed;
use fuseline_view::present::quantity::{Kind, Quantity};
use fuseline_view::present::warnings::warning_text;

/// Why a figure of a kernel, or without one of the program, has its value.
pub(super) fn reason(analysis: &Analysis, id: Option<KernelId>, quantity: Quantity) -> String {
    match quantity {
        Quantity::DramReads => dram(analysis, id),
        Quantity::Recomputed => recomputed(analysis, id),
        Quantity::Warnings => warnings(analysis, id),
        quantity if quantity.kind() == Kind::Launch => {
            id.map_or_else(String::new, |id| resources(analysis, id, quantity))
        }
        _ => String::new(),
    }
}

fn resources(analysis: &Analysis, id: KernelId, quantity: Quantity) -> String {
    let limits = limits(analysis);
    let Some(limits) = limits.as_ref().and_then(|limits| limits.get(id)) else {
        return String::new();
    };
    let tiles = tiles(analysis, id, limits);
    match quantity {
        Quantity::Registers => registers(limits),
        Quantity::Occupancy => occupancy(analysis, limits),
        Quantity::OnChip => format!(
            "A block has up to {}.",
            format_bytes(limits.on_chip_available_bytes)
        ),
        Quantity::Waves | Quantity::WaveEfficiency => {
            join_sentences(&tiles, &waves(analysis, limits))
        }
        Quantity::Blocks if tiles.is_empty() => {
            format!("A block has {} threads.", limits.threads_per_block)
        }
        _ => tiles,
    }
}

/// How many tiles cut a product: `The output has 2048 × 2048 elements, a tile 256 × 128: 8 × 16 =
/// 128 tiles, a block each.`
fn tiles(analysis: &Analysis, id: KernelId, limits: &KernelLimits) -> String {
    let kernel = analysis.fused.kernels.get(id);
    let mut ops = kernel.iter().flat_map(|kernel| kernel.ops.iter());
    let product = ops.find_map(|&op| {
        let is_matmul = analysis.graph.ops.get(op)?.op_type == OpType::Matmul;
        is_matmul
            .then(|| Product::of_op(&analysis.graph, op))
            .flatten()
    });
    let (Some(tiling), Some(product)) = (limits.tiling, product) else {
        return String::new();
    };
    let tile = tiling.tile;
    let down = (product.rows / tile.rows).ceil();
    let across = (product.columns / tile.columns).ceil();
    let number = |count: f64| FigureValue::Number(count, Unit::Count).text();
    let batch = if product.batch > 1.0 {
        format!("{} × ", number(product.batch))
    } else {
        String::new()
    };
    let [rows, columns] = [product.rows, product.columns].map(number);
    let [tile_rows, tile_columns] = [tile.rows, tile.columns].map(number);
    let [down, across, tiles] = [down, across, tiling.tiles].map(number);
    format!(
        "The output has {batch}{rows} × {columns} elements, and a tile has {tile_rows} × {tile_columns}: {batch}{down} × {across} = {tiles} tiles, one block per tile."
    )
}

fn waves(analysis: &Analysis, limits: &KernelLimits) -> String {
    let multiprocessors = analysis.options.device.hardware.multiprocessors;
    let (Some(tiling), Some(multiprocessors)) = (limits.tiling, multiprocessors) else {
        return String::new();
    };
    let (waves, slots) = (tiling.waves, multiprocessors.value);
    let all = waves * slots;
    format!(
        "{waves} {} of {slots} slots: {} of {all} slots have a tile.",
        if waves > 1.0 { "waves" } else { "wave" },
        tiling.tiles
    )
}

fn registers(limits: &KernelLimits) -> String {
    match limits.tiling {
        Some(tiling) => format!(
            "The {COMPUTING_THREADS} threads that compute share the {0} × {1} sums of the tile. The other registers hold addresses and operands.",
            tiling.tile.rows, tiling.tile.columns
        ),
        None => format!(
            "Up to {} tensors are live at once, and a thread holds several elements of each. The other registers hold addresses.",
            limits.live_values
        ),
    }
}

fn occupancy(analysis: &Analysis, limits: &KernelLimits) -> String {
    let hardware = &analysis.options.device.hardware;
    let Some(multiprocessor) = hardware.multiprocessor() else {
        return String::new();
    };
    let number = |count: u32| FigureValue::Number(f64::from(count), Unit::Count).text();
    let on_chip = match limits.on_chip_bytes {
        0 => String::new(),
        bytes => format!(" and a block needs {} on chip", format_bytes(bytes)),
    };
    format!(
        "A thread needs {} registers{on_chip}. A multiprocessor has {} registers for at most {} threads.",
        limits.registers_per_thread,
        number(multiprocessor.registers),
        number(multiprocessor.threads),
    )
}

fn dram(analysis: &Analysis, id: Option<KernelId>) -> String {
    let kernel = id.and_then(|id| analysis.fused.kernels.get(id));
    let needed = kernel.map_or(analysis.fused.traffic.bytes_read, |kernel| {
        kernel.bytes_read
    });
    let operands = match (kernel, analysis.fused.launches) {
        (Some(_), _) => "Its operands hold",
        (None, 1) => "The operands of the kernel hold",
        (None, _) => "The operands of all kernels hold",
    };
    let read = of_kernel_or_program(analysis, id).unwrap_or_default();
    let again = if read > 1.01 * needed as f64 {
        ", and the kernels read again what the cache cannot keep"
    } else {
        ", each read once"
    };
    format!("{operands} {}{again}.", format_bytes(needed))
}

/// Bytes that the device model predicts to be read.
fn of_kernel_or_program(analysis: &Analysis, id: Option<KernelId>) -> Option<f64> {
    let count = device_count(analysis)?;
    match id {
        Some(id) => count.kernels.get(id).copied(),
        None => Some(count.dram_read_bytes),
    }
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
    let names = listed(names);
    format!("A kernel recomputes {names} instead of reading the result of another kernel.")
}

fn warnings(analysis: &Analysis, id: Option<KernelId>) -> String {
    let Some(limits) = limits(analysis) else {
        return String::new();
    };
    let kernels = limits.iter_enumerated();
    let shown = kernels.filter(|&(kernel, _)| id.is_none_or(|id| id == kernel));
    let found = shown.flat_map(|(_, limits)| limits.harms());
    let texts: Vec<_> = found
        .map(|warning| {
            format!(
                "{}.",
                warning_text(&analysis.graph, warning).trim_end_matches('.')
            )
        })
        .take(3)
        .collect();
    if texts.is_empty() {
        "The model knows no way in which fusion costs time here.".to_owned()
    } else {
        texts.join(" ")
    }
}
