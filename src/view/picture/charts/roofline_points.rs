//! The points of the roofline: each kernel before and after fusion, with its number.

use crate::picture::charts::bounds::{Bounds, distance};
use crate::picture::charts::frame::Plot;
use crate::picture::charts::labels::{
    add_others, kernel_heading, point_label, short_op_names, time_facts,
};
use crate::picture::charts::marks::{circle, line, rect, tenth, text, text_width};
use crate::picture::charts::occupancy::LabelSpace;
use crate::picture::charts::roofline_arcs::{MoveArc, PointMove, arcs_below_roof};
use crate::picture::charts::roofline_frame::{RooflineFrame, point_of, unfused_point};
use crate::picture::charts::roofline_numbers::{Number, place_numbers};
use crate::picture::charts::scene::{Anchor, Label, Mark, Point, Role};
use crate::present::explain::has_assumed_size;
use crate::present::format::{format_bytes, format_intensity, format_rate};
use crate::present::times::{Seconds, TimeKind, TimeText, kernel_time};
use fuseline_core::{Analysis, KernelId};
use std::collections::BTreeMap;

/// Above this many ops they have no points of their own.
const MAX_OPS_SHOWN: usize = 400;
/// Above this many kernels those at the same place share a point.
const MAX_SEPARATE_KERNELS: usize = 64;
/// Numbers, at most.
const MAX_NUMBERS: usize = 64;

/// Width of the ring that a hollow point shows behind its solid one.
const RING: f64 = 2.5;

struct KernelPoint {
    kernel: KernelId,
    /// Further kernels at this point.
    other_count: usize,
    /// Its place: fused, or where its ops are before fusion.
    at: Point,
    /// Its area grows with the kernel's time.
    radius: f64,
    /// Whether it is its ops before fusion.
    is_unfused: bool,
    /// The place of its ops before fusion, when there are several and `at` is another.
    unfused_at: Option<Point>,
    /// From there to `at`, when they are far enough apart.
    arc: Option<MoveArc>,
    /// At the predicted rate, below `at`; `None` where no time is predicted.
    predicted_at: Option<Point>,
    /// The centre of its number's plate.
    number_at: Option<Point>,
}

impl KernelPoint {
    fn number_text(&self) -> String {
        if self.other_count > 0 {
            format!("{}+", self.kernel.number())
        } else {
            self.kernel.number().to_string()
        }
    }

    /// Width and height of its number's plate.
    fn plate_size(&self) -> (f64, f64) {
        (text_width(&self.number_text()) + 3.0, 12.0)
    }

    fn label(&self, analysis: &Analysis) -> Label {
        let fused = || {
            let kernel = &analysis.fused.kernels[self.kernel];
            let heading = kernel_heading(analysis, self.kernel);
            let time = kernel_time(analysis, self.kernel).unwrap_or_default();
            let time = (TimeKind::of(analysis), time);
            point_label(heading, &kernel.placement, kernel.bytes(), time)
        };
        let unfused = (self.is_unfused).then(|| unfused_label(analysis, self.kernel));
        let mut label = unfused.flatten().unwrap_or_else(fused);
        add_others(&mut label, self.other_count);
        label
    }
}

/// Radii of the points.
struct Radii {
    /// That of the kernel that takes longest.
    solid: f64,
    /// That of a kernel that takes next to no time.
    least_solid: f64,
    hollow: f64,
    op: f64,
}

/// Draws all points, arcs and numbers; before fusion the points alone.
pub(super) fn draw_points(analysis: &Analysis, is_fused: bool, frame: &mut RooflineFrame) {
    let RooflineFrame {
        plot,
        is_compact,
        space,
        marks,
        ..
    } = frame;
    let radii = if *is_compact {
        Radii {
            solid: 5.5,
            least_solid: 2.5,
            hollow: 3.5,
            op: 2.0,
        }
    } else {
        Radii {
            solid: 8.0,
            least_solid: 3.5,
            hollow: 5.0,
            op: 2.5,
        }
    };
    let mut points = points_of_kernels(analysis, is_fused, plot, &radii);
    let leaders = place_arcs_and_numbers(&mut points, &radii, space);
    if analysis.graph.ops.len() <= MAX_OPS_SHOWN {
        marks.extend(op_points(analysis, plot, radii.op));
    }
    marks.extend(leaders);
    marks.extend((points.iter()).filter_map(|point| hollow_point(analysis, point, &radii)));
    for point in &points {
        if let Some(arc) = &point.arc {
            let parts = arc.marks(radii.hollow, point.radius);
            marks.extend(parts.map(|mark| mark.of_kernel(point.kernel)));
        }
    }
    marks.extend(
        points
            .iter()
            .flat_map(|point| predicted_marks(point, radii.op)),
    );
    // Small ones in front of large ones.
    let mut by_radius: Vec<&KernelPoint> = points.iter().collect();
    by_radius.sort_by(|a, b| b.radius.total_cmp(&a.radius));
    marks.extend(by_radius.into_iter().map(|point| {
        circle(Role::SolidPoint, point.at, tenth(point.radius))
            .of_kernel(point.kernel)
            .named(point.label(analysis))
    }));
    marks.extend(
        points
            .iter()
            .flat_map(|point| number_marks(analysis, point)),
    );
}

/// The labelled points kernel by kernel: the solid one, the hollow one, those of its ops.
pub(super) fn focus_order(marks: &[Mark]) -> Vec<usize> {
    let key = |mark: &Mark| {
        mark.label.as_ref()?;
        let rank = match mark.role {
            Role::SolidPoint => 0,
            Role::HollowPoint => 1,
            Role::OpPoint => 2,
            Role::MeasuredPoint => 3,
            // Behind all kernels, for they belong to none of these.
            Role::PinnedPoint => 4,
            _ => return None,
        };
        Some((mark.kernel.is_none(), mark.kernel, rank))
    };
    let mut order: Vec<_> = (marks.iter().enumerate())
        .filter_map(|(index, mark)| Some((key(mark)?, index)))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, index)| index).collect()
}

/// The ops of a kernel before fusion.
fn unfused_label(analysis: &Analysis, kernel: KernelId) -> Option<Label> {
    let comparison = analysis.comparisons.get(kernel)?;
    let heading = format!("{}, before fusion", kernel_heading(analysis, kernel));
    let placement = &comparison.unfused_placement;
    let predicted = analysis.predicted.as_ref();
    let predicted = predicted.and_then(|predicted| predicted.kernels.get(kernel));
    let time = TimeText::new(Seconds {
        bound_s: comparison.unfused_time_s,
        is_incomplete: placement.is_incomplete(),
        predicted_s: predicted.map(|predicted| predicted.unfused_s),
        outside: predicted.and_then(|predicted| predicted.unfused_outside),
        is_assumed: has_assumed_size(&analysis.fused.kernels[kernel]),
    });
    // It is no kernel: no roof limits it, and it has no bottleneck.
    let mut facts = Vec::new();
    if let Some(intensity) = placement.intensity {
        facts.push(("arithmetic intensity", format_intensity(intensity)));
    }
    if let Some((_, rate)) = unfused_point(analysis, kernel) {
        facts.push(("FLOPs / time without launches", format_rate(rate)));
    }
    facts.push(("memory traffic", format_bytes(comparison.unfused_bytes)));
    facts.extend(time_facts((TimeKind::of(analysis), time)));
    Some(Label::new(heading, facts))
}

/// A kernel before fusion. `None` for a kernel of one op.
fn hollow_point(analysis: &Analysis, point: &KernelPoint, radii: &Radii) -> Option<Mark> {
    let unfused_at = point.unfused_at?;
    // So large that a ring of it shows, however close the solid point in front of it is.
    let radius = (point.radius + RING - distance(unfused_at, point.at)).max(radii.hollow);
    let label = unfused_label(analysis, point.kernel)?;
    let mark = circle(Role::HollowPoint, unfused_at, radius);
    Some(mark.of_kernel(point.kernel).named(label))
}

/// A bar at the predicted rate, and the line down to it. The label of the point tells the time.
fn predicted_marks(point: &KernelPoint, ends: f64) -> Vec<Mark> {
    let Some((x, y)) = point.predicted_at else {
        return Vec::new();
    };
    // Just below the roof the point covers the middle of the bar, but not its ends.
    let half = point.radius + ends;
    let marks = [
        line(Role::PredictedDrop, &[point.at, (x, y)]),
        line(Role::PredictedRate, &[(x - half, y), (x + half, y)]),
    ];
    marks.map(|mark| mark.of_kernel(point.kernel)).into()
}

/// A kernel's number on its plate. The plate has the label of the point, because other points may
/// cover that.
fn number_marks(analysis: &Analysis, point: &KernelPoint) -> Vec<Mark> {
    let Some(center) = point.number_at else {
        return Vec::new();
    };
    let plate = Bounds::centered(center, point.plate_size());
    let (upper_left, lower_right) = ((plate.left, plate.top), (plate.right, plate.bottom));
    let baseline = (center.0, center.1 + 4.2);
    vec![
        rect(Role::NumberPlate, upper_left, lower_right)
            .of_kernel(point.kernel)
            .named(point.label(analysis)),
        text(Role::Number, baseline, Anchor::Middle, point.number_text()).of_kernel(point.kernel),
    ]
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

fn points_of_kernels(
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
fn place_arcs_and_numbers(
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
        .map(|(index, point)| Number {
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

/// The points of single ops.
fn op_points(analysis: &Analysis, plot: &Plot, radius: f64) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (op, &kernel) in analysis.partition.kernel_of.iter_enumerated() {
        let alone = analysis.unfused.of_lone_op(op);
        let Some((intensity, rate)) = point_of(&alone.placement) else {
            continue;
        };
        let place = plot.place(intensity, rate);
        let mut mark = circle(Role::OpPoint, place, radius).of_kernel(kernel);
        // The point of a lone op is covered by that of its kernel, which has the label.
        if analysis.fused.kernels[kernel].ops.len() > 1 {
            let heading = format!("{} as a separate kernel", short_op_names(analysis, &[op]));
            let placement = &alone.placement;
            let time = TimeText::new(Seconds {
                bound_s: placement.time_s,
                is_incomplete: placement.is_incomplete(),
                predicted_s: None,
                outside: None,
                is_assumed: has_assumed_size(alone),
            });
            let time = (TimeKind::LowerBound, time);
            mark = mark.named(point_label(heading, placement, alone.bytes(), time));
        }
        marks.push(mark);
    }
    marks
}
