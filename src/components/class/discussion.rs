//! The first guesses of a question, large, for a room: first what was answered, then what is right.

use super::questions::{answer, guesses};
use crate::app::covers::closes_on_back;
use crate::components::lesson::prose::inlines;
use fuseline_browser as browser;
use fuseline_learn::presenter::command::Command;
use fuseline_learn::results::class::Column;
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use std::sync::Arc;

/// A dialog with a question at a time. A remote control goes on as in a lesson: it tells the answer, then shows the next question.
#[component]
pub fn Discussion(
    /// The title of the lesson.
    title: String,
    /// Its questions that somebody answered.
    columns: Arc<Vec<Column>>,
    /// Which of them is shown.
    shown: RwSignal<Option<usize>>,
) -> impl IntoView {
    let label = format!("First guesses: {title}");
    let dialog = NodeRef::<html::Dialog>::new();
    let is_told = RwSignal::new(false);
    let count = columns.len();
    let show = move |at: usize| {
        is_told.set(false);
        shown.set(Some(at));
    };
    let is_last = move || shown.get().is_none_or(|at| at + 1 == count);
    let go_on = move || match shown.get_untracked() {
        Some(_) if !is_told.get_untracked() => is_told.set(true),
        Some(at) if at + 1 < count => show(at + 1),
        _ => browser::close_modal(dialog),
    };
    let go_back = move || {
        if let Some(before) = shown.get_untracked().and_then(|at| at.checked_sub(1)) {
            show(before);
        }
    };
    let is_open = Memo::new(move |_| shown.with(Option::is_some));
    Effect::new(move || {
        if is_open.get() {
            browser::show_modal(dialog);
        }
    });
    closes_on_back(move || is_open.get(), move || browser::close_modal(dialog));
    let keys = move |event: ev::KeyboardEvent| {
        // The page below does nothing.
        event.stop_propagation();
        match Command::of_key(&event.key()) {
            Some(Command::Next) => go_on(),
            Some(Command::Previous) => go_back(),
            _ => return,
        }
        event.prevent_default();
    };
    let question = move || {
        let column = columns.get(shown.get()?)?;
        let told = is_told.get();
        Some(view! {
            <h2>{column.full_title()}</h2>
            <p>{inlines(&column.ask, None)}</p>
            {guesses(column, told)}
            {told.then(|| answer(column))}
        })
    };
    let place = move || Some(format!("Question {} of {count}", shown.get()? + 1));
    view! {
        <dialog
            class="discussion"
            node_ref=dialog
            aria-label=label
            on:close=move |_| {
                is_told.set(false);
                shown.set(None);
            }
            on:keydown=keys
        >
            <header class="lesson-head">
                <strong>{title}</strong>
                <span class="quiet">{place}</span>
                <button type="button" on:click=move |_| browser::close_modal(dialog)>"Close"</button>
            </header>
            <div class="discussion-question" aria-live="polite">{question}</div>
            <footer class="lesson-ways">
                <button type="button" disabled=move || shown.get().is_none_or(|at| at == 0) on:click=move |_| go_back()>"Back"</button>
                <button type="button" class="is-primary" on:click=move |_| go_on()>
                    {move || match (is_told.get(), is_last()) {
                        (false, _) => "Tell the answer",
                        (true, false) => "Next question",
                        (true, true) => "To the class",
                    }}
                </button>
            </footer>
        </dialog>
    }
}
