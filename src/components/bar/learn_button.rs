//! The way to the lists of lessons and puzzles, and back.

use crate::app::learning::{Learning, Room};
use crate::app::puzzling::Puzzling;
use crate::app::state::Page;
use fuseline_browser as browser;
use leptos::prelude::*;

/// Leads to the lists, also out of a lesson or a puzzle, and from there back to the visitor's
/// program. On the whole page it leads to the lesson or the puzzle that is open.
#[component]
pub fn LearnButton() -> impl IntoView {
    let page = Page::of_context();
    let learning = Learning::of_context();
    let puzzling = Puzzling::of_context();
    let is_open = move || page.screen.is_learning.get();
    // Until a lesson was opened it is the one filled button of the bar, and beside *Fuse* there is
    // no other.
    let is_new = move || {
        learning.is_some_and(|learning| {
            (learning.progress).with(|progress| progress.open.is_none() && progress.is_empty())
        })
    };
    let toggle = move |_| {
        let Some(learning) = learning.filter(|_| untrack(is_open)) else {
            page.screen.is_learning.set(true);
            browser::scroll_to_top();
            return;
        };
        let has_lists = learning.room.get_untracked() == Room::Lists;
        let has_lesson = learning.open.with_untracked(Option::is_some);
        match puzzling.filter(|_| page.screen.puzzle.with_untracked(Option::is_some)) {
            Some(puzzling) if has_lists => puzzling.close(),
            None if has_lists && has_lesson => learning.close(),
            _ => learning.leave(),
        }
    };
    view! {
        <button type="button" class="learn-button" class:primary=move || is_new() && !is_open() && page.shows_fused() aria-pressed=move || is_open().to_string() on:click=toggle>
            "Learn"
        </button>
    }
}
