//! Predicted times in words.

use crate::core::analysis::{Execution, Kernel};
use crate::core::cost::roofline::{Bound, MissingFigure, Placement, missing_figure, peaks, times};
use crate::core::model::dtype::DType;
use crate::core::model::options::Options;
use crate::present::devices::{computed_as, units_name};
use crate::present::format::{
    at_least, format_bandwidth, format_bytes, format_flops, format_rate, format_seconds,
};

/// The predicted time of a kernel: `430 µs`, `≥ 430 µs`.
pub fn time_text(placement: &Placement) -> String {
    at_least(
        placement.is_lower_bound(),
        &format_seconds(placement.time_s),
    )
}

/// The predicted time of all kernels: `430 µs`, `≥ 430 µs`.
pub fn total_time_text(execution: &Execution) -> String {
    at_least(
        execution.first_lower_bound().is_some(),
        &format_seconds(execution.time_s),
    )
}

/// What limits the speed of a kernel, in a word or two.
pub const fn bound_name(bound: Bound) -> &'static str {
    match bound {
        Bound::Memory => "memory",
        Bound::Matrix => "matrix units",
        Bound::Vector => "vector units",
        Bound::Launch => "launch",
        Bound::Unknown => "unknown",
    }
}

/// How the predicted time of a kernel is computed, one line for each part.
pub fn time_lines(kernel: &Kernel, options: &Options) -> Vec<String> {
    let device = &options.device;
    let alone = times(options, kernel.work, kernel.bytes());
    if kernel.is_free {
        return vec!["a view, which is not launched: 0 s".to_owned()];
    }
    let mut lines = vec![format!(
        "memory: {} / {} = {}",
        format_bytes(kernel.bytes()),
        format_bandwidth(device.memory_bytes_per_s.value),
        format_seconds(alone.memory_s)
    )];
    let rate = |name: &str, flops: u128, peak: Option<f64>, seconds: f64| match peak {
        _ if flops == 0 => None,
        None => Some(format!("{name}: no peak is known")),
        Some(peak) => Some(format!(
            "{name}: {} / {} = {}",
            format_flops(flops),
            format_rate(peak),
            format_seconds(seconds)
        )),
    };
    let peaks = peaks(options, kernel.work);
    let dtype = kernel.work.matrix_dtype.map_or("", DType::name);
    let (computed_as, units) = peaks.matrix.as_ref().map_or(("", "matrix units"), |peak| {
        (computed_as(peak), units_name(peak))
    });
    lines.extend(rate(
        &format!("{units}, {dtype}{computed_as}"),
        kernel.work.matrix_flops,
        peaks.matrix.map(|peak| peak.figure.value),
        alone.matrix_s,
    ));
    lines.extend(rate(
        "vector units",
        kernel.work.vector_f32_flops(),
        peaks.vector.map(|f| f.value),
        alone.vector_s,
    ));
    lines.extend(rate(
        "vector units, f64",
        kernel.work.vector_f64_flops,
        peaks.vector_f64.map(|f| f.value),
        alone.vector_f64_s,
    ));
    lines.push(format!(
        "the longest of these + {} launch = {}",
        format_seconds(device.launch_s.value),
        time_text(&kernel.placement)
    ));
    lines.extend(lower_bound_text(kernel, options));
    lines
}

/// What the time of a kernel leaves out: `no peak is known for f64 on this device; the time is a lower bound`.
pub fn lower_bound_text(kernel: &Kernel, options: &Options) -> Option<String> {
    let unknown_peak = |of: &str| format!("no peak is known for {of} on this device");
    let missing = match missing_figure(options, kernel.work)? {
        MissingFigure::K => "the length K of a matmul is not known".to_owned(),
        MissingFigure::PeakOf(dtype) => unknown_peak(dtype.name()),
        MissingFigure::MatrixPeak => unknown_peak("matrix units"),
        MissingFigure::VectorPeak => unknown_peak("vector units"),
    };
    Some(format!("{missing}; the time is a lower bound"))
}
