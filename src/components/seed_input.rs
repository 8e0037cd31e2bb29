//! A seed of random numbers.

use leptos::prelude::*;
use std::fmt::Display;
use std::str::FromStr;

/// A seed of random numbers. What is typed and is no number changes nothing.
#[component]
pub fn SeedInput<T>(
    seed: Signal<T>,
    /// Called with what the visitor types.
    choose: impl Fn(T) + 'static,
) -> impl IntoView
where
    T: Clone + Display + FromStr + Send + Sync + 'static,
{
    view! {
        <input
            type="number"
            min="0"
            step="1"
            inputmode="numeric"
            prop:value=move || seed.get().to_string()
            on:change:target=move |event| {
                if let Ok(typed) = event.target().value().parse() {
                    choose(typed);
                }
            }
        />
    }
}
