//! The first guesses of a class, question by question: what the discussion is about.

use super::discussion::Discussion;
use super::guesses::{answer, guesses};
use crate::components::lesson::prose::inlines;
use fuseline_learn::lesson::library::ListedLesson;
use fuseline_learn::results::class::QuestionColumn;
use leptos::prelude::*;
use std::sync::Arc;

/// The questions of a lesson with their first guesses, folded until the teacher wants them.
#[component]
pub fn Questions(
    /// The lesson, if it is one of the page.
    listed: Option<&'static ListedLesson>,
    title: String,
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
