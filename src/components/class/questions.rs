//! The first guesses of a class, question by question: what the discussion is about.

use super::discussion::Discussion;
use crate::components::lesson::prose::inlines;
use crate::components::sentence::sentence;
use fuseline_learn::lesson::library::ListedLesson;
use fuseline_learn::results::class::{Guess, QuestionColumn};
use fuseline_view::present::names::counted;
use leptos::prelude::*;
use std::sync::Arc;

/// Most guesses of a question that are shown; the others are one row.
const MAX_GUESSES: usize = 6;

/// The questions of a lesson with their first guesses, folded until the teacher wants them.
#[component]
pub fn Questions(
    /// The lesson, if it is one of the page.
    listed: Option<&'static ListedLesson>,
    /// The title of the lesson.
    title: String,
    /// Its questions.
    columns: Vec<QuestionColumn>,
) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let columns = columns.into_iter();
    let columns = columns.filter(|column| !column.guesses.is_empty());
    let columns = Arc::new(columns.collect::<Vec<_>>());
    let shown = RwSignal::new(None::<usize>);
    let sections = {
        let columns = columns.clone();
        move || {
            let sections = columns.iter().enumerate();
            let sections = sections.map(|(at, column)| question(column, at, shown));
            sections.collect_view()
        }
    };
    view! {
        <details class="class-questions" on:toggle:target=move |event| is_open.set(event.target().open())>
            <summary>"First guesses of each question" <span class="sr-only">{format!(": {title}")}</span></summary>
            <Show when=move || is_open.get()>{sections.clone()}</Show>
        </details>
        <Discussion listed title columns shown />
    }
}

fn question(
    column: &QuestionColumn,
    at: usize,
    shown: RwSignal<Option<usize>>,
) -> impl IntoView + use<> {
    let title = column.full_title();
    let label = format!("Show to the class: {title}");
    view! {
        <section class="class-question">
            <h5>{title}</h5>
            <p>{inlines(&column.ask, None)}</p>
            {guesses(column, true)}
            {answer(column)}
            <button type="button" aria-label=label on:click=move |_| shown.set(Some(at))>"Show to the class"</button>
        </section>
    }
}

/// The right answer with its reason.
pub(super) fn answer(column: &QuestionColumn) -> Option<impl IntoView + use<>> {
    (!column.right.is_empty())
        .then(|| view! { <p class="class-answer">"Answer: " {sentence(&column.right)}</p> })
}

/// The first guesses as bars; with the right one marked and what the lesson says to the others
/// where the answer is told.
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
