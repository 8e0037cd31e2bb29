//! A chart that is drawn for the width that it has.

use super::scene_view::SceneView;
use crate::app::state::{Page, Selection};
use crate::browser;
use crate::core::Analysis;
use crate::picture::charts::scene::{MarkKey, Scene};
use leptos::html;
use leptos::prelude::*;
use std::sync::Arc;

/// Charts are drawn anew when their width passes a multiple of this many pixels, not for each pixel of a dragged window.
const WIDTH_STEP_PX: f64 = 8.0;

/// A picture as wide as its place. While that has no width, nothing is mounted and nothing is drawn.
#[component]
pub fn Chart(
    /// Begins the ids of the picture's parts, so it is another one for each picture.
    id: &'static str,
    /// Draws the picture for a width, in units of the scene. Followed: signals that it reads draw the picture anew.
    #[prop(into)]
    draw: Callback<f64, Scene>,
    /// The fused kernel whose marks come forward, while the others step back.
    #[prop(into, optional)]
    selected_kernel: Signal<Option<usize>>,
    /// What happens when a mark is pressed.
    #[prop(into, optional)]
    on_press: Option<Callback<MarkKey>>,
    /// What stands above the picture.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let slot = NodeRef::<html::Div>::new();
    let size_px = browser::content_size(slot);
    let width = Memo::new(move |_| {
        // Charts lay out for type of 12 px; on a projector a unit is more than a pixel.
        let width = size_px.get().0 / browser::type_scale();
        let width = (width / WIDTH_STEP_PX).floor() * WIDTH_STEP_PX;
        (width > 0.0).then_some(width)
    });
    let scene = Memo::new(move |_| width.get().map(|width| Arc::new(draw.run(width))));
    view! {
        <div class="chart-slot" node_ref=slot>
            {children.map(|children| children())}
            <Show when=move || width.with(Option::is_some)>
                <SceneView
                    id
                    scene=Signal::derive(move || scene.get().unwrap_or_default())
                    selected_kernel
                    on_press
                />
            </Show>
        </div>
    }
}

/// A chart of the page's kernels: its marks select them and show which one is selected.
#[component]
pub fn KernelChart(
    /// Begins the ids of the picture's parts, so it is another one for each picture.
    id: &'static str,
    /// Draws an analysis for a width.
    draw: fn(&Analysis, f64) -> Scene,
) -> impl IntoView {
    let page = Page::of_context();
    let draw = move |width| page.analysis.with(|analysis| draw(analysis, width));
    let select = move |mark: MarkKey| {
        page.toggle(mark.kernel.map_or(Selection::Nothing, Selection::Kernel));
    };
    view! {
        <Chart
            id
            draw
            selected_kernel=Signal::derive(move || page.selected_kernel())
            on_press=Callback::new(select)
        />
    }
}
