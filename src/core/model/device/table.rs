//! The table of devices. Sources are those of [`Source`]. In a row `s` marks a figure whose source
//! was read, `r` one from memory.
#![allow(
    clippy::unnecessary_wraps,
    reason = "rows mix these figures with `None` for unknown ones"
)]

use crate::model::device::figure::{Figure, sourced};
use crate::model::device::hardware::{
    ADA, AMPERE, AMPERE_A100, BLACKWELL, BLACKWELL_RTX, CDNA, CDNA_4, HOPPER, Hardware, OnChip,
    PASCAL, TURING, VOLTA,
};
use crate::model::device::{Device, LAUNCH_S, MatrixUnits, Source};
use std::borrow::Cow;

/// All known devices. First line of a row: bandwidth in GB/s; peaks for vector f32, then matrix
/// TF32, f16, f8 and i8, in TFLOP/s. Second line: multiprocessors, clock in GHz, memory, shared
/// cache, limits of a multiprocessor; f64 rates of vector and matrix units, where the device has
/// any.
///
/// f64 rates of Hopper and Blackwell follow from clock, units and operations a clock in the
/// compiler's table. For the B300 and the GB300 it gives those of the B200, while NVIDIA states 10
/// TFLOP/s for eight B300 and 100 for 72 GB300, which stands here. Graphics cards compute f64 at
/// 1/64 of their f32 rate.
///
/// The B300 has the rates that NVIDIA states for eight of them (36 PFLOP/s of f16, 72 of f8 and 18
/// of TF32, with sparsity), and the 148 multiprocessors that make its f32 rate; the compiler's
/// table counts 158. The TPU v5p's bandwidth is that of Google's documentation
/// (`cloud.google.com/tpu/docs/v5p`), where the compiler's table has 2,460 GB/s. The cache that all
/// multiprocessors of an MI300X and its successors share is the last one, of 256 MiB; each die has
/// an L2 of 4 MiB.
///
/// f4 rates are those of operands with a scale per block, and twice the f8 rate in the compiler's
/// table of the B200 and GB200; the B300 and GB300 multiply f4 faster still, and i8 at 1/30 of the
/// f8 rate. The RTX 4090 and 5090 multiply f8 at half the i8 rate, because they sum it in f32.
///
/// Figures of the T4, A10G, L40, L40S, H20, RTX 6000 Ada, PRO 6000, 4090 and 5090, and of the B300
/// and GB300 in i8 and f4, are marked as read where copies of the data sheets had them.
///
/// The A100 PCIe uses the data sheet, because the clock in the compiler's table gives 245.6
/// TFLOP/s. An f8 rate that only i8 reaches is left out. The H200's cache size is the one that its
/// driver reports; the compiler's table says 50 MiB.
#[rustfmt::skip]
pub static DEVICES: &[Device] = &[
    row("p100", "P100 SXM2", Source::Xla, sourced(732.0), [r(10.6), None, r(21.2), None, None],
        [s(56.0), s(1.48), gib(s(15.9)), mib(s(4.0))], OnChip::Multiprocessor(PASCAL)).f64(r(5.3), None).with(MatrixUnits::Absent),
    row("v100", "V100 SXM2 16GB", Source::Xla, sourced(898.0), [s(15.7), None, s(125.0), None, None],
        [s(80.0), s(1.53), gib(s(15.8)), mib(s(6.0))], OnChip::Multiprocessor(VOLTA)).f64(r(7.8), None).with(MatrixUnits::F16),
    row("t4", "T4", Source::Recalled, sourced(320.0), [s(8.14), None, s(65.1), None, s(130.25)],
        [s(40.0), s(1.59), gb(s(16.0)), mib(s(4.0))], OnChip::Multiprocessor(TURING)).f64(s(0.25), None).with(MatrixUnits::F16),
    row("a100-40", "A100 SXM 40GB", Source::Xla, sourced(1555.2), [s(19.5), s(155.9), s(311.9), None, s(623.7)],
        [s(108.0), s(1.41), gib(s(39.4)), mib(s(40.0))], OnChip::Multiprocessor(AMPERE_A100)).f64(r(9.7), r(19.5)),
    row("a100-80", "A100 SXM 80GB", Source::Xla, sourced(2039.0), [s(19.5), s(155.9), s(311.9), None, s(623.7)],
        [s(108.0), s(1.41), gib(s(79.3)), mib(s(40.0))], OnChip::Multiprocessor(AMPERE_A100)).f64(r(9.7), r(19.5)),
    row("a100-pcie-80", "A100 PCIe 80GB", Source::DataSheet, recalled(1935.0), [r(19.5), r(156.0), s(312.0), None, r(624.0)],
        [s(108.0), r(1.41), gb(s(80.0)), mib(s(40.0))], OnChip::Multiprocessor(AMPERE_A100)).f64(r(9.7), r(19.5)),
    row("h100-pcie", "H100 PCIe", Source::Xla, sourced(2039.0), [s(51.2), s(378.6), s(757.2), s(1514.4), s(1514.4)],
        [s(114.0), s(1.755), gib(s(79.1)), mib(s(50.0))], OnChip::Multiprocessor(HOPPER)).f64(s(25.6), s(51.2)),
    row("h100", "H100 SXM", Source::Xla, sourced(3352.3), [s(66.9), s(494.6), s(989.2), s(1978.3), s(1978.3)],
        [s(132.0), s(1.98), gib(s(79.1)), mib(s(50.0))], OnChip::Multiprocessor(HOPPER)).f64(s(33.5), s(66.9)).launching(1.7),
    row("h20", "H20", Source::Recalled, sourced(4000.0), [s(44.0), s(74.0), s(148.0), r(296.0), s(296.0)],
        [s(78.0), None, gb(s(96.0)), mib(r(60.0))], OnChip::Multiprocessor(HOPPER)).f64(s(1.0), r(1.0)),
    row("gh200", "GH200", Source::Recalled, recalled(4000.0), [r(66.9), r(494.6), r(989.2), r(1978.3), r(1978.3)],
        [r(132.0), r(1.98), gb(r(96.0)), mib(r(60.0))], OnChip::Multiprocessor(HOPPER)).f64(r(33.5), r(66.9)),
    row("h200", "H200", Source::Xla, sourced(4800.0), [s(66.9), s(494.6), s(989.2), s(1978.3), s(1978.3)],
        [s(132.0), s(1.98), gib(s(141.0)), mib(s(60.0))], OnChip::Multiprocessor(HOPPER)).f64(s(33.5), s(66.9)).launching(1.7),
    row("b200", "B200", Source::Xla, sourced(7672.3), [s(74.4), s(1112.6), s(2225.2), s(4450.3), s(4450.3)],
        [s(148.0), s(1.965), gib(s(178.4)), mib(s(126.5))], OnChip::Multiprocessor(BLACKWELL)).f64(s(37.2), s(37.2)).f4(s(8900.6)),
    row("gb200", "GB200", Source::Xla, sourced(7928.1), [s(80.2), s(1199.1), s(2398.1), s(4796.2), s(4796.2)],
        [s(152.0), s(2.062), gib(s(184.3)), mib(s(129.2))], OnChip::Multiprocessor(BLACKWELL)).f64(s(40.1), s(40.1)).f4(s(9592.4)),
    row("b300", "B300", Source::DataSheet, sourced(7936.0), [s(75.0), s(1125.0), s(2250.0), s(4500.0), s(150.0)],
        [r(148.0), s(1.965), gb(s(288.0)), mib(s(129.2))], OnChip::Multiprocessor(BLACKWELL)).f64(s(1.25), s(1.25)).f4(r(13500.0)),
    row("gb300", "GB300", Source::Xla, sourced(7928.1), [s(80.5), s(1203.7), s(2407.4), s(4814.8), s(165.0)],
        [s(152.0), s(2.07), gib(s(276.6)), mib(s(129.2))], OnChip::Multiprocessor(BLACKWELL)).f64(r(1.39), r(1.39)).f4(s(15_000.0)),
    row("l4", "L4", Source::Recalled, recalled(300.0), [r(30.3), r(60.0), r(121.0), r(242.5), r(242.5)],
        [r(58.0), None, gb(r(24.0)), mib(r(48.0))], OnChip::Multiprocessor(ADA)).f64(r(0.47), None),
    row("l40", "L40", Source::DataSheet, sourced(864.0), [s(90.5), s(90.5), s(181.05), s(362.0), s(362.0)],
        [s(142.0), s(2.49), gb(s(48.0)), mib(r(96.0))], OnChip::Multiprocessor(ADA)).f64(s(1.41), None),
    row("l40s", "L40S", Source::DataSheet, sourced(864.0), [s(91.6), s(183.0), s(362.05), s(733.0), s(733.0)],
        [s(142.0), s(2.52), gb(s(48.0)), mib(r(96.0))], OnChip::Multiprocessor(ADA)).f64(s(1.43), None),
    row("a10g", "A10G", Source::Recalled, sourced(600.0), [r(35.0), r(35.0), r(70.0), None, r(140.0)],
        [r(80.0), r(1.71), gb(s(24.0)), mib(r(6.0))], OnChip::Multiprocessor(AMPERE)).f64(r(0.55), None),
    row("rtx-a6000", "RTX A6000", Source::Xla, sourced(768.1), [r(38.7), r(77.4), r(154.8), None, r(309.7)],
        [s(84.0), s(1.8), gib(s(47.5)), mib(s(6.0))], OnChip::Multiprocessor(AMPERE)).f64(r(0.6), None),
    row("rtx-6000-ada", "RTX 6000 Ada Generation", Source::Recalled, recalled(960.0), [s(91.1), r(182.1), r(364.2), r(728.5), r(728.5)],
        [s(142.0), s(2.505), gb(s(48.0)), mib(s(96.0))], OnChip::Multiprocessor(ADA)).f64(r(1.42), None),
    row("rtx-pro-6000", "RTX PRO 6000 Blackwell", Source::Xla, sourced(1792.0), [s(125.0), s(251.9), s(503.8), s(1007.6), s(1007.6)],
        [s(188.0), s(2.6), gib(s(96.0)), mib(s(128.0))], OnChip::Multiprocessor(BLACKWELL_RTX)).f64(s(1.97), None).f4(s(2015.2)),
    row("rtx-3090", "RTX 3090", Source::Recalled, recalled(936.0), [r(35.6), r(35.6), r(71.0), None, r(284.0)],
        [r(82.0), r(1.7), gb(r(24.0)), mib(r(6.0))], OnChip::Multiprocessor(AMPERE)).f64(r(0.56), None),
    row("rtx-4090", "RTX 4090", Source::Recalled, sourced(1008.0), [s(82.6), s(82.6), s(165.2), s(330.3), s(660.6)],
        [s(128.0), s(2.52), gb(s(24.0)), mib(s(72.0))], OnChip::Multiprocessor(ADA)).f64(s(1.29), None),
    row("rtx-5090", "RTX 5090", Source::Recalled, recalled(1792.0), [s(104.8), r(104.8), r(209.5), r(419.0), r(838.0)],
        [s(170.0), s(2.41), gb(s(32.0)), mib(s(96.0))], OnChip::Multiprocessor(BLACKWELL_RTX)).f64(r(1.64), None).f4(s(1676.0)),
    row("mi250x", "MI250X", Source::Rocm, recalled(3276.8), [r(47.9), None, r(383.0), None, None],
        [s(220.0), s(1.7), gb(s(128.0)), mib(s(16.0))], OnChip::Multiprocessor(CDNA)).f64(r(47.9), r(95.7)),
    row("mi300x", "MI300X", Source::Rocm, recalled(5300.0), [r(163.4), r(653.7), r(1307.4), r(2614.9), r(2614.9)],
        [s(304.0), s(2.1), gb(s(192.0)), mib(s(256.0))], OnChip::Multiprocessor(CDNA)).f64(r(81.7), r(163.4)),
    row("mi325x", "MI325X", Source::Rocm, recalled(6000.0), [r(163.4), r(653.7), r(1307.4), r(2614.9), r(2614.9)],
        [s(304.0), s(2.1), gb(s(256.0)), mib(s(256.0))], OnChip::Multiprocessor(CDNA)).f64(r(81.7), r(163.4)),
    row("mi350x", "MI350X", Source::XlaRocm, recalled(8000.0), [r(144.2), None, r(2309.6), r(4614.0), r(4614.0)],
        [s(256.0), s(2.2), gb(s(288.0)), mib(s(256.0))], OnChip::Multiprocessor(CDNA_4)).f64(r(72.1), r(72.1)).f4(r(9228.0)),
    row("mi355x", "MI355X", Source::Recalled, recalled(8000.0), [r(157.3), None, r(2516.0), r(5033.0), r(5033.0)],
        [r(256.0), r(2.4), gb(r(288.0)), mib(s(256.0))], OnChip::Multiprocessor(CDNA_4)).f64(r(78.6), r(78.6)).f4(r(10_066.0)),
    row("tpu-v4", "TPU v4", Source::Pallas, sourced(1230.0), [None, None, s(275.0), None, s(275.0)],
        [s(2.0), None, gb(s(34.4)), None], OnChip::Scratchpad { bytes: 16 * MIB, is_confirmed: true }),
    row("tpu-v5e", "TPU v5e", Source::Pallas, sourced(820.0), [None, None, s(197.0), None, s(394.0)],
        [s(1.0), None, gb(s(17.2)), None], OnChip::Scratchpad { bytes: 128 * MIB, is_confirmed: true }),
    row("tpu-v5p", "TPU v5p", Source::Pallas, sourced(2765.0), [None, None, s(459.0), s(459.0), s(918.0)],
        [s(2.0), None, gb(s(103.0)), None], OnChip::Scratchpad { bytes: 64 * MIB, is_confirmed: true }),
    row("tpu-v6e", "TPU v6e", Source::Pallas, sourced(1640.0), [None, None, s(920.0), s(920.0), s(1840.0)],
        [s(1.0), None, gb(s(34.4)), None], OnChip::Scratchpad { bytes: 128 * MIB, is_confirmed: true }),
    row("gaudi-2", "Gaudi 2", Source::HotChips, sourced(2460.0), [None, None, s(432.0), s(865.0), None],
        [s(24.0), None, gb(s(96.0)), mb(s(48.0))], OnChip::Unknown),
    row("gaudi-3", "Gaudi 3", Source::HotChips, sourced(3670.0), [s(28.7), None, s(1835.0), s(1835.0), None],
        [s(64.0), None, gb(s(128.0)), mb(s(96.0))], OnChip::Unknown),
    row("m1-max", "Apple M1 Max (32 cores)", Source::MetalBenchmarks, sourced(400.0), [s(10.4), None, s(10.4), None, None],
        [s(32.0), s(1.3), gb(s(64.0)), mb(s(48.0))], OnChip::Scratchpad { bytes: 32 * KIB, is_confirmed: true }).with(MatrixUnits::Absent),
    row("m1-ultra", "Apple M1 Ultra", Source::MetalBenchmarks, sourced(800.0), [s(20.8), None, None, None, None],
        [s(64.0), None, gb(s(128.0)), mb(s(96.0))], OnChip::Scratchpad { bytes: 32 * KIB, is_confirmed: true }).with(MatrixUnits::Absent),
    row("m2-ultra", "Apple M2 Ultra (76 cores)", Source::Recalled, recalled(800.0), [r(27.2), None, None, None, None],
        [r(76.0), None, gb(r(192.0)), None], OnChip::Scratchpad { bytes: 32 * KIB, is_confirmed: false }).with(MatrixUnits::Absent),
    row("m4-max", "Apple M4 Max (40 cores)", Source::Recalled, recalled(546.0), [r(17.5), None, None, None, None],
        [r(40.0), None, gb(r(128.0)), None], OnChip::Scratchpad { bytes: 32 * KIB, is_confirmed: false }).with(MatrixUnits::Absent),
    row("m3-ultra", "Apple M3 Ultra (80 cores)", Source::Recalled, recalled(819.0), [r(28.0), None, None, None, None],
        [r(80.0), None, gb(r(512.0)), None], OnChip::Scratchpad { bytes: 32 * KIB, is_confirmed: false }).with(MatrixUnits::Absent),
];

/// A figure from memory.
const fn recalled(value: f64) -> Figure {
    Figure {
        value,
        is_confirmed: false,
    }
}

const fn s(value: f64) -> Option<Figure> {
    Some(sourced(value))
}

const fn r(value: f64) -> Option<Figure> {
    Some(recalled(value))
}

const fn times(figure: Option<Figure>, unit: f64) -> Option<Figure> {
    match figure {
        Some(figure) => Some(Figure {
            value: figure.value * unit,
            is_confirmed: figure.is_confirmed,
        }),
        None => None,
    }
}

const fn mb(figure: Option<Figure>) -> Option<Figure> {
    times(figure, 1e6)
}

const fn gb(figure: Option<Figure>) -> Option<Figure> {
    times(figure, 1e9)
}

const fn mib(figure: Option<Figure>) -> Option<Figure> {
    times(figure, 1_048_576.0)
}

const fn gib(figure: Option<Figure>) -> Option<Figure> {
    times(figure, 1_073_741_824.0)
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

const fn row(
    id: &'static str,
    name: &'static str,
    source: Source,
    gb_per_s: Figure,
    rates: [Option<Figure>; 5],
    parts: [Option<Figure>; 4],
    on_chip: OnChip,
) -> Device {
    let [vector, tf32, f16, f8, i8] = rates;
    let [multiprocessors, ghz, memory_bytes, l2_bytes] = parts;
    Device {
        id: Cow::Borrowed(id),
        name: Cow::Borrowed(name),
        source,
        memory_bytes_per_s: Figure {
            value: gb_per_s.value * 1e9,
            is_confirmed: gb_per_s.is_confirmed,
        },
        vector_flops_per_s: times(vector, 1e12),
        vector_f64_flops_per_s: None,
        matrix_f64_flops_per_s: None,
        matrix_tf32_flops_per_s: times(tf32, 1e12),
        matrix_f16_flops_per_s: times(f16, 1e12),
        matrix_f8_flops_per_s: times(f8, 1e12),
        matrix_f4_flops_per_s: None,
        matrix_i8_flops_per_s: times(i8, 1e12),
        launch_s: LAUNCH_S,
        matrix_units: MatrixUnits::F16AndBf16,
        hardware: Hardware {
            multiprocessors,
            clock_hz: times(ghz, 1e9),
            memory_bytes,
            l2_bytes,
            on_chip,
        },
        probe: None,
    }
}

impl Device {
    /// With the f4 rate of the matrix units, in TFLOP/s.
    const fn f4(mut self, matrix: Option<Figure>) -> Self {
        self.matrix_f4_flops_per_s = times(matrix, 1e12);
        self
    }

    /// With a measured time of one launch, in microseconds.
    const fn launching(mut self, us: f64) -> Self {
        self.launch_s = sourced(us * 1e-6);
        self
    }

    const fn with(mut self, matrix_units: MatrixUnits) -> Self {
        self.matrix_units = matrix_units;
        self
    }

    /// With f64 rates of vector and matrix units, in TFLOP/s.
    const fn f64(mut self, vector: Option<Figure>, matrix: Option<Figure>) -> Self {
        self.vector_f64_flops_per_s = times(vector, 1e12);
        self.matrix_f64_flops_per_s = times(matrix, 1e12);
        self
    }
}
