//! Pointers and the wheel on the graph: they pan, zoom, and drag a kernel onto another one, or an
//! op of the unfused view.

use super::state::Graph;
use fuseline_browser as browser;
use fuseline_view::picture::dag::Point;
use fuseline_view::picture::dag::focus::FocusTarget;
use leptos::ev::{PointerEvent, TouchEvent, WheelEvent};
use leptos::prelude::*;

/// A press that moves farther than this is a drag and not a click, in pixels.
const DRAG_PX: f64 = 4.0;
/// The limit for a finger, which is never quite still.
const FINGER_DRAG_PX: f64 = 8.0;

impl Graph {
    /// The panel of a kernel is pressed, or an op in it. The first pointer can drag it onto another
    /// one; a finger does so by its number, for elsewhere it moves the picture.
    pub(super) fn press_part(self, part: FocusTarget, event: &PointerEvent) {
        if !is_finger(event) || browser::is_on(event, ".dag-badge") {
            self.pointers
                .update_value(|pointers| pointers.pressed_part = Some(part));
        }
    }

    /// A pointer is pressed, anywhere on the graph.
    pub(super) fn press(self, event: &PointerEvent) {
        let mut is_second = false;
        self.hold.cancel();
        let at = self.point_of(event);
        self.pointers.update_value(|pointers| {
            let pressed = pointers.pressed_part.take();
            let Some(at) = at.filter(|_| event.button() == 0) else {
                return;
            };
            let is_first = pointers.down.is_empty();
            if is_first {
                pointers.is_drag = false;
                pointers.is_held = false;
            }
            pointers.down.push((event.pointer_id(), at));
            // A second finger moves the picture instead.
            is_second = pointers.dragged_part.is_some() && !is_first;
            pointers.dragged_part = pressed.filter(|_| is_first);
        });
        if is_second {
            self.drop_plan();
        }
        if is_finger(event)
            && self
                .pointers
                .with_value(|pointers| pointers.down.len() == 1)
        {
            self.await_hold(event);
        }
    }

    /// After a long press browsers may send no click, so a finger that stays does at once what its
    /// click would do.
    fn await_hold(self, event: &PointerEvent) {
        let Some(target) = event.target() else {
            return;
        };
        self.hold.call(move || {
            if !self.was_dragged() {
                browser::click(&target);
                self.pointers
                    .update_value(|pointers| pointers.is_held = true);
            }
        });
    }

    /// Fingers move on the graph: two of them never scroll or zoom the page.
    pub(super) fn touch(event: &TouchEvent) {
        if event.touches().length() > 1 {
            event.prevent_default();
        }
    }

    /// A pointer is released (`is_dropped`) or cancelled.
    pub(super) fn lift(self, event: &PointerEvent, is_dropped: bool) {
        self.hold.cancel();
        let mut dragged_part = None;
        self.pointers.update_value(|pointers| {
            pointers.down.retain(|(id, _)| *id != event.pointer_id());
            dragged_part = pointers.dragged_part.take().filter(|_| pointers.is_drag);
        });
        if dragged_part.is_some() {
            if is_dropped {
                self.drop_part();
            }
            self.drop_plan();
        }
    }

    /// A pointer moves.
    pub(super) fn drag(self, event: &PointerEvent) {
        let id = event.pointer_id();
        let pointers = self.pointers.get_value();
        let Some(&(_, before)) = pointers.down.iter().find(|(other, _)| *other == id) else {
            return;
        };
        let (Some(canvas), Some(now)) = (self.canvas.get_untracked(), self.point_of(event)) else {
            return;
        };
        if !pointers.is_drag {
            let still_px = if is_finger(event) {
                FINGER_DRAG_PX
            } else {
                DRAG_PX
            };
            if (now.x - before.x).hypot(now.y - before.y) < still_px {
                return;
            }
            self.hold.cancel();
            self.pointers
                .update_value(|pointers| pointers.is_drag = true);
            for &(pointer, _) in &pointers.down {
                browser::capture_pointer(&canvas, pointer);
            }
            if let Some(part) = pointers.dragged_part {
                self.begin_drag(part);
            } else if is_finger(event) {
                // Where the browser scrolls instead, it takes the finger away after this event.
                self.keep_place(id, now);
                return;
            }
        }
        if pointers.dragged_part.is_some() {
            self.drag_part(now);
            return;
        }
        let viewport = self.viewport.get_untracked();
        let other = pointers.down.iter().find(|(other, _)| *other != id);
        self.move_to(match other {
            None => viewport.panned(now.x - before.x, now.y - before.y),
            Some(&(_, other)) => {
                // Each finger pans by half, and the change of their distance zooms.
                let distance = |at: Point| (at.x - other.x).hypot(at.y - other.y).max(1.0);
                let middle =
                    Point::new(f64::midpoint(now.x, other.x), f64::midpoint(now.y, other.y));
                viewport
                    .panned((now.x - before.x) / 2.0, (now.y - before.y) / 2.0)
                    .zoomed(distance(now) / distance(before), middle)
            }
        });
        self.keep_place(id, now);
    }

    /// From where the next movement of a pointer counts.
    fn keep_place(self, id: i32, at: Point) {
        self.pointers.update_value(|pointers| {
            if let Some(pointer) = pointers.down.iter_mut().find(|(other, _)| *other == id) {
                pointer.1 = at;
            }
        });
    }

    /// Whether the last press was a drag or a long one. Its click event is ignored then.
    pub(super) fn was_dragged(self) -> bool {
        (self.pointers).with_value(|pointers| pointers.is_drag || pointers.is_held)
    }

    fn has_page_of_puzzle(self) -> bool {
        let page = self.page();
        page.screen.is_learning.get_untracked()
            && page.screen.puzzle.with_untracked(Option::is_some)
    }

    /// The wheel turns.
    pub(super) fn wheel(self, event: &WheelEvent) {
        let lines = if event.delta_mode() == 0 { 1.0 } else { 24.0 };
        if !(event.ctrl_key() || event.meta_key()) {
            // Without a key the wheel scrolls the page. That of a puzzle does not scroll, and its
            // graph may be larger.
            if self.has_page_of_puzzle() && self.is_cut_off.get_untracked() {
                event.prevent_default();
                let (dx, dy) = (event.delta_x() * lines, event.delta_y() * lines);
                self.move_to(self.viewport.get_untracked().panned(-dx, -dy));
            }
            return;
        }
        event.prevent_default();
        let delta = (event.delta_y() * lines).clamp(-240.0, 240.0);
        if let Some(at) = self.point_of(event) {
            self.zoom((-delta * 0.004).exp(), Some(at));
        }
    }
}

fn is_finger(event: &PointerEvent) -> bool {
    event.pointer_type() == "touch"
}
