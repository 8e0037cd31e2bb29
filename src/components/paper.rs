//! Sheets that are shown as they print, in a dialog over the page, which is not printed meanwhile.

use crate::components::dialog::Dialog;
use fuseline_browser as browser;
use fuseline_learn::language::Language;
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
    bar: impl IntoView + 'static,
    /// The sheets.
    children: Children,
) -> impl IntoView {
    let is_open = RwSignal::new(true);
    view! {
        <Dialog class=format!("handout {class}") label is_open on_close attr:lang=words.tag()>
            <header class="handout-bar">
                {bar}
                <button type="button" class="button" on:click=move |_| browser::print()>{words.print()}</button>
                <button type="button" class="button" on:click=move |_| is_open.set(false)>{words.close()}</button>
            </header>
            {children()}
        </Dialog>
    }
}
