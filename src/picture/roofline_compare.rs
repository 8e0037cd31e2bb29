//! The kernels of all policies on one roofline, each policy with a marker of its own.

use super::labels::{kernel_heading, point_label};
use super::roofline::{Base, point_of};
use super::roofline_points::cell;
use super::scene::{Mark, Point, Role, Scene, Shape, tenths};
use crate::core::compare::Compared;
use crate::core::{Analysis, Policy};
use std::collections::BTreeMap;

/// Draws the kernels of `all` over the roofs of `chosen`. Kernels of one policy that share a place share a
/// marker. `O(kernels)`.
pub fn scene(chosen: &Analysis, all: &[Compared], size: (f64, f64)) -> Scene {
    let analyses: Vec<&Analysis> = all.iter().map(|compared| &compared.analysis).collect();
    let mut base = Base::new(chosen, &analyses, size);
    let mut focus_order = Vec::new();
    let radius = if base.is_compact { 5.0 } else { 6.5 };
    for Compared {
        policy, analysis, ..
    } in all
    {
        let mut dots: Vec<Dot> = Vec::new();
        let mut at_cell: BTreeMap<(i64, i64), usize> = BTreeMap::new();
        for (kernel, fused) in analysis.fused.kernels.iter().enumerate() {
            let Some((intensity, rate)) = point_of(&fused.placement) else {
                continue;
            };
            let place = base.plot.place(intensity, rate);
            let known = at_cell.entry(cell(place)).or_insert(dots.len());
            match dots.get_mut(*known) {
                Some(dot) => dot.others += 1,
                None => dots.push(Dot {
                    kernel,
                    place,
                    others: 0,
                }),
            }
        }
        for dot in dots {
            focus_order.push(base.marks.len());
            base.marks.extend(dot.mark(*policy, analysis, radius));
        }
    }
    base.scene(focus_order, ". Each marker is a kernel of one policy.")
}

/// The policy that a mark of such a picture belongs to.
pub fn policy_of(role: Role) -> Option<Policy> {
    (Policy::ALL.into_iter()).find(|&policy| role_of(policy) == role)
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
struct Dot {
    kernel: usize,
    place: Point,
    others: usize,
}

impl Dot {
    fn mark(&self, policy: Policy, analysis: &Analysis, radius: f64) -> Option<Mark> {
        let kernel = analysis.fused.kernels.get(self.kernel)?;
        let heading = [policy.name(), ", ", &kernel_heading(analysis, self.kernel)].concat();
        let mut label = point_label(heading, &kernel.placement, kernel.bytes());
        if self.others > 0 {
            let also = [&self.others.to_string(), " more kernels here"].concat();
            label.name.push_str(", ");
            label.name.push_str(&also);
            label.facts.push(("and", also));
        }
        let shape = marker(policy, self.place, radius);
        Some(Mark::new(role_of(policy), shape).named(label))
    }
}
