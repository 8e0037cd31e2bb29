//! The roofline: every kernel's arithmetic intensity and the rate that the device leaves it, before and
//! after fusion.

use crate::core::model::device::{Figure, Peak};
use crate::core::{Analysis, DType, Placement};
use crate::picture::charts::axes::{
    Axis, Frame, Margins, Plot, decades, draw_frame, drawable, power_text,
};
use crate::picture::charts::occupancy::{OccupancyGrid, bounds_of_line};
use crate::picture::charts::roofline_names::draw_names;
use crate::picture::charts::roofline_points::{draw_points, without_point};
use crate::picture::charts::scene::{Mark, Role, Scene};
use crate::present::devices::{computed_as, units_name};
use crate::present::format::{format_bandwidth, format_intensity, format_rate};
use std::cmp::Reverse;
use strum::VariantArray;

/// Draws the roofline of `analysis` into a frame of `size` units, at least 240 by 140.
///
/// Both axes snap to whole decades that hold every point with room to spare, so that the frame stands
/// still while a slider moves. Every point stands exactly at its intensity and attainable rate, whatever else
/// stands there: numbers are above the roof where there is room, arcs from before to after fusion below it.
/// `O(kernels)` and at most a few hundred marks, however large the program.
pub fn scene(analysis: &Analysis, size: (f64, f64)) -> Scene {
    let mut words = ". Hollow points show kernels before fusion, solid points after.".to_owned();
    if let Some(rest) = without_point(analysis) {
        words = format!("{words} {rest}");
    }
    let mut frame = RooflineFrame::new(analysis, &[analysis], size, PointLayout::Exact);
    let focus_order = draw_points(analysis, &mut frame);
    frame.scene(focus_order, &words)
}

/// Where points stand that share a place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PointLayout {
    /// Each point at its place, with arcs below the roof.
    Exact,
    /// On each other, from the roof up.
    Stacked,
}

/// A roofline without its points.
pub(super) struct RooflineFrame {
    size: (f64, f64),
    description: String,
    pub(super) plot: Plot,
    pub(super) is_compact: bool,
    pub(super) space: LabelSpace,
    pub(super) marks: Vec<Mark>,
}

impl RooflineFrame {
    /// Roofs, axes and names for the device of `analysis`; the axes hold the points of `all`.
    pub(super) fn new(
        analysis: &Analysis,
        all: &[&Analysis],
        size: (f64, f64),
        layout: PointLayout,
    ) -> Self {
        let size = drawable(size);
        let roofs = Roofs::of(analysis);
        // Stacks need another decade above the highest roof.
        let headroom = if layout == PointLayout::Stacked {
            17.0
        } else {
            1.7
        };
        let (x, y) = axes(all, &roofs, headroom);
        let is_compact = size.0 < 520.0;
        let unit = if is_compact { "" } else { "FLOP/s" };
        let lines = roofs.lines(x, y);
        let frame = Frame {
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
            x_text: &|value| power_text(value, ""),
            y_text: &|value| power_text(value, unit),
            lines: &lines,
        };
        let mut marks = Vec::new();
        let plot = draw_frame(&frame, &mut marks);
        let mut space = LabelSpace {
            words: OccupancyGrid::new(plot.bounds),
            lines: OccupancyGrid::new(plot.bounds),
        };
        let words = &mut space.words;
        draw_names(&roofs, &plot, x, (is_compact, layout), &mut marks, words);
        for (_, line) in &lines {
            for (from, to) in line.iter().zip(line.iter().skip(1)) {
                let (from, to) = (plot.place(from.0, from.1), plot.place(to.0, to.1));
                for part in bounds_of_line(from, to, 1.0) {
                    space.lines.occupy(&part);
                }
            }
        }
        Self {
            size,
            description: description(analysis, &roofs),
            plot,
            is_compact,
            space,
            marks,
        }
    }

    /// The finished picture, described by its roofs and `words`.
    pub(super) fn scene(self, focus_order: Vec<usize>, words: &str) -> Scene {
        Scene {
            width: self.size.0,
            height: self.size.1,
            title: "Roofline".to_owned(),
            description: self.description + words,
            marks: self.marks,
            focus_order,
        }
    }
}

/// What of the plot is occupied. A label needs a place that neither words nor lines occupy; lines may cross lines, but
/// no words.
pub(super) struct LabelSpace {
    pub(super) words: OccupancyGrid,
    pub(super) lines: OccupancyGrid,
}

/// The roofs of a device for one program.
pub(super) struct Roofs {
    pub(super) bandwidth: Figure,
    /// Peaks of the matrix units for the element types of the program's matmuls, the main one first.
    pub(super) matrix: Vec<(DType, Peak)>,
    pub(super) vector: Option<Figure>,
}

impl Roofs {
    fn of(analysis: &Analysis) -> Self {
        let device = &analysis.options.device;
        // FLOPs by element type; the heaviest is the main one.
        let mut by_type: Vec<(DType, bool, u128)> = DType::VARIANTS
            .iter()
            .map(|&dtype| (dtype, false, 0))
            .collect();
        for kernel in &analysis.fused.kernels {
            for (dtype, is_used, flops) in &mut by_type {
                if kernel.work.matrix_dtype == Some(*dtype) {
                    *is_used = true;
                    *flops = flops.saturating_add(kernel.work.matrix_flops);
                }
            }
        }
        let mut used: Vec<(DType, u128)> = by_type
            .into_iter()
            .filter(|&(_, is_used, _)| is_used)
            .map(|(dtype, _, flops)| (dtype, flops))
            .collect();
        used.sort_by_key(|&(_, flops)| Reverse(flops));
        let has_matmul = !used.is_empty();
        let mut matrix: Vec<(DType, Peak)> = Vec::new();
        for (dtype, _) in used {
            if let Some(peak) = device
                .matmul_peak(dtype)
                .filter(|peak| is_positive(&peak.figure))
                && !matrix
                    .iter()
                    .any(|(_, known)| is_nearly_equal(known.figure.value, peak.figure.value))
            {
                matrix.push((dtype, peak));
            }
        }
        let is_known = !(has_matmul && matrix.is_empty());
        let has_f64 = (analysis.fused.kernels.iter()).any(|k| k.work.has_vector_f64);
        Self {
            bandwidth: Some(device.memory_bytes_per_s)
                .filter(is_positive)
                .unwrap_or(Figure {
                    value: 1e12,
                    is_confirmed: false,
                }),
            matrix,
            // Where the main work's peak is not known, another type's would stand for it.
            vector: device
                .vector_flops_per_s
                .filter(|peak| is_positive(peak) && is_known && !has_f64),
        }
    }

    /// The peak whose ridge is marked: of the units that do the program's main work.
    pub(super) fn main_peak(&self) -> Option<Figure> {
        let matrix = self.matrix.first().map(|&(_, peak)| peak.figure);
        matrix.or(self.vector)
    }

    pub(super) fn peaks(&self) -> impl Iterator<Item = f64> + '_ {
        let matrix = self.matrix.iter().map(|(_, peak)| peak.figure.value);
        matrix.chain(self.vector.map(|peak| peak.value))
    }

    pub(super) fn ridge(&self, peak: Figure) -> f64 {
        peak.value / self.bandwidth.value
    }

    /// Each peak from its ridge on, and the slope up to the highest, in values of the axes.
    fn lines(&self, x: Axis, y: Axis) -> Vec<(Role, Vec<(f64, f64)>)> {
        let (start, end) = x.ends();
        let mut lines = Vec::new();
        if let Some(peak) = self.main_peak() {
            let ridge = self.ridge(peak);
            lines.push((Role::Ridge, vec![(ridge, 0.0), (ridge, peak.value)]));
        }
        if let Some(peak) = self.vector {
            lines.push((
                Role::VectorRoof,
                vec![(self.ridge(peak), peak.value), (end, peak.value)],
            ));
        }
        for &(_, Peak { figure: peak, .. }) in &self.matrix {
            lines.push((
                Role::MatrixRoof,
                vec![(self.ridge(peak), peak.value), (end, peak.value)],
            ));
        }
        let summit = self.peaks().reduce(f64::max).unwrap_or(y.ends().1);
        let bandwidth = self.bandwidth.value;
        let foot = (start, start * bandwidth);
        let summit = ((summit / bandwidth).min(end), summit.min(end * bandwidth));
        lines.push((Role::MemoryRoof, vec![foot, summit]));
        lines
    }
}

fn is_positive(figure: &Figure) -> bool {
    figure.value.is_finite() && figure.value > 0.0
}

fn is_nearly_equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= a.abs() * 1e-6
}

/// Intensity and rate of a placement that has a point: both finite and positive.
pub(super) fn point_of(placement: &Placement) -> Option<(f64, f64)> {
    let is_drawable = |value: &f64| value.is_finite() && *value > 0.0;
    placement
        .intensity
        .filter(is_drawable)
        .zip(placement.attainable_flops_per_s.filter(is_drawable))
}

/// At least 0.1 to 10 k FLOP/B and all points, in whole decades.
fn axes(all: &[&Analysis], roofs: &Roofs, headroom: f64) -> (Axis, Axis) {
    let (mut low, mut high, mut top) = (0.15_f64, 9e3_f64, 0.0_f64);
    for analysis in all {
        let fused = analysis.fused.kernels.iter().map(|k| &k.placement);
        let ops = analysis.unfused.kernels.iter().map(|k| &k.placement);
        let before = analysis.comparisons.iter().map(|c| &c.unfused_placement);
        for (intensity, rate) in fused.chain(ops).chain(before).filter_map(point_of) {
            low = low.min(intensity);
            high = high.max(intensity);
            top = top.max(rate);
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
    (x, decades(foot, top * headroom, 3))
}

/// A figure's text, with a question mark where its source was not at hand.
pub(super) fn figure_text(figure: Figure, format: fn(f64) -> String) -> String {
    let mark = if figure.is_confirmed { "" } else { " ?" };
    format!("{}{mark}", format(figure.value))
}

fn description(analysis: &Analysis, roofs: &Roofs) -> String {
    let mut facts = vec![format!(
        "{} on logarithmic axes: memory roof {}",
        analysis.options.device.name,
        figure_text(roofs.bandwidth, format_bandwidth)
    )];
    for (dtype, peak) in &roofs.matrix {
        let figure = figure_text(peak.figure, format_rate);
        facts.push(format!(
            "{} on {}{} {figure}",
            units_name(peak),
            dtype.name(),
            computed_as(peak)
        ));
    }
    if let Some(peak) = roofs.vector {
        facts.push(format!("vector units {}", figure_text(peak, format_rate)));
    }
    if let Some(peak) = roofs.main_peak() {
        facts.push(format!("ridge at {}", format_intensity(roofs.ridge(peak))));
    }
    facts.join(", ")
}
