//! The graph of ops, unfused or fused.

use super::dag_view::DagView;
use crate::state::Page;
use leptos::prelude::*;

/// The picture of the graph with its switch.
#[component]
pub fn GraphPanel(
    /// The page whose graph is shown.
    page: Page,
) -> impl IntoView {
    let choice = move |is_fused: bool, word: &'static str| {
        view! {
            <label>
                <input
                    type="radio"
                    name="graph-view"
                    prop:checked=move || page.is_fused.get() == is_fused
                    on:change=move |_| page.is_fused.set(is_fused)
                />
                <span>{word}</span>
            </label>
        }
    };
    view! {
        <section class="panel graph" aria-labelledby="graph-title">
            <header class="panel-head">
                <h2 id="graph-title">"Graph"</h2>
                <fieldset class="switch" title="Ctrl+Enter" aria-keyshortcuts="Control+Enter">
                    <legend class="sr-only">"Show the graph"</legend>
                    {choice(false, "Unfused")}
                    {choice(true, "Fused")}
                </fieldset>
            </header>
            <div class="graph-slot" class:is-stale=page.is_stale>
                <DagView page />
            </div>
        </section>
    }
}
