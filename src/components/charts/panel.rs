//! The roofline and the traffic bars.

use super::chart::KernelChart;
use crate::app::state::Page;
use crate::picture::charts::scene::Axes;
use crate::picture::charts::{by_kernel_scene_of, roofline, traffic_bars};
use leptos::prelude::*;

/// Both charts, and the bars by kernel while their section is open.
#[component]
pub fn Charts() -> impl IntoView {
    let page = Page::of_context();
    let is_by_kernel_open = RwSignal::new(false);
    view! {
        <div class="charts" class:is-stale=page.is_grey class:is-unfused=move || !page.is_fused.get()>
            <section class="panel chart-panel" aria-labelledby="roofline-title">
                <header class="panel-head">
                    <h2 id="roofline-title">"Roofline"</h2>
                    <ul class="legend">
                        <li><span class="key key-hollow" aria-hidden="true"></span>"unfused"</li>
                        <li><svg width="18" height="12" aria-hidden="true"><path class="key-arc" d="M2 3 Q9 14 16 3"></path></svg>"fusion"</li>
                        <li><span class="key key-solid" aria-hidden="true"></span>"fused"</li>
                        <li><span class="key key-op" aria-hidden="true"></span>"op alone"</li>
                    </ul>
                </header>
                <KernelChart
                    id="roofline"
                    title="Roofline"
                    draw=|charted, width, held| {
                        let height = (width * 0.62).clamp(260.0, 760.0);
                        roofline::scene_of(charted, (width, height), held)
                    }
                />
            </section>
            <section class="panel chart-panel" aria-labelledby="traffic-title">
                <header class="panel-head">
                    <h2 id="traffic-title">"Memory traffic"</h2>
                    <ul class="legend">
                        <li><span class="key key-read" aria-hidden="true"></span>"read"</li>
                        <li><span class="key key-written" aria-hidden="true"></span>"written"</li>
                    </ul>
                </header>
                <KernelChart
                    id="traffic"
                    title="Memory traffic"
                    draw=move |charted, width, held| {
                        let height = (width * 0.34).clamp(150.0, 260.0);
                        // All that the slider may come to, so that what doubles is seen to.
                        let held = page.hold.most_bytes().map(Axes::of_bytes).or(held);
                        traffic_bars::scene_of(charted, (width, height), held)
                    }
                />
                <details class="by-kernel" on:toggle:target=move |event| is_by_kernel_open.set(event.target().open())>
                    <summary>"By kernel"</summary>
                    <Show when=move || is_by_kernel_open.get()>
                        <KernelChart id="by-kernel" title="Memory traffic by kernel" draw=by_kernel_scene_of />
                    </Show>
                </details>
            </section>
        </div>
    }
}
