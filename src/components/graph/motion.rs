//! How a picture comes from the one before it: what is in both travels to its place, what is new
//! appears.

use super::placed::PlacedGraph;
use super::state::Graph;
use fuseline_browser as browser;
use fuseline_view::picture::dag::Rect;
use fuseline_view::picture::dag::motion::{Motion, PlacedPicture, can_move};
use leptos::prelude::*;
use leptos::svg;

impl Graph {
    /// Keeps what is in view, for the next picture.
    pub(super) fn keep_views(self) {
        Effect::new(move || {
            let (placed, viewport) = (self.placed.get(), self.viewport.get());
            self.views.update_value(|views| {
                let [present, before] = &mut views.last;
                if (present.as_ref()).is_some_and(|(last, _)| last.number != placed.number) {
                    *before = present.take();
                }
                *present = Some((placed, viewport));
            });
        });
    }

    /// Called when a picture is about to be mounted: lets its parts travel if its ops came into
    /// other kernels by a choice, and not by a slider.
    pub(super) fn start_motion(self, placed: &PlacedGraph) {
        let is_held = untrack(|| self.page().slider.is_held());
        let to = self.viewport.get_untracked();
        self.views.update_value(|views| {
            // The effect that keeps them may have seen this picture already.
            let mut last = views.last.iter().flatten();
            let before = last.find(|(before, _)| before.number < placed.number);
            let before = before.filter(|(before, _)| {
                let (was, now) = (&before.analysis, &placed.analysis);
                let has_moved = was.partition.kernel_of != now.partition.kernel_of;
                !is_held && can_move(was, now) && has_moved
            });
            views.motion = before.map(|(before, viewport)| {
                let view = PlacedPicture {
                    layout: before.layout.clone(),
                    kernel_of: before.analysis.partition.kernel_of.clone(),
                    viewport: *viewport,
                };
                Motion::new(view, to)
            });
        });
        // What comes into view later does not travel.
        browser::next_frame(move || {
            self.views.try_update_value(|views| views.motion = None);
        });
    }

    /// Lets an element travel to its place from where it was in the picture before, or appear if it
    /// was not there.
    pub(super) fn travel(
        self,
        element: NodeRef<svg::G>,
        place: Rect,
        before: impl FnOnce(&Motion) -> Option<Rect>,
    ) {
        self.during_motion(|motion| {
            let first = match before(motion) {
                Some(before) => ("transform", place.transform_to(&before)),
                None => ("opacity", "0".to_owned()),
            };
            browser::animate_from(element, vec![first]);
        });
    }

    /// Lets an element appear.
    pub(super) fn appear(self, element: NodeRef<svg::G>) {
        self.during_motion(|_| browser::animate_from(element, vec![("opacity", "0".to_owned())]));
    }

    /// Lets a box take its place and size from another box.
    pub(super) fn grow(
        self,
        element: NodeRef<svg::Rect>,
        before: impl FnOnce(&Motion) -> Option<Rect>,
    ) {
        self.during_motion(|motion| {
            if let Some(from) = before(motion) {
                let sides = [
                    ("x", from.x),
                    ("y", from.y),
                    ("width", from.width),
                    ("height", from.height),
                ];
                let sides = sides.map(|(side, length)| (side, format!("{length}px")));
                browser::animate_from(element, sides.into());
            }
        });
    }

    fn during_motion(self, animate: impl FnOnce(&Motion)) {
        self.views.with_value(|views| {
            if let Some(motion) = &views.motion {
                animate(motion);
            }
        });
    }
}
