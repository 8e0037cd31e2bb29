//! The words on a roofline: axes, roofs, ridge and regions.

use crate::picture::charts::axes::{Axis, Plot};
use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::occupancy::{OccupancyGrid, bounds_of_text};
use crate::picture::charts::roofline::{PointLayout, Roofs, figure_text};
use crate::picture::charts::scene::{Anchor, Mark, Point, Role, Shape, tenths, text, text_width};
use crate::present::devices::computed_as;
use crate::present::format::{format_bandwidth, format_intensity, format_rate};

/// Names what [`super::roofline`] draws, and marks the places of the names as occupied.
pub(super) fn draw_names(
    roofs: &Roofs,
    plot: &Plot,
    x: Axis,
    (is_compact, layout): (bool, PointLayout),
    marks: &mut Vec<Mark>,
    words: &mut OccupancyGrid,
) {
    let first = marks.len();
    draw_axis_titles(plot, is_compact, marks);
    draw_peak_names(roofs, plot, x, (is_compact, layout), marks);
    // Where points stand on each other no place is left along the slope of a narrow plot.
    if !(is_compact && layout == PointLayout::Stacked) {
        draw_slope_name(roofs, plot, x, layout, marks);
    }
    draw_ridge(roofs, plot, marks);
    for name in marks.iter().skip(first) {
        for covered in bounds_of_text(name) {
            words.occupy(&covered);
        }
    }
}

fn draw_axis_titles(plot: &Plot, is_compact: bool, marks: &mut Vec<Mark>) {
    let bounds = plot.bounds;
    let (across, up) = if is_compact {
        ("FLOP per byte moved", "attainable FLOP/s")
    } else {
        (
            "arithmetic intensity: FLOP per byte moved",
            "attainable rate",
        )
    };
    marks.push(text(
        Role::AxisTitle,
        (bounds.right, bounds.bottom + 38.0),
        Anchor::End,
        across,
    ));
    marks.push(text(
        Role::AxisTitle,
        (0.0, bounds.top - 14.0),
        Anchor::Start,
        up,
    ));
}

/// Peaks are named at their right ends: matrix units above, so that numbers of points fit between, vector
/// units below; all below where points stand on each other.
fn draw_peak_names(
    roofs: &Roofs,
    plot: &Plot,
    x: Axis,
    (is_compact, layout): (bool, PointLayout),
    marks: &mut Vec<Mark>,
) {
    let Bounds { top, right, .. } = plot.bounds;
    let (_, end) = x.ends();
    let units = if is_compact { "" } else { " units" };
    for (dtype, peak) in &roofs.matrix {
        let (_, y) = plot.place(end, peak.figure.value);
        let above = match layout {
            PointLayout::Exact => (y - top + 12.0).clamp(7.0, 26.0),
            PointLayout::Stacked => -15.0,
        };
        let figure = figure_text(peak.figure, format_rate);
        let kind = if peak.is_on_vector_units {
            "vector"
        } else {
            "matrix"
        };
        let words = if is_compact && layout == PointLayout::Stacked {
            figure
        } else {
            format!(
                "{}{} {kind}{units} {figure}",
                dtype.name(),
                computed_as(peak)
            )
        };
        marks.push(text(
            Role::RoofText,
            (right - 4.0, y - above),
            Anchor::End,
            words,
        ));
    }
    if let Some(peak) = roofs.vector {
        let (_, y) = plot.place(end, peak.value);
        let words = format!("vector{units} {}", figure_text(peak, format_rate));
        marks.push(text(
            Role::RoofText,
            (right - 4.0, y + 15.0),
            Anchor::End,
            words,
        ));
    }
}

/// The slope is named above the numbers of its points, or below it where points stand on each other. Beside a
/// roof of matrix units the name keeps to the upper part: kernels without a matmul stand in the lower one.
fn draw_slope_name(
    roofs: &Roofs,
    plot: &Plot,
    x: Axis,
    layout: PointLayout,
    marks: &mut Vec<Mark>,
) {
    let left = plot.bounds.left;
    let (start, end) = x.ends();
    let words = format!("memory {}", figure_text(roofs.bandwidth, format_bandwidth));
    let foot = (left, plot.place(start, start * roofs.bandwidth.value).1);
    // Without a peak the slope goes on to the end of the plot.
    let summit_rate = roofs.peaks().reduce(f64::max);
    let summit_rate = summit_rate.unwrap_or_else(|| plot.y_end().min(end * roofs.bandwidth.value));
    let summit = plot.place(summit_rate / roofs.bandwidth.value, summit_rate);
    let (share, above) = match layout {
        PointLayout::Exact if roofs.matrix.is_empty() => (0.36, 26.0),
        PointLayout::Exact => (0.6, 26.0),
        PointLayout::Stacked => (0.36, -24.0),
    };
    marks.extend(slope_text(summit, foot, &words, share, above));
}

/// The ridge, its figure, and the regions on both sides of it.
fn draw_ridge(roofs: &Roofs, plot: &Plot, marks: &mut Vec<Mark>) {
    const GAP: f64 = 8.0;
    let Some(peak) = roofs.main_peak() else {
        return;
    };
    let Bounds {
        left,
        right,
        bottom,
        ..
    } = plot.bounds;
    let ridge = roofs.ridge(peak);
    let center = plot.place(ridge, peak.value);
    marks.push(Mark::new(
        Role::RidgePoint,
        Shape::Circle {
            center,
            radius: 3.0,
        },
    ));
    let fits = |words: &str| center.0 + GAP + text_width(words) < right;
    let after =
        |y: f64, role: Role, words: &str| text(role, (center.0 + GAP, y), Anchor::Start, words);
    let before =
        |y: f64, role: Role, words: &str| text(role, (center.0 - GAP, y), Anchor::End, words);

    let compute = if fits("compute-bound") {
        "compute-bound"
    } else {
        "compute"
    };
    let memory = if center.0 - GAP - text_width("memory-bound") > left {
        "memory-bound"
    } else {
        "memory"
    };
    let y = bottom - 9.0;
    marks.push(before(y, Role::RegionText, memory));
    marks.push(after(y, Role::RegionText, compute));
    let figure = format!("ridge {}", format_intensity(ridge));
    let y = y - 18.0;
    marks.push(if fits(&figure) {
        after(y, Role::RidgeText, &figure)
    } else {
        before(y, Role::RidgeText, &figure)
    });
}

/// The name of the slope, written along it at this share of its length and so far above it.
fn slope_text(summit: Point, foot: Point, words: &str, share: f64, above: f64) -> Option<Mark> {
    let (dx, dy) = (summit.0 - foot.0, summit.1 - foot.1);
    let length = dx.hypot(dy);
    let half = text_width(words) / 2.0;
    // The words start on the plot, although they stand above the slope, and end before its summit.
    let middle = (length * share).max(half + above);
    if middle + half > length {
        return None;
    }
    let (ux, uy) = (dx / length, dy / length);
    let at = (
        foot.0 + ux * middle + uy * above,
        foot.1 + uy * middle - ux * above,
    );
    Some(Mark::new(
        Role::RoofText,
        Shape::Text {
            at: tenths(at),
            anchor: Anchor::Middle,
            turn_deg: (dy.atan2(dx).to_degrees() * 10.0).round() / 10.0,
            text: words.to_owned(),
        },
    ))
}
