//! Which part of the picture the canvas shows: pan, zoom and fit.

use super::geometry::{Point, Rect};
use super::metrics::SMALL_FONT_PX;
use crate::picture::path_data::{push_command, rounded};

/// Zoom limits.
const SCALES: (f64, f64) = (0.02, 4.0);
/// A picture that fits is not drawn larger than this.
const FIT_SCALE: f64 = 1.5;
/// A picture of which only a part fits is not drawn larger than this.
const PART_SCALE: f64 = 1.1;
/// The smallest text that can be read without effort, in screen pixels.
pub const LEGIBLE_PX: f64 = 11.0;
/// A fit is not drawn smaller than this: text that can be read is worth more than the whole
/// picture.
pub(super) const LEGIBLE_SCALE: f64 = LEGIBLE_PX / SMALL_FONT_PX;
/// Beside a lesson the whole picture is worth type of this part of the legible size.
const STAGED_PART: f64 = 0.45;
/// Distance of what is revealed from the border. Less than the margin of the picture: a press on
/// what is in sight moves nothing.
const BORDER: f64 = 12.0;
/// Least part of the picture that stays on the canvas, in screen pixels.
const KEPT: f64 = 48.0;

/// The mapping from picture to canvas: `canvas = picture * scale + (x, y)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Where the picture's left border is on the canvas.
    pub x: f64,
    /// Where its upper border is.
    pub y: f64,
    /// Canvas pixels for each pixel of the picture.
    pub scale: f64,
}

pub type Size = (f64, f64);

impl Viewport {
    /// The whole picture in the middle of the canvas, however small.
    pub fn whole(picture: Size, canvas: Size) -> Self {
        let scale = whole_scale(picture, canvas).clamp(SCALES.0, FIT_SCALE);
        Self {
            x: middle(picture.0, canvas.0, scale),
            y: middle(picture.1, canvas.1, scale),
            scale,
        }
    }

    /// The view to start with: the whole picture if it can be read at that scale, else its top at
    /// the scale at which its width fits, but never so small that its text cannot be read. A
    /// picture that is too wide for that starts around `start_x`, the place of the first kernel.
    pub fn fit(picture: Size, start_x: f64, canvas: Size) -> Self {
        let all = Self::whole(picture, canvas);
        if all.scale >= LEGIBLE_SCALE {
            return all;
        }
        let across = canvas.0 / picture.0.max(1.0);
        let scale = across.clamp(LEGIBLE_SCALE, PART_SCALE);
        let overhang = canvas.0 - picture.0 * scale;
        Self {
            x: if overhang < 0.0 {
                (canvas.0 / 2.0 - start_x * scale).clamp(overhang, 0.0)
            } else {
                overhang / 2.0
            },
            y: middle(picture.1, canvas.1, scale).max(0.0),
            scale,
        }
    }

    /// The view to start with beside a lesson, whose step is about all of the picture: the whole of
    /// it, at smaller type, too.
    pub fn fit_staged(picture: Size, start_x: f64, canvas: Size) -> Self {
        let all = Self::whole(picture, canvas);
        if all.scale >= STAGED_PART * LEGIBLE_SCALE {
            return all;
        }
        Self::fit(picture, start_x, canvas)
    }

    /// Zoomed by `factor`, such that the point of the picture under `at` (on the canvas) stays
    /// there.
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

    /// Moved by canvas pixels.
    #[must_use]
    pub fn panned(self, dx: f64, dy: f64) -> Self {
        Self {
            x: self.x + dx,
            y: self.y + dy,
            ..self
        }
    }

    /// Moved back as far as needed to keep a part of the picture on the canvas.
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

    /// Moved as little as needed to show `rect` of the picture.
    #[must_use]
    pub fn revealing(self, rect: Rect, canvas: Size) -> Self {
        let shift = |from: f64, length: f64, room: f64| {
            let to = from + length;
            // What does not fit is shown from its start.
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

    /// Zoomed out as far as needed for all of `rect` to fit into the canvas beside a border.
    #[must_use]
    pub fn fitting(self, rect: Rect, canvas: Size) -> Self {
        let room = [canvas.0, canvas.1].map(|length| (length - 2.0 * BORDER).max(1.0));
        let scale = (room[0] / rect.width).min(room[1] / rect.height);
        if scale >= self.scale {
            return self;
        }
        self.zoomed(scale / self.scale, Point::new(0.0, 0.0))
    }

    /// Whether the canvas shows a point of the picture.
    pub fn shows(&self, point: Point, canvas: Size) -> bool {
        let Point { x, y } = self.on_canvas(point);
        (0.0..canvas.0).contains(&x) && (0.0..canvas.1).contains(&y)
    }

    /// Whether the canvas shows a whole rectangle of the picture.
    pub fn shows_whole(&self, rect: Rect, canvas: Size) -> bool {
        let ends = [
            Point::new(rect.x, rect.y),
            Point::new(rect.x + rect.width, rect.y + rect.height),
        ];
        ends.into_iter().all(|end| self.shows(end, canvas))
    }

    /// The part of the picture that the canvas shows, extended to a grid of cells a fourth to an
    /// eighth as large: so it is the same for many frames of panning and zooming.
    pub fn region(&self, canvas: Size) -> Rect {
        const CELLS: f64 = 4.0;
        let grown = |from: f64, length: f64| {
            let (from, length) = (-from / self.scale, length / self.scale);
            let cell = (length / CELLS).log2().floor().exp2();
            let start = (from / cell).floor() * cell;
            (start, ((from + length) / cell).ceil() * cell - start)
        };
        let (x, width) = grown(self.x, canvas.0);
        let (y, height) = grown(self.y, canvas.1);
        Rect {
            x,
            y,
            width,
            height,
        }
    }

    /// The point of the picture at a point of the canvas.
    pub fn in_picture(&self, at: Point) -> Point {
        Point::new((at.x - self.x) / self.scale, (at.y - self.y) / self.scale)
    }

    /// The point of the canvas at a point of the picture.
    pub fn on_canvas(&self, at: Point) -> Point {
        Point::new(at.x * self.scale + self.x, at.y * self.scale + self.y)
    }

    /// The mapping as an SVG transform.
    pub fn transform(&self) -> String {
        let mut transform = String::new();
        let offset = [rounded(self.x, 2), rounded(self.y, 2)];
        push_command(&mut transform, "translate(", &offset);
        push_command(&mut transform, ") scale(", &[rounded(self.scale, 4)]);
        transform.push(')');
        transform
    }
}

/// The scale at which the whole picture fills the canvas.
pub(crate) fn whole_scale(picture: Size, canvas: Size) -> f64 {
    (canvas.0 / picture.0.max(1.0)).min(canvas.1 / picture.1.max(1.0))
}

/// Where a picture of this length starts that is in the middle of the canvas.
fn middle(length: f64, room: f64, scale: f64) -> f64 {
    (room - length * scale) / 2.0
}
