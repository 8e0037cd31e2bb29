//! How fusion moves a kernel's point: an arc below the roof from one place to the other. Arcs of
//! several kernels along the same part of the roof do not cover each other.

use crate::picture::charts::bounds::{Bounds, direction, distance, toward};
use crate::picture::charts::marks::{polygon, tenths};
use crate::picture::charts::occupancy::OccupancyGrid;
use crate::picture::charts::scene::{Mark, Point, Role, Shape};

/// A cubic curve from the place of a kernel's ops to that of the fused kernel.
pub(super) struct MoveArc {
    from: Point,
    controls: [Point; 2],
    to: Point,
}

impl MoveArc {
    fn straight(from: Point, to: Point) -> Self {
        let third = ((to.0 - from.0) / 3.0, (to.1 - from.1) / 3.0);
        Self {
            from,
            controls: [
                (from.0 + third.0, from.1 + third.1),
                (to.0 - third.0, to.1 - third.1),
            ],
            to,
        }
    }

    /// An arc whose middle is `sag` units to the lower right of the straight line (negative: to the
    /// upper left), and that leads `bulge` units beyond its ends.
    fn hanging(from: Point, to: Point, sag: f64, bulge: f64) -> Self {
        let (ux, uy) = direction(from, to);
        // The middle of a cubic curve is at three quarters of the distance to its control points.
        let reach = sag / 0.75;
        let (nx, ny) = (-uy * reach, ux * reach);
        Self {
            from,
            controls: [
                (from.0 + nx - ux * bulge, from.1 + ny - uy * bulge),
                (to.0 + nx + ux * bulge, to.1 + ny + uy * bulge),
            ],
            to,
        }
    }

    /// The point of the curve at the parameter `share`, from 0 to 1.
    fn at(&self, share: f64) -> Point {
        let rest = 1.0 - share;
        let weights = [
            rest * rest * rest,
            3.0 * rest * rest * share,
            3.0 * rest * share * share,
            share * share * share,
        ];
        let points = [self.from, self.controls[0], self.controls[1], self.to];
        points
            .iter()
            .zip(weights)
            .fold((0.0, 0.0), |sum, (point, weight)| {
                (sum.0 + point.0 * weight, sum.1 + point.1 * weight)
            })
    }

    /// The area that the line covers, except for its ends, where other arcs may end too.
    fn bounds(&self) -> Vec<Bounds> {
        const STEPS: u8 = 24;
        const ENDS: f64 = 8.0;
        (1..STEPS)
            .map(|step| self.at(f64::from(step) / f64::from(STEPS)))
            .filter(|&at| distance(at, self.from) > ENDS && distance(at, self.to) > ENDS)
            .map(|at| Bounds::around(at, 1.5))
            .collect()
    }

    /// Occupies what the line covers.
    pub(super) fn occupy(&self, lines: &mut OccupancyGrid) {
        for part in self.bounds() {
            lines.occupy(&part);
        }
    }

    /// The line and its arrow head, between the edges of the hollow and the solid point with these
    /// radii.
    pub(super) fn marks(&self, hollow: f64, solid: f64) -> [Mark; 2] {
        let head = solid + 1.5;
        let half = head * 0.5;
        let tip = toward(self.to, self.controls[1], solid);
        let neck = toward(self.to, self.controls[1], solid + head);
        let (ux, uy) = direction(neck, tip);
        [
            Mark::new(
                Role::Link,
                Shape::Curve {
                    ends: [
                        tenths(toward(self.from, self.controls[0], hollow)),
                        tenths(neck),
                    ],
                    controls: self.controls.map(tenths),
                },
            ),
            polygon(
                Role::LinkHead,
                &[
                    tip,
                    (neck.0 - uy * half, neck.1 + ux * half),
                    (neck.0 + uy * half, neck.1 - ux * half),
                ],
            ),
        ]
    }
}

/// How fusion moves a point.
pub(super) struct PointMove {
    /// The point, by the caller's index.
    pub(super) point: usize,
    pub(super) from: Point,
    pub(super) to: Point,
}

impl PointMove {
    pub(super) fn length(&self) -> f64 {
        distance(self.from, self.to)
    }

    /// Whether both move along the same part of the roof.
    fn overlaps(&self, other: &Self) -> bool {
        self.from.0 < other.to.0 && other.from.0 < self.to.0
    }
}

/// Distance between the arcs of moves along the same part of the roof.
const ARC_GAP: f64 = 9.0;
/// Arcs that are drawn below each other, at most; further ones cover these.
const MAX_DEPTH: u8 = 7;

/// The arcs of `moves` below the roof, with the indices of their points: longer ones around the
/// shorter ones that they overlap. An arc that would leave the plot or hide words is drawn deeper,
/// or above the roof.
pub(super) fn arcs_below_roof(
    mut moves: Vec<PointMove>,
    radius: f64,
    words: &OccupancyGrid,
) -> Vec<(usize, MoveArc)> {
    moves.sort_by(|a, b| {
        let lengths = a.length().total_cmp(&b.length());
        lengths.then(a.point.cmp(&b.point))
    });
    let mut placed: Vec<(PointMove, u8)> = Vec::new();
    let mut arcs = Vec::new();
    for next in moves {
        let inner = placed.iter().filter(|(other, _)| next.overlaps(other));
        let depth = inner.map(|&(_, depth)| depth + 1).max().unwrap_or(0);
        let depth = depth % (MAX_DEPTH + 1);
        let sag = (next.length() * 0.14).clamp(radius + 8.0, radius + 18.0);
        arcs.push((next.point, free_arc(&next, sag, depth, words)));
        placed.push((next, depth));
    }
    arcs
}

/// The first arc of a move at this depth that hides no words, else a straight line.
fn free_arc(next: &PointMove, sag: f64, depth: u8, words: &OccupancyGrid) -> MoveArc {
    const ATTEMPTS: u8 = 5;
    let depth = f64::from(depth);
    // Long arcs are flat, short ones around others are loops.
    let bulge = depth * 4.0 - next.length() * 0.2;
    for side in [1.0, -1.0] {
        for step in 0..ATTEMPTS {
            let sag = sag + depth * ARC_GAP + f64::from(step) * 4.0;
            let arc = MoveArc::hanging(next.from, next.to, sag * side, bulge);
            if arc.bounds().iter().all(|part| words.is_free(part)) {
                return arc;
            }
        }
    }
    MoveArc::straight(next.from, next.to)
}
