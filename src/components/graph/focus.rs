//! The focus in the graph: one tab stop, which survives new layouts.

use super::state::Graph;
use crate::app::state::{FocusRequest, Selection, SetIfChanged};
use fuseline_browser as browser;
use fuseline_core::KernelId;
use fuseline_view::picture::dag::Rect;
use fuseline_view::picture::dag::focus::FocusTarget;
use leptos::prelude::*;
use leptos::svg;

impl Graph {
    /// A new layout replaces all elements. Gives the focus back to the op or kernel of the same
    /// name, else to the selected kernel, else to the canvas.
    pub(super) fn keep_focus(self) {
        Effect::new(move || {
            let number = self.placed.with(|placed| placed.number);
            let focused = self.focused.get_untracked();
            if focused.is_some_and(|focused| focused.number != number) {
                self.focused.set(None);
                let last = self.last_focused.get_untracked();
                let same = (self.placed).with_untracked(|placed| placed.target_named(&last?));
                let same = same.or_else(|| self.selected_kernel());
                self.focus_or_canvas(same);
            }
        });
    }

    /// Takes the focus when another component requests it.
    pub(super) fn take_page_requests(self) {
        Effect::new(move || {
            let target = match self.page().screen.focus_request.get() {
                Some(FocusRequest::GraphKernel(kernel)) => Some(FocusTarget::Kernel(kernel)),
                Some(FocusRequest::Graph) => {
                    let last = self.last_focused.get_untracked();
                    self.selected_target()
                        .or(last.map(|_| self.tab_stop.get_untracked()))
                }
                _ => return,
            };
            self.page().screen.focus_request.set(None);
            self.focus_or_canvas(target);
        });
    }

    fn selected_target(self) -> Option<FocusTarget> {
        match self.selection.get_untracked() {
            Selection::Op(op) => Some(FocusTarget::Op(op)),
            _ => self.selected_kernel(),
        }
    }

    fn selected_kernel(self) -> Option<FocusTarget> {
        untrack(|| self.page().selected_kernel()).map(FocusTarget::Kernel)
    }

    /// `tabindex` of an op or a kernel. Tracked.
    pub(super) fn tab_index(self, target: FocusTarget) -> &'static str {
        if self.tab_stop.get() == target {
            "0"
        } else {
            "-1"
        }
    }

    /// Gives the focus to an op or a kernel. If it is out of view it is mounted first: the tab stop
    /// always is.
    pub(super) fn focus(self, target: FocusTarget) {
        let target = (self.placed).with_untracked(|placed| placed.layout.shown(target));
        let exists = (self.placed)
            .with_untracked(|placed| placed.layout.rect_of(target))
            .is_some();
        if exists {
            self.remember(target);
            self.focus_request.set(Some(target));
        }
    }

    fn focus_or_canvas(self, target: Option<FocusTarget>) {
        match (target, self.canvas.get_untracked()) {
            (Some(target), _) => self.focus(target),
            (None, Some(canvas)) => browser::focus_svg(&canvas),
            (None, None) => {}
        }
    }

    /// Focuses the element of an op or a kernel when it is requested. Called by the component of
    /// the element.
    pub(super) fn take_requests(self, target: FocusTarget, node: NodeRef<svg::G>) {
        Effect::new(move || {
            if self.focus_request.get() == Some(target)
                && let Some(element) = node.get()
            {
                self.focus_request.set(None);
                browser::focus_svg(&element);
            }
        });
    }

    /// An op or a kernel got the focus: moves it into view.
    pub(super) fn on_focus(self, target: FocusTarget) {
        self.focused.set(Some(self.for_layout(target)));
        self.remember(target);
        let rect = (self.placed).with_untracked(|placed| placed.layout.rect_of(target));
        if let Some(rect) = rect {
            self.reveal(rect);
        }
    }

    /// The tag of a repeat got the focus: moves it into view. When the tag goes, the first kernel
    /// of the repeat takes the focus.
    pub(super) fn on_tag_focus(self, first: KernelId, tag: Rect) {
        let kernel = FocusTarget::Kernel(first);
        self.focused.set(Some(self.for_layout(kernel)));
        self.remember(kernel);
        self.reveal(tag);
    }

    /// An op or a kernel of the layout with this number lost the focus. If there is another layout,
    /// it was removed and [`Graph::keep_focus`] gives the focus back.
    pub(super) fn on_blur(self, number: usize) {
        if self.layout_number() == number {
            self.focused.set(None);
        }
    }

    fn remember(self, target: FocusTarget) {
        let name = self.placed.with_untracked(|placed| placed.name_of(target));
        self.last_focused.set_if_changed(name);
    }
}
