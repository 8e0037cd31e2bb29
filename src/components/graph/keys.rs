//! What keys and clicks do to the graph: they select, follow edges, pan and zoom.

use super::by_hand::Plan;
use super::state::Graph;
use crate::app::state::Selection;
use crate::browser;
use crate::core::OpId;
use crate::picture::dag::Point;
use crate::picture::dag::focus::{FocusTarget, target_of_key};
use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;

/// One step of the zoom buttons and keys.
pub(super) const ZOOM_STEP: f64 = 1.25;
/// One step of the arrow keys on the canvas, in pixels.
const PAN_PX: f64 = 60.0;

impl Graph {
    /// A click on an op or a kernel selects it, or is the answer that a plan waits for.
    pub(super) fn click(self, target: FocusTarget) {
        if self.was_dragged() {
            return;
        }
        match (self.plan_now(), target) {
            (None, _) => self.toggle(target),
            (Some(Plan::Merge { .. }), FocusTarget::Kernel(kernel)) => {
                self.consider(Some(kernel));
                self.finish_plan();
            }
            (Some(_), _) => self.leave_plan(),
        }
    }

    /// A click on the size label below an op.
    pub(super) fn click_size_label(self, op: OpId) {
        if self.was_dragged() {
            return;
        }
        if self.plan_now().is_some() {
            self.leave_plan();
        } else {
            self.page().ask_why(op);
        }
    }

    /// A click that no part has taken. In an overview hardly any part is in the page, so they are found by their places.
    pub(super) fn click_canvas(self, event: &MouseEvent) {
        if self.was_dragged() {
            return;
        }
        match self.target_in_overview(event) {
            Some(target) => self.click(target),
            None if self.plan_now().is_some() => self.leave_plan(),
            None => self.selection.set(Selection::Nothing),
        }
    }

    fn target_in_overview(self, event: &MouseEvent) -> Option<FocusTarget> {
        if !self.is_overview.get_untracked() {
            return None;
        }
        let canvas = self.canvas.get_untracked()?;
        let (x, y) = browser::point_on(&canvas, event.client_x().into(), event.client_y().into());
        let at = self.viewport.get_untracked().in_picture(Point::new(x, y));
        let is_fused = self.page().is_fused.get_untracked();
        let target = self
            .placed
            .with_untracked(|placed| placed.layout.target_at(at));
        target.filter(|target| is_fused || matches!(target, FocusTarget::Op(_)))
    }

    /// A key on the canvas or on the part of it that has the focus. The zoom keys work on both.
    pub(super) fn press_key(self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let key = event.key();
        let is_on_canvas = event.target() == event.current_target();
        // What has the focus is what the tab key reaches.
        let target = (!is_on_canvas).then(|| self.tab_stop.get_untracked());
        if self.plan_key(&key, event.shift_key(), target) {
            event.prevent_default();
            event.stop_propagation();
        } else if target.is_some_and(|target| self.key_on_part(&key, target))
            || self.key_anywhere(&key, is_on_canvas)
        {
            event.prevent_default();
        }
    }

    /// A key on a part: a choice, or along the edges. Whether it was one of these.
    fn key_on_part(self, key: &str, target: FocusTarget) -> bool {
        if key == "Enter" || key == " " {
            self.toggle(target);
            return true;
        }
        let next = self.placed.with_untracked(|placed| {
            let (graph, partition) = (&placed.analysis.graph, &placed.analysis.partition);
            target_of_key(graph, partition, &placed.layout, target, key)
        });
        if let Some(next) = next {
            self.focus(next);
        }
        // An arrow at the end of the graph moves neither canvas nor page.
        next.is_some() || key.starts_with("Arrow") || key.starts_with("Page")
    }

    fn key_anywhere(self, key: &str, is_on_canvas: bool) -> bool {
        let pan = |dx, dy| self.move_to(self.viewport.get_untracked().panned(dx, dy));
        match key {
            "+" | "=" => self.zoom(ZOOM_STEP, None),
            "-" | "_" => self.zoom(1.0 / ZOOM_STEP, None),
            "0" => self.fit(),
            "Escape" if self.selection.get_untracked() != Selection::Nothing => {
                self.selection.set(Selection::Nothing);
            }
            "ArrowLeft" if is_on_canvas => pan(PAN_PX, 0.0),
            "ArrowRight" if is_on_canvas => pan(-PAN_PX, 0.0),
            "ArrowUp" if is_on_canvas => pan(0.0, PAN_PX),
            "ArrowDown" if is_on_canvas => pan(0.0, -PAN_PX),
            _ => return false,
        }
        true
    }
}
