//! Lessons and puzzles: their lists, and the open one with its steps and tasks.

pub mod closing;
pub mod editor;
pub mod list;
pub mod pane;
pub mod prose;
pub mod task;
pub mod teachers;
pub mod worksheet;

use crate::app::learning::Learning;
use crate::app::state::Page;
use crate::components::puzzle::list::PuzzleList;
use crate::components::puzzle::pane::PuzzlePane;
use leptos::prelude::*;
use list::LessonList;
use pane::LessonPane;

/// The open puzzle or lesson, else the lists of both; nothing while the page is the visitor's own.
#[component]
pub fn Learn() -> impl IntoView {
    let learning = Learning::of_context();
    let page = Page::of_context();
    let lists = || view! { <LessonList /><PuzzleList /> };
    let is_open = move || learning.is_some_and(|learning| learning.open.with(Option::is_some));
    view! {
        <Show when=move || page.is_learning.get()>
            <section class="panel learn" aria-labelledby="learn-title">
                <h2 id="learn-title" class="sr-only">"Learn"</h2>
                <Show
                    when=move || page.puzzle.with(Option::is_some)
                    fallback=move || view! { <Show when=is_open fallback=lists><LessonPane /></Show> }
                >
                    <PuzzlePane />
                </Show>
            </section>
        </Show>
    }
}
