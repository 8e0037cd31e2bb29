//! Where the kernels are on a roofline: their points, the arcs between two of them, the places of
//! their numbers.

use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::frame::Plot;
use crate::picture::charts::labels::{add_others, kernel_heading, point_label, time_facts};
use crate::picture::charts::marks::text_width;
use crate::picture::charts::occupancy::LabelSpace;
use crate::picture::charts::roofline_arcs::{MoveArc, PointMove, arcs_below_roof};
use crate::picture::charts::roofline_frame::{point_of, unfused_point};
use crate::picture::charts::roofline_numbers::{PointNumber, place_numbers};
use crate::picture::charts::scene::{Label, Mark, Point};
use crate::present::format::{format_bytes, format_intensity, format_rate};
use crate::present::quantity::{Run, Scope, Values};
use fuseline_core::{Analysis, KernelId};
use std::collections::BTreeMap;

/// Above this many kernels those at the same place share a point.
const MAX_SEPARATE_KERNELS: usize = 64;
/// Numbers, at most.
const MAX_NUMBERS: usize = 64;

pub(super) struct KernelPoint {
    pub(super) kernel: KernelId,
    /// Further kernels at this point.
    pub(super) other_count: usize,
    /// Its place: fused, or where its ops are before fusion.
    pub(super) at: Point,
    /// Its area grows with the kernel's time.
    pub(super) radius: f64,
    /// Whether it is its ops before fusion.
    pub(super) is_unfused: bool,
    /// The place of its ops before fusion, when there are several and `at` is another.
    pub(super) unfused_at: Option<Point>,
    /// From there to `at`, when they are far enough apart.
    pub(super) arc: Option<MoveArc>,
    /// At the predicted rate, below `at`; `None` where no time is predicted.
    pub(super) predicted_at: Option<Point>,
    /// The centre of its number's plate.
    pub(super) number_at: Option<Point>,
}

impl KernelPoint {
    pub(super) fn number_text(&self) -> String {
        if self.other_count > 0 {
            format!("{}+", self.kernel.number())
        } else {
            self.kernel.number().to_string()
        }
    }

    /// Width and height of its number's plate.
    pub(super) fn plate_size(&self) -> (f64, f64) {
        (text_width(&self.number_text()) + 3.0, 12.0)
    }

    pub(super) fn label(&self, analysis: &Analysis) -> Label {
        let fused = || {
            let heading = kernel_heading(analysis, self.kernel);
            point_label(heading, &Values::new(analysis), Scope::Kernel(self.kernel))
        };
        let unfused = (self.is_unfused).then(|| unfused_label(analysis, self.kernel));
        let mut label = unfused.flatten().unwrap_or_else(fused);
        add_others(&mut label, self.other_count);
        label
    }
}

/// Radii of the points.
pub(super) struct Radii {
    /// That of the kernel that takes longest.
    pub(super) solid: f64,
    /// That of a kernel that takes next to no time.
    pub(super) least_solid: f64,
    pub(super) hollow: f64,
    pub(super) op: f64,
}

/// The ops of a kernel before fusion.
pub(super) fn unfused_label(analysis: &Analysis, kernel: KernelId) -> Option<Label> {
    let comparison = analysis.comparisons.get(kernel)?;
    let heading = format!("{}, before fusion", kernel_heading(analysis, kernel));
    let placement = &comparison.unfused_placement;
    let values = Values::new(analysis);
    // It is no kernel: no roof limits it, and it has no bottleneck.
    let mut facts = Vec::new();
    if let Some(intensity) = placement.intensity {
        facts.push(("arithmetic intensity", format_intensity(intensity)));
    }
    if let Some((_, rate)) = unfused_point(analysis, kernel) {
        facts.push(("FLOPs / time without launches", format_rate(rate)));
    }
    facts.push(("memory traffic", format_bytes(comparison.unfused_bytes)));
    facts.extend(time_facts(&values, Scope::Kernel(kernel), Run::Unfused));
    Some(Label::new(heading, facts))
}

/// The time of a kernel, or of its ops before fusion.
fn time_s(analysis: &Analysis, kernel: KernelId, is_unfused: bool) -> f64 {
    if !is_unfused {
        return analysis.kernel_time_s(kernel).unwrap_or_default();
    }
    let predicted = analysis.predicted.as_ref();
    let predicted = predicted.and_then(|predicted| predicted.kernels.get(kernel));
    let bound_s = (analysis.comparisons.get(kernel)).map(|unfused| unfused.unfused_time_s);
    predicted.map_or(bound_s.unwrap_or_default(), |times| times.unfused_s)
}

pub(super) fn points_of_kernels(
    analysis: &Analysis,
    is_fused: bool,
    plot: &Plot,
    radii: &Radii,
) -> Vec<KernelPoint> {
    let longest_s = (analysis.fused.kernels.iter_enumerated())
        .map(|(kernel, _)| time_s(analysis, kernel, !is_fused))
        .fold(0.0, f64::max);
    let mut points: Vec<KernelPoint> = Vec::new();
    let mut point_in_cell: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    let is_shared = analysis.fused.kernels.len() > MAX_SEPARATE_KERNELS;
    for (id, kernel) in analysis.fused.kernels.iter_enumerated() {
        let Some((intensity, rate)) = point_of(&kernel.placement) else {
            continue;
        };
        let fused_at = plot.place(intensity, rate);
        let unfused_at = (kernel.ops.len() > 1)
            .then(|| unfused_point(analysis, id))
            .flatten()
            .map(|(intensity, rate)| plot.place(intensity, rate));
        let is_unfused = !is_fused && unfused_at.is_some();
        let (at, unfused_at) = if is_fused {
            (fused_at, unfused_at)
        } else {
            (unfused_at.unwrap_or(fused_at), None)
        };
        if is_shared {
            let index = *point_in_cell.entry(cell(at)).or_insert(points.len());
            if let Some(point) = points.get_mut(index) {
                point.other_count += 1;
                continue;
            }
        }
        points.push(KernelPoint {
            kernel: id,
            other_count: 0,
            at,
            radius: if longest_s > 0.0 {
                let share = time_s(analysis, id, !is_fused) / longest_s;
                (radii.solid * share.sqrt()).max(radii.least_solid)
            } else {
                radii.least_solid
            },
            is_unfused,
            unfused_at,
            arc: None,
            predicted_at: predicted_at(analysis, id, is_unfused, plot),
            number_at: None,
        });
    }
    points
}

/// The FLOPs of a kernel over its predicted time, at its intensity: how far below the roof it runs.
fn predicted_at(
    analysis: &Analysis,
    kernel: KernelId,
    is_unfused: bool,
    plot: &Plot,
) -> Option<Point> {
    let predicted = analysis.predicted.as_ref()?.kernels.get(kernel)?;
    let (placement, bytes, time_s) = if is_unfused {
        let unfused = analysis.comparisons.get(kernel)?;
        (
            &unfused.unfused_placement,
            unfused.unfused_bytes,
            predicted.unfused_s,
        )
    } else {
        let fused = analysis.fused.kernels.get(kernel)?;
        (&fused.placement, fused.bytes(), predicted.time_s)
    };
    let (intensity, _) = point_of(placement)?;
    let rate = intensity * bytes as f64 / time_s;
    let place = plot.place(intensity, rate);
    (rate > 0.0 && place.1 <= plot.bounds.bottom).then_some(place)
}

#[allow(clippy::cast_possible_truncation, reason = "places are on the frame")]
fn cell((x, y): Point) -> (i64, i64) {
    ((x / 4.0).floor() as i64, (y / 4.0).floor() as i64)
}

/// Places the arcs of kernels that fusion moves, and all numbers. Returns the lines from numbers to
/// points that are not close.
pub(super) fn place_arcs_and_numbers(
    points: &mut [KernelPoint],
    radii: &Radii,
    space: &mut LabelSpace,
) -> Vec<Mark> {
    for point in points.iter() {
        let solid = Bounds::around(point.at, point.radius);
        space.lines.occupy(&solid);
        if let Some(predicted_at) = point.predicted_at {
            space.lines.occupy_line([point.at, predicted_at], 1.0);
        }
        if let Some(unfused_at) = point.unfused_at {
            let hollow = Bounds::around(unfused_at, radii.hollow);
            space.lines.occupy(&hollow);
        }
    }
    let moves = (points.iter().enumerate())
        .filter_map(|(index, point)| {
            Some(PointMove {
                point: index,
                from: point.unfused_at?,
                to: point.at,
            })
        })
        .filter(|moved| moved.length() >= radii.hollow + radii.solid)
        .collect();
    for (index, arc) in arcs_below_roof(moves, radii.solid, &space.words) {
        arc.occupy(&mut space.lines);
        points[index].arc = Some(arc);
    }
    let numbers = (points.iter().enumerate().take(MAX_NUMBERS))
        .map(|(index, point)| PointNumber {
            point: index,
            point_at: point.at,
            plate_size: point.plate_size(),
        })
        .collect();
    let (placed, leaders) = place_numbers(numbers, radii.solid, space);
    for (index, center) in placed {
        points[index].number_at = Some(center);
    }
    leaders
}
