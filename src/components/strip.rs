//! The line below the bar: what to watch for, what has just happened, or that the pictures are old.

use super::editor::go_to;
use crate::core::Severity;
use crate::core::examples::example;
use crate::state::{Notice, Page};
use leptos::prelude::*;
use std::time::Duration;

/// How long good news stay.
const NEWS: Duration = Duration::from_secs(8);

/// One line that is always there, so that nothing below it moves.
#[component]
pub fn Strip(
    /// The page that it speaks of.
    page: Page,
) -> impl IntoView {
    let later = crate::platform::Later::after(NEWS);
    Effect::new(move |_| {
        later.cancel();
        let is_passing = page
            .notice
            .with(|n| n.as_ref().is_some_and(|n| !n.is_failure && !n.offers_undo));
        if is_passing {
            later.call(move || page.notice.set(None));
        }
    });
    let watch = Memo::new(move |_| page.example.get().and_then(example).map(|e| e.watch));
    let has_notice = Memo::new(move |_| page.notice.with(Option::is_some));
    view! {
        <div class="strip">
            // The live region stands always; what is put into it later is read out.
            <div class="notice" role="status" aria-live="polite">
                {move || page.notice.get().map(|notice| show_notice(page, notice))}
            </div>
            <Show when=move || !has_notice.get()>
                {move || {
                    if page.is_stale.get() {
                        show_stale(page).into_any()
                    } else {
                        watch.get().map(|w| view! { <p><span class="strip-label">"Watch for "</span>{w}</p> }).into_any()
                    }
                }}
            </Show>
        </div>
    }
}

fn show_notice(page: Page, notice: Notice) -> impl IntoView {
    let undo = notice.offers_undo.then(|| {
        view! {
            <button
                type="button"
                on:click=move |_| {
                    page.undo();
                    page.notice.set(None);
                }
            >
                "Undo"
            </button>
        }
    });
    view! {
        <p class:is-failure=notice.is_failure>
            <span>{notice.text}</span>
            {undo}
            <button type="button" class="icon-button" aria-label="Dismiss" on:click=move |_| page.notice.set(None)>
                <span aria-hidden="true">"×"</span>
            </button>
        </p>
    }
}

fn show_stale(page: Page) -> impl IntoView {
    let go = move |_| {
        let span = page.diagnostics.with_untracked(|all| {
            all.iter()
                .find(|d| d.severity == Severity::Error)
                .and_then(|d| d.span)
        });
        if let Some(span) = span {
            go_to(page, span);
        }
    };
    view! {
        <p class="stale-note">
            <span>"The text has an error. Everything else shows the last text without one."</span>
            <button type="button" on:click=go>"Show the error"</button>
        </p>
    }
}
