//! The roofline, the memory timeline and the traffic bars, each in a panel.

use super::chart::{KernelChart, height_of};
use super::legend::{RooflineLegend, TimelineLegend, TrafficLegend};
use crate::app::stage::is_staged;
use crate::app::state::{Page, Turn};
use fuseline_browser as browser;
use fuseline_view::page::view::View;
use fuseline_view::picture::charts::scene::{Axes, held_room};
use fuseline_view::picture::charts::{by_kernel_scene_of, roofline, timeline, traffic_bars};
use leptos::html;
use leptos::prelude::*;

/// All charts.
#[component]
pub fn Charts() -> impl IntoView {
    let page = Page::of_context();
    view! {
        <div class="charts" class:is-stale=page.checked.is_grey class:is-unfused=move || !page.chosen.is_fused.get()>
            <TimelinePanel />
            <RooflinePanel />
            <TrafficPanel />
        </div>
    }
}

#[component]
pub fn RooflinePanel() -> impl IntoView {
    view! {
        <section class="panel chart-panel" class:is-staged=is_staged(View::Roofline) aria-labelledby="roofline-title">
            <header class="panel-head">
                <h2 id="roofline-title">"Roofline"</h2>
                <RooflineLegend />
            </header>
            <KernelChart
                id="roofline"
                title="Roofline"
                legend=RooflineLegend
                turn=Turn::Roofline
                draw=|charted, width, held| {
                    let height = height_of(width, 0.62, 190.0..=760.0);
                    roofline::scene_of(charted, (width, height), held)
                }
            />
        </section>
    }
}

/// The memory timeline. Its title is what it shows.
#[component]
pub fn TimelinePanel() -> impl IntoView {
    let page = Page::of_context();
    let claim = Memo::new(move |_| {
        let is_fused = page.chosen.is_fused.get();
        (page.analysis).with(|analysis| timeline::claim(analysis, is_fused))
    });
    view! {
        <section class="panel chart-panel timeline" class:is-staged=is_staged(View::Timeline) aria-labelledby="timeline-title">
            <header class="panel-head">
                <h2 id="timeline-title">{claim}</h2>
                <TimelineLegend />
            </header>
            <KernelChart
                id="timeline"
                title="Memory timeline"
                legend=TimelineLegend
                turn=Turn::Timeline
                draw=|charted, width, held| {
                    let height = height_of(width, 0.28, 150.0..=440.0);
                    timeline::scene_of(charted, (width, height), held)
                }
            />
        </section>
    }
}

/// The bars of traffic, and those by kernel while their section is open.
#[component]
pub fn TrafficPanel() -> impl IntoView {
    let page = Page::of_context();
    let room = Memo::new(move |before: Option<&Option<u64>>| {
        let bytes = (page.analysis).with(|analysis| analysis.unfused.traffic.total);
        (page.slider.is_pressed()).then(|| held_room(before.copied().flatten(), bytes))
    });
    let is_by_kernel_open = RwSignal::new(false);
    let by_kernel = NodeRef::<html::Details>::new();
    let toggle_by_kernel = move |is_open: bool| {
        is_by_kernel_open.set(is_open);
        if is_open {
            // The chart is mounted once its width has been observed.
            browser::after_picture(move || browser::reveal_node(by_kernel));
        }
    };
    view! {
        <section class="panel chart-panel" class:is-staged=is_staged(View::Traffic) aria-labelledby="traffic-title">
            <header class="panel-head">
                <h2 id="traffic-title">"Memory traffic"</h2>
                <TrafficLegend />
            </header>
            <KernelChart
                id="traffic"
                title="Memory traffic"
                legend=TrafficLegend
                turn=Turn::Graph
                draw=move |charted, width, held| {
                    let height = height_of(width, 0.34, 150.0..=260.0);
                    // While a slider is held, the axis has room for bars that grow.
                    let held = room.get().map(Axes::of_bytes).or(held);
                    traffic_bars::scene_of(charted, (width, height), held)
                }
            />
            <details
                class="by-kernel"
                node_ref=by_kernel
                on:toggle:target=move |event| toggle_by_kernel(event.target().open())
            >
                <summary>"By kernel"</summary>
                <Show when=move || is_by_kernel_open.get()>
                    <KernelChart id="by-kernel" title="Memory traffic by kernel" legend=TrafficLegend turn=Turn::Graph draw=by_kernel_scene_of />
                </Show>
            </details>
        </section>
    }
}
