//! The arithmetic behind the bytes and FLOPs of one kernel, in words.

mod flops;
mod ledger;
mod sizes;

pub use flops::flops_text;
pub(super) use flops::{FlopFactors, flop_factors};
pub use ledger::{LedgerRow, ledger};
pub(super) use sizes::size_factors;
pub use sizes::{access_text, part_read, source_reason, source_text, whole_reason};

use crate::present::format::{at_least, format_bytes, format_change, format_count};
use fuseline_core::analysis::{Analysis, Execution, Kernel};
use fuseline_core::model::graph::SizeSource;

/// A total of a program, which ops of unknown shape make a lower bound: `≥ 2.30 GB`.
pub fn total(analysis: &Analysis, figure: &str) -> String {
    at_least(analysis.is_partial(), figure)
}

/// Bytes of tensors of an execution of the program, marked where a size among them is assumed:
/// `~2.30 GB`.
fn tensor_bytes(analysis: &Analysis, execution: &Execution, bytes: u64) -> String {
    let is_assumed = execution.kernels.iter().any(has_assumed_size);
    total(analysis, &assumed(is_assumed, &format_bytes(bytes)))
}

/// The bytes of all kernels.
pub fn total_bytes(analysis: &Analysis, execution: &Execution) -> String {
    tensor_bytes(analysis, execution, execution.traffic.total)
}

/// What all kernels read and write: `1.20 GB read, 1.10 GB written`.
pub fn total_accesses(analysis: &Analysis, execution: &Execution) -> String {
    let [read, written] = [
        execution.traffic.bytes_read,
        execution.traffic.bytes_written,
    ]
    .map(|bytes| total(analysis, &format_bytes(bytes)));
    format!("{read} read, {written} written")
}

/// The most memory that tensors need at once.
pub fn total_memory(analysis: &Analysis, execution: &Execution) -> String {
    tensor_bytes(analysis, execution, execution.peak_memory.bytes)
}

/// The number of launches.
pub fn total_kernels(analysis: &Analysis, execution: &Execution) -> String {
    total(analysis, &format_count(execution.launches))
}

/// What fusion does to the bytes, in percent: `−14.6 %`; a dash where ops of unknown shape are
/// missing, because two lower bounds have no ratio.
pub fn change(analysis: &Analysis) -> String {
    if analysis.is_partial() {
        return "–".to_owned();
    }
    let is_assumed = analysis.unfused.kernels.iter().any(has_assumed_size);
    assumed(is_assumed, &format_change(analysis.savings_pct))
}

/// A figure, marked if an assumed size is in it: `~33.6 MB`.
pub fn assumed(is_assumed: bool, figure: &str) -> String {
    let mark = if is_assumed { "~" } else { "" };
    format!("{mark}{figure}")
}

/// Whether any tensor that the kernel moves has an assumed size.
pub fn has_assumed_size(kernel: &Kernel) -> bool {
    kernel
        .traffic
        .reads
        .iter()
        .any(|access| access.source == SizeSource::Assumed)
}
