//! What the model says of the visitor's GPU, from what was measured on it.

use crate::core::analysis::analyze_kernels;
use crate::core::interpret::{NotRun, Reference};
use crate::core::{Analysis, Device, Options, Partition};
use std::borrow::Cow;

/// What a GPU was measured to reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// The name of the GPU.
    pub name: String,
    /// Bytes read and written by a copy from buffer to buffer, in byte/s.
    pub memory_bytes_per_s: f64,
    /// Multiply-adds in f32, each two FLOPs, in FLOP/s.
    pub vector_flops_per_s: f64,
    /// What one launch after another takes, in seconds.
    pub launch_s: f64,
}

impl Rates {
    /// The GPU as a device like others. It has no matrix units for WebGPU: products of matrices run at its vector rate.
    pub fn device(&self) -> Device {
        let vector = self.vector_flops_per_s;
        let device = Device::custom(self.memory_bytes_per_s, f64::NAN, vector, self.launch_s);
        Device {
            name: Cow::Owned(self.name.clone()),
            ..device
        }
    }
}

/// The analysis of what runs: the graph at its sizes with four bytes for each element, and these kernels.
///
/// # Errors
/// If the program has no graph at these sizes.
pub fn predicted(
    reference: &Reference,
    partition: &Partition,
    rates: &Rates,
    options: &Options,
) -> Result<Analysis, NotRun> {
    let mut options = options.clone();
    options.device = rates.device();
    let graph = reference.graph_in_words(partition)?;
    Ok(analyze_kernels(graph, partition.clone(), &options))
}
