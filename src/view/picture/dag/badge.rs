//! The badge with a kernel's number, on the corner of its panel.

use super::geometry::{Point, Rect};
use super::metrics::text_width;
use crate::picture::path_data::push_command;
use fuseline_core::KernelId;

/// Half the height of a badge.
const HALF: f64 = 9.5;

/// A badge: its outline, and the place of its number.
#[derive(Clone, Debug, PartialEq)]
pub struct Badge {
    /// SVG path data of the outline. There are twelve colours only, so the form differs, too: a
    /// pill, a box, or a box with two round corners.
    pub outline: String,
    /// Centre of the number.
    pub center: Point,
}

/// The badge of a kernel on the upper left corner of its panel, in one of three forms.
pub fn badge(kernel: KernelId, form: usize, panel: Rect) -> Badge {
    let half_width = HALF.max(text_width(&kernel.number().to_string(), 11.0) / 2.0 + 4.0);
    // Wide badges grow into the panel and not over what is beside it.
    let center = Point::new(panel.x + half_width - 6.5, panel.y + 3.0);
    let (left, right) = (center.x - half_width, center.x + half_width);
    let (top, bottom) = (center.y - HALF, center.y + HALF);
    // Radii of the upper left and lower right corners, and of the two others.
    let (main, other) = match form {
        0 => (HALF, HALF),
        1 => (2.5, 2.5),
        _ => (HALF, 1.5),
    };
    let mut outline = String::new();
    let mut push = |command, numbers: &[f64]| push_command(&mut outline, command, numbers);
    let corner = |radius: f64, x: f64, y: f64| [radius, radius, 0.0, 0.0, 1.0, x, y];
    push("M", &[left + main, top]);
    push("H", &[right - other]);
    push("A", &corner(other, right, top + other));
    push("V", &[bottom - main]);
    push("A", &corner(main, right - main, bottom));
    push("H", &[left + other]);
    push("A", &corner(other, left, bottom - other));
    push("V", &[top + main]);
    push("A", &corner(main, left + main, top));
    push("Z", &[]);
    Badge { outline, center }
}
