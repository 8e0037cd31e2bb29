//! Constructors of marks. Coordinates are rounded to tenths.

use crate::picture::charts::scene::{Anchor, FONT_PX, Mark, Point, Role, Shape};
use crate::picture::dag::metrics::BOLD;

pub(super) fn tenth(px: f64) -> f64 {
    // Adding zero turns minus zero into zero.
    (px * 10.0).round() / 10.0 + 0.0
}

/// A point with coordinates rounded to tenths.
pub(super) fn tenths((x, y): Point) -> Point {
    (tenth(x), tenth(y))
}

/// A text of one line.
pub(super) fn text(role: Role, at: Point, anchor: Anchor, text: impl Into<String>) -> Mark {
    Mark::new(
        role,
        Shape::Text {
            at: tenths(at),
            anchor,
            turn_deg: 0.0,
            text: text.into(),
        },
    )
}

pub(super) fn line(role: Role, points: &[Point]) -> Mark {
    let points = points.iter().copied().map(tenths).collect();
    let is_closed = false;
    Mark::new(role, Shape::Path { points, is_closed })
}

pub(super) fn polygon(role: Role, corners: &[Point]) -> Mark {
    let points = corners.iter().copied().map(tenths).collect();
    let is_closed = true;
    Mark::new(role, Shape::Path { points, is_closed })
}

pub(super) fn circle(role: Role, center: Point, radius: f64) -> Mark {
    let center = tenths(center);
    Mark::new(role, Shape::Circle { center, radius })
}

/// A rectangle by its upper left and lower right corners; never of negative size.
pub(super) fn rect(role: Role, (left, top): Point, (right, bottom): Point) -> Mark {
    let (corner, end) = (tenths((left, top)), tenths((right, bottom)));
    Mark::new(
        role,
        Shape::Rect {
            corner,
            width: tenth((end.0 - corner.0).max(0.0)),
            height: tenth((end.1 - corner.1).max(0.0)),
        },
    )
}

/// Width of a text, estimated by the widest of common system fonts: no browser is there to measure
/// it, and too much space is better than an overlap.
pub(super) fn text_width(text: &str) -> f64 {
    let ems = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ' ' | '|' | '\'' => 0.32,
        'f' | 't' | 'r' | '/' | '(' | ')' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '+' | '−' => 0.9,
        '0'..='9' | '?' => 0.64,
        'A'..='Z' => 0.68,
        _ => 0.61,
    };
    text.chars().map(ems).sum::<f64>() * FONT_PX
}

pub(super) fn bold_text_width(text: &str) -> f64 {
    text_width(text) * BOLD
}
