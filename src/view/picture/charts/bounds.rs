//! Upright rectangles by their edges, distances and directions.

use crate::picture::charts::scene::Point;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Bounds {
    /// The square around a disc.
    pub(super) fn around(center: Point, radius: f64) -> Self {
        Self::centered(center, (2.0 * radius, 2.0 * radius))
    }

    /// The rectangle of this width and height around its centre.
    pub(super) fn centered((x, y): Point, (width, height): (f64, f64)) -> Self {
        Self {
            left: x - width / 2.0,
            top: y - height / 2.0,
            right: x + width / 2.0,
            bottom: y + height / 2.0,
        }
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

pub(super) fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// The unit vector from one point to another; rightwards when they are the same.
pub(super) fn direction(from: Point, to: Point) -> Point {
    let length = distance(from, to);
    if length > 1e-9 {
        ((to.0 - from.0) / length, (to.1 - from.1) / length)
    } else {
        (1.0, 0.0)
    }
}

/// The point at `length` from one point towards another.
pub(super) fn toward(from: Point, to: Point, length: f64) -> Point {
    let (ux, uy) = direction(from, to);
    (from.0 + ux * length, from.1 + uy * length)
}
