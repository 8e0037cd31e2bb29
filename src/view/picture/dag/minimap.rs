//! A small picture of the whole beside a part of it, and where the part is.

use super::dag_layout::DagLayout;
use super::geometry::{Point, Rect};
use super::viewport::{Size, Viewport};

/// Greatest width and height, as shares of the canvas and in pixels.
const SHARES: Size = (0.24, 0.4);
const MOST_PX: Size = (150.0, 190.0);
/// A picture that is much taller than wide is drawn wider than it is, so that it can be hit.
const LEAST_PX: f64 = 28.0;
/// The window that shows the part is never smaller.
const LEAST_WINDOW_PX: f64 = 6.0;
/// Pixels that may be out of sight without a minimap: the margin of a picture.
const SLACK_PX: f64 = 20.0;

/// From a minimap to the borders of the canvas, and to the parts of the picture beside it.
pub const GAP_PX: f64 = 8.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corner {
    /// On the left side.
    pub is_left: bool,
    pub is_bottom: bool,
}

/// The corners, those first that are farther from where one begins to read.
const CORNERS: [Corner; 4] = [
    Corner {
        is_left: false,
        is_bottom: false,
    },
    Corner {
        is_left: false,
        is_bottom: true,
    },
    Corner {
        is_left: true,
        is_bottom: true,
    },
    Corner {
        is_left: true,
        is_bottom: false,
    },
];

/// The mapping from a picture to its minimap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Minimap {
    pub size: Size,
    /// Its pixels for each pixel of the picture, across and down.
    pub scale: Size,
}

impl Minimap {
    /// The minimap of a picture; `None` where all of it is in sight.
    pub fn of(picture: Size, viewport: Viewport, canvas: Size) -> Option<Self> {
        let is_out = |at: f64, length: f64, room: f64| {
            at < -SLACK_PX || at + length * viewport.scale > room + SLACK_PX
        };
        (is_out(viewport.x, picture.0, canvas.0) || is_out(viewport.y, picture.1, canvas.1))
            .then(|| Self::for_canvas(picture, canvas))
            .filter(|map| map.size.0 > 0.0 && map.size.1 > 0.0)
    }

    /// The first corner of the canvas in which it covers no kernel, tensor or label of what a
    /// viewport shows. `None` where it covers some in each. `O(ops)`.
    pub fn free_corner(
        &self,
        layout: &DagLayout,
        viewport: Viewport,
        canvas: Size,
    ) -> Option<Corner> {
        CORNERS.into_iter().find(|&corner| {
            let covered = self.covered(corner, viewport, canvas);
            let mut labels = layout.size_labels.iter().flatten();
            !layout.panels.iter().any(|panel| panel.meets(&covered))
                && !layout.pills.iter().any(|pill| pill.rect.meets(&covered))
                && !labels.any(|label| label.meets(&covered))
                && !layout.frames.iter().any(|frame| frame.tag.meets(&covered))
        })
    }

    /// The part of the picture that it covers in a corner.
    pub fn covered(&self, corner: Corner, viewport: Viewport, canvas: Size) -> Rect {
        let side = |is_far: bool, length: f64, room: f64| {
            let length = length + 2.0 * GAP_PX;
            let start = if is_far { room - length } else { 0.0 };
            (start, start + length)
        };
        let (left, right) = side(!corner.is_left, self.size.0, canvas.0);
        let (top, bottom) = side(corner.is_bottom, self.size.1, canvas.1);
        let [from, to] =
            [(left, top), (right, bottom)].map(|(x, y)| viewport.in_picture(Point::new(x, y)));
        Rect::between(from, to)
    }

    fn for_canvas(picture: Size, canvas: Size) -> Self {
        let picture = (picture.0.max(1.0), picture.1.max(1.0));
        let room = (
            MOST_PX.0.min(canvas.0 * SHARES.0),
            MOST_PX.1.min(canvas.1 * SHARES.1),
        );
        let scale = (room.0 / picture.0).min(room.1 / picture.1);
        let size = (
            (picture.0 * scale).max(LEAST_PX).min(room.0),
            (picture.1 * scale).max(LEAST_PX).min(room.1),
        );
        Self {
            size,
            scale: (size.0 / picture.0, size.1 / picture.1),
        }
    }

    /// The part of the picture that the canvas shows, on the minimap.
    pub fn window(&self, viewport: Viewport, canvas: Size) -> Rect {
        let side = |from: f64, length: f64, scale: f64, size: f64| {
            let start = (-from / viewport.scale * scale).clamp(0.0, size);
            let end = ((length - from) / viewport.scale * scale).clamp(0.0, size);
            let length = (end - start).max(LEAST_WINDOW_PX.min(size));
            (start.min(size - length), length)
        };
        let (x, width) = side(viewport.x, canvas.0, self.scale.0, self.size.0);
        let (y, height) = side(viewport.y, canvas.1, self.scale.1, self.size.1);
        Rect {
            x,
            y,
            width,
            height,
        }
    }

    /// The viewport with the place of the picture at a point of the minimap in the middle of the
    /// canvas. A picture that is no wider or no taller than the canvas stays where it is in that
    /// direction.
    pub fn aimed(&self, at: Point, viewport: Viewport, picture: Size, canvas: Size) -> Viewport {
        let side = |at: f64, now: f64, scale: f64, length: f64, room: f64| {
            let length = length * viewport.scale;
            if length <= room {
                return now;
            }
            let start = room / 2.0 - at / scale * viewport.scale;
            start.clamp(room - length, 0.0)
        };
        Viewport {
            x: side(at.x, viewport.x, self.scale.0, picture.0, canvas.0),
            y: side(at.y, viewport.y, self.scale.1, picture.1, canvas.1),
            ..viewport
        }
    }
}
