//! The texts on a roofline: axes, roofs, ridge and regions.

use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::frame::Plot;
use crate::picture::charts::marks::{tenths, text, text_width};
use crate::picture::charts::roofs::{Roofs, figure_text};
use crate::picture::charts::scene::{Anchor, Mark, Point, Role, Shape};
use crate::present::devices::computed_as;
use crate::present::format::{format_bandwidth, format_intensity, format_rate};
use fuseline_core::DType;

/// How points at the same place are drawn, which decides where there is space for names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PointLayout {
    /// Each point at its place, with arrows below the roof.
    Exact,
    /// In columns that hang from the roof, without numbers.
    Hanging,
}

/// The names of axes, roofs, ridge and regions.
pub(super) fn names(
    roofs: &Roofs,
    plot: &Plot,
    is_compact: bool,
    layout: PointLayout,
) -> Vec<Mark> {
    let mut marks = Vec::from(axis_titles(plot, is_compact));
    peak_names(roofs, plot, is_compact, layout, &mut marks);
    marks.extend(slope_name(roofs, plot, layout));
    ridge_names(roofs, plot, &mut marks);
    marks
}

fn axis_titles(plot: &Plot, is_compact: bool) -> [Mark; 2] {
    let Bounds {
        top, right, bottom, ..
    } = plot.bounds;
    let (across, up) = if is_compact {
        ("FLOP per byte", "FLOP/s")
    } else {
        (
            "arithmetic intensity (FLOP per byte)",
            "attainable rate (FLOP/s)",
        )
    };
    let title = |at, anchor, words| text(Role::AxisTitle, at, anchor, words);
    [
        title((right, bottom + 38.0), Anchor::End, across),
        title((0.0, top - 14.0), Anchor::Start, up),
    ]
}

/// Peaks are named at their right ends: matrix units above, so that numbers of points fit between,
/// vector units below; all above where points hang from the roofs.
fn peak_names(
    roofs: &Roofs,
    plot: &Plot,
    is_compact: bool,
    layout: PointLayout,
    marks: &mut Vec<Mark>,
) {
    let Bounds { top, right, .. } = plot.bounds;
    let (_, end) = plot.x_ends();
    let units = if is_compact { "" } else { " units" };
    let name = |y: f64, words: String| text(Role::RoofText, (right - 4.0, y), Anchor::End, words);
    for (dtype, peak) in &roofs.matrix {
        let (_, y) = plot.place(end, peak.figure.value);
        let above = match layout {
            PointLayout::Exact => (y - top + 12.0).clamp(7.0, 26.0),
            PointLayout::Hanging => 8.0,
        };
        let figure = figure_text(peak.figure, format_rate);
        let kind = if peak.is_on_vector_units {
            "vector"
        } else {
            "matrix"
        };
        let words = format!(
            "{}{} {kind}{units} {figure}",
            dtype.name(),
            computed_as(peak)
        );
        marks.push(name(y - above, words));
    }
    for (dtype, peak) in &roofs.vector {
        let (_, y) = plot.place(end, peak.value);
        let kind = match dtype {
            DType::F64 => "f64 vector",
            _ => "vector",
        };
        let words = format!("{kind}{units} {}", figure_text(*peak, format_rate));
        let below = match layout {
            PointLayout::Exact => 15.0,
            PointLayout::Hanging => -8.0,
        };
        marks.push(name(y + below, words));
    }
}

/// The slope is named above the numbers of its points, or close to it where they have none. Beside
/// a roof of matrix units the name is in the upper part: kernels without a matmul are in the lower
/// one.
fn slope_name(roofs: &Roofs, plot: &Plot, layout: PointLayout) -> Option<Mark> {
    let bandwidth = roofs.bandwidth.value;
    let (start, end) = plot.x_ends();
    let words = format!("memory {}", figure_text(roofs.bandwidth, format_bandwidth));
    let foot = (plot.bounds.left, plot.place(start, start * bandwidth).1);
    // Without a peak the slope goes on to the end of the plot.
    let summit_rate =
        (roofs.peaks().reduce(f64::max)).unwrap_or_else(|| plot.y_end().min(end * bandwidth));
    let summit = plot.place(summit_rate / bandwidth, summit_rate);
    let (share, above) = match layout {
        PointLayout::Exact if roofs.matrix.is_empty() => (0.36, 26.0),
        PointLayout::Exact => (0.6, 26.0),
        PointLayout::Hanging => (0.5, 12.0),
    };
    slope_text(summit, foot, &words, share, above)
}

/// The intensity of the ridge, and the regions on both sides of it. A disc at the ridge would look
/// like a kernel.
fn ridge_names(roofs: &Roofs, plot: &Plot, marks: &mut Vec<Mark>) {
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
    // The figure alone where the words would lie over the axis.
    let short = format_intensity(ridge);
    let figure = format!("ridge point {short}");
    let has_room = fits(&figure) || center.0 - GAP - text_width(&figure) > left;
    let figure = if has_room { figure } else { short };
    let y = y - 18.0;
    marks.push(if fits(&figure) {
        after(y, Role::RidgeText, &figure)
    } else {
        before(y, Role::RidgeText, &figure)
    });
}

/// A text along the slope, at this share of its length and `above` units above it. `None` where it
/// does not fit.
fn slope_text(summit: Point, foot: Point, words: &str, share: f64, above: f64) -> Option<Mark> {
    let (dx, dy) = (summit.0 - foot.0, summit.1 - foot.1);
    let length = dx.hypot(dy);
    let half = text_width(words) / 2.0;
    // The text starts on the plot and ends before the summit.
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
