//! Which marker is which policy's.

use crate::app::state::Page;
use fuseline_core::Policy;
use fuseline_view::picture::charts::roofline_compare::marker;
use fuseline_view::present::options::policy_title;
use leptos::prelude::*;

/// A list of policies, each with its marker.
#[component]
pub fn PolicyLegend(#[prop(into)] policies: Signal<Vec<Policy>>) -> impl IntoView {
    let page = Page::of_context();
    let title =
        move |policy| policy_title(policy, page.chosen.fusion.with(|fusion| fusion.objective));
    view! {
        <ul class="legend">
            <For each=move || policies.get() key=|&policy| policy let:policy>
                <li>
                    <Marker policy />
                    <span>{move || title(policy)}</span>
                </li>
            </For>
        </ul>
    }
}

#[component]
pub fn Marker(policy: Policy) -> impl IntoView {
    let mark = marker(policy, (0.0, 0.0), 5.5);
    view! {
        <svg class=mark.role.class() viewBox="-8 -8 16 16" width="16" height="16" aria-hidden="true">
            <path d=mark.shape.path_data()></path>
        </svg>
    }
}
