//! How fusion moves a kernel's point: an arc from one exact place to another that hangs below the roof, so that moves
//! along the same piece of roof can be told apart.

use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::occupancy::OccupancyGrid;
use crate::picture::charts::scene::{Mark, Point, Role, Shape, tenths};

/// A cubic curve from where a kernel's ops stand to where the fused kernel stands.
pub(super) struct MoveArc {
    from: Point,
    controls: [Point; 2],
    to: Point,
}

impl MoveArc {
    /// Straight.
    pub(super) fn straight(from: Point, to: Point) -> Self {
        let third = (to.0 - from.0, to.1 - from.1);
        Self {
            from,
            controls: [
                (from.0 + third.0 / 3.0, from.1 + third.1 / 3.0),
                (to.0 - third.0 / 3.0, to.1 - third.1 / 3.0),
            ],
            to,
        }
    }

    /// Its middle stands `sag` units to the lower right of the straight way (negative: to the upper left);
    /// `bulge` carries it beyond its ends on both sides.
    fn hanging(from: Point, to: Point, sag: f64, bulge: f64) -> Self {
        let (ux, uy) = unit(from, to);
        // The middle of a cubic curve stands three quarters of the way to its controls.
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

    /// The point at `share` of the curve, from 0 to 1.
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

    /// What the line covers, but for its ends, where other arcs may end as well.
    fn bounds(&self) -> Vec<Bounds> {
        const STEPS: u8 = 24;
        const ENDS: f64 = 8.0;
        let is_apart = |a: Point, b: Point| (a.0 - b.0).hypot(a.1 - b.1) > ENDS;
        (1..STEPS)
            .map(|step| self.at(f64::from(step) / f64::from(STEPS)))
            .filter(|&at| is_apart(at, self.from) && is_apart(at, self.to))
            .map(|at| Bounds::around(at, 1.5))
            .collect()
    }

    /// Occupies what it covers.
    pub(super) fn occupy(&self, lines: &mut OccupancyGrid) {
        for part in self.bounds() {
            lines.occupy(&part);
        }
    }

    /// The line and its arrow head, from the edge of the hollow point to that of the solid one.
    pub(super) fn marks(&self, hollow: f64, solid: f64) -> [Mark; 2] {
        let head = solid + 1.5;
        let half = head * 0.5;
        let tip = toward(self.to, self.controls[1], solid);
        let neck = toward(self.to, self.controls[1], solid + head);
        let (ux, uy) = unit(neck, tip);
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
            Mark::new(
                Role::LinkHead,
                Shape::Path {
                    points: vec![
                        tenths(tip),
                        tenths((neck.0 - uy * half, neck.1 + ux * half)),
                        tenths((neck.0 + uy * half, neck.1 - ux * half)),
                    ],
                    is_closed: true,
                },
            ),
        ]
    }
}

/// How a point moves.
pub(super) struct Move {
    /// The point, by the caller's index.
    pub(super) point: usize,
    pub(super) from: Point,
    pub(super) to: Point,
}

impl Move {
    pub(super) fn length(&self) -> f64 {
        (self.to.0 - self.from.0).hypot(self.to.1 - self.from.1)
    }

    /// Whether both go along the same piece of roof.
    fn overlaps(&self, other: &Self) -> bool {
        self.from.0 < other.to.0 && other.from.0 < self.to.0
    }
}

/// Distance between the arcs of moves along the same piece of roof.
const ARC_GAP: f64 = 9.0;
/// Arcs that hang below each other, at most; further ones lie over these.
const MAX_DEPTH: u8 = 7;

/// The arcs of `moves` below the roof, by the index of their points: a longer one around the shorter ones that it
/// overlaps. Where an arc would leave the plot or hide words it hangs deeper, or stands above the roof.
pub(super) fn arcs_below_roof(
    mut moves: Vec<Move>,
    radius: f64,
    words: &OccupancyGrid,
) -> Vec<(usize, MoveArc)> {
    moves.sort_by(|a, b| {
        let lengths = a.length().total_cmp(&b.length());
        lengths.then(a.point.cmp(&b.point))
    });
    let mut placed: Vec<(Move, u8)> = Vec::new();
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

fn free_arc(next: &Move, sag: f64, depth: u8, words: &OccupancyGrid) -> MoveArc {
    const ATTEMPTS: u8 = 5;
    let depth = f64::from(depth);
    // A long arc is flat, a short one around others a loop.
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

/// Direction from one point to another; rightwards when they are one.
fn unit(from: Point, to: Point) -> Point {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length > 1e-9 {
        (dx / length, dy / length)
    } else {
        (1.0, 0.0)
    }
}

/// The point at `distance` on the way from one point to another.
pub(super) fn toward(from: Point, to: Point, distance: f64) -> Point {
    let (ux, uy) = unit(from, to);
    (from.0 + ux * distance, from.1 + uy * distance)
}
