//! Devices: memory bandwidth and peak rates, each figure with its source.

mod figure;
mod hardware;
mod measured;
mod peak;
mod probe;
mod rate;
mod table;

pub use crate::model::device::figure::Figure;
use crate::model::device::figure::sourced;
pub use crate::model::device::hardware::{Hardware, Multiprocessor, OnChip};
pub use crate::model::device::measured::{Calibration, MEASURED_WITH, Measured, RatesFrom};
pub use crate::model::device::peak::{ComputeType, F32Matmul, Peak};
pub use crate::model::device::probe::{DeviceProbe, FigureError, ProbeError};
pub use crate::model::device::rate::Rate;
pub use crate::model::device::table::DEVICES;
use crate::model::dtype::DType;
use borsh::{BorshDeserialize, BorshSerialize};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;
use strum::VariantArray as _;

/// Where the figures of a device come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Source {
    /// The compiler's target descriptions.
    Xla,
    /// The vendor's architecture table.
    Rocm,
    /// The compiler's target descriptions and the vendor's table, where they agree.
    XlaRocm,
    /// The compiler's table of TPUs.
    Pallas,
    /// A conference talk of the vendor.
    HotChips,
    /// Published microbenchmarks.
    MetalBenchmarks,
    /// The vendor's data sheet.
    DataSheet,
    /// Data sheets, quoted from memory.
    Recalled,
    /// A probe of a GPU that the table lacks.
    Probe,
    /// The user's own figures.
    Custom,
}

impl Source {
    /// The source in words, for readers who want to look it up.
    pub const fn citation(self) -> &'static str {
        match self {
            Self::Xla => "openxla/xla, gpu/target_config/specs/*.txtpb at 183fa00cb5d8",
            Self::Rocm => "ROCm documentation, gpu-arch-specs.rst; rates from the data sheet",
            Self::XlaRocm => {
                "openxla/xla target_config specs and ROCm gpu-arch-specs.rst; rates from the data sheet"
            }
            Self::Pallas => "jax-ml/jax, pallas/mosaic tpu_info.py",
            Self::HotChips => "Intel, Hot Chips 2024",
            Self::MetalBenchmarks => "philipturner/metal-benchmarks",
            Self::DataSheet => "NVIDIA data sheet",
            Self::Recalled => "vendor data sheet, unverified",
            Self::Probe => {
                "rate that the probe reached, because the table of devices lacks this GPU"
            }
            Self::Custom => "your own figures",
        }
    }
}

/// The 16-bit operand types that the matrix units accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum MatrixUnits {
    /// None: matmuls run on the vector units.
    Absent,
    /// f16, but not bf16.
    F16,
    /// f16 and bf16 alike.
    F16AndBf16,
}

/// One accelerator. Rates are dense peaks, in FLOP/s; bandwidth in byte/s.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Device {
    /// Short name for links and the command line.
    pub id: Cow<'static, str>,
    /// Name in texts.
    pub name: Cow<'static, str>,
    /// Where the figures come from.
    pub source: Source,
    /// Bandwidth of its memory.
    pub memory_bytes_per_s: Figure,
    /// f32 rate of the vector units, which run everything but matmuls. f16 data is computed in f32
    /// there.
    pub vector_flops_per_s: Option<Figure>,
    /// f64 rate of the vector units.
    pub vector_f64_flops_per_s: Option<Figure>,
    /// Matrix units on f64 operands.
    pub matrix_f64_flops_per_s: Option<Figure>,
    /// Matrix units on f32 operands, computed as TF32.
    pub matrix_tf32_flops_per_s: Option<Figure>,
    /// Matmuls on f16 operands, and on bf16 if `matrix_units` accepts it.
    pub matrix_f16_flops_per_s: Option<Figure>,
    /// Matrix units on f8 operands.
    pub matrix_f8_flops_per_s: Option<Figure>,
    /// Matrix units on f4 operands with a scale per block.
    pub matrix_f4_flops_per_s: Option<Figure>,
    /// Matrix units on i8 operands.
    pub matrix_i8_flops_per_s: Option<Figure>,
    /// Time that one kernel launch adds.
    pub launch_s: Figure,
    /// The 16-bit types that the matrix units accept.
    pub matrix_units: MatrixUnits,
    /// Multiprocessors and on-chip memories.
    pub hardware: Hardware,
    /// Rates that a visitor measured on it.
    pub probe: Option<Arc<DeviceProbe>>,
}

/// Valid bandwidths of a custom device, in byte/s: 1 GB/s to 100 TB/s.
pub const OWN_BYTES_PER_S: RangeInclusive<f64> = 1e9..=1e14;
/// Valid rates of a custom device, in FLOP/s: 0.1 TFLOP/s to 100 PFLOP/s.
pub const OWN_FLOPS_PER_S: RangeInclusive<f64> = 1e11..=1e17;
/// Valid launch times of a custom device, in seconds: up to 10 ms.
pub const OWN_LAUNCH_S: RangeInclusive<f64> = 0.0..=1e-2;

/// Time that one launch adds to a full queue. An order of magnitude, not a measured figure.
const LAUNCH_S: Figure = Figure {
    value: 2e-6,
    is_confirmed: false,
};

impl Device {
    /// Peak of matmuls on operands of `dtype`; `None` if unknown. A type that the device does not
    /// support is computed in the next wider one: f4 as f8, f8 as f16, 16-bit types as f32, and i4
    /// as i8. f32 runs on the vector units unless `f32_matmul` allows TF32 and the device has it,
    /// f64 on the vector units where the matrix units lack it.
    pub fn matmul_peak(&self, dtype: DType, f32_matmul: F32Matmul) -> Option<Peak> {
        let vector = |computed_as| (self.vector_flops_per_s, computed_as, true);
        let f16 = |computed_as| {
            let is_on_vector_units = self.matrix_units == MatrixUnits::Absent;
            (self.matrix_f16_flops_per_s, computed_as, is_on_vector_units)
        };
        let tf32 = (self.matrix_tf32_flops_per_s, Some(ComputeType::Tf32), false);
        let has_half = self.matrix_f16_flops_per_s.is_some();
        let has_bf16 = has_half && self.matrix_units == MatrixUnits::F16AndBf16;
        let has_f8 = self.matrix_f8_flops_per_s.is_some();
        let f8 = |computed_as| (self.matrix_f8_flops_per_s, computed_as, false);
        let (figure, computed_as, is_on_vector_units) = match dtype {
            DType::F16 if has_half => f16(None),
            DType::Bf16 if has_bf16 => f16(None),
            DType::F4 if self.matrix_f4_flops_per_s.is_some() => {
                (self.matrix_f4_flops_per_s, None, false)
            }
            DType::F4 if has_f8 => f8(Some(ComputeType::F8)),
            DType::F8e4m3 | DType::F8e5m2 if has_f8 => f8(None),
            DType::F8e4m3 | DType::F8e5m2 | DType::F4 if has_half => f16(Some(ComputeType::F16)),
            DType::F16 | DType::Bf16 | DType::F8e4m3 | DType::F8e5m2 | DType::F4 => {
                vector(Some(ComputeType::F32))
            }
            DType::F32 if f32_matmul == F32Matmul::Tf32 && tf32.0.is_some() => tf32,
            DType::F32 => vector(None),
            DType::F64 if self.matrix_f64_flops_per_s.is_some() => {
                (self.matrix_f64_flops_per_s, None, false)
            }
            DType::F64 => (self.vector_f64_flops_per_s, None, true),
            DType::I8 => (self.matrix_i8_flops_per_s, None, false),
            DType::I4 => (self.matrix_i8_flops_per_s, Some(ComputeType::I8), false),
            // No unit multiplies scales with each other.
            DType::F8e8m0 | DType::I64 | DType::I32 | DType::Bool => return None,
        };
        figure.map(|figure| Peak {
            figure,
            computed_as,
            is_on_vector_units,
        })
    }

    /// The figure of [`Device::matmul_peak`].
    pub fn matrix_peak(&self, dtype: DType, f32_matmul: F32Matmul) -> Option<Figure> {
        self.matmul_peak(dtype, f32_matmul).map(|peak| peak.figure)
    }

    /// On-chip memory in which one block of a kernel can keep values, in bytes: the shared memory
    /// that a block can allocate. A device without this figure counts as the default device.
    pub fn on_chip_bytes(&self) -> u64 {
        match self.hardware.on_chip {
            OnChip::Multiprocessor(multiprocessor) => multiprocessor.shared_bytes_per_block.into(),
            OnChip::Scratchpad { bytes, .. } => bytes,
            OnChip::Unknown => hardware::AMPERE_A100.shared_bytes_per_block.into(),
        }
    }

    /// The same device with another launch time, in seconds. A time outside [`OWN_LAUNCH_S`]
    /// changes nothing.
    #[must_use]
    pub fn with_launch_s(mut self, launch_s: f64) -> Self {
        if OWN_LAUNCH_S.contains(&launch_s) {
            self.launch_s = sourced(launch_s);
        }
        self
    }

    /// The entry of this device in the table of devices, if it has one.
    pub fn listed(&self) -> Option<&'static Self> {
        match &self.probe {
            Some(probe) => device_called(&probe.name),
            None => device(&self.id),
        }
    }

    /// Launch time of this device as measured, or as listed in the table of devices; `None` if it
    /// has neither.
    pub fn listed_launch_s(&self) -> Option<f64> {
        match &self.probe {
            Some(probe) => Some(probe.kernel_s),
            None => Some(self.listed()?.launch_s.value),
        }
    }

    /// The source of its figures in words, with the day on which a probe measured it.
    pub fn citation(&self) -> Cow<'static, str> {
        let source = self.source.citation();
        match &self.probe {
            None => Cow::Borrowed(source),
            Some(probe) => Cow::Owned(format!("{source}; {}", probe.origin())),
        }
    }

    /// Whether the launch time differs from [`Device::listed_launch_s`].
    pub fn has_own_launch(&self) -> bool {
        let launch_s = self.launch_s.value;
        self.listed_launch_s()
            .is_some_and(|listed_s| listed_s.total_cmp(&launch_s).is_ne())
    }

    /// Whether bandwidth and rates lie within [`OWN_BYTES_PER_S`] and [`OWN_FLOPS_PER_S`], as a
    /// custom device's must. The limits keep the texts of figures short.
    pub fn is_plausible(&self) -> bool {
        let mut rates = Rate::VARIANTS.iter().filter_map(|rate| rate.figure(self));
        OWN_BYTES_PER_S.contains(&self.memory_bytes_per_s.value)
            && rates.all(|rate| OWN_FLOPS_PER_S.contains(&rate.value))
    }

    /// A custom device. Rates are in FLOP/s, bandwidth is in byte/s, and `matrix` is the rate of
    /// f16 and bf16 operands.
    ///
    /// A rate that is not finite and positive is unknown, and so is every [`Rate`] that is not an
    /// argument. A bandwidth that is not finite and positive is replaced by that of the default
    /// device.
    pub fn custom(
        memory_bytes_per_s: f64,
        matrix_flops_per_s: f64,
        vector_flops_per_s: f64,
        launch_s: f64,
    ) -> Self {
        let default = default_device();
        Self {
            id: Cow::Borrowed(CUSTOM_ID),
            name: Cow::Borrowed("Custom"),
            source: Source::Custom,
            memory_bytes_per_s: own(memory_bytes_per_s).unwrap_or(default.memory_bytes_per_s),
            vector_flops_per_s: own(vector_flops_per_s),
            vector_f64_flops_per_s: None,
            matrix_f64_flops_per_s: None,
            matrix_tf32_flops_per_s: None,
            matrix_f16_flops_per_s: own(matrix_flops_per_s),
            matrix_f8_flops_per_s: None,
            matrix_f4_flops_per_s: None,
            matrix_i8_flops_per_s: None,
            launch_s: default.launch_s,
            matrix_units: MatrixUnits::F16AndBf16,
            hardware: Hardware::UNKNOWN,
            probe: None,
        }
        .with_launch_s(launch_s)
    }

    /// The same device with another rate, in FLOP/s; unknown if it is not finite and positive.
    #[must_use]
    pub fn with_rate(mut self, rate: Rate, flops_per_s: f64) -> Self {
        *rate.of(&mut self) = own(flops_per_s);
        self
    }
}

/// A figure of the visitor's own; `None` if it is not finite and positive.
fn own(value: f64) -> Option<Figure> {
    (value.is_finite() && value > 0.0).then(|| sourced(value))
}

/// Id of a device of the visitor's own.
pub const CUSTOM_ID: &str = "custom";

/// The device of this id, ignoring case.
pub fn device(id: &str) -> Option<&'static Device> {
    DEVICES.iter().find(|d| d.id.eq_ignore_ascii_case(id))
}

/// The device with the name that a driver reports: `H100 SXM` for `NVIDIA H100 80GB HBM3`. `None`
/// if the table lacks the device, or has only other variants of it.
pub fn device_called(gpu: &str) -> Option<&'static Device> {
    /// Words that name another variant of a chip.
    const OTHERS: [&str; 9] = [
        "pcie", "nvl", "ti", "super", "laptop", "mobile", "d", "max", "144g",
    ];
    /// Words that drivers leave out.
    const UNSAID: [&str; 1] = ["sxm"];
    let words = |name: &str| -> Vec<String> {
        let name = name.to_ascii_lowercase();
        let words = name.split(|c: char| !c.is_ascii_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let said = words(gpu);
    let fits = |device: &&Device| {
        let own = words(&device.name);
        let has_other =
            |word: &str| said.iter().any(|said| said == word) && !own.iter().any(|own| own == word);
        !OTHERS.iter().any(|word| has_other(word))
            && own
                .iter()
                .all(|own| UNSAID.contains(&own.as_str()) || said.contains(own))
    };
    // Of several devices the one whose name has the most words is the most specific.
    let fitting = DEVICES.iter().filter(fits);
    fitting.max_by_key(|device| words(&device.name).len())
}

/// The device that the page starts with: the A100 SXM with 80 GB.
pub fn default_device() -> &'static Device {
    DEFAULT
}

/// The index is in range, which is checked at compile time.
static DEFAULT: &Device = &DEVICES[4];
