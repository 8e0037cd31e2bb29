//! Measurements on a real GPU, and what the model predicts for them.

use crate::Device;
use crate::analysis::device_model::{device_count, first_run_s};
use crate::analysis::{Analysis, Kernel, analyze_program};
use crate::json::{JsonError, is_blank, read_json};
use crate::model::device::device_called;
use crate::model::ids::KernelId;
use crate::model::options::{Conventions, FusionOptions, Options, Policy, ReshapeCost};
use crate::model::program::Program;
use serde::Deserialize;
use strum::{EnumString, IntoStaticStr};

/// The cost of a reshape in the measured programs.
pub const RESHAPE: ReshapeCost = ReshapeCost::View;

/// A file of measured rows, as `public/measured/` has them; other fields are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(expecting = "a file of measured patterns")]
pub struct Measurements {
    /// The GPU.
    pub device: String,
    /// The version of PyTorch that ran the programs.
    pub torch: String,
    /// How it was measured.
    pub note: String,
    /// The rows, in the order of the file.
    pub rows: Vec<MeasuredRow>,
}

/// One program at one size, run in one way.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    expecting = "a row with `pattern`, `size`, `variant`, `time_us`, `kernels` and `dram_read_bytes`"
)]
pub struct MeasuredRow {
    /// The name of its op list.
    pub pattern: String,
    /// Values of its first params, in the order of the list.
    pub size: Vec<i64>,
    /// Who made the kernels.
    pub variant: Variant,
    /// Time of one run when the program runs repeatedly, in microseconds.
    pub time_us: f64,
    /// Time of one run with nothing of the program in the cache; `None` if it was not measured.
    #[serde(default)]
    pub time_cold_us: Option<f64>,
    /// Names of the kernels that ran.
    pub kernels: Vec<String>,
    /// Bytes that its kernels read from DRAM, caches flushed before each. `None` if they were not
    /// counted; the file then has `null`.
    #[serde(deserialize_with = "Option::deserialize")]
    pub dram_read_bytes: Option<u64>,
}

/// Who made the kernels. Measured files and scripts of programs have names of their own, by which
/// it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Variant {
    /// A library kernel for each op.
    Eager,
    /// torch.compile.
    #[strum(to_string = "inductor", serialize = "compiled")]
    Inductor,
    /// torch.compile with max-autotune.
    #[strum(to_string = "inductor_triton_gemm", serialize = "max-autotune")]
    InductorTritonGemm,
}

impl Variant {
    /// The name in the measured files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The policy that predicts it.
    pub const fn policy(self) -> Policy {
        match self {
            Self::Eager => Policy::None,
            Self::Inductor | Self::InductorTritonGemm => Policy::Inductor,
        }
    }

    /// Whether the compiler generates its matmuls.
    pub const fn is_tuned(self) -> bool {
        matches!(self, Self::InductorTritonGemm)
    }
}

/// A row beside its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// Time of one run when the program runs repeatedly.
    pub time_us: f64,
    /// Time of one run with nothing of the program in the cache.
    pub time_cold_us: f64,
    /// Bytes that kernels read from DRAM with cold caches.
    pub dram_read_bytes: f64,
    /// Compulsory reads of the kernels, in bytes.
    pub compulsory_read_bytes: u64,
    /// Kernels launched.
    pub launches: usize,
    /// Whether a kernel has a matmul.
    pub has_matmul: bool,
    /// Compulsory traffic of the largest kernel, in bytes.
    pub largest_kernel_bytes: u64,
    /// Its kernels in the order in which they are launched.
    pub kernels: Vec<PredictedKernel>,
}

/// A kernel of a prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedKernel {
    /// The names of its ops.
    pub ops: Vec<String>,
    /// As the device model predicts it, in seconds.
    pub time_s: f64,
    /// Bytes that it reads from DRAM with cold caches.
    pub dram_read_bytes: f64,
    /// How often something is launched for it; 0 for a view.
    pub launches: usize,
}

/// Why a text holds no [`Measurements`].
#[derive(Debug, thiserror::Error)]
#[error("this is not a file of measured patterns, whose fields docs/measurement.md lists: {0}")]
pub struct NoMeasurements(#[from] JsonError);

impl Measurements {
    /// Whether a text is likely to hold measured patterns, by what it begins with.
    pub fn begins(text: &str) -> bool {
        let has = |key| text.contains(key);
        text.trim_start_matches(is_blank).starts_with('{')
            && has("\"torch\"")
            && has("\"rows\"")
            && has("\"pattern\"")
    }

    /// Reads a file. `O(text)`.
    ///
    /// # Errors
    /// What is missing or wrong, and where.
    pub fn read(text: &str) -> Result<Self, NoMeasurements> {
        Ok(read_json(text)?)
    }

    /// The GPU as the table of devices has it; `None` if that does not know it.
    pub fn listed_device(&self) -> Option<&'static Device> {
        device_called(&self.device)
    }
}

impl MeasuredRow {
    /// The op list of its pattern at its size.
    pub fn sized(&self, program: &Program) -> Program {
        let mut program = program.clone();
        for (param, &value) in program.params.iter_mut().zip(&self.size) {
            param.value = value;
        }
        program
    }

    /// The options under which it is predicted on a device.
    pub fn options(&self, device: &Device) -> Options {
        // Eager programs run attention as one kernel only if they call it as one operation.
        let asks_for_attention = self.variant == Variant::Eager
            && self.kernels.iter().any(|kernel| kernel.contains("flash"));
        Options {
            policy: self.variant.policy(),
            conventions: Conventions {
                reshape: RESHAPE,
                ..Conventions::default()
            },
            device: device.clone(),
            own_calibrations: None,
            fusion: FusionOptions {
                attention: asks_for_attention,
                eager_attention: asks_for_attention,
                max_autotune: self.variant.is_tuned(),
                ..FusionOptions::default()
            },
        }
    }
}

/// The prediction for a row on a device; `program` is its op list. `None` if the list cannot be
/// analysed or the device has no rates to predict times with.
pub fn predict(row: &MeasuredRow, program: &Program, device: &Device) -> Option<Predicted> {
    let options = row.options(device);
    predicted(&analyze_program(&row.sized(program), &options).analysis?)
}

fn predicted(analysis: &Analysis) -> Option<Predicted> {
    let count = device_count(analysis)?;
    let predicted = analysis.predicted.as_ref()?;
    let kernels = &analysis.fused.kernels;
    let kernel = |(id, kernel): (KernelId, &Kernel)| {
        let further = analysis.partition.further_launches_of(id);
        PredictedKernel {
            ops: (kernel.ops.iter())
                .map(|&op| analysis.graph.ops[op].name.clone())
                .collect(),
            time_s: predicted.kernels[id].time_s,
            dram_read_bytes: count.kernels[id],
            launches: usize::from(!kernel.is_free) + further as usize,
        }
    };
    Some(Predicted {
        kernels: kernels.iter_enumerated().map(kernel).collect(),
        time_us: predicted.fused_s * 1e6,
        time_cold_us: first_run_s(analysis)? * 1e6,
        dram_read_bytes: count.dram_read_bytes,
        compulsory_read_bytes: analysis.fused.traffic.bytes_read,
        launches: analysis.fused.launches,
        has_matmul: kernels.iter().any(|k| k.work.matrix_dtype.is_some()),
        largest_kernel_bytes: kernels.iter().map(Kernel::bytes).max().unwrap_or(0),
    })
}

/// Relative errors of predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Rows compared.
    pub count: usize,
    /// Half of the rows have a smaller error.
    pub median: f64,
    /// The largest error of the best nine in ten rows.
    pub ninth_decile: f64,
    /// The largest.
    pub worst: f64,
    /// The index of its row.
    pub worst_at: usize,
}

/// The errors of pairs (predicted, measured); `None` without a pair. `O(pairs log pairs)`.
pub fn errors(pairs: &[(f64, f64)]) -> Option<Errors> {
    let mut order: Vec<(f64, usize)> = pairs
        .iter()
        .enumerate()
        .map(|(at, (predicted, measured))| ((predicted / measured - 1.0).abs(), at))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let &(worst, worst_at) = order.last()?;
    // The nearest rank: the smallest error that this many tenths of the rows do not exceed.
    let at = |part: usize| order.get((order.len() * part).div_ceil(10).max(1) - 1);
    Some(Errors {
        count: order.len(),
        median: at(5)?.0,
        ninth_decile: at(9)?.0,
        worst,
        worst_at,
    })
}
