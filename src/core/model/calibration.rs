//! Measured times of op patterns, fused and unfused, on one GPU.

use crate::json::{JsonError, read_json};
use crate::model::bound::Bound;
use crate::model::device::Device;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The shipped records by the id of their device: what `fuseline calibrate` computes from the files
/// in `public/measured`.
static SHIPPED: [(&str, LazyLock<Option<Calibrations>>); 2] = [
    (
        "h200",
        LazyLock::new(|| {
            serde_json::from_str(include_str!("../../../public/measured/h200_fusion.json")).ok()
        }),
    ),
    (
        "h100",
        LazyLock::new(|| {
            serde_json::from_str(include_str!("../../../public/measured/h100_fusion.json")).ok()
        }),
    ),
];

/// Measured patterns of one GPU.
#[derive(
    Clone, Debug, Default, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(expecting = "records of fused patterns")]
pub struct Calibrations {
    /// The name of the GPU.
    pub device: String,
    /// The version of PyTorch that ran the patterns.
    pub torch: String,
    /// A record for each pattern at each size.
    pub patterns: Vec<FusionCalibration>,
}

/// One pattern at one size, measured op by op and fused. Latencies are of runs one after another,
/// so small tensors stay in the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(expecting = "a record of a fused pattern")]
pub struct FusionCalibration {
    /// The name of its op list, such as `linear_bias_relu`.
    pub fusion_pattern: String,
    /// The functions of its ops in execution order.
    pub operators: Vec<String>,
    /// The length of `operators`.
    pub num_operators: usize,
    /// Functions and which of them reads which, as
    /// [`structure`](crate::fusion::structure::structure) writes them. Kernels of equal structure
    /// have the same pattern.
    pub structure: String,
    /// The shape of its first input.
    pub input_shape: Vec<u64>,
    /// The values of its params by name.
    pub extra_params: BTreeMap<String, i64>,
    /// FLOPs of its ops, by which [`Calibrations::nearest`] finds the nearest size.
    pub flops: f64,

    /// Time of the ops as separate kernels, in ms.
    pub unfused_latency_ms: f64,
    /// Compulsory traffic of these kernels, in bytes.
    pub unfused_memory_bytes: u64,
    /// FLOPs over time, in GFLOP/s.
    pub unfused_gflops: f64,
    /// Kernels that ran.
    pub unfused_kernels: usize,

    /// Time of the fused run, in ms.
    pub fused_latency_ms: f64,
    /// Compulsory traffic of its kernels, in bytes.
    pub fused_memory_bytes: u64,
    /// FLOPs over time, in GFLOP/s.
    pub fused_gflops: f64,
    /// Kernels that ran: more than one where nothing fuses the whole pattern.
    pub fused_kernels: usize,
    /// What fused it: a library (`eager`) or the compiler, as in the measured files.
    pub fused_by: String,

    /// `unfused_latency_ms / fused_latency_ms`: above 1 the fused run is faster.
    pub speedup_factor: f64,
    /// `1 - fused_memory_bytes / unfused_memory_bytes`.
    pub memory_reduction: f64,
    /// `fused_gflops / unfused_gflops - 1`, which is `speedup_factor - 1`. Efficiency is a rate
    /// over the peak of the device, and the peak cancels out.
    pub efficiency_improvement: f64,
    /// The bottleneck with the largest share of the unfused kernels' roofline time.
    pub bottleneck_unfused: Bound,
    /// The bottleneck with the largest share of the fused kernels' roofline time.
    pub bottleneck_fused: Bound,
    /// FLOPs per byte of the unfused kernels.
    pub arithmetic_intensity_unfused_flop_per_byte: f64,
    /// FLOPs per byte of the fused kernels.
    pub arithmetic_intensity_fused_flop_per_byte: f64,
}

impl FusionCalibration {
    /// Whether one kernel ran, so that its time is that of the whole fused pattern.
    pub const fn is_one_kernel(&self) -> bool {
        self.fused_kernels == 1
    }
}

/// Why a text holds no [`Calibrations`].
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The text is not JSON of this form.
    #[error("this is not a file of records, which `fuseline calibrate FILE --json` writes: {0}")]
    Json(#[from] JsonError),
    /// The list of records is empty.
    #[error("it contains no pattern")]
    NoPattern,
    /// A record with figures that no run can have.
    #[error("patterns[{at}]: speedup_factor must be above 0, and flops at least 0")]
    Impossible {
        /// Its index.
        at: usize,
    },
}

impl Calibrations {
    /// Whether a text is likely to hold records, by what it begins with.
    pub fn begins(text: &str) -> bool {
        text.trim_start().starts_with('{') && text.contains("\"fusion_pattern\"")
    }

    /// Reads what `fuseline calibrate --json` writes. `O(text)`.
    ///
    /// # Errors
    /// What is missing or impossible, and where.
    pub fn read(text: &str) -> Result<Self, CalibrationError> {
        let read: Self = read_json(text)?;
        let is_possible = |record: &FusionCalibration| {
            record.speedup_factor.is_finite()
                && record.speedup_factor > 0.0
                && record.flops.is_finite()
                && record.flops >= 0.0
        };
        match read.patterns.iter().position(|record| !is_possible(record)) {
            None if read.patterns.is_empty() => Err(CalibrationError::NoPattern),
            None => Ok(read),
            Some(at) => Err(CalibrationError::Impossible { at }),
        }
    }

    /// The most ops of a pattern.
    pub fn most_operators(&self) -> usize {
        let counts = self.patterns.iter().map(|record| record.num_operators);
        counts.max().unwrap_or(0)
    }

    /// The record of this structure whose work is nearest to `flops`, by their ratio.
    /// `O(patterns)`.
    pub fn nearest(&self, structure: &str, flops: f64) -> Option<&FusionCalibration> {
        let distance =
            |record: &FusionCalibration| (record.flops.max(1.0) / flops.max(1.0)).ln().abs();
        (self.patterns.iter())
            .filter(|record| record.structure == structure)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

impl Device {
    /// The shipped records of this device's measured patterns; `None` without a measurement.
    pub(super) fn calibrations(&self) -> Option<&'static Calibrations> {
        let listed = self.listed()?;
        let (_, records) = SHIPPED.iter().find(|(id, _)| *id == listed.id)?;
        records.as_ref()
    }
}
