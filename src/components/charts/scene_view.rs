//! A scene as SVG.

use super::chart_state::ChartState;
use super::mark::{MarkView, RaisedMark};
use super::tip::Tip;
use crate::app::state::{Page, unhurried};
use fuseline_core::{KernelId, TensorId};
use fuseline_view::picture::charts::scene::{Mark, Scene};
use leptos::prelude::*;
use std::sync::Arc;

/// A picture with a tooltip for the mark under the pointer or with the focus. It is one tab stop:
/// arrow keys move from mark to mark. A mark keeps its element from scene to scene, so it keeps the
/// focus while sizes change.
#[component]
pub fn SceneView(
    /// Prefix of the ids in the picture, unique on the page.
    #[prop(into)]
    id: String,
    /// The picture.
    #[prop(into)]
    scene: Signal<Arc<Scene>>,
    /// The fused kernel whose marks are emphasized.
    #[prop(into, optional)]
    selected_kernel: Signal<Option<KernelId>>,
    /// The tensor whose marks are emphasized.
    #[prop(into, optional)]
    selected_tensor: Signal<Option<TensorId>>,
    /// Whether the picture goes over from some kernels to others, so that what belongs to a kernel
    /// travels.
    #[prop(into, optional)]
    is_switching: Signal<bool>,
    /// Called when a mark is pressed.
    #[prop(into, optional_no_strip)]
    on_press: Option<Callback<Mark>>,
) -> impl IntoView {
    let page = use_context::<Page>();
    let is_moving = move || page.is_some_and(|page| page.slider.is_dragging());
    let spoken = unhurried(scene, is_moving);
    let chart = ChartState::new(scene, spoken, selected_kernel, selected_tensor, on_press);
    let hatch_id = StoredValue::new(format!("{id}-hatch"));
    let description_id = id + "-description";
    let view_box =
        Memo::new(move |_| scene.with(|scene| format!("0 0 {} {}", scene.width, scene.height)));
    let keys = move || {
        chart.keep_focus();
        chart.keys.get()
    };
    view! {
        <div class="chart-box">
            <svg
                class="chart"
                class:is-switching=is_switching
                class:has-selection=move || chart.has_selection()
                viewBox=view_box
                role="group"
                aria-label=move || scene.with(|scene| scene.title.clone())
                aria-describedby=description_id.clone()
            >
                <defs>
                    <pattern
                        id=hatch_id.get_value()
                        width="5"
                        height="5"
                        patternUnits="userSpaceOnUse"
                        patternTransform="rotate(45)"
                    >
                        <rect class="hatch-line" width="2" height="5"></rect>
                    </pattern>
                </defs>
                <g>
                    <For
                        each=keys
                        key=|key| *key
                        children=move |key| view! { <MarkView chart key hatch_id /> }
                    />
                </g>
                <g class="chart-raised" aria-hidden="true">
                    <For
                        each=move || chart.raised_keys.get()
                        key=|key| *key
                        children=move |key| view! { <RaisedMark chart key hatch_id /> }
                    />
                </g>
            </svg>
            <p class="sr-only" id=description_id>
                {move || scene.with(|scene| scene.description.clone())}
            </p>
            <Tip chart scene />
        </div>
    }
}
