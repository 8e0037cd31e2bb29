//! What is wrong with a row of the table.

use crate::components::sentence::sentence;
use crate::core::Severity;
use crate::present::words::severity_word;
use leptos::prelude::*;

/// The errors, warnings and notes of an op or a tensor.
#[component]
pub fn Problems(
    /// Each with its words.
    problems: Memo<Vec<(Severity, String)>>,
) -> impl IntoView {
    let lines = move || {
        let line = |(severity, text)| {
            let word = severity_word(severity);
            view! { <p class=format!("is-{word}")>{sentence(&format!("{word}: {text}"))}</p> }
        };
        problems.get().into_iter().map(line).collect_view()
    };
    view! {
        <td role="cell" class="op-problems" hidden=move || problems.with(Vec::is_empty)>
            {lines}
        </td>
    }
}
