//! The first guesses of a class, question by question: what the discussion is about.

use crate::components::lesson::prose::inlines;
use crate::components::sentence::sentence;
use fuseline_learn::results::class::{Column, Guess};
use fuseline_learn::results::table::LessonColumns;
use fuseline_view::present::names::counted;
use leptos::prelude::*;
use std::sync::Arc;

/// Most guesses of a question that are shown; the others are one row.
const MAX_GUESSES: usize = 6;

/// The questions of a lesson with their first guesses, folded until the teacher wants them.
#[component]
pub fn Questions(
    /// All lessons with answers.
    lessons: Arc<Vec<LessonColumns>>,
    /// Which of them.
    at: usize,
) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let Some(title) = lessons.get(at).map(|lesson| lesson.title.clone()) else {
        return ().into_any();
    };
    let columns = move || {
        let lesson = lessons.get(at)?;
        let columns = lesson.columns.iter();
        let columns = columns.filter(|column| !column.guesses.is_empty());
        Some(columns.map(question).collect_view())
    };
    view! {
        <details class="class-questions" on:toggle:target=move |event| is_open.set(event.target().open())>
            <summary>"First guesses of each question" <span class="sr-only">{format!(": {title}")}</span></summary>
            <Show when=move || is_open.get()>{columns.clone()}</Show>
        </details>
    }
    .into_any()
}

fn question(column: &Column) -> impl IntoView + use<> {
    let all: usize = column.guesses.iter().map(|guess| guess.count).sum();
    let (shown, others) = column
        .guesses
        .split_at(column.guesses.len().min(MAX_GUESSES));
    let right = (!column.right.is_empty())
        .then(|| view! { <p class="quiet">"Answer: " {sentence(&column.right)}</p> });
    let rows = shown.iter().map(|guess| bar(guess, all));
    let others: usize = others.iter().map(|guess| guess.count).sum();
    let others = (others > 0).then(|| {
        bar(
            &Guess {
                words: "other answers".to_owned(),
                count: others,
                is_right: false,
                nudge: String::new(),
            },
            all,
        )
    });
    view! {
        <section class="class-question">
            <h5>{format!("Step {}: {}", column.step + 1, column.title)}</h5>
            <p>{inlines(&column.ask, None)}</p>
            <ul class="guesses">{rows.collect_view()}{others}</ul>
            {right}
        </section>
    }
}

fn bar(guess: &Guess, all: usize) -> impl IntoView + use<> {
    let percent = 100.0 * guess.count as f64 / all.max(1) as f64;
    let right = guess
        .is_right
        .then(|| view! { <span class="guess-right">"✓ right"</span> });
    let nudge =
        (!guess.nudge.is_empty()).then(|| view! { <small>{sentence(&guess.nudge)}</small> });
    view! {
        <li class:is-right=guess.is_right>
            <span class="guess-words">{sentence(&guess.words)} " " {right}</span>
            <span class="guess-count">{counted(guess.count, "student")}</span>
            <span class="guess-bar" aria-hidden="true"><span style:width=format!("{percent:.1}%")></span></span>
            {nudge}
        </li>
    }
}
