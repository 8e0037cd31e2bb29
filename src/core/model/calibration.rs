//! Fused patterns as a GPU ran them.

use crate::json::{JsonError, read_json};
use crate::model::bound::Bound;
use crate::model::device::Device;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The records that are shipped, by the id of their device: `fuseline calibrate` of the files in
/// `public/measured`.
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

/// Fused patterns of one GPU.
#[derive(
    Clone, Debug, Default, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize,
)]
#[serde(expecting = "records of fused patterns")]
pub struct Calibrations {
    /// The GPU.
    pub device: String,
    /// The version of PyTorch that ran the patterns.
    pub torch: String,
    /// A record for each pattern at each size.
    pub patterns: Vec<FusionCalibration>,
}

/// One pattern at one size, run op by op and fused. Latencies are of runs after each other, so
/// small tensors stay in the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(expecting = "a record of a fused pattern")]
pub struct FusionCalibration {
    /// The name of its op list, such as `linear_bias_relu`.
    pub fusion_pattern: String,
    /// The functions of its ops in execution order.
    pub operators: Vec<String>,
    /// How many they are.
    pub num_operators: usize,
    /// Functions and which of them reads which, as
    /// [`structure`](crate::fusion::structure::structure) writes them: kernels of equal structure
    /// are the same pattern.
    pub structure: String,
    /// The shape of its first input.
    pub input_shape: Vec<u64>,
    /// The values of its params by name.
    pub extra_params: BTreeMap<String, i64>,
    /// Arithmetic of its ops, in FLOPs: the work by which the nearest size is found.
    pub flops: f64,

    /// Time of the ops as kernels of their own, in ms.
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
    /// Who fused it: a library (`eager`) or the compiler, as in the measured files.
    pub fused_by: String,

    /// `unfused_latency_ms / fused_latency_ms`: above 1 the fused run is quicker.
    pub speedup_factor: f64,
    /// `1 - fused_memory_bytes / unfused_memory_bytes`.
    pub memory_reduction: f64,
    /// `fused_gflops / unfused_gflops - 1`, which is `speedup_factor - 1`: the peak of the device,
    /// over which both are an efficiency, cancels out.
    pub efficiency_improvement: f64,
    /// What bounds the most roofline time of the unfused kernels.
    pub bottleneck_unfused: Bound,
    /// What bounds the most roofline time of the fused ones.
    pub bottleneck_fused: Bound,
    /// FLOPs for each byte of the unfused kernels.
    pub arithmetic_intensity_unfused_flop_per_byte: f64,
    /// FLOPs for each byte of the fused ones.
    pub arithmetic_intensity_fused_flop_per_byte: f64,
}

impl FusionCalibration {
    /// Whether one kernel ran, so that its time is that of the whole pattern fused.
    pub const fn is_one_kernel(&self) -> bool {
        self.fused_kernels == 1
    }
}

/// Why a text holds no [`Calibrations`].
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// Another file.
    #[error("this is not a file of records, which `fuseline calibrate FILE --json` writes: {0}")]
    Json(#[from] JsonError),
    /// A file without records.
    #[error("it contains no pattern")]
    NoPattern,
    /// A record that no run can have made.
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

    /// The record of this structure whose work is nearest to `flops`, by the ratio of both.
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
    /// The shipped records of its measured patterns; `None` if nobody measured any.
    pub(super) fn calibrations(&self) -> Option<&'static Calibrations> {
        let listed = self.listed()?;
        let (_, records) = SHIPPED.iter().find(|(id, _)| *id == listed.id)?;
        records.as_ref()
    }
}
