//! Files to take away, and a file to open.

use crate::core::report::Report;
use crate::platform;
use crate::state::Page;
use leptos::prelude::*;

const JSON: &str = "application/json";

/// A menu with the forms in which the page can be saved.
#[component]
pub fn ExportMenu(
    /// The page that is exported.
    page: Page,
) -> impl IntoView {
    let notation = move |_| {
        page.text
            .with_untracked(|text| platform::download("fuseline.fuse", "text/plain", text));
    };
    let save = move |name: &str, json: Option<String>| match json {
        Some(json) => platform::download(name, JSON, &json),
        None => page.tell_failure("The browser could not write this as JSON."),
    };
    let analysis = move |_| {
        let report = page.analysis.with_untracked(|a| {
            page.diagnostics
                .with_untracked(|d| page.text.with_untracked(|text| Report::new(a, d, text)))
        });
        save("fuseline-analysis.json", platform::to_json(&report));
    };
    let ops = move |_| {
        let json = page
            .analysis
            .with_untracked(|a| platform::to_json(&a.graph.ops));
        save("fuseline-ops.json", json);
    };
    view! {
        <details class="menu at-end">
            <summary class="button">"Export"</summary>
            <div class="menu-panel menu-list">
                <button type="button" on:click=notation>"Text" <small>"the notation, as it stands"</small></button>
                <button type="button" on:click=analysis>"Analysis" <small>"JSON, every number"</small></button>
                <button type="button" on:click=ops>"Op list" <small>"JSON, shapes resolved"</small></button>
            </div>
        </details>
    }
}
