//! What pointers, wheel and keys do to the graph's picture.

use super::dag_parts::{stop_id, stop_of_id};
use super::dag_updates::write_stop;
use super::dag_view::{CANVAS_ID, Dag};
use crate::app::state::Selection;
use crate::browser::{self, Event, event_as};
use crate::picture::dag::Point;
use crate::picture::dag::steps::{FocusTarget as Stop, step};
use crate::picture::dag::viewport::Viewport;
use leptos::ev::{KeyboardEvent, PointerEvent, WheelEvent};
use leptos::prelude::*;

/// A press that moves farther than this is a drag and no click, in pixels.
const DRAG_PX: f64 = 4.0;
/// One step of the zoom buttons and keys.
const ZOOM_STEP: f64 = 1.25;
/// One step of the arrow keys on the canvas, in pixels.
const PAN_PX: f64 = 60.0;

impl Dag {
    /// Any event in the frame of the picture.
    pub(super) fn hear(&self, event: &Event) {
        if let Some(button) = browser::closest_id(event, ".dag-tools button") {
            if event.type_() == "click" {
                self.use_tool(&button);
            }
            return;
        }
        if browser::closest_id(event, "svg").as_deref() != Some(CANVAS_ID) {
            return;
        }
        let kind = event.type_();
        if kind == "click" {
            self.click(event);
        } else if kind == "focusin" {
            if let Some(stop) = stop_at(event) {
                self.focused(stop);
            }
        } else if let Some(event) = event_as::<KeyboardEvent>(event) {
            self.key(&event);
        } else if let Some(event) = event_as::<WheelEvent>(event) {
            self.wheel(&event);
        } else if let Some(event) = event_as::<PointerEvent>(event) {
            match kind.as_str() {
                "pointerdown" => self.press(&event),
                "pointermove" => self.drag(&event),
                kind => self.lift(&event, kind == "pointerup"),
            }
        }
    }

    fn use_tool(&self, id: &str) {
        match id {
            "dag-zoom-in" => self.zoom(ZOOM_STEP),
            "dag-zoom-out" => self.zoom(1.0 / ZOOM_STEP),
            _ => self.fit(),
        }
    }

    /// A click selects a part, or on the background nothing.
    fn click(&self, event: &Event) {
        if self.is_dragged.get() {
            return;
        }
        if self.plan.borrow().is_some() {
            if let Some(Stop::Kernel(kernel)) = stop_at(event) {
                self.consider(Some(kernel));
                self.finish_plan();
            } else {
                self.leave_plan();
            }
            return;
        }
        let label = browser::closest_id(event, ".dag-size-label");
        if let Some(op) = label.and_then(|id| id.strip_prefix("dag-size-label-")?.parse().ok()) {
            return self.page.ask_why(op);
        }
        match stop_at(event) {
            Some(stop) => self.page.toggle(selection_of(stop)),
            None => self.page.selection.set(Selection::Nothing),
        }
    }

    /// A key on a part: along the edges, or a choice. Whether it was one of these.
    fn key_on(&self, key: &str, stop: Stop) -> bool {
        if key == "Enter" || key == " " {
            self.page.toggle(selection_of(stop));
            return true;
        }
        let drawn = self.drawn.borrow().clone();
        let next = drawn.and_then(|drawn| {
            let placed = &drawn.placed;
            let (graph, partition) = (&placed.analysis.graph, &placed.analysis.partition);
            step(graph, partition, &placed.layout, stop, key)
        });
        match next {
            Some(next) => {
                browser::focus_in_place(&stop_id(next));
                true
            }
            // An arrow at the end of the graph moves neither canvas nor page.
            None => key.starts_with("Arrow") || key.starts_with("Page"),
        }
    }

    /// What has the focus is seen.
    fn focused(&self, stop: Stop) {
        write_stop(self.stop.replace(stop), stop);
        if let Some(rect) = self.rect(stop) {
            self.set_viewport(self.viewport.get().revealing(rect, self.canvas.get()));
        }
    }

    fn fit(&self) {
        self.set_viewport(Viewport::fit(self.picture(), self.canvas.get()));
        self.is_moved.set(false);
    }

    fn zoom(&self, factor: f64) {
        let (width, height) = self.canvas.get();
        self.zoom_at(factor, Point::new(width / 2.0, height / 2.0));
    }

    fn zoom_at(&self, factor: f64, at: Point) {
        self.move_to(self.viewport.get().zoomed(factor, at));
    }

    fn move_to(&self, viewport: Viewport) {
        self.set_viewport(viewport.kept_in_sight(self.picture(), self.canvas.get()));
        self.is_moved.set(true);
    }

    fn wheel(&self, event: &WheelEvent) {
        // A plain wheel belongs to the page.
        if !(event.ctrl_key() || event.meta_key()) {
            return;
        }
        event.prevent_default();
        let lines = if event.delta_mode() == 0 { 1.0 } else { 24.0 };
        let delta = (event.delta_y() * lines).clamp(-240.0, 240.0);
        let at = (f64::from(event.client_x()), f64::from(event.client_y()));
        if let Some((x, y)) = browser::point_in(CANVAS_ID, at.0, at.1) {
            self.zoom_at((-delta * 0.004).exp(), Point::new(x, y));
        }
    }

    fn press(&self, event: &PointerEvent) {
        if event.button() != 0 {
            return;
        }
        let mut pointers = self.pointers.borrow_mut();
        let is_first = pointers.is_empty();
        if is_first {
            self.is_dragged.set(false);
        }
        pointers.push((event.pointer_id(), client_point(event)));
        drop(pointers);
        // A kernel's panel can be dragged onto another one; ops and all else move the picture, and so do two fingers.
        let grabbed = match stop_at(event) {
            Some(Stop::Kernel(kernel)) if is_first && self.page.is_fused.get_untracked() => {
                Some(kernel)
            }
            _ => None,
        };
        if self.grabbed.replace(grabbed).is_some() && !is_first {
            self.leave_plan();
        }
    }

    fn lift(&self, event: &PointerEvent, is_dropped: bool) {
        (self.pointers.borrow_mut()).retain(|p| p.0 != event.pointer_id());
        if self.grabbed.take().is_some() && self.is_dragged.get() {
            if is_dropped {
                self.drop_kernel();
            }
            self.leave_plan();
        }
    }

    fn drag(&self, event: &PointerEvent) {
        let (now, id) = (client_point(event), event.pointer_id());
        let pointers = self.pointers.borrow().clone();
        let Some(&(_, before)) = pointers.iter().find(|p| p.0 == id) else {
            return;
        };
        if !self.is_dragged.get() {
            if (now.x - before.x).hypot(now.y - before.y) < DRAG_PX {
                return;
            }
            self.is_dragged.set(true);
            for &(pointer, _) in &pointers {
                browser::capture_pointer(CANVAS_ID, pointer);
            }
            if let Some(kernel) = self.grabbed.get() {
                self.begin_merge(kernel);
            }
        }
        if self.grabbed.get().is_some() {
            self.drag_kernel(now);
            return;
        }
        let mut viewport = self.viewport.get();
        match pointers.iter().find(|p| p.0 != id) {
            None => viewport = viewport.panned(now.x - before.x, now.y - before.y),
            Some(&(_, other)) => {
                // Two fingers: each moves the picture by half, their distance is the zoom.
                let length = |p: Point| (p.x - other.x).hypot(p.y - other.y).max(1.0);
                let middle = (f64::midpoint(now.x, other.x), f64::midpoint(now.y, other.y));
                if let Some((x, y)) = browser::point_in(CANVAS_ID, middle.0, middle.1) {
                    viewport = viewport
                        .panned((now.x - before.x) / 2.0, (now.y - before.y) / 2.0)
                        .zoomed(length(now) / length(before), Point::new(x, y));
                }
            }
        }
        self.move_to(viewport);
        let mut pointers = self.pointers.borrow_mut();
        if let Some(pointer) = pointers.iter_mut().find(|p| p.0 == id) {
            pointer.1 = now;
        }
    }

    /// Keys of the canvas; zoom keys also work on its parts.
    fn key(&self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let on_canvas = browser::is_target(event, CANVAS_ID);
        if self.plan_key(&event.key(), event.shift_key(), stop_at(event)) {
            event.prevent_default();
            event.stop_propagation();
            return;
        }
        if let Some(stop) = stop_at(event)
            && self.key_on(&event.key(), stop)
        {
            event.prevent_default();
            return;
        }
        let pan = |dx, dy| self.move_to(self.viewport.get().panned(dx, dy));
        match event.key().as_str() {
            "+" | "=" => self.zoom(ZOOM_STEP),
            "-" | "_" => self.zoom(1.0 / ZOOM_STEP),
            "0" => self.fit(),
            "Escape" if self.page.selection.get_untracked() != Selection::Nothing => {
                self.page.selection.set(Selection::Nothing);
            }
            "ArrowLeft" if on_canvas => pan(PAN_PX, 0.0),
            "ArrowRight" if on_canvas => pan(-PAN_PX, 0.0),
            "ArrowUp" if on_canvas => pan(0.0, PAN_PX),
            "ArrowDown" if on_canvas => pan(0.0, -PAN_PX),
            _ => return,
        }
        event.prevent_default();
    }
}

/// The op or kernel at which an event happened.
fn stop_at(event: &Event) -> Option<Stop> {
    stop_of_id(&browser::closest_id(event, ".dag-op-box, .dag-kernel")?)
}

const fn selection_of(stop: Stop) -> Selection {
    match stop {
        Stop::Op(op) => Selection::Op(op),
        Stop::Kernel(kernel) => Selection::Kernel(kernel),
    }
}

fn client_point(event: &PointerEvent) -> Point {
    Point::new(f64::from(event.client_x()), f64::from(event.client_y()))
}
