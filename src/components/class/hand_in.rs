//! What a student hands in: as a code, a file and a QR code.

use super::RoomHead;
use crate::app::learning::Learning;
use crate::app::sharing::results_code;
use crate::app::state::Page;
use crate::app::student_results::StudentResults;
use crate::components::presenter::qr_code::QrCode;
use fuseline_browser::{self as browser, Debounce};
use fuseline_learn::results::Results;
use fuseline_view::present::names::counted;
use leptos::prelude::*;
use std::time::Duration;

/// A code is made anew after a pause in the typing of the name.
const TYPING_PAUSE: Duration = Duration::from_millis(200);

/// The results of the visitor, and the ways to hand them in.
#[component]
pub fn HandInPane(
    learning: Learning,
    /// What the visitor did.
    student_results: StudentResults,
) -> impl IntoView {
    let page = Page::of_context();
    let results = student_results.results;
    let code = RwSignal::new(None::<Result<String, String>>);
    let pack = move || {
        browser::spawn(async move {
            let packed = results_code(&results.get_untracked()).await;
            code.set(Some(packed.map_err(|problem| problem.message().to_owned())));
        });
    };
    let pack_later = Debounce::after(TYPING_PAUSE);
    Effect::watch(
        move || results.track(),
        move |(), _, _| pack_later.call(pack),
        false,
    );
    pack();
    let rename = move |name: String| results.update(|results| results.rename(&name));
    let copy = move |_| {
        browser::spawn(async move {
            // A name that was typed a moment ago is not in the shown code yet.
            if let Ok(code) = results_code(&results.get_untracked()).await {
                page.copy(
                    &code,
                    "Code copied.",
                    "The browser did not copy. Select the code and copy it yourself.",
                )
                .await;
            }
        });
    };
    let save = move |_| {
        let (name, written) =
            results.with_untracked(|results| (file_name(results), results.write()));
        browser::download(&name, "application/json", &written);
    };
    let unnamed =
        move || results.with(|results| results.name.trim().is_empty().then(|| results.called()));
    let ways = move || {
        let code = code.get()?;
        Some(match code {
            Ok(code) => {
                let link = format!("{}#{code}", browser::page_address());
                view! {
                    <div class="hand-in-ways">
                        <button type="button" class="is-primary" on:click=copy>"Copy the code"</button>
                        <button type="button" on:click=save>"Save as a file"</button>
                    </div>
                    <label class="hand-in-code">
                        "Code"
                        <textarea readonly rows="4" prop:value=code></textarea>
                    </label>
                    <aside class="hand-in-qr"><QrCode link=Ok(link) /></aside>
                }
                .into_any()
            }
            Err(problem) => view! {
                <p>{problem}</p>
                <button type="button" on:click=save>"Save as a file"</button>
            }
            .into_any(),
        })
    };
    view! {
        <div class="room hand-in">
            <RoomHead learning title="Hand in your results" />
            <Show
                when=move || results.with(|results| !results.is_empty())
                fallback=|| view! { <p>"There is nothing to hand in yet. Answer a question of a lesson, or solve a puzzle."</p> }
            >
                <p>{move || results.with(summary)} " Your teacher’s page checks each answer anew."</p>
                <p class="quiet">"The results hold your answers, how long each took, and your kernels of puzzles. They leave this browser only when you send them."</p>
                <label class="hand-in-name">
                    "Name"
                    <input
                        type="text"
                        maxlength="80"
                        autocomplete="off"
                        prop:value=move || results.with(|results| results.name.clone())
                        on:input:target=move |event| rename(event.target().value())
                    />
                    <small>{move || unnamed().map(|called| format!("You may leave it empty. Your teacher then sees “{called}”."))}</small>
                </label>
                {ways}
            </Show>
        </div>
    }
}

/// `12 questions of 2 lessons and 3 puzzles.`
fn summary(results: &Results) -> String {
    let questions = results.lessons.values().map(|answers| answers.steps.len());
    let mut parts = Vec::new();
    if !results.lessons.is_empty() {
        parts.push(format!(
            "{} of {}",
            counted(questions.sum(), "question"),
            counted(results.lessons.len(), "lesson")
        ));
    }
    if !results.puzzles.is_empty() {
        parts.push(counted(results.puzzles.len(), "puzzle"));
    }
    format!("You tried {}.", parts.join(" and "))
}

/// `results-ann.json`; letters and digits of the name alone, so that every system takes it.
fn file_name(results: &Results) -> String {
    let plain = results.called().to_lowercase();
    let plain: String = (plain.chars())
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect();
    let plain = plain.trim_matches('-');
    format!("results-{plain}.json")
}
