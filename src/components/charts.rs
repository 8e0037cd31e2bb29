//! The roofline and the traffic bars.

use super::chart::{Chart, show_chart};
use crate::app::state::Page;
use crate::browser::{self, listen};
use crate::picture::charts::by_kernel_scene;
use crate::picture::charts::{roofline, traffic_bars};
use leptos::prelude::*;

/// Both charts, and the bars by kernel, which are drawn while they are open.
#[component]
pub fn Charts(
    /// The page whose analysis is drawn.
    page: Page,
) -> impl IntoView {
    show_chart(Chart::new(page, "roofline", |analysis, width| {
        roofline::scene(analysis, (width, (width * 0.62).clamp(260.0, 520.0)))
    }));
    show_chart(Chart::new(page, "traffic", |analysis, width| {
        traffic_bars::scene(analysis, (width, (width * 0.34).clamp(150.0, 260.0)))
    }));
    let by_kernel = show_chart(
        Chart::new(page, "by-kernel", |analysis, width| {
            by_kernel_scene(analysis, width)
        })
        .hidden(),
    );
    listen("by-kernel-details", &["toggle"], move |event| {
        by_kernel.set_seen(browser::is_open(event));
    });
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
                <div class="chart-slot" id="roofline-slot">
                    <div class="chart-box">
                        <div id="roofline-picture"></div>
                        <div class="chart-tip" id="roofline-tip" aria-hidden="true" hidden></div>
                    </div>
                </div>
            </section>
            <section class="panel chart-panel" aria-labelledby="traffic-title">
                <header class="panel-head">
                    <h2 id="traffic-title">"Memory traffic"</h2>
                </header>
                <div class="chart-slot" id="traffic-slot">
                    <div class="chart-box">
                        <div id="traffic-picture"></div>
                        <div class="chart-tip" id="traffic-tip" aria-hidden="true" hidden></div>
                    </div>
                </div>
                <details class="by-kernel" id="by-kernel-details">
                    <summary>"By kernel"</summary>
                    <div class="chart-slot" id="by-kernel-slot">
                        <div class="chart-box">
                            <div id="by-kernel-picture"></div>
                            <div class="chart-tip" id="by-kernel-tip" aria-hidden="true" hidden></div>
                        </div>
                    </div>
                </details>
            </section>
        </div>
    }
}
