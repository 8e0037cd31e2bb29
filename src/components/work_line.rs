//! What the worker is doing, and a way to stop it.

use crate::app::background::Work;
use crate::app::state::Page;
use leptos::prelude::*;

/// How far the worker is while it computes for long; that it was stopped, or has failed.
#[component]
pub fn WorkLine() -> impl IntoView {
    let page = Page::of_context();
    let worker = page.worker;
    let is_shown = move || match worker.work.get() {
        Work::Idle => false,
        Work::Running(_) => worker.takes_long.get(),
        Work::Stopped | Work::Failed(_) => true,
    };
    view! {
        <Show when=is_shown>
            <Line />
        </Show>
    }
}

#[component]
fn Line() -> impl IntoView {
    let page = Page::of_context();
    let worker = page.worker;
    // The button may have the focus when all is done.
    on_cleanup(move || page.keep_focus());
    let words = move || match worker.work.get() {
        Work::Idle => String::new(),
        Work::Running(stage) => format!("Computing: {}.", <&str>::from(stage)),
        Work::Stopped => {
            "Stopped. The page still shows the results of an earlier program or choice.".to_owned()
        }
        Work::Failed(problem) => format!(
            "The worker has failed: {problem}. Reload the page if a newer version was published; else the program may be too large for the browser's memory."
        ),
    };
    let label = move || match worker.work.get() {
        Work::Idle | Work::Running(_) => "Stop",
        Work::Stopped => "Compute it",
        Work::Failed(_) => "Try again",
    };
    let press = move |_| {
        if untrack(|| worker.is_running()) {
            worker.stop();
        } else {
            worker.resume();
        }
    };
    view! {
        <p class="work-line">
            <Show when=move || worker.is_running()>
                <progress aria-label="Computation"></progress>
            </Show>
            <span>{words}</span>
            <button type="button" on:click=press>{label}</button>
        </p>
    }
}
