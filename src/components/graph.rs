//! The graph of ops, unfused or fused.

use super::dag_view::DagView;
use crate::app::state::Page;
use crate::browser::{self, Place, listen};
use crate::markup::{ABSENT, Markup};
use leptos::prelude::*;

const UNFUSED: &str = "view-unfused";

/// The picture of the graph with its switch.
#[component]
pub fn GraphPanel(
    /// The page whose graph is shown.
    page: Page,
) -> impl IntoView {
    let mut switch = Place::new("graph-switch");
    Effect::new(move || {
        let (unfused, fused) = if page.is_fused.get() {
            (ABSENT, "")
        } else {
            ("", ABSENT)
        };
        let mut markup = Markup::new();
        markup.fill(
            r#"<legend class="sr-only">Show the graph</legend><label><input type="radio" name="graph-view" id="view-unfused" checked="{}"><span>Unfused</span></label><label><input type="radio" name="graph-view" id="view-fused" checked="{}"><span>Fused</span></label>"#,
            &[unfused, fused],
        );
        switch.show(markup);
    });
    listen("graph-switch", &["change"], move |event| {
        let chosen = browser::closest_id(event, "input");
        page.is_fused.set(chosen.as_deref() != Some(UNFUSED));
    });
    view! {
        <section class="panel graph" aria-labelledby="graph-title">
            <header class="panel-head">
                <h2 id="graph-title">"Graph"</h2>
                <ul class="legend dag-legend">
                    <li><svg width="22" height="8" aria-hidden="true"><path class="dag-dram" stroke-width="4" d="M1 4H21"></path></svg>"through memory"</li>
                    <li><svg width="22" height="8" aria-hidden="true"><path class="dag-on-chip" d="M1 4H21"></path></svg>"stays on chip"</li>
                </ul>
                <fieldset class="switch" id="graph-switch" title="Ctrl+Enter" aria-keyshortcuts="Control+Enter"></fieldset>
            </header>
            <div class="graph-slot" class:is-stale=page.is_stale><DagView page /></div>
        </section>
    }
}
