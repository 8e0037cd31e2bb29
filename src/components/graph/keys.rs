//! Keys and clicks in the graph: they select, follow edges, pan and zoom.

use super::plan::Plan;
use super::state::Graph;
use crate::app::state::{FocusRequest, Selection};
use fuseline_core::OpId;
use fuseline_view::picture::dag::focus::{FocusTarget, target_of_key};
use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;

/// One step of the zoom buttons and keys.
pub(super) const ZOOM_STEP: f64 = 1.25;
/// One step of the arrow keys on the canvas, in pixels.
const PAN_PX: f64 = 60.0;

impl Graph {
    /// A click on an op or a kernel: selects it, or completes or drops the plan.
    pub(super) fn click(self, target: FocusTarget) {
        if self.was_dragged() {
            return;
        }
        match (self.plan_now(), target) {
            (None, _) => {
                // A visitor who goes on from there does not go back to where they looked before.
                self.before_reveal.set_value(None);
                self.toggle(target);
                self.reveal_clicked();
            }
            (Some(Plan::Merge { .. }), FocusTarget::Kernel(kernel)) => {
                self.set_partner(Some(kernel));
                self.finish_plan();
            }
            (Some(_), _) => self.drop_plan(),
        }
    }

    /// A click on a line or on the pill of a tensor.
    pub(super) fn click_line(self, selection: Selection) {
        if self.was_dragged() {
            return;
        }
        if self.plan_now().is_some() {
            self.drop_plan();
        } else {
            self.page().toggle(selection);
        }
    }

    /// A click on the size label below an op.
    pub(super) fn click_size_label(self, op: OpId) {
        if self.was_dragged() {
            return;
        }
        if self.plan_now().is_some() {
            self.drop_plan();
        } else {
            self.page().inspect_output(op);
        }
    }

    /// A click beside all mounted ops and kernels. In an overview most are not mounted, so they are
    /// found by position.
    pub(super) fn click_canvas(self, event: &MouseEvent) {
        if self.was_dragged() {
            return;
        }
        match self.target_in_overview(event) {
            Some(target) => self.click(target),
            None if self.plan_now().is_some() => self.drop_plan(),
            None => self.page().select(Selection::Nothing),
        }
    }

    fn target_in_overview(self, event: &MouseEvent) -> Option<FocusTarget> {
        if !self.is_overview.get_untracked() {
            return None;
        }
        let at = (self.viewport.get_untracked()).in_picture(self.point_of(event)?);
        let is_fused = self.page().chosen.is_fused.get_untracked();
        let target = self
            .placed
            .with_untracked(|placed| placed.layout.target_at(at));
        target.filter(|target| is_fused || matches!(target, FocusTarget::Op(_)))
    }

    /// A key on the canvas, or on the op or kernel that has the focus.
    pub(super) fn press_key(self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let key = event.key();
        let is_on_canvas = event.target() == event.current_target();
        // The focused op or kernel is the tab stop.
        let target = (!is_on_canvas).then(|| self.tab_stop.get_untracked());
        if self.plan_key(&key, event.shift_key(), target) {
            event.prevent_default();
            event.stop_propagation();
        } else if target.is_some_and(|target| self.key_on_target(&key, target))
            || self.key_anywhere(&key, is_on_canvas)
        {
            event.prevent_default();
        }
    }

    /// Handles a key on an op or a kernel: selects it or follows its edges. `false` for any other
    /// key.
    fn key_on_target(self, key: &str, target: FocusTarget) -> bool {
        if key == "Enter" || key == " " {
            self.toggle(target);
            return true;
        }
        let next = self.placed.with_untracked(|placed| {
            target_of_key(&placed.analysis.partition, &placed.layout, target, key)
        });
        if let Some(next) = next {
            self.focus(next);
        }
        // An arrow without a next op is handled too: it must not move the canvas or the page.
        next.is_some() || key.starts_with("Arrow") || key.starts_with("Page")
    }

    /// Handles a key that works on the canvas and on ops and kernels. `false` for any other key.
    fn key_anywhere(self, key: &str, is_on_canvas: bool) -> bool {
        let pan = |dx, dy| self.move_to(self.viewport.get_untracked().panned(dx, dy));
        match key {
            "+" | "=" => self.zoom(ZOOM_STEP, None),
            "-" | "_" => self.zoom(1.0 / ZOOM_STEP, None),
            "0" => self.show_whole(),
            "1" => self.show_readable(),
            "/" => self
                .page()
                .screen
                .focus_request
                .set(Some(FocusRequest::Find)),
            "Escape" if self.selection.get_untracked() != Selection::Nothing => {
                self.page().select(Selection::Nothing);
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
