//! Figures of devices, in words.

use crate::present::format::{
    format_amount, format_bandwidth, format_intensity, format_rate, format_seconds,
};
use fuseline_core::model::device::{ComputeType, DeviceProbe, Figure, MatrixUnits, Peak};
use fuseline_core::{DType, Device, F32Matmul, ridge_point};

/// The units that reach a peak.
pub const fn units_name(peak: &Peak) -> &'static str {
    if peak.is_on_vector_units {
        "vector units"
    } else {
        "matrix units"
    }
}

/// The type that matmuls of an element type are computed in, if it is another one: ` as f16`.
pub const fn computed_as(peak: &Peak) -> &'static str {
    match peak.computed_as {
        None => "",
        Some(ComputeType::F8) => " as f8",
        Some(ComputeType::I8) => " as i8",
        Some(ComputeType::F16) => " as f16",
        Some(ComputeType::Tf32) => " as TF32",
        Some(ComputeType::F32) => " as f32",
    }
}

/// Whether the figures that most programs need are confirmed by their source.
pub fn is_confirmed(device: &Device) -> bool {
    let rates = [device.vector_flops_per_s, device.matrix_f16_flops_per_s];
    let mut rates = rates.into_iter().flatten();
    device.memory_bytes_per_s.is_confirmed && rates.all(|figure| figure.is_confirmed)
}

/// One figure of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureRow {
    /// What it measures.
    pub what: &'static str,
    /// Its value with its unit, and `?` if it is not confirmed.
    pub figure: String,
}

/// All figures of a device.
pub fn figure_rows(device: &Device) -> Vec<FigureRow> {
    let marked = |figure: Figure, format: fn(f64) -> String| {
        let mark = if figure.is_confirmed { "" } else { " ?" };
        format!("{}{mark}", format(figure.value))
    };
    let rate = |figure: Option<Figure>| match figure {
        Some(figure) => marked(figure, format_rate),
        None => "not specified".to_owned(),
    };
    let computed_rate = |own: Option<Figure>, dtype| {
        let peak = device.matmul_peak(dtype, F32Matmul::F32);
        match (own, peak.map(|peak| computed_as(&peak))) {
            (None, Some(computed_as)) if !computed_as.is_empty() => {
                format!("not specified; computed{computed_as}")
            }
            (figure, _) => rate(figure),
        }
    };
    let f8_rate = computed_rate(device.matrix_f8_flops_per_s, DType::F8e4m3);
    let f64_rate = match (device.matrix_f64_flops_per_s, device.vector_f64_flops_per_s) {
        (None, Some(_)) => "not specified; computed on the vector units".to_owned(),
        (figure, _) => rate(figure),
    };
    let f16_units = match device.matrix_units {
        MatrixUnits::Absent => "vector units, f16 (no matrix units)",
        MatrixUnits::F16 => "matrix units, f16; not bf16",
        MatrixUnits::F16AndBf16 => "matrix units, f16 and bf16",
    };
    let ridge = ridge_point(device, DType::F16, F32Matmul::F32);
    let rows = [
        Some((
            "memory bandwidth",
            marked(device.memory_bytes_per_s, format_bandwidth),
        )),
        Some(("vector units, f32", rate(device.vector_flops_per_s))),
        Some((
            "matrix units, f32 as TF32",
            rate(device.matrix_tf32_flops_per_s),
        )),
        Some((f16_units, rate(device.matrix_f16_flops_per_s))),
        Some(("matrix units, f8", f8_rate)),
        Some((
            "matrix units, f4",
            computed_rate(device.matrix_f4_flops_per_s, DType::F4),
        )),
        Some(("matrix units, i8", rate(device.matrix_i8_flops_per_s))),
        Some(("vector units, f64", rate(device.vector_f64_flops_per_s))),
        Some(("matrix units, f64", f64_rate)),
        ridge.map(|ridge| ("ridge point, f16", format_intensity(ridge))),
        Some((
            "launch time per kernel",
            marked(device.launch_s, format_seconds),
        )),
    ];
    let rows = rows.into_iter().flatten();
    let rows = rows.map(|(what, figure)| FigureRow { what, figure });
    rows.chain(device.probe.iter().flat_map(|probe| probe_rows(probe)))
        .collect()
}

/// What a probe reached.
fn probe_rows(probe: &DeviceProbe) -> impl Iterator<Item = FigureRow> {
    let rows = [
        (
            "measured: memory",
            Some(format_bandwidth(probe.memory_bytes_per_s)),
        ),
        (
            "measured: cache",
            probe.l2_bytes_per_s.map(format_bandwidth),
        ),
        (
            "measured: matmul, f16",
            probe.matrix_f16_flops_per_s.map(format_rate),
        ),
        (
            "measured: matmul, bf16",
            probe.matrix_bf16_flops_per_s.map(format_rate),
        ),
        (
            "measured: matmul, f32 as TF32",
            probe.matrix_tf32_flops_per_s.map(format_rate),
        ),
        (
            "measured: vector units, f32",
            Some(format_rate(probe.vector_flops_per_s)),
        ),
        (
            "measured: f32 matmul by a shader of this page",
            probe.shader_product_flops_per_s.map(format_rate),
        ),
        (
            "measured: exponentials",
            probe.exp_per_s.map(|per_s| format_amount(per_s, "/s")),
        ),
    ];
    rows.into_iter().filter_map(|(what, figure)| {
        Some(FigureRow {
            what,
            figure: figure?,
        })
    })
}
