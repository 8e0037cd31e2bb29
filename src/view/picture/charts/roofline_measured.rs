//! Kernels as they were measured, beside the predicted ones: FLOPs over measured bytes, and over
//! measured time.

use crate::picture::charts::labels::kernel_heading;
use crate::picture::charts::marks::{polygon, tenths};
use crate::picture::charts::roofline_frame::RooflineFrame;
use crate::picture::charts::scene::{Label, Role};
use crate::present::format::{format_bytes, format_intensity, format_rate, format_seconds};
use fuseline_core::Analysis;
use fuseline_core::KernelId;
use fuseline_import::matching::{Counted, Matching};

/// Most measured points: more would hide what they are compared with.
const MAX_POINTS: usize = 100;

/// A kernel that ran.
pub(super) struct MeasuredPoint {
    kernel: KernelId,
    /// FLOPs for each byte.
    intensity: f64,
    /// FLOPs for each second.
    rate: f64,
    time_s: f64,
    /// Bytes that went through DRAM; `None` where they were not counted and the predicted ones
    /// stand for them.
    moved_bytes: Option<u64>,
}

impl MeasuredPoint {
    pub(super) const fn place(&self) -> (f64, f64) {
        (self.intensity, self.rate)
    }
}

/// The points of the kernels that were found and have FLOPs.
pub(super) fn measured_points(analysis: &Analysis, matching: &Matching) -> Vec<MeasuredPoint> {
    let kernels = analysis.fused.kernels.iter_enumerated();
    let point = |(id, kernel): (KernelId, &fuseline_core::Kernel)| {
        let time_s = matching.time_s(id)?;
        let flops = kernel.work.flops() as f64;
        let moved_bytes = matching.bytes(id, Counted::Moved);
        let bytes = moved_bytes.unwrap_or(kernel.bytes()) as f64;
        let (intensity, rate) = (flops / bytes, flops / time_s);
        let is_drawable = |value: f64| value.is_finite() && value > 0.0;
        (is_drawable(intensity) && is_drawable(rate)).then_some(MeasuredPoint {
            kernel: id,
            intensity,
            rate,
            time_s,
            moved_bytes,
        })
    };
    kernels.filter_map(point).take(MAX_POINTS).collect()
}

/// Draws them as hollow diamonds.
pub(super) fn draw_measured(
    analysis: &Analysis,
    points: &[MeasuredPoint],
    frame: &mut RooflineFrame,
) {
    let side = if frame.is_compact { 5.0 } else { 6.5 };
    for point in points {
        let (x, y) = tenths(frame.plot.place(point.intensity, point.rate));
        let corners = [(x, y - side), (x + side, y), (x, y + side), (x - side, y)];
        let bytes = match point.moved_bytes {
            Some(bytes) => format_bytes(bytes),
            None => "not measured, the predicted bytes count".to_owned(),
        };
        let facts = vec![
            ("arithmetic intensity", format_intensity(point.intensity)),
            ("reached", format_rate(point.rate)),
            ("memory traffic", bytes),
            ("measured", format_seconds(point.time_s)),
        ];
        let heading = format!("measured, {}", kernel_heading(analysis, point.kernel));
        let mark = polygon(Role::MeasuredPoint, &corners).named(Label::new(heading, facts));
        frame.marks.push(mark.of_kernel(point.kernel));
    }
}
