//! The visible part of the drawing: pan, zoom and fit.

use super::{Point, Rect};
use crate::picture::path_data::{push_command, rounded};

/// Zoom limits.
const SCALES: (f64, f64) = (0.02, 4.0);
/// Largest scale of a drawing that is fitted into the canvas.
const FIT_SCALE: f64 = 1.25;
/// Smallest scale of the first view: a large graph starts legible at its top, not as a whole.
const LEGIBLE_SCALE: f64 = 0.5;
/// Part of the drawing that always stays visible, in screen pixels.
const KEPT: f64 = 48.0;

/// Maps the drawing to the screen: `screen = picture * scale + (x, y)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Screen coordinate of the drawing's left border.
    pub x: f64,
    /// Screen coordinate of its upper border.
    pub y: f64,
    /// Screen pixels per pixel of the drawing.
    pub scale: f64,
}

/// Width and height in pixels.
pub type Size = (f64, f64);

impl Viewport {
    /// No pan, scale 1.
    pub const IDENTITY: Self = Self {
        x: 0.0,
        y: 0.0,
        scale: 1.0,
    };

    /// The whole drawing in the middle of the canvas.
    pub fn fit(picture: Size, canvas: Size) -> Self {
        let scale = fit_scale(picture, canvas);
        Self {
            x: (canvas.0 - picture.0 * scale) / 2.0,
            y: (canvas.1 - picture.1 * scale) / 2.0,
            scale,
        }
    }

    /// The first view: the whole drawing if it is legible, otherwise its top.
    pub fn first(picture: Size, canvas: Size) -> Self {
        let whole = Self::fit(picture, canvas);
        if whole.scale >= LEGIBLE_SCALE {
            return whole;
        }
        let across = canvas.0 / picture.0.max(1.0);
        let scale = across.clamp(LEGIBLE_SCALE, 1.0);
        Self {
            x: (canvas.0 - picture.0 * scale) / 2.0,
            y: 0.0,
            scale,
        }
    }

    /// Zoomed by `factor`; the point of the drawing at screen position `at` stays there.
    #[must_use]
    pub fn zoomed(self, factor: f64, at: Point) -> Self {
        let scale = (self.scale * factor).clamp(SCALES.0, SCALES.1);
        let ratio = scale / self.scale;
        Self {
            x: at.x - (at.x - self.x) * ratio,
            y: at.y - (at.y - self.y) * ratio,
            scale,
        }
    }

    /// Moved by screen pixels.
    #[must_use]
    pub fn panned(self, dx: f64, dy: f64) -> Self {
        Self {
            x: self.x + dx,
            y: self.y + dy,
            ..self
        }
    }

    /// Panned back as far as needed to keep a part of the drawing visible.
    #[must_use]
    pub fn kept_in_sight(self, picture: Size, canvas: Size) -> Self {
        let keep = |at: f64, length: f64, room: f64| {
            let kept = KEPT.min(length).min(room / 2.0);
            at.max(kept - length).min(room - kept)
        };
        Self {
            x: keep(self.x, picture.0 * self.scale, canvas.0),
            y: keep(self.y, picture.1 * self.scale, canvas.1),
            ..self
        }
    }

    /// Panned as little as needed to show `rect` of the drawing.
    #[must_use]
    pub fn revealing(self, rect: Rect, canvas: Size) -> Self {
        const BORDER: f64 = 24.0;
        let shift = |from: f64, length: f64, room: f64| {
            let to = from + length;
            if length + 2.0 * BORDER > room || from < BORDER {
                BORDER - from
            } else if to > room - BORDER {
                room - BORDER - to
            } else {
                0.0
            }
        };
        let dx = shift(
            self.x + rect.x * self.scale,
            rect.width * self.scale,
            canvas.0,
        );
        let dy = shift(
            self.y + rect.y * self.scale,
            rect.height * self.scale,
            canvas.1,
        );
        self.panned(dx, dy)
    }

    /// Whether a point of the drawing is visible.
    pub fn shows(&self, point: Point, canvas: Size) -> bool {
        let (x, y) = (self.x + point.x * self.scale, self.y + point.y * self.scale);
        (0.0..canvas.0).contains(&x) && (0.0..canvas.1).contains(&y)
    }

    /// As an SVG transform.
    pub fn transform(&self) -> String {
        let mut transform = String::new();
        let offset = [rounded(self.x, 2), rounded(self.y, 2)];
        push_command(&mut transform, "translate(", &offset);
        push_command(&mut transform, ") scale(", &[rounded(self.scale, 4)]);
        transform.push(')');
        transform
    }
}

fn fit_scale(picture: Size, canvas: Size) -> f64 {
    let across = canvas.0 / picture.0.max(1.0);
    let down = canvas.1 / picture.1.max(1.0);
    across.min(down).clamp(SCALES.0, FIT_SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURE: Size = (300.0, 1200.0);
    const CANVAS: Size = (600.0, 800.0);

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn a_fit_shows_all_of_it_in_the_middle() {
        let view = Viewport::fit(PICTURE, CANVAS);
        assert!(near(view.scale, 800.0 / 1200.0));
        assert!(near(view.x, (600.0 - 200.0) / 2.0) && near(view.y, 0.0));
        assert!(near(Viewport::fit((10.0, 10.0), CANVAS).scale, FIT_SCALE));
    }

    #[test]
    fn a_long_picture_starts_legible_at_its_top() {
        let view = Viewport::first((300.0, 30_000.0), CANVAS);
        assert!(near(view.scale, 1.0) && near(view.y, 0.0));
        let wide = Viewport::first((30_000.0, 300.0), CANVAS);
        assert!(near(wide.scale, LEGIBLE_SCALE));
    }

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let view = Viewport::fit(PICTURE, CANVAS);
        let at = Point::new(250.0, 300.0);
        let before = ((at.x - view.x) / view.scale, (at.y - view.y) / view.scale);
        let zoomed = view.zoomed(1.7, at);
        let after = (
            (at.x - zoomed.x) / zoomed.scale,
            (at.y - zoomed.y) / zoomed.scale,
        );
        assert!(near(before.0, after.0) && near(before.1, after.1));
        assert!(near(view.zoomed(1e9, at).scale, SCALES.1));
    }

    #[test]
    fn the_picture_cannot_be_lost() {
        let lost = Viewport::fit(PICTURE, CANVAS).panned(1e6, -1e6);
        let kept = lost.kept_in_sight(PICTURE, CANVAS);
        assert!(kept.x <= CANVAS.0 - KEPT && kept.y + PICTURE.1 * kept.scale >= KEPT);
    }

    #[test]
    fn revealing_moves_only_what_is_needed() {
        let view = Viewport::IDENTITY;
        let seen = Rect {
            x: 50.0,
            y: 50.0,
            width: 100.0,
            height: 40.0,
        };
        assert_eq!(view.revealing(seen, CANVAS), view);
        let below = Rect { y: 900.0, ..seen };
        let moved = view.revealing(below, CANVAS);
        assert!(near(moved.y, 800.0 - 24.0 - 940.0) && near(moved.x, 0.0));
    }
}
