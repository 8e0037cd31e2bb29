//! The panel of the graph, with the switch between fused and unfused.

use super::GraphCanvas;
use crate::app::state::Page;
use leptos::prelude::*;

/// The picture of the graph with its switch.
#[component]
pub fn GraphPanel() -> impl IntoView {
    let page = Page::of_context();
    view! {
        <section class="panel graph" aria-labelledby="graph-title">
            <header class="panel-head">
                <h2 id="graph-title">"Graph"</h2>
                <ul class="legend dag-legend">
                    <li><svg width="22" height="8" aria-hidden="true"><path class="dag-dram" stroke-width="4" d="M1 4H21"></path></svg>"through memory"</li>
                    <li><svg width="22" height="8" aria-hidden="true"><path class="dag-on-chip" d="M1 4H21"></path></svg>"stays on chip"</li>
                </ul>
                <fieldset class="switch" title="Ctrl+Enter" aria-keyshortcuts="Control+Enter">
                    <legend class="sr-only">"Show the graph"</legend>
                    <ViewChoice label="Unfused" is_chosen=move || !page.is_fused.get() choose=move || page.is_fused.set(false) />
                    <ViewChoice label="Fused" is_chosen=move || page.is_fused.get() choose=move || page.is_fused.set(true) />
                </fieldset>
            </header>
            <div class="graph-slot" class:is-stale=page.is_stale><GraphCanvas /></div>
        </section>
    }
}

#[component]
fn ViewChoice(
    /// What it says.
    label: &'static str,
    /// It is the one that is shown.
    #[prop(into)]
    is_chosen: Signal<bool>,
    /// Shows it.
    choose: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <label>
            <input type="radio" name="graph-view" prop:checked=is_chosen on:change=move |_| choose() />
            <span>{label}</span>
        </label>
    }
}
