//! The roofline and the traffic bars, drawn as large as there is room.

use super::scene_view::SceneView;
use crate::core::Analysis;
use crate::picture::scene::Scene;
use crate::picture::{by_kernel_scene, roofline, traffic_bars};
use crate::platform;
use crate::state::{Page, Selection};
use leptos::prelude::*;

/// Draws an analysis into a frame of this width and height.
type Draw = fn(&Analysis, (f64, f64)) -> Scene;

/// Both charts.
#[component]
pub fn Charts(
    /// The page whose analysis is drawn.
    page: Page,
) -> impl IntoView {
    let always = Signal::stored(true);
    let is_by_kernel_open = RwSignal::new(false);
    view! {
        <div class="charts" class:is-stale=page.is_stale>
            <section class="panel chart-panel" aria-labelledby="roofline-title">
                <header class="panel-head">
                    <h2 id="roofline-title">"Roofline"</h2>
                    <ul class="legend">
                        <li><span class="key key-hollow" aria-hidden="true"></span>"unfused"</li>
                        <li><span class="key key-solid" aria-hidden="true"></span>"fused"</li>
                    </ul>
                </header>
                <Chart page id="roofline" draw=roofline::scene shape=(0.62, 260.0, 520.0) is_seen=always />
            </section>
            <section class="panel chart-panel" aria-labelledby="traffic-title">
                <header class="panel-head">
                    <h2 id="traffic-title">"Memory traffic"</h2>
                </header>
                <Chart page id="traffic" draw=traffic_bars::scene shape=(0.34, 150.0, 260.0) is_seen=always />
                <details class="by-kernel" on:toggle=move |event| is_by_kernel_open.set(platform::is_open(&event))>
                    <summary>"By kernel"</summary>
                    <Chart page id="by-kernel" draw=|analysis, (width, _)| by_kernel_scene(analysis, width) shape=(0.0, 0.0, 0.0) is_seen=is_by_kernel_open />
                </details>
            </section>
        </div>
    }
}

/// A chart in a slot whose width it fills. `shape`: height for each width, least and most height. While it is
/// not seen it is empty, so that no slider event is spent on it.
#[component]
fn Chart(
    page: Page,
    id: &'static str,
    draw: Draw,
    shape: (f64, f64, f64),
    #[prop(into)] is_seen: Signal<bool>,
) -> impl IntoView {
    let slot = format!("{id}-slot");
    let width = RwSignal::new(400.0);
    Effect::new({
        let slot = slot.clone();
        move |_| {
            platform::observe_size(&slot, move |w, _| {
                // Charts lay out for type of 12 px; on a projector a unit is more than a pixel.
                let w = w / platform::type_scale();
                // Steps of a few pixels spare a drawing for each pixel of a dragged window.
                let w = (w / 8.0).floor() * 8.0;
                if w > 0.0 {
                    crate::state::set_if_changed(width, w);
                }
            });
        }
    });
    let scene = Memo::new(move |_| {
        if !is_seen.get() {
            return Scene::default();
        }
        let (ratio, least, most) = shape;
        let width = width.get();
        let height = (width * ratio).clamp(least, most);
        page.analysis
            .with(|analysis| draw(analysis, (width, height)))
    });
    let selected = Signal::derive(move || {
        let selection = page.selection.get();
        page.analysis.with(|a| selection.kernel(a))
    });
    let on_select = Callback::new(move |kernel: Option<usize>| {
        page.selection
            .set(kernel.map_or(Selection::Nothing, Selection::Kernel));
    });
    view! {
        <div class="chart-slot" id=slot>
            <SceneView id scene selected on_select />
        </div>
    }
}
