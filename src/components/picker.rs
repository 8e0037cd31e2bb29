//! A select whose value follows a signal.

use leptos::html;
use leptos::prelude::*;

/// A `<select>` around the given options. Its value is written after the options are there, and again
/// whenever `value` changes or a visitor's choice was not taken over.
#[component]
pub fn Picker(
    /// The chosen value; an option should have it.
    #[prop(into)]
    value: Signal<String>,
    /// Told of the value that a visitor chooses.
    choose: impl Fn(String) + 'static,
    /// Its accessible name, when no label holds it.
    #[prop(optional, into)]
    name: MaybeProp<String>,
    /// The options.
    children: Children,
) -> impl IntoView {
    let node = NodeRef::<html::Select>::new();
    Effect::new(move |_| {
        let value = value.get();
        if let Some(select) = node.get() {
            select.set_value(&value);
        }
    });
    view! {
        <select
            node_ref=node
            aria-label=move || name.get()
            on:change=move |event| {
                choose(event_target_value(&event));
                if let Some(select) = node.get_untracked() {
                    select.set_value(&value.get_untracked());
                }
            }
        >
            {children()}
        </select>
    }
}
