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
/// What may be out of sight without a minimap: the margin of a picture.
const SLACK_PX: f64 = 20.0;

/// From a minimap to the borders of the canvas, and to the parts of the picture beside it.
pub const GAP_PX: f64 = 8.0;

/// A corner of the canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corner {
    /// On the left side.
    pub is_left: bool,
    /// At the bottom.
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
    /// Width and height of the minimap.
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

    /// The first corner of the canvas in which it covers no kernel, tensor or label of what a viewport shows. `None` where it covers some in
    /// each. `O(ops)`.
    pub fn free_corner(
        &self,
        layout: &DagLayout,
        viewport: Viewport,
        canvas: Size,
    ) -> Option<Corner> {
        let in_picture = |corner: Corner| {
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
        };
        CORNERS.into_iter().find(|&corner| {
            let covered = in_picture(corner);
            let mut labels = layout.size_labels.iter().flatten();
            !layout.panels.iter().any(|panel| panel.meets(&covered))
                && !layout.pills.iter().any(|pill| pill.rect.meets(&covered))
                && !labels.any(|label| label.meets(&covered))
                && !layout.frames.iter().any(|frame| frame.tag.meets(&covered))
        })
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

    /// The viewport with the place of the picture at a point of the minimap in the middle of the canvas. A picture that is
    /// no wider or no taller than the canvas stays where it is in that direction.
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

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURE: Size = (400.0, 4_000.0);
    const CANVAS: Size = (500.0, 500.0);

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn it_is_there_where_something_is_out_of_sight() {
        let all = Viewport::whole(PICTURE, CANVAS);
        assert_eq!(Minimap::of(PICTURE, all, CANVAS), None);
        let start = Viewport::fit(PICTURE, 200.0, CANVAS);
        let map = Minimap::of(PICTURE, start, CANVAS).unwrap();
        assert!(near(map.size.1, 190.0) && near(map.size.0, 28.0));
        let moved = all.panned(300.0, 0.0);
        assert!(Minimap::of(PICTURE, moved, CANVAS).is_some());
    }

    #[test]
    fn the_window_is_where_the_canvas_is_and_a_press_moves_it() {
        let start = Viewport::fit(PICTURE, 200.0, CANVAS);
        let map = Minimap::of(PICTURE, start, CANVAS).unwrap();
        let window = map.window(start, CANVAS);
        assert!(near(window.y, 0.0) && near(window.width, map.size.0));
        assert!(near(
            window.height,
            500.0 / start.scale / 4_000.0 * map.size.1
        ));
        let at = Point::new(14.0, map.size.1 / 2.0);
        let aimed = map.aimed(at, start, PICTURE, CANVAS);
        assert!(near(aimed.x, start.x), "it is no wider than the canvas");
        assert!(near(map.window(aimed, CANVAS).center().y, at.y));
        let end = map.aimed(Point::new(0.0, 1e9), start, PICTURE, CANVAS);
        let window = map.window(end, CANVAS);
        assert!(near(window.bottom(), map.size.1));
    }

    #[test]
    fn the_window_of_a_very_tall_picture_can_be_seen() {
        let tall = (400.0, 400_000.0);
        let start = Viewport::fit(tall, 200.0, CANVAS);
        let map = Minimap::of(tall, start, CANVAS).unwrap();
        let last = map.aimed(Point::new(0.0, 1e9), start, tall, CANVAS);
        for view in [start, last] {
            let window = map.window(view, CANVAS);
            assert!(window.height >= 6.0 && window.bottom() <= map.size.1 + 1e-9);
        }
    }
}
