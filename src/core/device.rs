//! Devices: memory bandwidth and peak rates, each figure with its source.

use super::dtype::DType;
use serde::Serialize;
use std::borrow::Cow;

/// A figure of a device, and whether its source was at hand when it was written down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// `false`: recalled from a data sheet and not fetched again; shown with a question mark.
    pub is_confirmed: bool,
}

/// Where the figures of a device come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The compiler's target descriptions.
    Xla,
    /// The vendor's architecture table.
    Rocm,
    /// Both of them, where they agree.
    XlaRocm,
    /// The compiler's table of TPUs.
    Pallas,
    /// The vendor's conference talk.
    HotChips,
    /// Published microbenchmarks.
    MetalBenchmarks,
    /// The vendor's data sheet.
    DataSheet,
    /// Data sheets, from memory.
    Recalled,
    /// The visitor's own figures.
    Custom,
}

impl Source {
    /// The source as a reader would look it up.
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
            Self::Recalled => "vendor data sheet, recalled and not fetched again",
            Self::Custom => "your own figures",
        }
    }
}

/// One accelerator. Rates are dense peaks, in FLOP/s; bandwidth in byte/s.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Device {
    /// Short name for links and the command line.
    pub id: Cow<'static, str>,
    /// Name for people.
    pub name: Cow<'static, str>,
    /// Where the figures come from.
    pub source: Source,
    /// Bandwidth of its memory.
    pub memory_bytes_per_s: Figure,
    /// f32 rate of the vector units, which run everything but matmuls; f16 data are computed in f32 there.
    pub vector_flops_per_s: Option<Figure>,
    /// Matrix units on f32 operands, computed as TF32.
    pub matrix_tf32_flops_per_s: Option<Figure>,
    /// Matrix units on f16 or bf16 operands.
    pub matrix_f16_flops_per_s: Option<Figure>,
    /// Matrix units on f8 operands.
    pub matrix_f8_flops_per_s: Option<Figure>,
    /// Matrix units on i8 operands.
    pub matrix_i8_flops_per_s: Option<Figure>,
    /// Time that starting one kernel adds.
    pub launch_s: Figure,
}

/// What one launch adds when the queue is full; an order of magnitude, to be replaced by a measured figure.
const LAUNCH_S: Figure = Figure {
    value: 2e-6,
    is_confirmed: false,
};

impl Device {
    /// Peak of the matrix units on operands of `dtype`. f32 falls back to the vector units where there is
    /// no TF32; `None` where nothing is known.
    pub fn matrix_peak(&self, dtype: DType) -> Option<Figure> {
        match dtype {
            DType::F32 => self.matrix_tf32_flops_per_s.or(self.vector_flops_per_s),
            DType::F16 | DType::Bf16 => self.matrix_f16_flops_per_s.or(self.vector_flops_per_s),
            DType::F8 => self.matrix_f8_flops_per_s.or(self.matrix_peak(DType::F16)),
            DType::I8 => self.matrix_i8_flops_per_s,
            DType::F64 | DType::I64 | DType::I32 | DType::Bool => None,
        }
    }

    /// A device of the visitor's own. Rates in FLOP/s, bandwidth in byte/s; `matrix` holds for every type.
    /// Figures that are not finite and positive are replaced by the default device's.
    pub fn custom(
        memory_bytes_per_s: f64,
        matrix_flops_per_s: f64,
        vector_flops_per_s: f64,
        launch_s: f64,
    ) -> Self {
        let own = |value: f64, fallback: Figure| {
            if value.is_finite() && value > 0.0 {
                sourced_si(value)
            } else {
                fallback
            }
        };
        let default = default_device();
        let matrix = default
            .matrix_f16_flops_per_s
            .map(|f| own(matrix_flops_per_s, f));
        Self {
            id: Cow::Borrowed("custom"),
            name: Cow::Borrowed("Custom"),
            source: Source::Custom,
            memory_bytes_per_s: own(memory_bytes_per_s, default.memory_bytes_per_s),
            vector_flops_per_s: default
                .vector_flops_per_s
                .map(|f| own(vector_flops_per_s, f)),
            matrix_tf32_flops_per_s: matrix,
            matrix_f16_flops_per_s: matrix,
            matrix_f8_flops_per_s: matrix,
            matrix_i8_flops_per_s: matrix,
            launch_s: if launch_s.is_finite() && launch_s >= 0.0 {
                sourced_si(launch_s)
            } else {
                default.launch_s
            },
        }
    }
}

/// The device of this id, ignoring case.
pub fn device(id: &str) -> Option<&'static Device> {
    DEVICES.iter().find(|d| d.id.eq_ignore_ascii_case(id))
}

/// The device that the page starts with: the A100 SXM with 80 GB.
pub fn default_device() -> &'static Device {
    &DEVICES[DEFAULT]
}

/// Place of the default in the table; checked when the crate is compiled.
const DEFAULT: usize = 3;

const fn sourced_si(value: f64) -> Figure {
    Figure {
        value,
        is_confirmed: true,
    }
}

/// A figure in GB/s or TFLOP/s whose source was at hand.
const fn sourced(value: f64) -> Figure {
    Figure {
        value,
        is_confirmed: true,
    }
}

/// The same, from memory.
const fn recalled(value: f64) -> Figure {
    Figure {
        value,
        is_confirmed: false,
    }
}

const fn times(figure: Figure, unit: f64) -> Figure {
    Figure {
        value: figure.value * unit,
        is_confirmed: figure.is_confirmed,
    }
}

const fn tera(figure: Option<Figure>) -> Option<Figure> {
    match figure {
        Some(figure) => Some(times(figure, 1e12)),
        None => None,
    }
}

/// A row: bandwidth in GB/s; vector f32, then matrix TF32, f16, f8 and i8 in TFLOP/s.
const fn row(
    id: &'static str,
    name: &'static str,
    source: Source,
    gb_per_s: Figure,
    rates: [Option<Figure>; 5],
) -> Device {
    let [vector, tf32, f16, f8, i8] = rates;
    Device {
        id: Cow::Borrowed(id),
        name: Cow::Borrowed(name),
        source,
        memory_bytes_per_s: times(gb_per_s, 1e9),
        vector_flops_per_s: tera(vector),
        matrix_tf32_flops_per_s: tera(tf32),
        matrix_f16_flops_per_s: tera(f16),
        matrix_f8_flops_per_s: tera(f8),
        matrix_i8_flops_per_s: tera(i8),
        launch_s: LAUNCH_S,
    }
}

/// All known devices. For the A100 PCIe the data sheet stands instead of the compiler's table, whose clock
/// gives 245.6 TFLOP/s; an f8 rate that only i8 has is left out.
#[rustfmt::skip]
pub static DEVICES: &[Device] = &[
    row("p100", "P100 SXM2", Source::Xla, sourced(732.0), [Some(recalled(10.6)), None, Some(recalled(21.2)), None, None]),
    row("v100", "V100 SXM2 16GB", Source::Xla, sourced(898.0), [Some(sourced(15.7)), None, Some(sourced(125.0)), None, None]),
    row("a100-40", "A100 SXM 40GB", Source::Xla, sourced(1555.2), [Some(sourced(19.5)), Some(sourced(155.9)), Some(sourced(311.9)), None, Some(sourced(623.7))]),
    row("a100-80", "A100 SXM 80GB", Source::Xla, sourced(2039.0), [Some(sourced(19.5)), Some(sourced(155.9)), Some(sourced(311.9)), None, Some(sourced(623.7))]),
    row("a100-pcie-80", "A100 PCIe 80GB", Source::DataSheet, recalled(1935.0), [None, None, Some(sourced(312.0)), None, None]),
    row("h100-pcie", "H100 PCIe", Source::Xla, sourced(2039.0), [Some(sourced(51.2)), Some(sourced(378.6)), Some(sourced(757.2)), Some(sourced(1514.4)), Some(sourced(1514.4))]),
    row("h100", "H100 SXM", Source::Xla, sourced(3352.3), [Some(sourced(66.9)), Some(sourced(494.6)), Some(sourced(989.2)), Some(sourced(1978.3)), Some(sourced(1978.3))]),
    row("h200", "H200", Source::Xla, sourced(4800.0), [Some(sourced(66.9)), Some(sourced(494.6)), Some(sourced(989.2)), Some(sourced(1978.3)), Some(sourced(1978.3))]),
    row("b200", "B200", Source::Xla, sourced(7672.3), [Some(sourced(74.4)), Some(sourced(1112.6)), Some(sourced(2225.2)), Some(sourced(4450.3)), None]),
    row("gb200", "GB200", Source::Xla, sourced(7928.1), [Some(sourced(80.2)), Some(sourced(1199.1)), Some(sourced(2398.1)), Some(sourced(4796.2)), None]),
    row("b300", "B300", Source::Xla, sourced(7936.0), [Some(sourced(79.5)), Some(sourced(1187.8)), Some(sourced(2375.5)), Some(sourced(4751.0)), None]),
    row("gb300", "GB300", Source::Xla, sourced(7928.1), [Some(sourced(80.5)), Some(sourced(1203.7)), Some(sourced(2407.4)), Some(sourced(4814.8)), None]),
    row("l4", "L4", Source::Recalled, recalled(300.0), [Some(recalled(30.3)), Some(recalled(60.0)), Some(recalled(121.0)), Some(recalled(242.5)), Some(recalled(242.5))]),
    row("l40s", "L40S", Source::Recalled, recalled(864.0), [Some(recalled(91.6)), Some(recalled(183.0)), Some(recalled(362.0)), Some(recalled(733.0)), Some(recalled(733.0))]),
    row("rtx-a6000", "RTX A6000", Source::Xla, sourced(768.1), [Some(recalled(38.7)), Some(recalled(77.4)), Some(recalled(154.8)), None, None]),
    row("rtx-pro-6000", "RTX PRO 6000 Blackwell", Source::Xla, sourced(1792.0), [Some(recalled(125.0)), None, Some(recalled(503.0)), None, None]),
    row("rtx-3090", "RTX 3090", Source::Recalled, recalled(936.0), [Some(recalled(35.6)), Some(recalled(35.6)), Some(recalled(71.0)), None, None]),
    row("rtx-4090", "RTX 4090", Source::Recalled, recalled(1008.0), [Some(recalled(82.6)), Some(recalled(82.6)), Some(recalled(165.2)), Some(recalled(330.3)), None]),
    row("rtx-5090", "RTX 5090", Source::Recalled, recalled(1792.0), [Some(recalled(104.8)), Some(recalled(104.8)), Some(recalled(209.5)), Some(recalled(419.0)), None]),
    row("mi250x", "MI250X", Source::Rocm, recalled(3276.8), [Some(recalled(47.9)), None, Some(recalled(383.0)), None, None]),
    row("mi300x", "MI300X", Source::Rocm, recalled(5300.0), [Some(recalled(163.4)), Some(recalled(653.7)), Some(recalled(1307.4)), Some(recalled(2614.9)), Some(recalled(2614.9))]),
    row("mi325x", "MI325X", Source::Rocm, recalled(6000.0), [Some(recalled(163.4)), Some(recalled(653.7)), Some(recalled(1307.4)), Some(recalled(2614.9)), Some(recalled(2614.9))]),
    row("mi350x", "MI350X", Source::XlaRocm, recalled(8000.0), [Some(recalled(144.2)), None, Some(recalled(2309.6)), Some(recalled(4614.0)), Some(recalled(4614.0))]),
    row("mi355x", "MI355X", Source::Recalled, recalled(8000.0), [Some(recalled(157.3)), None, Some(recalled(2516.0)), Some(recalled(5033.0)), Some(recalled(5033.0))]),
    row("tpu-v4", "TPU v4", Source::Pallas, sourced(1230.0), [None, None, Some(sourced(275.0)), None, Some(sourced(275.0))]),
    row("tpu-v5e", "TPU v5e", Source::Pallas, sourced(820.0), [None, None, Some(sourced(197.0)), None, Some(sourced(394.0))]),
    row("tpu-v5p", "TPU v5p", Source::Pallas, sourced(2460.0), [None, None, Some(sourced(459.0)), None, Some(sourced(918.0))]),
    row("tpu-v6e", "TPU v6e", Source::Pallas, sourced(1640.0), [None, None, Some(sourced(920.0)), Some(sourced(920.0)), Some(sourced(1840.0))]),
    row("gaudi-2", "Gaudi 2", Source::HotChips, sourced(2460.0), [None, None, Some(sourced(432.0)), None, Some(sourced(865.0))]),
    row("gaudi-3", "Gaudi 3", Source::HotChips, sourced(3670.0), [Some(sourced(28.7)), None, Some(sourced(1835.0)), Some(sourced(1835.0)), None]),
    row("m1-max", "Apple M1 Max (32 cores)", Source::MetalBenchmarks, sourced(400.0), [Some(sourced(10.4)), None, Some(sourced(10.4)), None, None]),
    row("m1-ultra", "Apple M1 Ultra", Source::MetalBenchmarks, sourced(800.0), [Some(sourced(20.8)), None, None, None, None]),
    row("m2-ultra", "Apple M2 Ultra (76 cores)", Source::Recalled, recalled(800.0), [Some(recalled(27.2)), None, None, None, None]),
    row("m4-max", "Apple M4 Max (40 cores)", Source::Recalled, recalled(546.0), [Some(recalled(17.5)), None, None, None, None]),
    row("m3-ultra", "Apple M3 Ultra (80 cores)", Source::Recalled, recalled(819.0), [Some(recalled(28.0)), None, None, None, None]),];
