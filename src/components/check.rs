//! A check box with its words.

use leptos::prelude::*;

/// Sets and clears `is_set`.
#[component]
pub fn Check(is_set: RwSignal<bool>, words: &'static str) -> impl IntoView {
    view! {
        <label class="check">
            <input
                type="checkbox"
                prop:checked=is_set
                on:change:target=move |event| is_set.set(event.target().checked())
            />
            <span>{words}</span>
        </label>
    }
}
