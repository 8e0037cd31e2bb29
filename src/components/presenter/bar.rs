//! The bar of a presented page: where the lesson is, its steps, the views, and further commands.

use crate::app::learning::Learning;
use crate::app::presenting::Presenting;
use fuseline_browser::{self as browser, Debounce};
use fuseline_learn::presenter::command::{KEYS, Key, PresenterCommand};
use fuseline_learn::stage::Stage;
use fuseline_view::page::view::View;
use leptos::ev;
use leptos::prelude::*;
use std::time::Duration;

/// The bar hides when the mouse has rested for this long.
const REST: Duration = Duration::from_secs(4);

/// The bar. It is in sight while the mouse moves or the focus is in it, so that a class sees the
/// views alone.
#[component]
pub fn PresenterBar(presenting: Presenting) -> impl IntoView {
    let is_resting = RwSignal::new(false);
    let later = Debounce::after(REST);
    let wake = move || {
        is_resting.set(false);
        later.call(move || is_resting.set(true));
    };
    wake();
    browser::on_window(ev::pointermove, move |_| wake());
    browser::on_window(ev::pointerdown, move |_| wake());
    let command = move |key: &'static Key| {
        let toggled: Option<Signal<bool>> = match key.command {
            PresenterCommand::ToggleLesson => Some(Signal::derive(move || {
                presenting.stage.with(Stage::has_lesson)
            })),
            PresenterCommand::TogglePointer => Some(presenting.is_pointing.into()),
            PresenterCommand::ToggleBlank => Some(presenting.is_blank.into()),
            _ => None,
        };
        view! {
            <button
                type="button"
                aria-pressed=move || toggled.map(|is_on| is_on.get().to_string())
                aria-keyshortcuts=key.keys[0]
                on:click=move |_| presenting.run(key.command)
            >
                {key.label}
                <kbd aria-hidden="true">{key.printed}</kbd>
            </button>
        }
    };
    let view_button = move |(view, digit): (View, &'static str)| {
        let is_shown = move || presenting.stage.with(|stage| stage.shows(view));
        view! {
            <button
                type="button"
                aria-pressed=move || is_shown().to_string()
                aria-keyshortcuts=digit
                on:click=move |_| presenting.run(PresenterCommand::Toggle(view))
            >
                {view.label()}
                <kbd aria-hidden="true">{digit}</kbd>
            </button>
        }
    };
    view! {
        <aside class="presenter-bar" class:is-resting=is_resting aria-label="Presenting">
            // The bar of the page, with the heading of the page, is hidden.
            <h1 class="sr-only">"Fuseline"</h1>
            <div class="presenter-row">
                <p class="presenter-place"><Place presenting /></p>
                {KEYS.iter().map(command).collect_view()}
            </div>
            <div class="presenter-row" role="group" aria-label="Views">
                {PresenterCommand::views().map(view_button).collect_view()}
            </div>
        </aside>
    }
}

/// The lesson and its step.
#[component]
fn Place(presenting: Presenting) -> impl IntoView {
    let learning = Learning::of_context();
    move || {
        let learning = learning.filter(|_| presenting.has_lesson.get())?;
        let step = learning.step.get();
        learning.open.with(|open| {
            let lesson = &open.as_ref()?.lesson;
            let words = lesson.lang.language();
            let place = if learning.is_closing.get() {
                words.the_end().to_owned()
            } else {
                words.step_of(step + 1, lesson.steps.len())
            };
            let lang = lesson.lang.as_str().to_owned();
            Some(view! { <span lang=lang>{format!("{}, {place}", lesson.title)}</span> })
        })
    }
}
