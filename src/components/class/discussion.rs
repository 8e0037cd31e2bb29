//! The first guesses of a question, large, for a room: first what was answered, then what is right.

use super::guesses::{answer, guesses};
use super::standings::STANDINGS;
use crate::components::dialog::Dialog;
use crate::components::lesson::prose::inlines;
use fuseline_browser as browser;
use fuseline_learn::lesson::library::ListedLesson;
use fuseline_learn::presenter::command::PresenterCommand;
use fuseline_learn::results::class::QuestionColumn;
use fuseline_view::page::links::listed_lesson_fragment;
use leptos::ev;
use leptos::prelude::*;
use std::sync::Arc;

/// A dialog with a question at a time. A remote control goes on as in a lesson: it shows the
/// answer, then the next question.
#[component]
pub fn Discussion(
    /// The lesson, if it is one of the page.
    listed: Option<&'static ListedLesson>,
    title: String,
    /// The questions of the lesson that a student has answered.
    columns: Arc<Vec<QuestionColumn>>,
    shown: RwSignal<Option<usize>>,
) -> impl IntoView {
    let label = format!("First guesses: {title}");
    let is_answer_shown = RwSignal::new(false);
    let count = columns.len();
    let show = move |at: usize, with_answer: bool| {
        is_answer_shown.set(with_answer);
        shown.set(Some(at));
    };
    // A disabled button would lose the focus, and with it the keys of the dialog.
    let is_at_end = move || is_answer_shown.get() && shown.get().is_none_or(|at| at + 1 == count);
    let go_on = move || match shown.get_untracked() {
        Some(_) if !is_answer_shown.get_untracked() => is_answer_shown.set(true),
        Some(at) if at + 1 < count => show(at + 1, false),
        // A press too many does not show the class its table with names.
        _ => {}
    };
    // The reverse of `go_on`: from a question to the answer of the one before.
    let go_back = move || {
        if is_answer_shown.get_untracked() {
            is_answer_shown.set(false);
        } else if let Some(before) = shown.get_untracked().and_then(|at| at.checked_sub(1)) {
            show(before, true);
        }
    };
    let close = move || {
        is_answer_shown.set(false);
        shown.set(None);
    };
    let key = move |event: ev::KeyboardEvent| {
        match PresenterCommand::of_key(&event.key()) {
            Some(PresenterCommand::Next) => go_on(),
            Some(PresenterCommand::Previous) => go_back(),
            _ => return,
        }
        event.prevent_default();
    };
    // The step has the picture that the question is about. One of the teacher's own is in no list.
    let step_link = {
        let columns = columns.clone();
        move || {
            let step = columns.get(shown.get()?)?.step;
            let fragment = listed_lesson_fragment(listed?.id, step + 1);
            let address = format!("{}#{fragment}", browser::page_address());
            Some(view! { <a href=address target="_blank" rel="noopener">"Open the step"</a> })
        }
    };
    let question = move || {
        let column = columns.get(shown.get()?)?;
        let with_answer = is_answer_shown.get();
        Some(view! {
            <h2>{column.full_title()}</h2>
            <p>{inlines(&column.ask, None)}</p>
            {guesses(column, with_answer)}
            {with_answer.then(|| view! { {answer(column)} <p class="quiet">{standings(column)}</p> })}
        })
    };
    let place = move || Some(format!("Question {} of {count}", shown.get()? + 1));
    view! {
        <Dialog
            class="discussion"
            label
            is_open=Signal::derive(move || shown.with(Option::is_some))
            on_close=close
            on_key=Callback::new(key)
        >
            <header class="lesson-head">
                <strong>{title}</strong>
                <span class="quiet">{place}</span>
                {step_link}
                <button type="button" on:click=move |_| close()>"Close"</button>
            </header>
            <div class="discussion-question" aria-live="polite">{question}</div>
            <footer class="lesson-ways">
                <button type="button" disabled=move || !is_answer_shown.get() && shown.get().is_none_or(|at| at == 0) on:click=move |_| go_back()>"Back"</button>
                <button type="button" class="is-primary" autofocus aria-disabled=move || is_at_end().then_some("true") on:click=move |_| go_on()>
                    {move || match (is_answer_shown.get(), is_at_end()) {
                        (false, _) => "Tell the answer",
                        (true, false) => "Next question",
                        (true, true) => "That was the last question",
                    }}
                </button>
            </footer>
        </Dialog>
    }
}

/// How the students ended up: `Right at once: 4, right later: 9, shown or skipped: 2.`
fn standings(column: &QuestionColumn) -> String {
    let counts = STANDINGS.map(|(title, is_so)| (title, column.count(is_so)));
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<_> = counts
        .map(|(title, count)| format!("{title}: {count}"))
        .collect();
    format!("{}.", counts.join(", "))
}
