//! The arithmetic behind the bytes and FLOPs of one kernel, in words.

mod flops;
mod ledger;
mod sizes;

pub use flops::flops_text;
pub(super) use flops::{FlopFactors, flop_factors};
pub use ledger::{LedgerRow, ledger};
pub(super) use sizes::size_factors;
pub use sizes::{access_text, part_read, source_reason, source_text, whole_reason};

use crate::present::format::{at_least, format_bytes, format_count};
use fuseline_core::analysis::{Execution, Kernel};
use fuseline_core::model::graph::SizeSource;

/// The bytes of all kernels, marked where a size among them is assumed: `~2.30 GB`. Ops of unknown shape make it a lower bound.
pub fn total_bytes(execution: &Execution) -> String {
    let is_assumed = execution.kernels.iter().any(has_assumed_size);
    let bytes = assumed(is_assumed, &format_bytes(execution.traffic.total));
    at_least(execution.is_partial(), &bytes)
}

/// The number of launches, which ops of unknown shape make a lower bound.
pub fn total_kernels(execution: &Execution) -> String {
    at_least(execution.is_partial(), &format_count(execution.launches))
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
