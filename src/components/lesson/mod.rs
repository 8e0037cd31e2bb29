//! Lessons and puzzles: their lists, and the open one with its steps and tasks.

pub mod editor;
pub mod list;
pub mod pane;
pub mod prose;
pub mod task;

use crate::app::learning::Learning;
use crate::app::state::Page;
use crate::components::puzzle::list::PuzzleList;
use crate::components::puzzle::pane::PuzzlePane;
use leptos::prelude::*;
use list::LessonList;
use pane::LessonPane;

/// The lists of lessons and puzzles, or the one that is open.
#[component]
pub fn Learn() -> impl IntoView {
    let learning = Learning::of_context();
    let page = Page::of_context();
    // Each has a scroller of its own, so that the lists begin at their top.
    let lists = || view! { <div class="learn"><LessonList /><PuzzleList /></div> };
    let is_open = move || learning.is_some_and(|learning| learning.open.with(Option::is_some));
    view! {
        <Show
            when=move || page.puzzle.get().is_some()
            fallback=move || view! { <Show when=is_open fallback=lists><div class="learn"><LessonPane /></div></Show> }
        >
            <div class="learn"><PuzzlePane /></div>
        </Show>
    }
}
