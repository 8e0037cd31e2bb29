//! The way to the lessons.

use crate::app::learning::Learning;
use crate::app::state::{OpsView, Page};
use crate::components::tabs::{panel_id, tab_id};
use fuseline_browser as browser;
use leptos::prelude::*;

/// Shows the lessons or, where they are in sight, brings back the pane as it was before.
#[component]
pub fn LearnButton() -> impl IntoView {
    let page = Page::of_context();
    let learning = Learning::of_context();
    let is_open = move || learning.is_some_and(Learning::is_pane_open);
    // Until a lesson was opened it is the one filled button of the bar, and beside *Fuse* there is no other.
    let is_new = move || {
        learning.is_some_and(|learning| {
            (learning.progress).with(|progress| progress.open.is_none() && progress.done.is_empty())
        })
    };
    let toggle = move |_| {
        let Some(learning) = learning else {
            return;
        };
        // A pane that is open but out of sight is what the press is meant to show.
        if untrack(is_open) && browser::is_seen_by_id(&panel_id(OpsView::Learn)) {
            learning.hide_pane();
        } else {
            learning.show_pane();
            // On a phone the lessons may be far below, and a low window has room for nothing beside them.
            browser::after_picture(|| {
                let tab = tab_id(OpsView::Learn);
                if browser::is_low_window() {
                    browser::bring_to_top(&tab);
                } else {
                    browser::reveal_by_id(&tab);
                }
            });
        }
    };
    view! {
        <button type="button" class="learn-button" class:primary=move || is_new() && !is_open() && page.shows_fused() aria-pressed=move || is_open().to_string() on:click=toggle>
            "Learn"
        </button>
    }
}
