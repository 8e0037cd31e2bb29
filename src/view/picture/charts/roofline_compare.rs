//! The kernels of all policies on one roofline, each policy with a marker of its own.

use crate::picture::charts::labels::{add_others, kernel_heading, point_label};
use crate::picture::charts::marks::{circle, polygon};
use crate::picture::charts::roofline_frame::{AxisContents, RooflineFrame, point_of};
use crate::picture::charts::roofline_names::PointLayout;
use crate::picture::charts::scene::{Axes, Mark, Point, Role, Scene};
use crate::present::options::policy_title;
use crate::present::quantity::{Scope, Values};
use fuseline_core::analysis::compare::Compared;
use fuseline_core::{Analysis, KernelId, Policy};

/// Draws the kernels of `all` over the roofs of `chosen`. Kernels of one policy that would cover
/// each other share a marker. A marker that would cover one of another policy hangs below it, at
/// its own intensity, so that nothing is above a roof. Columns end at the bottom of the frame,
/// where markers do cover each other. Axes that are `held` stand still.
///
/// `O(kernels · markers + markers² · markers of a stack)`, with a few hundred markers at most.
pub fn scene(chosen: &Analysis, all: &[Compared], size: (f64, f64), held: Option<Axes>) -> Scene {
    let analyses: Vec<&Analysis> = all.iter().map(|compared| &*compared.analysis).collect();
    let holds = AxisContents {
        all: &analyses,
        places: &[],
        axes: held,
    };
    let mut frame = RooflineFrame::new(chosen, holds, size, PointLayout::Hanging);
    let mut occupied: Vec<Point> = Vec::new();
    let radius = if frame.is_compact { 5.0 } else { 6.5 };
    let reach = radius * 2.1;
    let lowest = frame.plot.bounds.bottom - radius;
    for Compared {
        policy, analysis, ..
    } in all
    {
        let mut markers: Vec<Marker> = Vec::new();
        for (kernel, fused) in analysis.fused.kernels.iter_enumerated() {
            let Some((intensity, rate)) = point_of(&fused.placement) else {
                continue;
            };
            let place = frame.plot.place(intensity, rate);
            let near = (markers.iter_mut()).find(|marker| is_near(marker.place, place, reach));
            match near {
                Some(marker) => marker.other_count += 1,
                None => markers.push(Marker {
                    kernel,
                    place,
                    other_count: 0,
                }),
            }
        }
        for mut marker in markers {
            marker.place = free_place(marker.place, reach, &occupied);
            marker.place.1 = marker.place.1.min(lowest);
            occupied.push(marker.place);
            frame.marks.extend(marker.mark(*policy, analysis, radius));
        }
    }
    frame.scene(
        ". Each marker is a kernel of one policy. Markers at the same point are stacked downwards.",
    )
}

/// The highest place at or below a point where a marker covers no other one.
fn free_place((x, mut y): Point, reach: f64, occupied: &[Point]) -> Point {
    // Each round moves it below one marker at least.
    for _ in 0..occupied.len() {
        let covered = occupied
            .iter()
            .filter(|at| is_near(**at, (x, y), reach - 0.01))
            .map(|at| at.1)
            .reduce(f64::max);
        let Some(bottom) = covered else {
            break;
        };
        y = bottom + reach;
    }
    (x, y)
}

fn is_near(a: Point, b: Point, reach: f64) -> bool {
    (a.0 - b.0).abs() < reach && (a.1 - b.1).abs() < reach
}

/// A policy's marker. Shapes distinguish policies for those who cannot see the colours.
pub fn marker(policy: Policy, (x, y): Point, radius: f64) -> Mark {
    let role = Role::Policy(policy);
    let corners: &[Point] = match policy {
        Policy::None => return circle(role, (x, y), radius),
        Policy::Rules => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Policy::Inductor => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        Policy::Optimal => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        Policy::Manual => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
    };
    let corner = |&(dx, dy): &Point| (x + dx * radius, y + dy * radius);
    let corners: Vec<Point> = corners.iter().map(corner).collect();
    polygon(role, &corners)
}

/// Kernels of one policy at one place.
struct Marker {
    /// The first of them.
    kernel: KernelId,
    place: Point,
    /// How many there are besides the first.
    other_count: usize,
}

impl Marker {
    fn mark(&self, policy: Policy, analysis: &Analysis, radius: f64) -> Option<Mark> {
        analysis.fused.kernels.get(self.kernel)?;
        let heading = format!(
            "{}, {}",
            policy_title(policy, analysis.options.fusion.objective),
            kernel_heading(analysis, self.kernel)
        );
        let mut label = point_label(heading, &Values::new(analysis), Scope::Kernel(self.kernel));
        add_others(&mut label, self.other_count);
        Some(marker(policy, self.place, radius).named(label))
    }
}
