//! The kernels on a printed sheet: those with the most memory traffic, as many as fit.

use super::format::{format_bytes, format_count};
use super::names::{op_names, short_name};
use super::quantity::{Marked, Quantity, Run, Scope, Values};
use super::times::TimeKind;
use fuseline_core::{Analysis, KernelId};
use std::cmp::Reverse;

/// Rows that fit below the charts.
pub const KERNEL_ROWS: usize = 12;
/// Characters of the names of a kernel's ops, so that a row is one line.
const NAME_CHARS: usize = 44;

/// The columns of numbers with their heads. That of the time is
/// [`time_title`](SheetRows::time_title).
pub const COLUMNS: [(&str, Quantity); 5] = [
    ("FLOPs", Quantity::Flops),
    ("traffic", Quantity::Bytes),
    ("arithmetic intensity", Quantity::Intensity),
    ("bottleneck", Quantity::Bottleneck),
    ("", Quantity::Time),
];

/// A kernel in one line.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetRow {
    pub kernel: KernelId,
    /// The names of its ops, shortened.
    pub ops: String,
    /// Its numbers in all [`COLUMNS`].
    pub numbers: Vec<String>,
}

/// The listed kernels, and a note about the others.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetRows {
    /// In the order in which they run.
    pub rows: Vec<SheetRow>,
    /// What the times are.
    pub time_title: &'static str,
    /// How many kernels are left out, with their memory traffic; empty if all are listed.
    pub rest: String,
}

/// The `most` kernels with the most memory traffic. `O(kernels log kernels)`.
pub fn largest_kernels(analysis: &Analysis, most: usize) -> SheetRows {
    let kernels = &analysis.fused.kernels;
    let mut order: Vec<KernelId> = kernels.ids().collect();
    order.sort_by_key(|&kernel| (Reverse(kernels[kernel].bytes()), kernel));
    let rest = order.split_off(most.min(order.len()));
    order.sort_unstable();
    let values = Values::new(analysis);
    let rows = order.into_iter().map(|kernel| {
        let number = |(_, quantity)| {
            let marked = values.marked_at(Scope::Kernel(kernel), quantity, Run::Fused);
            marked.map(Marked::text).unwrap_or_default()
        };
        let names = op_names(&analysis.graph, &kernels[kernel].ops);
        SheetRow {
            kernel,
            ops: short_name(&names.replace('`', ""), NAME_CHARS),
            numbers: COLUMNS.map(number).into(),
        }
    });
    let bytes: u64 = rest.iter().map(|&kernel| kernels[kernel].bytes()).sum();
    SheetRows {
        rows: rows.collect(),
        time_title: TimeKind::of(analysis).name(),
        rest: match rest.len() {
            0 => String::new(),
            1 => format!(
                "1 more kernel has {} of memory traffic.",
                format_bytes(bytes)
            ),
            count => format!(
                "{} more kernels have {} of memory traffic in total.",
                format_count(count),
                format_bytes(bytes)
            ),
        },
    }
}
