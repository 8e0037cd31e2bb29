//! A chart that is drawn for its present width.

use super::enlarge::Enlarge;
use super::scene_view::SceneView;
use crate::app::state::{Page, Selection, Turn};
use fuseline_browser as browser;
use fuseline_core::{KernelId, TensorId};
use fuseline_view::picture::charts::Charted;
use fuseline_view::picture::charts::scene::{Axes, Mark, Scene};
use fuseline_view::picture::dag::repeats::Repeats;
use fuseline_view::picture::export::{self, SCREEN};
use leptos::html;
use leptos::prelude::*;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A chart is redrawn when its width crosses a multiple of this many pixels, not at each pixel of a
/// window resize.
const WIDTH_STEP_PX: f64 = 8.0;

/// The height that a chart has to fill; `None` where its width decides.
#[derive(Clone, Copy)]
struct HeightToFill(Option<f64>);

/// The height of a chart that is being drawn: this share of its width within `limits`, or what its
/// dialog has for an enlarged one.
pub fn height_of(width: f64, share: f64, limits: RangeInclusive<f64>) -> f64 {
    let filled = use_context::<HeightToFill>().and_then(|height| height.0);
    filled.unwrap_or_else(|| (width * share).clamp(*limits.start(), *limits.end()))
}

/// A picture as wide as its container. While the container is hidden, nothing is drawn or mounted.
#[component]
pub fn Chart(
    /// Prefix of the ids in the picture, unique on the page.
    #[prop(into)]
    id: String,
    /// Draws the picture for a width in scene units and the axes that shall stand still. Tracked: a
    /// change of a signal that it reads redraws the picture.
    #[prop(into)]
    draw: Callback<(f64, Option<Axes>), Scene>,
    /// Whether it stands in the dialog of [`Enlarge`], whose height it fills.
    #[prop(optional)]
    is_enlarged: bool,
    /// Whether the axes shall stand still.
    #[prop(into, optional)]
    is_held: Signal<bool>,
    /// Whether the picture leaves changes out for now.
    #[prop(into, optional)]
    is_waiting: Signal<bool>,
    /// Whether the kernels go over to others, so that their marks travel.
    #[prop(into, optional)]
    is_switching: Signal<bool>,
    /// The fused kernel whose marks are emphasized.
    #[prop(into, optional)]
    selected_kernel: Signal<Option<KernelId>>,
    /// The tensor whose marks are emphasized.
    #[prop(into, optional)]
    selected_tensor: Signal<Option<TensorId>>,
    /// Called when a mark is pressed.
    #[prop(into, optional)]
    on_press: Option<Callback<Mark>>,
    /// Shown above the picture.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let slot = NodeRef::<html::Div>::new();
    let size_px = browser::content_size(slot);
    let width = Memo::new(move |_| {
        // A scene unit is a CSS pixel at the usual type size, and larger where the type is.
        let width = size_px.get().0 / browser::type_scale();
        let width = (width / WIDTH_STEP_PX).floor() * WIDTH_STEP_PX;
        (width > 0.0).then_some(width)
    });
    // On the page a chart makes its container as high as itself; in a dialog the container has a
    // height of its own.
    let height = Memo::new(move |_| {
        let scale = browser::type_scale() * WIDTH_STEP_PX;
        is_enlarged.then(|| (size_px.get().1 / scale).floor() * WIDTH_STEP_PX)
    });
    let scene = Memo::new(move |last: Option<&Option<Arc<Scene>>>| {
        if let Some(last) = last.filter(|_| is_waiting.get()) {
            return last.clone();
        }
        // For this drawing alone.
        provide_context(HeightToFill(height.get()));
        let axes = last.and_then(|last| last.as_ref()?.axes);
        let held = axes.filter(|_| is_held.get());
        (width.get()).map(|width| Arc::new(draw.run((width, held))))
    });
    view! {
        <div class="chart-slot" node_ref=slot>
            {children.map(|children| children())}
            <Show when=move || width.with(Option::is_some)>
                <SceneView
                    id=id.clone()
                    scene=Signal::derive(move || scene.get().unwrap_or_default())
                    is_switching
                    selected_kernel
                    selected_tensor
                    on_press
                />
            </Show>
        </div>
    }
}

/// A chart that can be enlarged. While a slider is held, its axes stand still.
#[component]
pub fn LargeChart(
    /// Prefix of the ids in the picture, unique on the page.
    id: &'static str,
    /// The title of the enlarged chart.
    title: &'static str,
    /// Draws the picture for a width in scene units and the axes that shall stand still.
    #[prop(into)]
    draw: Callback<(f64, Option<Axes>), Scene>,
    /// What its marks mean, for the enlarged picture.
    #[prop(into)]
    legend: ViewFn,
    /// The fused kernel whose marks are emphasized.
    #[prop(into, optional)]
    selected_kernel: Signal<Option<KernelId>>,
    /// The tensor whose marks are emphasized.
    #[prop(into, optional)]
    selected_tensor: Signal<Option<TensorId>>,
    /// Called when a mark is pressed.
    on_press: Callback<Mark>,
    /// The moves of a fast slider that the chart follows; `None` is all of them.
    #[prop(optional_no_strip)]
    turn: Option<Turn>,
) -> impl IntoView {
    let page = Page::of_context();
    let chart = move |id: String, is_enlarged| {
        let is_held = Signal::derive(move || page.slider.is_held());
        let is_waiting =
            Signal::derive(move || turn.is_some_and(|turn| page.slider.is_waiting(turn)));
        view! { <Chart id draw is_enlarged is_held is_waiting is_switching=page.pictures.is_switching selected_kernel selected_tensor on_press /> }
    };
    let save = Callback::new(move |form| {
        let drawing = untrack(|| {
            let scene = draw.run((SCREEN.chart_width, None));
            export::chart(&scene, page.chosen.is_fused.get())
        });
        page.save_drawing(id, &drawing, form);
    });
    view! {
        <div class=format!("large-chart is-{id}")>
            {chart(id.to_owned(), false)}
            <Enlarge title legend save>{move || chart(format!("{id}-large"), true)}</Enlarge>
        </div>
    }
}

/// A [`LargeChart`] of the kernels of the page. A press on a mark selects its tensor, or else its
/// kernel.
#[component]
pub fn KernelChart(
    /// Prefix of the ids in the picture, unique on the page.
    id: &'static str,
    /// The title of the enlarged chart.
    title: &'static str,
    /// What its marks mean, for the enlarged picture.
    #[prop(into)]
    legend: ViewFn,
    /// The moves of a fast slider that it follows.
    turn: Turn,
    /// Draws what the graph shows for a width in scene units and the axes that shall stand still.
    draw: impl Fn(Charted<'_>, f64, Option<Axes>) -> Scene + Send + Sync + 'static,
) -> impl IntoView {
    let page = Page::of_context();
    let draw = move |(width, held)| {
        let pinned = page.against.pinned.get();
        page.pictures.charted.with(|charted| {
            let charted = Charted {
                analysis: &charted.analysis,
                repeats: &charted.drawn.layout.repeats,
                is_fused: page.chosen.is_fused.get(),
                pinned: pinned.as_ref().map(|pinned| &*pinned.analysis),
                measured: charted.measured.as_deref(),
            };
            draw(charted, width, held)
        })
    };
    let selected_kernel = Signal::derive(move || {
        let shown = |kernel| {
            (page.pictures.drawing).with(|drawn| drawn.layout.repeats.shown_kernel(kernel))
        };
        page.selected_kernel().map(shown)
    });
    let selected_tensor = Memo::new(move |_| {
        let selection = page.selection.get();
        page.analysis.with(|analysis| {
            let tensor = selection.stored_tensor(analysis)?;
            let shown = |repeats: &Repeats| repeats.equal_tensor(&analysis.graph, tensor);
            Some(
                page.pictures
                    .drawing
                    .with(|drawn| shown(&drawn.layout.repeats)),
            )
        })
    });
    let on_press = Callback::new(move |mark: Mark| {
        let of_tensor = |tensor| {
            (page.analysis).with_untracked(|analysis| Selection::of_tensor(analysis, tensor))
        };
        let of_kernel = || mark.kernel.map_or(Selection::Nothing, Selection::Kernel);
        page.toggle(mark.tensor.map_or_else(of_kernel, of_tensor));
    });
    view! { <LargeChart id title legend draw selected_kernel selected_tensor on_press turn=Some(turn) /> }
}
