//! A select with its name before it.

use leptos::prelude::*;

/// Options of which one is chosen.
#[component]
pub fn Picker(
    /// Its name.
    label: &'static str,
    /// What it is about, or what the chosen option means.
    #[prop(optional, into)]
    title: MaybeProp<String>,
    /// Its options have long names: it gives way where the bar is narrow.
    #[prop(optional)]
    has_long_names: bool,
    /// The value of the option that holds.
    #[prop(into)]
    value: Signal<String>,
    /// Takes over the value of the option that was chosen.
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
                    // A choice that was not taken over gives way to what holds.
                    select.set_value(&value.get_untracked());
                }
            >
                {children()}
            </select>
        </label>
    }
}
