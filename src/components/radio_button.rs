//! A radio button with its label.

use leptos::prelude::*;

/// One of several choices that exclude each other.
#[component]
pub fn RadioButton(
    /// The `name` that all choices of the set share.
    set: &'static str,
    /// Whether this choice is chosen.
    #[prop(into)]
    is_chosen: Signal<bool>,
    /// Called when the visitor chooses it.
    choose: impl Fn() + 'static,
    /// The label.
    children: Children,
) -> impl IntoView {
    view! {
        <label class="radio">
            <input type="radio" name=set prop:checked=is_chosen on:change=move |_| choose() />
            <span>{children()}</span>
        </label>
    }
}
