//! The arithmetic behind the bytes and FLOPs of one kernel, in words.

mod flops;
mod ledger;
mod sizes;

pub use flops::flops_text;
pub(super) use flops::{FlopFactors, flop_factors};
pub use ledger::{LedgerRow, ledger};
pub use sizes::{access_text, part_read, source_reason, source_text, whole_reason};
pub(super) use sizes::{chosen_reason, size_factors};

use fuseline_core::analysis::Kernel;
use fuseline_core::model::graph::SizeSource;

/// Whether any tensor that the kernel reads or writes has an assumed size.
pub fn has_assumed_size(kernel: &Kernel) -> bool {
    kernel
        .traffic
        .reads
        .iter()
        .any(|access| access.source == SizeSource::Assumed)
}
