//! The line below the bar: that the text has an error, else what to watch for in an example. The
//! latest message stands over the page, where it is seen however far the page is scrolled.

use super::new_version::NewVersion;
use super::work_line::WorkLine;
use crate::app::session::Session;
use crate::app::state::{Notice, NoticeAction, Page};
use fuseline_browser::{self as browser, Debounce};
use fuseline_core::examples::{Example, example};
use fuseline_core::{Externals, Severity};
use fuseline_view::page::links::SharedState;
use leptos::prelude::*;
use leptos::{ev, html};
use std::time::Duration;

/// How long a message stays that is not about a failure and offers nothing that is not in the bar,
/// too.
const MESSAGE_TIME: Duration = Duration::from_secs(8);

/// One line. It is always there, so that nothing below it moves.
#[component]
pub fn Strip() -> impl IntoView {
    let page = Page::of_context();
    let later = Debounce::after(MESSAGE_TIME);
    let is_passing = move || {
        // A puzzle shows a message for each move, and has *Undo* in the bar.
        let has_puzzle = page.screen.puzzle.with(Option::is_some);
        page.screen.notice.with(|notice| match notice {
            None => false,
            Some(notice) => match notice.action {
                None => !notice.is_failure,
                Some(NoticeAction::Undo) => has_puzzle,
                Some(_) => false,
            },
        })
    };
    Effect::new(move || {
        later.cancel();
        if is_passing() {
            later.call(move || page.screen.notice.set(None));
        }
    });
    let live = NodeRef::<html::Div>::new();
    // It stands over the graph, where the next move of a puzzle may be.
    browser::on_window(ev::pointerdown, move |event| {
        let is_at_message =
            (live.get_untracked()).is_some_and(|live| browser::is_within(&event, &live));
        let has_message = || page.screen.notice.with_untracked(Option::is_some);
        if has_message() && !is_at_message && untrack(|| page.screen.plays_puzzle()) {
            page.screen.notice.set(None);
        }
    });
    let notice = move || {
        page.screen
            .notice
            .get()
            .map(|notice| view! { <NoticeLine notice /> })
    };
    view! {
        <div class="strip">
            // Always mounted: a screen reader reads out what is later added to a live region.
            <div class="notice" role="status" aria-live="polite" node_ref=live>{notice}</div>
            <NewVersion />
            <div class="work" role="status" aria-live="polite"><WorkLine /></div>
            <div class="strip-standing"><Standing /></div>
        </div>
    }
}

/// The latest message.
#[component]
fn NoticeLine(notice: Notice) -> impl IntoView {
    let page = Page::of_context();
    let Notice {
        text,
        is_failure,
        action,
    } = notice;
    let dismiss = move |_| {
        page.keep_focus();
        page.screen.notice.set(None);
    };
    view! {
        <p class:is-failure=is_failure>
            <span>{text}</span>
            {action.map(|action| view! { <ActionButton action /> })}
            <button type="button" class="icon-button" aria-label="Dismiss" on:click=dismiss>
                <span aria-hidden="true">"×"</span>
            </button>
        </p>
    }
}

/// The button of a message.
#[component]
fn ActionButton(
    /// What it does.
    action: NoticeAction,
) -> impl IntoView {
    let session = Session::of_context();
    let label = match &action {
        NoticeAction::Undo => "Undo".to_owned(),
        NoticeAction::MarkKernels { kernels, .. } => format!("Start from {kernels}"),
        NoticeAction::OpenLink { .. } => "Open it anyway".to_owned(),
        NoticeAction::FromPytorch => "From PyTorch".to_owned(),
        NoticeAction::OpenDocument { label, .. } => (*label).to_owned(),
    };
    let act = move |_| match &action {
        NoticeAction::Undo => {
            session.page.undo();
        }
        NoticeAction::MarkKernels { kernels, text } => {
            session.page.mark_kernels(kernels, text.clone());
        }
        NoticeAction::OpenLink { state, name } => {
            session.open_sent(SharedState::clone(state), name);
        }
        NoticeAction::FromPytorch => session.page.screen.is_from_pytorch_open.set(true),
        NoticeAction::OpenDocument { id, .. } => session.open_document(id),
    };
    view! { <button type="button" on:click=act>{label}</button> }
}

/// That the text is not stored or has an error, else what to watch for in the example.
#[component]
fn Standing() -> impl IntoView {
    let page = Page::of_context();
    let show_error = move |_| {
        let span = page.checked.diagnostics.with_untracked(|all| {
            let mut all = all.iter();
            all.find(|d| d.severity == Severity::Error)?.span
        });
        if let Some(span) = span {
            page.show_in_text(span);
        }
    };
    // The line holds for the options and conventions with which the example opens.
    let is_as_opened = move |example: &Example| {
        let conventions = page.chosen.conventions.get();
        let is_attention_apart = page.chosen.fusion.with(|fusion| !fusion.attention);
        is_attention_apart
            && conventions.externals == Externals::default()
            && conventions.reshape == example.opening.reshape
    };
    let watched = Memo::new(move |_| page.origin.example.get().and_then(example));
    // A line that does not hold keeps its height, so that nothing below moves.
    let does_not_hold = move || watched.get().is_some_and(|example| !is_as_opened(example));
    let watch_line = move || {
        watched.get().map(|example| {
            view! {
                <p class:is-placeholder=does_not_hold>
                    <span class="strip-label">"What to watch: "</span>
                    <span>{example.watch}</span>
                </p>
            }
        })
    };
    let save = move |_| page.save_text();
    view! {
        <Show when=move || page.screen.is_unsaved.get()>
            <p class="stale-note" role="alert">
                <span>"The browser does not keep this text, because its storage is full or forbidden: closing the page loses it."</span>
                <button type="button" on:click=save>"Save as a file"</button>
            </p>
        </Show>
        <Show when=move || page.checked.has_error.get() fallback=watch_line>
            <p class="stale-note">
                <span>{move || page.checked.shown_in_error.get().sentence()}</span>
                <button type="button" on:click=show_error>"Show the error"</button>
            </p>
        </Show>
    }
}
