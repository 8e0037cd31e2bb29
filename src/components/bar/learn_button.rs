//! The way to the lessons and back.

use crate::app::learning::Learning;
use crate::app::state::Page;
use fuseline_browser as browser;
use leptos::prelude::*;

/// Gives the page to the lessons or, where they have it, back to the visitor's program.
#[component]
pub fn LearnButton() -> impl IntoView {
    let page = Page::of_context();
    let learning = Learning::of_context();
    let is_open = move || page.is_learning.get();
    // Until a lesson was opened it is the one filled button of the bar, and beside *Fuse* there is no other.
    let is_new = move || {
        learning.is_some_and(|learning| {
            (learning.progress).with(|progress| progress.open.is_none() && progress.is_empty())
        })
    };
    let toggle = move |_| match learning {
        Some(learning) if untrack(is_open) => learning.leave(),
        _ => {
            page.is_learning.set(true);
            browser::scroll_to_top();
        }
    };
    view! {
        <button type="button" class="learn-button" class:primary=move || is_new() && !is_open() && page.shows_fused() aria-pressed=move || is_open().to_string() on:click=toggle>
            "Learn"
        </button>
    }
}
