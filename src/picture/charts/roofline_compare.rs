//! The kernels of all policies on one roofline, each policy with a marker of its own.

use crate::core::analysis::compare::Compared;
use crate::core::{Analysis, Policy};
use crate::picture::charts::labels::{add_others, kernel_heading, point_label};
use crate::picture::charts::roofline::{PointLayout, RooflineFrame, point_of};
use crate::picture::charts::scene::{Mark, Point, Role, Scene, Shape, tenths};
use strum::VariantArray;

/// Draws the kernels of `all` over the roofs of `chosen`. Kernels of one policy that would cover each other share
/// a marker. Those that would cover markers of other policies stand on them, the first on its point: nothing else
/// stands above a roof, and the intensity stays. Where that leads out of the frame they cover each other below it.
///
/// `O(kernels · markers + markers² · markers of a stack)`, with a few hundred markers at most.
pub fn scene(chosen: &Analysis, all: &[Compared], size: (f64, f64)) -> Scene {
    let analyses: Vec<&Analysis> = all.iter().map(|compared| &compared.analysis).collect();
    let mut frame = RooflineFrame::new(chosen, &analyses, size, PointLayout::Stacked);
    let mut focus_order = Vec::new();
    let mut occupied: Vec<Point> = Vec::new();
    let radius = if frame.is_compact { 5.0 } else { 6.5 };
    let reach = radius * 2.1;
    let highest = frame.plot.bounds.top + radius;
    for Compared {
        policy, analysis, ..
    } in all
    {
        let mut markers: Vec<Marker> = Vec::new();
        for (kernel, fused) in analysis.fused.kernels.iter().enumerate() {
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
            marker.place.1 = marker.place.1.max(highest);
            occupied.push(marker.place);
            focus_order.push(frame.marks.len());
            frame.marks.extend(marker.mark(*policy, analysis, radius));
        }
    }
    frame.scene(
        focus_order,
        ". Each marker is a kernel of one policy; those that share a place stand on each other.",
    )
}

/// The lowest place at or above a point where a marker covers no other one.
fn free_place((x, mut y): Point, reach: f64, occupied: &[Point]) -> Point {
    // Each round leaves one marker below.
    for _ in 0..occupied.len() {
        let covered = occupied
            .iter()
            .filter(|at| is_near(**at, (x, y), reach - 0.01))
            .map(|at| at.1)
            .reduce(f64::min);
        let Some(top) = covered else {
            break;
        };
        y = top - reach;
    }
    (x, y)
}

fn is_near(a: Point, b: Point, reach: f64) -> bool {
    (a.0 - b.0).abs() < reach && (a.1 - b.1).abs() < reach
}

/// The policy that a mark of such a picture belongs to.
pub fn policy_of(role: Role) -> Option<Policy> {
    (Policy::VARIANTS.iter().copied()).find(|&policy| role_of(policy) == role)
}

/// What the markers of a policy look like.
pub const fn role_of(policy: Policy) -> Role {
    match policy {
        Policy::None => Role::PolicyNone,
        Policy::Rules => Role::PolicyRules,
        Policy::Inductor => Role::PolicyInductor,
        Policy::Optimal => Role::PolicyOptimal,
        Policy::Manual => Role::PolicyManual,
    }
}

/// The outline of a policy's marker: a shape tells policies apart where colours do not.
pub fn marker(policy: Policy, (x, y): Point, radius: f64) -> Shape {
    let corners: &[Point] = match policy {
        Policy::None => {
            return Shape::Circle {
                center: tenths((x, y)),
                radius,
            };
        }
        Policy::Rules => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Policy::Inductor => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        Policy::Optimal => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        Policy::Manual => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
    };
    let corner = |&(dx, dy): &Point| tenths((x + dx * radius, y + dy * radius));
    Shape::Path {
        points: corners.iter().map(corner).collect(),
        is_closed: true,
    }
}

/// A place where kernels of one policy stand.
struct Marker {
    /// The first of them.
    kernel: usize,
    place: Point,
    /// The others.
    other_count: usize,
}

impl Marker {
    fn mark(&self, policy: Policy, analysis: &Analysis, radius: f64) -> Option<Mark> {
        let kernel = analysis.fused.kernels.get(self.kernel)?;
        let heading = format!(
            "{}, {}",
            policy.name(),
            kernel_heading(analysis, self.kernel)
        );
        let mut label = point_label(heading, &kernel.placement, kernel.bytes());
        add_others(&mut label, self.other_count);
        let shape = marker(policy, self.place, radius);
        Some(Mark::new(role_of(policy), shape).named(label))
    }
}
