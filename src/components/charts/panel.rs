//! The roofline and the traffic bars.

use super::chart::KernelChart;
use super::legend::{RooflineLegend, TrafficLegend};
use crate::app::state::Page;
use crate::browser;
use crate::picture::charts::{folded_by_kernel_scene, roofline, traffic_bars};
use leptos::html;
use leptos::prelude::*;

/// Both charts, and the bars by kernel while their section is open.
#[component]
pub fn Charts() -> impl IntoView {
    let page = Page::of_context();
    let is_by_kernel_open = RwSignal::new(false);
    let by_kernel = NodeRef::<html::Details>::new();
    let toggle_by_kernel = move |is_open: bool| {
        is_by_kernel_open.set(is_open);
        if is_open {
            // The chart is there once its width has been observed.
            browser::after_picture(move || {
                if let Some(by_kernel) = by_kernel.get_untracked() {
                    browser::reveal(&by_kernel);
                }
            });
        }
    };
    view! {
        <div class="charts" class:is-stale=page.is_grey>
            <section class="panel chart-panel" aria-labelledby="roofline-title">
                <header class="panel-head">
                    <h2 id="roofline-title">"Roofline"</h2>
                    <RooflineLegend />
                </header>
                <KernelChart
                    id="roofline"
                    title="Roofline"
                    legend=RooflineLegend
                    draw=|analysis, _, width, held| {
                        let height = (width * 0.62).clamp(260.0, 760.0);
                        roofline::scene(analysis, (width, height), held)
                    }
                />
            </section>
            <section class="panel chart-panel" aria-labelledby="traffic-title">
                <header class="panel-head">
                    <h2 id="traffic-title">"Memory traffic"</h2>
                    <TrafficLegend />
                </header>
                <KernelChart
                    id="traffic"
                    title="Memory traffic"
                    legend=TrafficLegend
                    draw=|analysis, repeats, width, held| {
                        let height = (width * 0.34).clamp(150.0, 260.0);
                        traffic_bars::folded_scene(analysis, repeats, (width, height), held)
                    }
                />
                <details
                    class="by-kernel"
                    node_ref=by_kernel
                    on:toggle:target=move |event| toggle_by_kernel(event.target().open())
                >
                    <summary>"By kernel"</summary>
                    <Show when=move || is_by_kernel_open.get()>
                        <KernelChart id="by-kernel" title="Memory traffic by kernel" legend=TrafficLegend draw=folded_by_kernel_scene />
                    </Show>
                </details>
            </section>
        </div>
    }
}
