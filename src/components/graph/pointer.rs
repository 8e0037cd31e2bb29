//! What pointers and the wheel do to the graph: they pan, zoom, and drag a kernel onto another one.

use super::state::Graph;
use crate::browser;
use crate::core::KernelId;
use crate::picture::dag::Point;
use leptos::ev::{PointerEvent, WheelEvent};
use leptos::prelude::*;

/// A press that moves farther than this is a drag and no click, in pixels.
const DRAG_PX: f64 = 4.0;

/// The pointers that are down.
#[derive(Clone, Default)]
pub(super) struct Pointers {
    /// Each by its id, and where it was last, in the window.
    down: Vec<(i32, Point)>,
    is_dragged: bool,
    /// The kernel whose panel was pressed, until the canvas hears of it.
    pressed_kernel: Option<KernelId>,
    /// The kernel that is dragged and not the picture.
    grabbed: Option<KernelId>,
}

impl Graph {
    /// The panel of a kernel is pressed: by the first pointer it can be dragged onto another one.
    pub(super) fn press_kernel(self, kernel: KernelId) {
        self.pointers
            .update_value(|pointers| pointers.pressed_kernel = Some(kernel));
    }

    /// A pointer goes down, on the canvas or on a part of it.
    pub(super) fn press(self, event: &PointerEvent) {
        let is_fused = self.page().is_fused.get_untracked();
        let mut is_second = false;
        self.pointers.update_value(|pointers| {
            let pressed = pointers.pressed_kernel.take();
            if event.button() != 0 {
                return;
            }
            let is_first = pointers.down.is_empty();
            if is_first {
                pointers.is_dragged = false;
            }
            pointers.down.push((event.pointer_id(), in_window(event)));
            // Two fingers move the picture.
            is_second = pointers.grabbed.is_some() && !is_first;
            pointers.grabbed = pressed.filter(|_| is_first && is_fused);
        });
        if is_second {
            self.leave_plan();
        }
    }

    /// A pointer goes up or is taken away.
    pub(super) fn lift(self, event: &PointerEvent, is_dropped: bool) {
        let mut grabbed = None;
        self.pointers.update_value(|pointers| {
            pointers.down.retain(|(id, _)| *id != event.pointer_id());
            grabbed = pointers.grabbed.take().filter(|_| pointers.is_dragged);
        });
        if grabbed.is_some() {
            if is_dropped {
                self.drop_kernel();
            }
            self.leave_plan();
        }
    }

    /// A pointer moves.
    pub(super) fn drag(self, event: &PointerEvent) {
        let (now, id) = (in_window(event), event.pointer_id());
        let pointers = self.pointers.get_value();
        let Some(&(_, before)) = pointers.down.iter().find(|(other, _)| *other == id) else {
            return;
        };
        let Some(canvas) = self.canvas.get_untracked() else {
            return;
        };
        if !pointers.is_dragged {
            if (now.x - before.x).hypot(now.y - before.y) < DRAG_PX {
                return;
            }
            self.pointers
                .update_value(|pointers| pointers.is_dragged = true);
            for &(pointer, _) in &pointers.down {
                browser::capture_pointer(&canvas, pointer);
            }
            if let Some(kernel) = pointers.grabbed {
                self.begin_merge(kernel);
            }
        }
        let on_canvas = |at: Point| {
            let (x, y) = browser::point_on(&canvas, at.x, at.y);
            Point::new(x, y)
        };
        if pointers.grabbed.is_some() {
            self.drag_kernel(on_canvas(now));
            return;
        }
        let viewport = self.viewport.get_untracked();
        let other = pointers.down.iter().find(|(other, _)| *other != id);
        self.move_to(match other {
            None => viewport.panned(now.x - before.x, now.y - before.y),
            Some(&(_, other)) => {
                // Each finger moves the picture by half, and their distance is the zoom.
                let distance = |at: Point| (at.x - other.x).hypot(at.y - other.y).max(1.0);
                let middle =
                    Point::new(f64::midpoint(now.x, other.x), f64::midpoint(now.y, other.y));
                viewport
                    .panned((now.x - before.x) / 2.0, (now.y - before.y) / 2.0)
                    .zoomed(distance(now) / distance(before), on_canvas(middle))
            }
        });
        self.pointers.update_value(|pointers| {
            if let Some(pointer) = pointers.down.iter_mut().find(|(other, _)| *other == id) {
                pointer.1 = now;
            }
        });
    }

    /// Whether the last press became a drag, whose click is none.
    pub(super) fn was_dragged(self) -> bool {
        self.pointers.with_value(|pointers| pointers.is_dragged)
    }

    /// The wheel turns.
    pub(super) fn wheel(self, event: &WheelEvent) {
        // A plain wheel belongs to the page.
        if !(event.ctrl_key() || event.meta_key()) {
            return;
        }
        event.prevent_default();
        let lines = if event.delta_mode() == 0 { 1.0 } else { 24.0 };
        let delta = (event.delta_y() * lines).clamp(-240.0, 240.0);
        if let Some(canvas) = self.canvas.get_untracked() {
            let (x, y) =
                browser::point_on(&canvas, event.client_x().into(), event.client_y().into());
            self.zoom((-delta * 0.004).exp(), Some(Point::new(x, y)));
        }
    }
}

fn in_window(event: &PointerEvent) -> Point {
    Point::new(event.client_x().into(), event.client_y().into())
}
