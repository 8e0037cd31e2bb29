//! Warnings about fused kernels, in words.

use crate::present::format::{format_bytes, format_percent, format_seconds};
use fuseline_core::analysis::limits::Warning;

/// The warning in a sentence.
pub fn warning_text(warning: &Warning) -> String {
    match *warning {
        Warning::Spills { wanted, available } => format!(
            "a thread needs about {wanted} registers and has {available}, so values spill to memory"
        ),
        Warning::RowTooLong {
            wanted_bytes,
            available_bytes,
        } => format!(
            "a row needs {} on chip and a block has {}, so the kernel reads it again",
            format_bytes(wanted_bytes),
            format_bytes(available_bytes)
        ),
        Warning::LostParallelism {
            blocks,
            multiprocessors,
        } => format!(
            "{blocks} blocks for {multiprocessors} multiprocessors, which separate kernels would keep busy"
        ),
        Warning::PartialWave {
            tiles,
            multiprocessors,
            efficiency,
        } => format!(
            "{tiles} tiles on {multiprocessors} multiprocessors: wave efficiency {}",
            format_percent(efficiency * 100.0)
        ),
        Warning::Recompute { added_s, saved_s } => format!(
            "recomputing takes {}, reading would take {}",
            format_seconds(added_s),
            format_seconds(saved_s)
        ),
        Warning::HardlyPays {
            saved_bytes,
            speedup,
        } => format!(
            "compute-bound: fusion saves {}, but only {} of the time",
            format_bytes(saved_bytes),
            format_percent((1.0 - 1.0 / speedup) * 100.0)
        ),
    }
}
