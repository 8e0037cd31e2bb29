//! Moving the picture: by the visitor, and to what is selected or focused.

use super::aim::{Aim, BeforeReveal};
use super::placed::PlacedGraph;
use super::state::Graph;
use crate::app::state::Selection;
use crate::components::inspector::CARD_SHARE;
use fuseline_browser as browser;
use fuseline_view::picture::dag::focus::FocusTarget;
use fuseline_view::picture::dag::minimap::Minimap;
use fuseline_view::picture::dag::viewport::{Size, Viewport};
use fuseline_view::picture::dag::{Point, Rect};
use leptos::prelude::*;

/// Height of the lower part of a puzzle's graph that the message about a move covers.
const MESSAGE_PX: f64 = 56.0;

impl Graph {
    /// Moves what is selected in another view into sight, an edge with both ends. An effect and not
    /// a memo: where the picture moves depends on where it was before.
    pub(super) fn reveal_selections(self) {
        let is_canvas_known = Memo::new(move |_| self.canvas_px.get().0 > 0.0);
        Effect::new(move || {
            let (placed, selection) = (self.placed.get(), self.selection.get());
            // The card about what is selected covers a part of the canvas.
            self.page().inspected();
            if is_canvas_known.get() {
                self.bring_into_sight(&placed, selection);
            }
        });
    }

    /// A frame of another size shows the picture as at first, with what is selected or focused in
    /// sight. Only where the visitor moved the picture to stays.
    pub(super) fn fit_new_frames(self) {
        let frame_px = Memo::new(move |last: Option<&Size>| {
            // Paper is no frame: what was in sight before is in sight after it.
            let on_paper = self
                .page()
                .screen
                .is_printing
                .get()
                .then_some(last)
                .flatten();
            on_paper.copied().unwrap_or_else(|| self.canvas_px.get())
        });
        let is_moved_for_frame = move || {
            let aim = self.aim.get_untracked().map(|aim| aim.value);
            let is_part = matches!(aim, Some(Aim::Part { .. }));
            is_part && !untrack(|| self.is_moved_by_visitor())
        };
        Effect::watch(
            move || frame_px.get(),
            move |_, _, _| {
                if is_moved_for_frame() {
                    self.show_readable();
                    let focused = self.focused.get_untracked().map(|focused| focused.value);
                    let rect = focused.and_then(|focused| {
                        (self.placed).with_untracked(|placed| placed.layout.rect_of(focused))
                    });
                    if let Some(rect) = rect {
                        self.reveal(rect);
                    }
                }
            },
            false,
        );
    }

    /// Moves the picture if what is selected is out of sight.
    fn bring_into_sight(self, placed: &PlacedGraph, selection: Selection) {
        let rect_of = |target| placed.layout.rect_of(target);
        let rects = match selection {
            Selection::Nothing => {
                self.give_back_place();
                return;
            }
            Selection::Tensor(tensor) => [placed.layout.pill_of(tensor); 2],
            Selection::Op(op) => [rect_of(FocusTarget::Op(op)); 2],
            Selection::Edge { producer, consumer } => {
                [producer, consumer].map(|op| rect_of(FocusTarget::Op(op)))
            }
            Selection::Kernel(kernel) => [rect_of(FocusTarget::Kernel(kernel)); 2],
        };
        let viewport = self.viewport.get_untracked();
        let canvas = self.uncovered_px();
        let is_seen = |rect: Rect| match selection {
            // A kernel may be larger than the canvas.
            Selection::Kernel(_) => viewport.shows(rect.center(), canvas),
            _ => viewport.shows_whole(rect, canvas),
        };
        if let [Some(first), Some(last)] = rects
            && !(is_seen(first) && is_seen(last))
        {
            let place = self.place_before_reveal();
            let aim = place.map_or_else(|| self.aim.get_untracked(), |place| place.aim);
            let both = first.with(&last);
            let from = match selection {
                // A visitor who merges two kernels has to see both.
                Selection::Edge { .. } => viewport.fitting(both, canvas),
                _ => viewport,
            };
            self.reveal_from(from, both);
            let revealed = self.viewport.get_untracked();
            (self.before_reveal).set_value(Some(BeforeReveal { aim, revealed }));
        }
    }

    /// Where the visitor looked before a selection moved the picture, unless they have moved it
    /// since.
    fn place_before_reveal(self) -> Option<BeforeReveal> {
        let place = self.before_reveal.get_value()?;
        (place.revealed == self.viewport.get_untracked()).then_some(place)
    }

    /// Moves the picture back to where it was before a selection moved it.
    fn give_back_place(self) {
        if let Some(place) = self.place_before_reveal() {
            self.aim.set(place.aim);
        }
        self.before_reveal.set_value(None);
    }

    /// Scrolls the page until the op that was clicked is in sight: on a phone its card may cover
    /// it.
    pub(super) fn reveal_clicked(self) {
        let canvas = self.canvas;
        browser::after_picture(move || browser::reveal_within(canvas, ".dag-op-box.is-selected"));
    }

    /// The part of the canvas that the card about what was clicked leaves free, or in a puzzle the
    /// message of a move. Untracked.
    fn uncovered_px(self) -> (f64, f64) {
        let (width, height) = self.canvas_px.get_untracked();
        let page = self.page();
        if untrack(|| page.inspected()) != Selection::Nothing {
            (width, height * (1.0 - CARD_SHARE))
        } else if untrack(|| page.screen.plays_puzzle()) {
            (width, (height - MESSAGE_PX).max(height / 2.0))
        } else {
            (width, height)
        }
    }

    /// Moves the picture until `rect` is in view.
    pub(super) fn reveal(self, rect: Rect) {
        self.reveal_from(self.viewport.get_untracked(), rect);
    }

    fn reveal_from(self, viewport: Viewport, rect: Rect) {
        let canvas = self.uncovered_px();
        let is_by_visitor = untrack(|| self.is_moved_by_visitor());
        let mut viewport = viewport.revealing(rect, canvas);
        if self.is_below_minimap(rect, viewport, is_by_visitor) {
            let at = viewport.on_canvas(rect.center());
            viewport = viewport.panned(canvas.0 / 2.0 - at.x, canvas.1 / 2.0 - at.y);
        }
        self.aim_at_part(viewport, is_by_visitor);
    }

    /// Whether the minimap would cover `rect`.
    fn is_below_minimap(self, rect: Rect, viewport: Viewport, is_by_visitor: bool) -> bool {
        let canvas = self.canvas_px.get_untracked();
        let first_view = self.first_view.get_untracked();
        self.placed.with_untracked(|placed| {
            Minimap::of(placed.layout.size(), viewport, canvas).is_some_and(|map| {
                let corner = map.free_corner(&placed.layout, first_view, canvas);
                let covered = map.covered(corner.unwrap_or_default(), viewport, canvas);
                (corner.is_some() || is_by_visitor) && covered.meets(&rect)
            })
        })
    }

    /// Whether the visitor has moved the picture, and not a selection or the focus alone. Tracked.
    pub(super) fn is_moved_by_visitor(self) -> bool {
        let is_stepping = self.page().stepping.step.get().is_some();
        let aim = self.aim.get();
        let aim = aim.and_then(|aim| aim.valid_for(&self.placed.get(), is_stepping));
        matches!(
            aim,
            Some(Aim::Part {
                is_by_visitor: true,
                ..
            })
        )
    }

    /// Moves the picture as the visitor asks, but not out of view.
    pub(super) fn move_to(self, viewport: Viewport) {
        let picture = self.placed.with_untracked(|placed| placed.layout.size());
        let viewport = viewport.kept_in_sight(picture, self.canvas_px.get_untracked());
        self.aim_at_part(viewport, true);
    }

    /// Shows the picture as at first, or at the same scale what is selected.
    pub(super) fn show_readable(self) {
        self.aim.set(None);
        let selection = self.selection.get_untracked();
        (self.placed).with_untracked(|placed| self.bring_into_sight(placed, selection));
    }

    fn op_count(self) -> usize {
        (self.placed).with_untracked(|placed| placed.layout.ops.len())
    }

    /// Shows the whole picture, however small.
    pub(super) fn show_whole(self) {
        let op_count = self.op_count();
        self.aim.set(Some(self.for_layout(Aim::Whole { op_count })));
    }

    /// Zooms by a factor around a point of the canvas, or around its middle.
    pub(super) fn zoom(self, factor: f64, at: Option<Point>) {
        let (width, height) = self.canvas_px.get_untracked();
        let at = at.unwrap_or(Point::new(width / 2.0, height / 2.0));
        self.move_to(self.viewport.get_untracked().zoomed(factor, at));
    }

    fn aim_at_part(self, viewport: Viewport, is_by_visitor: bool) {
        let aim = Aim::Part {
            viewport,
            is_by_visitor,
            op_count: self.op_count(),
        };
        self.aim.set(Some(self.for_layout(aim)));
    }
}
