//! How a picture comes from the one before it: what is in both travels to its place, what is new appears.

use super::placed::PlacedGraph;
use super::state::Graph;
use crate::app::state::MOVING_OPS;
use crate::browser;
use crate::picture::dag::Rect;
use crate::picture::dag::motion::{Motion, View};
use leptos::html::ElementType;
use leptos::prelude::*;
use leptos::svg;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;

/// The pictures that were in view last.
#[derive(Default)]
pub(super) struct Views {
    /// The present one and the one before it, with the numbers of their layouts.
    last: [Option<(usize, View)>; 2],
    /// While a new picture is mounted.
    motion: Option<Motion>,
}

impl Graph {
    /// Keeps what is in view, for the next picture.
    pub(super) fn keep_views(self) {
        Effect::new(move || {
            let viewport = self.viewport.get();
            let (number, view) = self.placed.with(|placed| {
                let kernel_of = placed.analysis.partition.kernel_of.clone();
                let layout = placed.layout.clone();
                (
                    placed.number,
                    View {
                        layout,
                        kernel_of,
                        viewport,
                    },
                )
            });
            self.views.update_value(|views| {
                let [present, before] = &mut views.last;
                if present.as_ref().is_some_and(|(last, _)| *last != number) {
                    *before = present.take();
                }
                *present = Some((number, view));
            });
        });
    }

    /// Called when a picture is about to be mounted: lets its parts travel if its ops came into other kernels by a choice, and
    /// not by a slider.
    pub(super) fn start_motion(self, placed: &PlacedGraph) {
        let is_held = untrack(|| self.page().hold.is_held());
        let to = self.viewport.get_untracked();
        let kernel_of = &placed.analysis.partition.kernel_of;
        let comes_from = |view: &View| {
            let op_count = view.kernel_of.len();
            op_count <= MOVING_OPS && op_count == kernel_of.len() && view.kernel_of != *kernel_of
        };
        self.views.update_value(|views| {
            // The effect that keeps them may have seen this picture already.
            let mut last = views.last.iter().flatten();
            let before = last.find(|(number, _)| *number < placed.number);
            let before = before.filter(|(_, view)| !is_held && comes_from(view));
            views.motion = before.map(|(_, view)| Motion::new(view.clone(), to));
        });
        // What comes into view later does not travel.
        browser::next_frame(move || {
            self.views.try_update_value(|views| views.motion = None);
        });
    }

    /// Lets an element travel to its place from where it was in the picture before, or appear if it was not there.
    pub(super) fn travel(
        self,
        element: NodeRef<svg::G>,
        place: Rect,
        before: impl FnOnce(&Motion) -> Option<Rect>,
    ) {
        self.animate(element, |motion| match before(motion) {
            Some(before) => vec![("transform", place.transform_to(&before))],
            None => vec![("opacity", "0".to_owned())],
        });
    }

    /// Lets an element appear.
    pub(super) fn appear(self, element: NodeRef<svg::G>) {
        self.animate(element, |_| vec![("opacity", "0".to_owned())]);
    }

    /// Lets a box take its place and size from another box.
    pub(super) fn grow(
        self,
        element: NodeRef<svg::Rect>,
        before: impl FnOnce(&Motion) -> Option<Rect>,
    ) {
        self.animate(element, |motion| {
            let px = |length: f64| format!("{length}px");
            let sides = |from: Rect| {
                let Rect {
                    x,
                    y,
                    width,
                    height,
                } = from;
                vec![
                    ("x", px(x)),
                    ("y", px(y)),
                    ("width", px(width)),
                    ("height", px(height)),
                ]
            };
            before(motion).map_or_else(Vec::new, sides)
        });
    }

    fn animate<E>(
        self,
        element: NodeRef<E>,
        first: impl FnOnce(&Motion) -> Vec<(&'static str, String)>,
    ) where
        E: ElementType,
        E::Output: JsCast + AsRef<Element> + Clone + 'static,
    {
        let first = (self.views).with_value(|views| views.motion.as_ref().map(first));
        if let Some(first) = first {
            browser::animate_from(element, first);
        }
    }
}
