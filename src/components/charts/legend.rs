//! What the marks of the charts mean, above each chart and in its enlarged picture.

use crate::app::state::Page;
use leptos::prelude::*;

/// The marks of the roofline.
#[component]
pub fn RooflineLegend() -> impl IntoView {
    let page = Page::of_context();
    view! {
        <ul class="legend">
            <li><span class="key key-hollow" aria-hidden="true"></span>"unfused"</li>
            <li><svg width="18" height="12" aria-hidden="true"><path class="key-arc" d="M2 3 Q9 14 16 3"></path></svg>"fusion"</li>
            <li><span class="key key-solid" aria-hidden="true"></span>"fused"</li>
            <li><span class="key key-op" aria-hidden="true"></span>"op alone"</li>
            <Show when=move || page.analysis.with(|analysis| analysis.predicted.is_some())>
                <li><svg width="14" height="12" aria-hidden="true"><path class="key-predicted-rate" d="M7 0V10M2 10H12"></path></svg>"predicted rate"</li>
            </Show>
            <Show when=move || page.against.matching.with(Option::is_some)>
                <li><span class="key key-measured" aria-hidden="true"></span>"measured"</li>
            </Show>
        </ul>
    }
}

/// The arrows of the memory timeline.
#[component]
pub fn TimelineLegend() -> impl IntoView {
    view! {
        <ul class="legend">
            <li><span class="key key-held" aria-hidden="true"></span>"weight or input"</li>
            <li><span class="key key-read" aria-hidden="true"></span>"read"</li>
            <li><span class="key key-written" aria-hidden="true"></span>"write"</li>
        </ul>
    }
}

/// The two halves of a bar of traffic.
#[component]
pub fn TrafficLegend() -> impl IntoView {
    view! {
        <ul class="legend">
            <li><span class="key key-read" aria-hidden="true"></span>"read"</li>
            <li><span class="key key-written" aria-hidden="true"></span>"written"</li>
        </ul>
    }
}
