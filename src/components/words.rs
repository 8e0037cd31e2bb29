//! Sentences in which `backquotes` stand for code.

use leptos::prelude::*;

/// The sentence with its quoted parts as `<code>`.
pub(super) fn with_code(sentence: &str) -> impl IntoView + use<> {
    sentence
        .split('`')
        .enumerate()
        .filter(|(_, part)| !part.is_empty())
        .map(|(place, part)| {
            let part = part.to_owned();
            // Every second part stands between two quotes.
            if place % 2 == 1 {
                view! { <code>{part}</code> }.into_any()
            } else {
                part.into_any()
            }
        })
        .collect_view()
}
