//! Puzzles of the visitor's own: from a file, or made of the program on the page.

use crate::app::puzzling::Puzzling;
use crate::app::sharing::{self, link_to};
use crate::app::state::Page;
use crate::components::open_file::is_too_large;
use fuseline_browser as browser;
use fuseline_learn::puzzle::source::PuzzleSource;
use fuseline_learn::puzzle::{MakeError, Posed, proposed_goal, read};
use fuseline_view::page::links::SharedState;
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use std::sync::Arc;

/// What a puzzle is made of: the program of the page, and these words.
#[derive(Clone, Copy)]
struct PuzzleDraft {
    page: Page,
    puzzling: Puzzling,
    title: RwSignal<String>,
    goal: RwSignal<String>,
    /// The puzzle, or why there is none; `None` before it was asked for, and after the words have
    /// changed.
    puzzle: RwSignal<Option<Result<Arc<Posed>, MakeError>>>,
}

/// Opens a puzzle from a file, or makes one.
#[component]
pub fn OwnPuzzles(puzzling: Puzzling) -> impl IntoView {
    let page = Page::of_context();
    let choose = move |event: ev::Event| {
        let Some(file) = browser::chosen_file(&event) else {
            return;
        };
        browser::spawn(async move {
            let Some(text) = browser::read_file(&file).await else {
                page.tell_failure("The browser could not read this file.");
                return;
            };
            if is_too_large(page, &text) {
                return;
            }
            let text = text.replace("\r\n", "\n");
            match read(&text).1.first() {
                None => puzzling.open(&PuzzleSource::own(&text)),
                Some(problem) => page.tell_failure(format!(
                    "This file is not a puzzle: {}. {}.",
                    problem.what, problem.mend
                )),
            }
        });
    };
    let goal = page.text.with_untracked(|text| proposed_goal(text));
    let draft = PuzzleDraft {
        page,
        puzzling,
        title: RwSignal::new(untrack(|| page.program_name())),
        goal: RwSignal::new(goal),
        puzzle: RwSignal::new(None),
    };
    let is_open = RwSignal::new(false);
    view! {
        <h3>"Your own"</h3>
        <div class="lesson-own">
            <label class="button open-button">
                <input type="file" class="sr-only" accept=".fuse,.txt,text/plain" on:change=choose />
                <span>"Open a puzzle file…"</span>
            </label>
            <button
                type="button"
                aria-expanded=move || is_open.get().to_string()
                on:click=move |_| is_open.update(|is_open| *is_open = !*is_open)
            >
                "Make a puzzle of this program"
            </button>
        </div>
        <Show when=move || is_open.get()><MakeForm draft /></Show>
    }
}

/// Title and goal, and what becomes of them.
#[component]
fn MakeForm(
    /// What the puzzle is made of.
    draft: PuzzleDraft,
) -> impl IntoView {
    let PuzzleDraft {
        page,
        puzzling,
        title,
        goal,
        puzzle,
    } = draft;
    let name = move || page.program_name();
    let form = NodeRef::<html::Form>::new();
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        let posed = (title
            .with_untracked(|title| goal.with_untracked(|goal| puzzling.make(title, goal))))
        .map(Arc::new);
        puzzle.set(Some(posed));
        browser::after_picture(move || browser::reveal_within(form, "[role='status']"));
    };
    let outcome = move || match puzzle.get() {
        None => ().into_any(),
        Some(Err(problem)) => {
            view! { <p class="task-problem">{problem.to_string()}</p> }.into_any()
        }
        Some(Ok(posed)) => view! { <HandOut draft posed /> }.into_any(),
    };
    view! {
        <form class="puzzle-make" node_ref=form aria-label="Make a puzzle" on:submit=submit>
            <p class="quiet">
                "The puzzle has the ops, sizes, device and objective of "<strong>{name}</strong>". The search computes par; the link carries the puzzle, and nothing is uploaded."
            </p>
            <label>
                "Title "
                <input type="text" maxlength="80" prop:value=title on:input:target=move |event| { title.set(event.target().value()); puzzle.set(None); } />
            </label>
            <label>
                "Goal: what to think about "
                <textarea rows="3" maxlength="400" prop:value=goal on:input:target=move |event| { goal.set(event.target().value()); puzzle.set(None); }></textarea>
            </label>
            <button type="submit" class:is-primary=move || puzzle.with(Option::is_none)>"Make the puzzle"</button>
            <div role="status" aria-live="polite">{outcome}</div>
        </form>
    }
}

/// A puzzle, and the ways to hand it out.
#[component]
fn HandOut(
    /// What it was made of.
    draft: PuzzleDraft,
    /// The puzzle.
    posed: Arc<Posed>,
) -> impl IntoView {
    let PuzzleDraft { page, puzzling, .. } = draft;
    let state = StoredValue::new(posed.puzzle.page.shared.clone());
    let source = move || state.with_value(|state| PuzzleSource::own(&state.text));
    let copy = move |_| {
        let linked = SharedState {
            puzzle: Some(source().link_name().to_owned()),
            ..state.get_value()
        };
        let link = async move { link_to(&linked).await };
        sharing::copy(page, link, "Link to the puzzle copied.");
    };
    let save = move |_| {
        state.with_value(|state| browser::download("puzzle.fuse", "text/plain", &state.text));
    };
    view! {
        <p>{posed.summary()}</p>
        <div class="lesson-own">
            <button type="button" class="is-primary" on:click=copy>"Copy the link"</button>
            <button type="button" on:click=save>"Save the file"</button>
            <button type="button" on:click=move |_| puzzling.open(&source())>"Play it"</button>
        </div>
    }
}
