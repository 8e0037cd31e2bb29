//! Warnings about fused kernels, in words.

use crate::present::format::{format_bytes, format_exact, format_percent, format_seconds};
use crate::present::names::op_name;
use fuseline_core::Graph;
use fuseline_core::analysis::limits::Warning;

/// The warning about a kernel of this graph in a sentence.
pub fn warning_text(graph: &Graph, warning: &Warning) -> String {
    match *warning {
        Warning::Spills { wanted, available } => format!(
            "a thread needs about {wanted} registers and has {available}, so values spill to memory"
        ),
        Warning::RowTooLong {
            wanted_bytes,
            available_bytes,
        } => format!(
            "the rows of a block need {} on chip and it has {}, so the kernel reads them again",
            format_bytes(wanted_bytes),
            format_bytes(available_bytes)
        ),
        Warning::LostParallelism {
            blocks,
            multiprocessors,
            slowest,
            slowest_blocks,
        } => format!(
            "{blocks} blocks for {multiprocessors} multiprocessors; {} alone has {}",
            op_name(graph, slowest),
            format_exact(slowest_blocks.into())
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
