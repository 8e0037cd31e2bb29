//! The arithmetic behind the bytes and FLOPs of one kernel, in words.

mod flops;
mod ledger;
mod sizes;

pub use flops::flops_text;
pub(super) use flops::{FlopFactors, flop_factors};
pub use ledger::{LedgerRow, ledger};
pub(super) use sizes::size_factors;
pub use sizes::{access_text, part_read, source_reason, source_text, whole_reason};

use crate::present::format::format_bytes;
use fuseline_core::analysis::{Execution, Kernel};
use fuseline_core::model::graph::SizeSource;

/// The bytes of all kernels, marked where a size among them is assumed: `~2.30 GB`.
pub fn total_bytes(execution: &Execution) -> String {
    let is_assumed = execution.kernels.iter().any(has_assumed_size);
    assumed(is_assumed, &format_bytes(execution.traffic.total))
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
