//! What is wrong with a row of the table.

use crate::components::fixes::FixButtons;
use crate::components::sentence::sentence;
use fuseline_view::present::op_rows::Problem;
use fuseline_view::present::words::severity_word;
use leptos::prelude::*;

/// The errors, warnings and notes of an op or a tensor.
#[component]
pub fn Problems(
    /// Each with its corrections.
    problems: Memo<Vec<Problem>>,
) -> impl IntoView {
    let lines = move || {
        let line = |problem: Problem| {
            let word = severity_word(problem.severity);
            view! {
                <p class=format!("is-{word}")>{sentence(&format!("{word}: {}", problem.text))}</p>
                <FixButtons fixes=problem.fixes />
            }
        };
        problems.get().into_iter().map(line).collect_view()
    };
    view! {
        <td role="cell" class="op-problems" hidden=move || problems.with(Vec::is_empty)>
            {lines}
        </td>
    }
}
