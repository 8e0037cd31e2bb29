//! The roofline: every kernel's arithmetic intensity and attainable rate, before and after fusion.

use crate::picture::charts::Charted;
use crate::picture::charts::labels::{kernel_heading, point_label};
use crate::picture::charts::marks::{circle, tenths};
use crate::picture::charts::roofline_frame::{AxisContents, RooflineFrame, point_of};
use crate::picture::charts::roofline_measured::{MeasuredPoint, draw_measured, measured_points};
use crate::picture::charts::roofline_names::PointLayout;
use crate::picture::charts::roofline_points::{draw_points, focus_order};
use crate::picture::charts::scene::{Axes, Role, Scene};
use crate::present::names::joined;
use crate::present::quantity::{Scope, Values};
use fuseline_core::cost::roofline::{MissingFigure, missing_figure};
use fuseline_core::{Analysis, Kernel, KernelId};

/// Draws the roofline of `analysis` into a frame of `size` units, at least 240 by 140.
///
/// Both axes are of whole decades that hold every point with space to spare, so that the frame
/// stays the same while a slider moves; while it is held, the axes that were `held` before hold on.
/// Every point is exactly at its intensity and attainable rate, even where it covers another one.
/// Numbers are above the roof where there is space, arrows from before to after fusion below it.
///
/// `O(kernels)`, and at most a few hundred marks, however large the program.
pub fn scene(analysis: &Analysis, size: (f64, f64), held: Option<Axes>) -> Scene {
    scene_of(Charted::fused(analysis), size, held)
}

/// The roofline of `charted`. Before it is fused, each point is where the ops of its kernel are,
/// and nothing is an arrow.
pub fn scene_of(charted: Charted<'_>, size: (f64, f64), held: Option<Axes>) -> Scene {
    let Charted {
        analysis,
        is_fused,
        pinned,
        measured,
        ..
    } = charted;
    let mut words = if is_fused {
        ". Hollow points are kernels before fusion, solid points are kernels after fusion."
            .to_owned()
    } else {
        ". Points are kernels before fusion.".to_owned()
    };
    words.push_str(" The longer a kernel takes, the larger its point.");
    if analysis.predicted.is_some() {
        words.push_str(" A short bar below a point is its predicted rate.");
    }
    if pinned.is_some() {
        words.push_str(" Dashed rings are the pinned state.");
    }
    let measured = measured.filter(|_| is_fused);
    let measured = measured.map_or_else(Vec::new, |matching| measured_points(analysis, matching));
    if !measured.is_empty() {
        words.push_str(" Diamonds are kernels measured on a GPU.");
    }
    if let Some(rest) = without_point(analysis) {
        words = format!("{words} {rest}");
    }
    let all: Vec<&Analysis> = std::iter::once(analysis).chain(pinned).collect();
    let places: Vec<(f64, f64)> = measured.iter().map(MeasuredPoint::place).collect();
    let holds = AxisContents {
        all: &all,
        places: &places,
        axes: held,
    };
    let mut frame = RooflineFrame::new(analysis, holds, size, PointLayout::Exact);
    if let Some(pinned) = pinned {
        draw_pinned(pinned, &mut frame);
    }
    draw_points(analysis, is_fused, &mut frame);
    draw_measured(analysis, &measured, &mut frame);
    let focus_order = focus_order(&frame.marks);
    Scene {
        focus_order,
        ..frame.scene(&words)
    }
    .of_kernels(&analysis.partition)
}

/// The axes alone, for who draws roofs and points: both hold those of the program and its device.
pub fn empty_scene(analysis: &Analysis, size: (f64, f64)) -> Scene {
    let holds = AxisContents {
        all: &[],
        places: &[],
        axes: None,
    };
    let mut frame = RooflineFrame::new(analysis, holds, size, PointLayout::Exact);
    let is_axis = |role| {
        matches!(
            role,
            Role::Mesh | Role::Axis | Role::AxisText | Role::AxisTitle
        )
    };
    frame.marks.retain(|mark| is_axis(mark.role));
    frame.scene(", without roofs and points.")
}

/// A ring for each kernel of the pinned state, below all other points.
fn draw_pinned(pinned: &Analysis, frame: &mut RooflineFrame) {
    /// More would hide what they are compared with.
    const MAX_RINGS: usize = 100;
    let radius = if frame.is_compact { 7.0 } else { 9.0 };
    let mut places = Vec::new();
    for (kernel, fused) in pinned.fused.kernels.iter_enumerated() {
        let Some((intensity, rate)) = point_of(&fused.placement) else {
            continue;
        };
        let place = tenths(frame.plot.place(intensity, rate));
        if places.len() == MAX_RINGS || places.contains(&place) {
            continue;
        }
        places.push(place);
        let heading = format!("pinned, {}", kernel_heading(pinned, kernel));
        let label = point_label(heading, &Values::new(pinned), Scope::Kernel(kernel));
        frame
            .marks
            .push(circle(Role::PinnedPoint, place, radius).named(label));
    }
}

/// Kernels that have no point, in a sentence; `None` when each has one.
fn without_point(analysis: &Analysis) -> Option<String> {
    const NAMED: usize = 8;
    let missing: Vec<(KernelId, &Kernel)> = analysis
        .fused
        .kernels
        .iter_enumerated()
        .filter(|(_, kernel)| point_of(&kernel.placement).is_none())
        .collect();
    if missing.is_empty() {
        return None;
    }
    let names = missing.iter().map(|&(id, kernel)| {
        let why = match missing_figure(&analysis.options, kernel.work) {
            Some(MissingFigure::Units) => "unknown units",
            Some(MissingFigure::K) => "unknown K",
            _ => "no FLOPs",
        };
        format!("{} ({why})", kernel_heading(analysis, id))
    });
    Some(format!("No point for {}.", joined(names, ["; "; 2], NAMED)))
}
