//! A labelled select.

use leptos::prelude::*;

/// A list of options with its label.
#[component]
pub fn Picker(
    label: &'static str,
    /// The tooltip.
    #[prop(optional, into)]
    title: MaybeProp<String>,
    /// Whether its options have long names, so that it shrinks in a narrow bar.
    #[prop(optional)]
    has_long_names: bool,
    /// The value of the chosen option.
    #[prop(into)]
    value: Signal<String>,
    /// Called with the value of the option that the visitor chooses.
    choose: impl Fn(String) + 'static,
    /// The options.
    children: Children,
) -> impl IntoView {
    view! {
        <label class="picker" class:has-long-names=has_long_names title=move || title.get()>
            <span>{label}</span>
            <select
                prop:value=value
                on:change:target=move |event| {
                    let select = event.target();
                    choose(select.value());
                    // Shows the present value again if the choice was refused.
                    select.set_value(&value.get_untracked());
                }
            >
                {children()}
            </select>
        </label>
    }
}
