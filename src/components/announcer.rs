//! Telling screen readers of a change, once it has come to rest.

use crate::browser::Later;
use leptos::prelude::*;
use std::time::Duration;

/// A pause after which what changes is read out.
const QUIET: Duration = Duration::from_millis(900);

/// Reads out each new text after a pause, but not the first one, which a visitor meets on the page.
#[component]
pub fn Announcer(
    /// What can be said now.
    text: Memo<String>,
) -> impl IntoView {
    let spoken = RwSignal::new(String::new());
    let later = Later::after(QUIET);
    Effect::watch(
        move || text.get(),
        move |text, _, _| {
            let text = text.clone();
            later.call(move || spoken.set(text));
        },
        false,
    );
    view! { <p class="sr-only" role="status" aria-live="polite">{spoken}</p> }
}
