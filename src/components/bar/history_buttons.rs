//! Undo and redo.

use crate::app::state::Page;
use leptos::prelude::*;

/// A button for each, once there is something to undo.
#[component]
pub fn HistoryButtons() -> impl IntoView {
    let page = Page::of_context();
    let is_needed = move || page.can_undo.get() || page.can_redo.get();
    view! {
        <div class="history-buttons" class:is-needless=move || !is_needed()>
            <HistoryButton
                label="Undo"
                title="Undo (Ctrl+Z)"
                shortcuts="Control+Z"
                sign="↶"
                is_possible=page.can_undo
                travel=Page::undo
            />
            <HistoryButton
                label="Redo"
                title="Redo (Ctrl+Shift+Z)"
                shortcuts="Control+Shift+Z Control+Y"
                sign="↷"
                is_possible=page.can_redo
                travel=Page::redo
            />
        </div>
    }
}

/// `aria-disabled` instead of `disabled`, because a disabled button would lose the focus at the
/// last step.
#[component]
fn HistoryButton(
    label: &'static str,
    title: &'static str,
    /// The keys that do the same, for `aria-keyshortcuts`.
    shortcuts: &'static str,
    /// The sign that it shows.
    sign: &'static str,
    /// Whether there is a step.
    is_possible: Memo<bool>,
    /// Makes the step.
    travel: fn(Page) -> bool,
) -> impl IntoView {
    let page = Page::of_context();
    view! {
        <button
            type="button"
            class="icon-button"
            title=title
            aria-label=label
            aria-keyshortcuts=shortcuts
            aria-disabled=move || (!is_possible.get()).then_some("true")
            on:click=move |_| {
                travel(page);
            }
        >
            <span aria-hidden="true">{sign}</span>
        </button>
    }
}
