//! What has the screen: the whole page, a lesson with what its step looks at, or what a speaker
//! shows a class.

use crate::app::learning::{Learning, Room};
use crate::app::presenting::Presenting;
use crate::app::state::Screen;
use fuseline_learn::stage::Stage;
use fuseline_view::page::view::View;
use leptos::prelude::*;

/// The stage of the page. Made once at the root and given to all components as context.
#[derive(Clone, Copy)]
pub struct PageStage(Memo<Option<Stage>>);

impl PageStage {
    /// The stage that a speaker, a lesson, a puzzle or the lists set; `None` for the whole page.
    pub fn new(screen: Screen, learning: Learning, presenting: Presenting) -> Self {
        Self(Memo::new(move |_| {
            if presenting.is_on.get() {
                return Some(presenting.stage.get());
            }
            if !screen.is_learning.get() {
                return None;
            }
            let is_lesson = learning.open.with(Option::is_some);
            let is_listed = learning.room.get() == Room::Lists;
            Some(if !is_listed {
                Stage::of_lists()
            } else if screen.puzzle.with(Option::is_some) {
                Stage::of_puzzle()
            } else if is_lesson {
                Stage::of_step(&learning.look())
            } else {
                Stage::of_lists()
            })
        }))
    }

    /// Whether parts of the page are hidden. Tracked.
    pub fn is_set(self) -> bool {
        self.0.with(Option::is_some)
    }

    /// Whether the lesson, the puzzle or the lists are on it. Tracked.
    pub fn has_lesson(self) -> bool {
        self.of(Stage::has_lesson)
    }

    /// Whether it has exactly `count` pictures. Tracked.
    pub fn has_pictures(self, count: usize) -> bool {
        self.of(|stage| stage.picture_count() == count)
    }

    fn of(self, what: impl Fn(&Stage) -> bool) -> bool {
        self.0.with(|stage| stage.as_ref().is_some_and(what))
    }
}

/// Whether parts of the page are hidden. Tracked.
pub fn has_stage() -> impl Fn() -> bool + Copy + Send + Sync {
    let stage: Option<PageStage> = use_context();
    move || stage.is_some_and(PageStage::is_set)
}

/// Whether the op list is open: folded it would be an empty stage. Tracked.
pub fn has_ops_open(screen: Screen) -> impl Fn() -> bool + Copy + Send + Sync {
    let is_staged = is_staged(View::Operations);
    move || is_staged() || screen.is_ops_open.get()
}

/// Whether a view is on the stage, where there is one. Tracked.
pub fn is_staged(view: View) -> impl Fn() -> bool + Copy + Send + Sync {
    let stage: Option<PageStage> = use_context();
    move || stage.is_some_and(|stage| stage.of(|stage| stage.shows(view)))
}
