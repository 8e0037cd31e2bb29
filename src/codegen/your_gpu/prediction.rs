//! Predicts times on the visitor's GPU from the rates that were measured on it.

use crate::interpret::{NotRun, Reference};
use fuseline_core::analysis::analyze_kernels;
use fuseline_core::model::device::{DeviceProbe, Rate};
use fuseline_core::{Analysis, F32Matmul, Options, Partition};

/// The analysis of a run: the graph at its sizes with four bytes for each element, and these
/// kernels. Products and convolutions have the measured rate of a product in a shader, if there is
/// one: it is several times lower than that of the vector units.
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
    if let Some(flops_per_s) = measured.shader_product_flops_per_s {
        // The model takes a separate rate of products only as that of matrix units.
        options.device = options.device.with_rate(Rate::MatrixTf32, flops_per_s);
        options.conventions.f32_matmul = F32Matmul::Tf32;
        options.conventions.f32_conv = F32Matmul::Tf32;
    }
    let graph = reference.graph_in_words(partition)?;
    Ok(analyze_kernels(graph, partition.clone(), &options))
}
