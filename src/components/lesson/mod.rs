//! Lessons and puzzles: their lists, the open one with its steps and tasks, and the results of a
//! class.

pub mod closing;
pub mod editor;
pub mod list;
pub mod pane;
pub mod prose;
pub mod task;
pub mod teachers;
pub mod worksheet;

use crate::app::classroom::Classroom;
use crate::app::learning::{Learning, Room};
use crate::app::state::Page;
use crate::app::student_results::StudentResults;
use crate::components::class::hand_in::HandInPane;
use crate::components::class::pane::ClassPane;
use crate::components::puzzle::list::PuzzleList;
use crate::components::puzzle::pane::PuzzlePane;
use leptos::prelude::*;
use list::LessonList;
use pane::LessonPane;

/// The open puzzle or lesson, else the lists of both, or results; nothing while the page is the
/// visitor's own.
#[component]
pub fn Learn() -> impl IntoView {
    let learning = Learning::of_context();
    let page = Page::of_context();
    let lists = || view! { <LessonList /><PuzzleList /> };
    let is_open = move || learning.is_some_and(|learning| learning.open.with(Option::is_some));
    let lessons = move || {
        view! {
            <Show
                when=move || page.screen.puzzle.with(Option::is_some)
                fallback=move || view! { <Show when=is_open fallback=lists><LessonPane /></Show> }
            >
                <PuzzlePane />
            </Show>
        }
    };
    let room = move || learning.map_or(Room::Lists, |learning| learning.room.get());
    let student_results = StudentResults::of_context();
    let hand_in =
        move || Some(view! { <HandInPane learning=learning? student_results=student_results? /> });
    let classroom = Classroom::of_context();
    let class = move || Some(view! { <ClassPane learning=learning? classroom=classroom? /> });
    view! {
        <Show when=move || page.screen.is_learning.get()>
            <section class="panel learn" aria-labelledby="learn-title">
                <h2 id="learn-title" class="sr-only">"Learn"</h2>
                {move || match room() {
                    Room::HandIn => hand_in().into_any(),
                    Room::Class => class().into_any(),
                    Room::Lists => lessons().into_any(),
                }}
            </section>
        </Show>
    }
}
