//! Corrections of the text as buttons.

use super::sentence::sentence;
use crate::app::state::Page;
use fuseline_core::Fix;
use leptos::ev::MouseEvent;
use leptos::prelude::*;

/// A button for each correction of one problem. Undo takes it back.
#[component]
pub fn FixButtons(
    /// The corrections.
    fixes: Vec<Fix>,
) -> impl IntoView {
    let page = Page::of_context();
    let button = move |fix: Fix| {
        let label = fix.label.clone();
        // A click by a key has no count.
        let press = move |event: MouseEvent| page.correct(&fix, event.detail() == 0);
        view! {
            <button
                type="button"
                class="fix"
                // The text area keeps the focus, so that a phone keeps its keyboard.
                on:mousedown=|event| event.prevent_default()
                on:click=press
            >
                {sentence(&label)}
            </button>
        }
    };
    (!fixes.is_empty()).then(|| {
        view! {
            <div class="fixes" role="group" aria-label="Corrections">
                {fixes.into_iter().map(button).collect_view()}
            </div>
        }
    })
}
