//! The first guesses of a question as bars, and its right answer.

use crate::components::sentence::sentence;
use fuseline_learn::results::class::{Guess, QuestionColumn};
use fuseline_view::present::names::counted;
use leptos::prelude::*;

/// Most guesses of a question that are shown; the others are one row.
const MAX_GUESSES: usize = 6;

/// The right answer with its reason.
pub(super) fn answer(column: &QuestionColumn) -> Option<impl IntoView + use<>> {
    (!column.right.is_empty())
        .then(|| view! { <p class="class-answer">"Answer: " {sentence(&column.right)}</p> })
}

/// The first guesses as bars. Where the answer is shown, the right one is marked and the others
/// have the reply of the lesson.
pub(super) fn guesses(column: &QuestionColumn, is_explained: bool) -> impl IntoView + use<> {
    let all: usize = column.guesses.iter().map(|guess| guess.count).sum();
    let (shown, others) = column
        .guesses
        .split_at(column.guesses.len().min(MAX_GUESSES));
    let others = others.iter().map(|guess| guess.count).sum();
    let others = (others > 0).then(|| Guess {
        words: "other answers".to_owned(),
        count: others,
        is_right: false,
        nudge: String::new(),
    });
    let rows = shown.iter().chain(&others);
    let rows = rows
        .map(|guess| bar(guess, all, is_explained))
        .collect_view();
    view! { <ul class="guesses">{rows}</ul> }
}

fn bar(guess: &Guess, all: usize, is_explained: bool) -> impl IntoView + use<> {
    let percent = 100.0 * guess.count as f64 / all.max(1) as f64;
    let is_right = guess.is_right && is_explained;
    let right = is_right.then(|| view! { <span class="guess-right">"✓ right"</span> });
    let nudge = (!guess.nudge.is_empty() && is_explained)
        .then(|| view! { <small>{sentence(&guess.nudge)}</small> });
    view! {
        <li class:is-right=is_right>
            <span class="guess-words">{sentence(&guess.words)} " " {right}</span>
            <span class="guess-count">{format!("{} of {}", guess.count, counted(all, "student"))}</span>
            <span class="guess-bar" aria-hidden="true"><span style:width=format!("{percent:.1}%")></span></span>
            {nudge}
        </li>
    }
}
