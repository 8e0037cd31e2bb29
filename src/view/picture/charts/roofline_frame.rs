//! The frame of a roofline: axes, roofs and their names.

use crate::picture::charts::axis::{Axes, Axis, decade_text, decades};
use crate::picture::charts::frame::{ChartFrame, Margins, Plot, draw_frame, drawable, is_compact};
use crate::picture::charts::occupancy::LabelSpace;
use crate::picture::charts::roofline_names::{PointLayout, names};
use crate::picture::charts::roofs::Roofs;
use crate::picture::charts::scene::{Mark, Scene};
use fuseline_core::{Analysis, KernelId, Placement};

/// A roofline without points.
pub(super) struct RooflineFrame {
    size: (f64, f64),
    description: String,
    pub(super) plot: Plot,
    pub(super) is_compact: bool,
    /// The places that names and lines occupy.
    pub(super) space: LabelSpace,
    pub(super) marks: Vec<Mark>,
}

/// The points and axes that must fit into a roofline.
#[derive(Clone, Copy)]
pub(super) struct AxisContents<'a> {
    /// The points of these.
    pub(super) all: &'a [&'a Analysis],
    /// Further points: intensity and rate.
    pub(super) places: &'a [(f64, f64)],
    /// What these hold.
    pub(super) axes: Option<Axes>,
}

impl RooflineFrame {
    /// Draws roofs, axes and names for the device of `analysis`.
    pub(super) fn new(
        analysis: &Analysis,
        holds: AxisContents<'_>,
        size: (f64, f64),
        layout: PointLayout,
    ) -> Self {
        let size = drawable(size);
        let roofs = Roofs::of(analysis);
        // Hanging columns need another decade below the lowest point.
        let footroom = match layout {
            PointLayout::Exact => 1.0,
            PointLayout::Hanging => 17.0,
        };
        let (x, y) = axes(holds, &roofs, footroom);
        let held = holds.axes;
        let x = x.or_held(held.map(|held| held.x));
        let y = y.or_held(held.and_then(|held| held.y));
        let is_compact = is_compact(size);
        let unit = if is_compact { "" } else { "FLOP/s" };
        let lines = roofs.lines(x, y);
        let frame = ChartFrame {
            size,
            margins: if is_compact {
                Margins {
                    top: 26.0,
                    right: 14.0,
                    bottom: 42.0,
                    left: 48.0,
                }
            } else {
                Margins {
                    top: 30.0,
                    right: 16.0,
                    bottom: 46.0,
                    left: 96.0,
                }
            },
            x,
            y: Some(y),
            x_ticks: if is_compact { 7 } else { 12 },
            x_text: &|value| decade_text(value, ""),
            y_text: &|value| decade_text(value, unit),
            lines: &lines,
        };
        let mut marks = Vec::new();
        let plot = draw_frame(&frame, &mut marks);
        let mut space = LabelSpace::new(plot.bounds);
        for name in names(&roofs, &plot, is_compact, layout) {
            space.words.occupy_text(&name);
            marks.push(name);
        }
        for (_, line) in &lines {
            for &[from, to] in line.array_windows() {
                let ends = [from, to].map(|(x, y)| plot.place(x, y));
                space.lines.occupy_line(ends, 1.0);
            }
        }
        Self {
            size,
            description: roofs.description(&analysis.options.device.name),
            plot,
            is_compact,
            space,
            marks,
        }
    }

    /// The chart, with `words` behind the description of the roofs.
    pub(super) fn scene(self, words: &str) -> Scene {
        Scene {
            axes: Some(self.plot.axes()),
            ..Scene::new(self.size, "Roofline", self.description + words, self.marks)
        }
    }
}

/// Intensity and rate of a placement that has a point: both finite and positive.
pub(super) fn point_of(placement: &Placement) -> Option<(f64, f64)> {
    let is_drawable = |value: &f64| value.is_finite() && *value > 0.0;
    placement
        .intensity
        .filter(is_drawable)
        .zip(placement.attainable_flops_per_s.filter(is_drawable))
}

/// Intensity and rate of the ops of a kernel one after the other: all their FLOPs over the sum of
/// their times, which is below the roof, because they do not run at once. Without the launches,
/// which no roof counts. `O(ops of the kernel)`.
pub(super) fn unfused_point(analysis: &Analysis, kernel: KernelId) -> Option<(f64, f64)> {
    let unfused = analysis.comparisons.get(kernel)?;
    let (intensity, _) = point_of(&unfused.unfused_placement)?;
    let launch_s = analysis.options.device.launch_s.value;
    let busy_s: f64 = (analysis.partition.kernels[kernel].iter())
        .map(|&op| analysis.unfused.of_lone_op(op))
        .filter(|alone| !alone.is_free)
        .map(|alone| alone.placement.time_s - launch_s)
        .sum();
    let rate = intensity * unfused.unfused_bytes as f64 / busy_s;
    (rate.is_finite() && rate > 0.0).then_some((intensity, rate))
}

/// Axes of whole decades that hold all points, all ridges, 0.15 to 9 k FLOP/B, and `footroom` times
/// the space below.
fn axes(holds: AxisContents<'_>, roofs: &Roofs, footroom: f64) -> (Axis, Axis) {
    let (mut low, mut high, mut top) = (0.15_f64, 9e3_f64, 0.0_f64);
    let mut lowest_rate = f64::INFINITY;
    for &(intensity, rate) in holds.places {
        low = low.min(intensity);
        high = high.max(intensity);
        top = top.max(rate);
        // What is measured may stand far below the roof.
        lowest_rate = lowest_rate.min(rate / 1.5);
    }
    for analysis in holds.all {
        let fused = analysis.fused.kernels.iter().map(|k| &k.placement);
        let ops = analysis.unfused.kernels.iter().map(|k| &k.placement);
        let kernels = analysis.comparisons.iter_enumerated();
        let before = kernels.filter_map(|(kernel, _)| unfused_point(analysis, kernel));
        for (intensity, rate) in fused.chain(ops).filter_map(point_of).chain(before) {
            low = low.min(intensity);
            high = high.max(intensity);
            top = top.max(rate);
            lowest_rate = lowest_rate.min(rate);
        }
    }
    for peak in roofs.peaks() {
        let ridge = peak / roofs.bandwidth.value;
        low = low.min(ridge / 3.0);
        high = high.max(ridge * 3.0);
        top = top.max(peak);
    }
    let x = decades(low / 1.05, high * 1.05, 3);
    let foot = x.ends().0 * roofs.bandwidth.value;
    let top = if top > 0.0 { top } else { foot * 1e4 };
    (x, decades((foot / footroom).min(lowest_rate), top * 1.7, 3))
}
