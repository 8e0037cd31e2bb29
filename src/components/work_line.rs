//! What the worker is doing, and a way to stop it.

use crate::app::background::Work;
use crate::app::state::Page;
use crate::browser::Later;
use leptos::prelude::*;
use std::time::Duration;

/// Work that ends sooner is not shown: it would flicker under a moving slider.
const SOON: Duration = Duration::from_millis(400);

/// How far the worker is, while it computes for long; that it was stopped, or has failed.
#[component]
pub fn WorkLine() -> impl IntoView {
    let page = Page::of_context();
    let work = page.worker.work;
    let is_idle = Memo::new(move |_| work.with(|work| *work == Work::Idle));
    let takes_long = RwSignal::new(false);
    let later = Later::after(SOON);
    Effect::new(move || {
        if is_idle.get() {
            later.cancel();
            takes_long.set(false);
        } else {
            later.call(move || takes_long.set(true));
        }
    });
    let stop = move |_| page.worker.stop();
    let resume = move |_| page.worker.resume();
    let line = move || {
        match work.get() {
        Work::Idle => None,
        Work::Running(stage) => Some(view! {
            <progress aria-label="Computation"></progress>
            <span>{format!("Computing: {}.", <&str>::from(stage))}</span>
            <button type="button" on:click=stop>"Stop"</button>
        }.into_any()),
        Work::Stopped => Some(view! {
            <span>"Stopped. What is shown belongs to an earlier text or choice."</span>
            <button type="button" on:click=resume>"Compute it"</button>
        }.into_any()),
        Work::Failed(problem) => Some(view! {
            <span>{format!("The worker has failed: {problem}. If it does so again, the program may be too large for the browser's memory.")}</span>
            <button type="button" on:click=resume>"Try again"</button>
        }.into_any()),
    }
    };
    view! {
        // Always mounted: a screen reader reads out what is later added to a live region.
        <div class="work-line" role="status" aria-live="polite">
            <Show when=move || takes_long.get()>
                <p>{line}</p>
            </Show>
        </div>
    }
}
