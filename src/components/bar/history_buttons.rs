//! Undo and redo.

use crate::app::state::Page;
use leptos::prelude::*;

/// A button for each. One that has nothing to do is not disabled in fact: it would lose the focus with the last step.
#[component]
pub fn HistoryButtons() -> impl IntoView {
    let page = Page::of_context();
    view! {
        <button
            type="button"
            class="icon-button"
            title="Undo (Ctrl+Z)"
            aria-label="Undo"
            aria-keyshortcuts="Control+Z"
            aria-disabled=move || (!page.can_undo.get()).then_some("true")
            on:click=move |_| {
                page.undo();
            }
        >
            <span aria-hidden="true">"↶"</span>
        </button>
        <button
            type="button"
            class="icon-button"
            title="Redo (Ctrl+Shift+Z)"
            aria-label="Redo"
            aria-keyshortcuts="Control+Shift+Z Control+Y"
            aria-disabled=move || (!page.can_redo.get()).then_some("true")
            on:click=move |_| {
                page.redo();
            }
        >
            <span aria-hidden="true">"↷"</span>
        </button>
    }
}
