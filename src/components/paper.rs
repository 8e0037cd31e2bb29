//! Sheets that are shown as they print, in a dialog over the page, which is not printed meanwhile.

use crate::app::covers::closes_on_back;
use fuseline_browser as browser;
use fuseline_learn::language::Language;
use leptos::html;
use leptos::prelude::*;

/// The sheets below a bar with their buttons. Escape closes it.
#[component]
pub fn Paper(
    label: &'static str,
    /// Its class, beside that of all paper.
    #[prop(default = "")]
    class: &'static str,
    /// The language of its buttons, and of what has no other.
    #[prop(default = Language::English)]
    words: Language,
    /// Called when it was closed.
    on_close: impl Fn() + 'static,
    /// What stands in the bar in front of *Print* and *Close*.
    bar: impl IntoView,
    /// The sheets.
    children: Children,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    // It is there after the effects of this mount.
    Effect::new(move || {
        if dialog.get().is_some() {
            browser::show_modal(dialog);
        }
    });
    closes_on_back(|| true, move || browser::close_modal(dialog));
    view! {
        <dialog
            class=format!("handout {class}")
            node_ref=dialog
            aria-label=label
            lang=words.tag()
            on:close=move |_| on_close()
            // Escape closes the dialog and does nothing to the page below.
            on:keydown=move |event| event.stop_propagation()
        >
            <header class="handout-bar">
                {bar}
                <button type="button" class="button" on:click=move |_| browser::print()>{words.print()}</button>
                <button type="button" class="button" on:click=move |_| browser::close_modal(dialog)>{words.close()}</button>
            </header>
            {children()}
        </dialog>
    }
}
