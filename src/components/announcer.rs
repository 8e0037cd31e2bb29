//! Reads changes out to users of screen readers.

use fuseline_browser::Debounce;
use leptos::prelude::*;
use std::time::Duration;

/// A change is read out after this long without another one.
const QUIET: Duration = Duration::from_millis(900);

/// Reads out `text` when it has changed and then stayed the same for [`QUIET`].
#[component]
pub fn Announcer(
    /// The present text.
    text: Memo<String>,
) -> impl IntoView {
    let spoken = RwSignal::new(String::new());
    let later = Debounce::after(QUIET);
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
