//! The marks of the roofline's points: each kernel before and after fusion, with its number.

use crate::picture::charts::bounds::{Bounds, distance};
use crate::picture::charts::frame::Plot;
use crate::picture::charts::labels::{point_label, short_op_names};
use crate::picture::charts::marks::{circle, line, rect, tenth, text};
use crate::picture::charts::roofline_frame::{RooflineFrame, point_of};
use crate::picture::charts::roofline_kernel_points::{
    KernelPoint, Radii, place_arcs_and_numbers, points_of_kernels, unfused_label,
};
use crate::picture::charts::scene::{Anchor, Mark, Role};
use crate::present::quantity::{Scope, Values};
use fuseline_core::Analysis;

/// Above this many ops they have no points of their own.
const MAX_OPS_SHOWN: usize = 400;

/// Width of the ring that a hollow point shows behind its solid one.
const RING: f64 = 2.5;

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

/// The points of single ops.
fn op_points(analysis: &Analysis, plot: &Plot, radius: f64) -> Vec<Mark> {
    let values = Values::new(analysis);
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
            mark = mark.named(point_label(heading, &values, Scope::Op(op)));
        }
        marks.push(mark);
    }
    marks
}
