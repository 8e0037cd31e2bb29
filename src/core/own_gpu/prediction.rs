//! What the model says of the visitor's GPU, from what was measured on it.

use crate::core::analysis::analyze_kernels;
use crate::core::interpret::{NotRun, Reference};
use crate::core::model::device::DeviceProbe;
use crate::core::{Analysis, Options, Partition};

/// The analysis of what runs: the graph at its sizes with four bytes for each element, and these kernels.
///
/// # Errors
/// If the program has no graph at these sizes.
pub fn predicted(
    reference: &Reference,
    partition: &Partition,
    measured: &DeviceProbe,
    options: &Options,
) -> Result<Analysis, NotRun> {
    let mut options = options.clone();
    options.device = measured.measured_device();
    let graph = reference.graph_in_words(partition)?;
    Ok(analyze_kernels(graph, partition.clone(), &options))
}
