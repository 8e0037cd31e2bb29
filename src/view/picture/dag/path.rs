//! Polylines as SVG path data with rounded corners.

use super::geometry::Point;
use crate::picture::path_data::{push_command, rounded};

/// Path data of a polyline whose corners are rounded by at most `radius`.
pub fn path_data(points: &[Point], radius: f64) -> String {
    let mut data = String::with_capacity(points.len() * 20);
    let Some(first) = points.first() else {
        return data;
    };
    push(&mut data, "M", *first);
    for corner in points.windows(3) {
        let &[before, at, after] = corner else {
            continue;
        };
        // Half of each piece, so that the curves of its two corners do not overlap.
        let room = (length(before, at) / 2.0).min(length(at, after) / 2.0);
        let cut = radius.min(room);
        push(&mut data, "L", towards(at, before, cut));
        push(&mut data, "Q", at);
        push(&mut data, " ", towards(at, after, cut));
    }
    if let [_, .., last] = points {
        push(&mut data, "L", *last);
    }
    data
}

fn push(data: &mut String, command: &str, point: Point) {
    push_command(data, command, &[rounded(point.x, 1), rounded(point.y, 1)]);
}

fn length(a: Point, b: Point) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

/// The point at `distance` from `a` on the way to `b`, at most `b`.
fn towards(a: Point, b: Point, distance: f64) -> Point {
    let whole = length(a, b);
    if whole <= distance || whole == 0.0 {
        return b;
    }
    let part = distance / whole;
    Point::new(a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part)
}
