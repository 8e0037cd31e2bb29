//! The graph with its zoom buttons.

use super::keys::ZOOM_STEP;
use super::minimap::Minimap;
use super::picture::Picture;
use super::state::Graph;
use crate::app::covers::closes_on_back;
use crate::app::presenting::graph_unit_px;
use crate::app::state::{Drawing, Page, Selection};
use fuseline_browser::{self as browser, content_size};
use fuseline_view::picture::dag::Folding;
use fuseline_view::picture::dag::viewport::Size;
use fuseline_view::present::names::counted;
use leptos::html;
use leptos::prelude::*;

/// The part of a sheet of paper that the graph may take below the result, in the units in which it
/// is drawn on the screen.
const PAPER_PX: Size = (1000.0, 800.0);

/// The graph of the page, fused or unfused, in the same layout.
///
/// Fills its container. Drags pan, pinches and the wheel with Ctrl or Command zoom, the plain wheel
/// scrolls the page. So does a finger that begins up or down, unless the screen is filled; one that
/// stays is a click. The canvas is a tab stop, and one op or kernel on it: arrow keys follow edges.
#[component]
pub fn GraphCanvas(
    /// What the button *Full screen* shows full-screen; without it there is no button.
    #[prop(optional)]
    panel: Option<NodeRef<html::Section>>,
    /// What stands beside the buttons, below the picture.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let page = Page::of_context();
    let room = NodeRef::<html::Div>::new();
    let is_printing = page.screen.is_printing;
    let size_px = content_size(room);
    let unit_px = graph_unit_px();
    let canvas_px = Signal::derive(move || {
        if is_printing.get() {
            PAPER_PX
        } else {
            let ((width, height), unit_px) = (size_px.get(), unit_px.get());
            (width / unit_px, height / unit_px)
        }
    });
    let view_box = move || {
        let (width, height) = canvas_px.get();
        (is_printing.get() || unit_px.get() > 1.0).then(|| format!("0 0 {width} {height}"))
    };
    // Sides in pixels: with 100 % the picture has another size in each pass in which the page's
    // layout measures its rows, and Chromium sets all of its words again in each.
    let length = move |side_of: fn(Size) -> f64| {
        let side = side_of(size_px.get());
        (side > 0.0 && !is_printing.get()).then(|| format!("{side}px"))
    };
    let graph = Graph::new(page, canvas_px, unit_px);
    graph.keep_focus();
    graph.take_page_requests();
    graph.reveal_selections();
    graph.fit_new_frames();
    graph.keep_views();
    graph.merge_when_unfused();
    let op_count = move || graph.placed.with(|placed| placed.layout.ops.len());
    let name = move || {
        let (kernels, shown) =
            (graph.placed).with(|placed| (placed.layout.panels.len(), placed.shown_ops));
        let (ops, kernels) = (counted(op_count(), "operation"), counted(kernels, "kernel"));
        let folded = if shown < op_count() {
            let what = match page.pictures.drawing.folding() {
                Folding::Kernels => "kernels",
                Folding::Iterations | Folding::Nothing => "equal kernels",
            };
            let shown = counted(shown, "operation");
            format!("; with {what} folded it draws {shown}")
        } else {
            String::new()
        };
        format!("graph of {ops} in {kernels}{folded}")
    };
    let status = move || {
        let plan = graph.plan()?;
        Some((graph.proposal).with(|proposal| plan.status(proposal.as_deref())))
    };
    view! {
        <div class="dag-frame">
            <div class="dag-view" node_ref=room>
                <svg
                    class="dag"
                    viewBox=view_box
                    style:width=move || length(|(width, _)| width)
                    style:height=move || length(|(_, height)| height)
                    class:is-unfused=move || !page.chosen.is_fused.get()
                    class:has-selection=move || page.selection.get() != Selection::Nothing
                    class:is-switching=page.pictures.is_switching
                    role="group"
                    aria-label=name
                    aria-describedby="dag-help"
                    tabindex="0"
                    node_ref=graph.canvas
                    on:wheel=move |event| graph.wheel(&event)
                    on:pointerdown=move |event| graph.press(&event)
                    on:pointermove=move |event| graph.drag(&event)
                    on:touchmove=move |event| Graph::touch(&event)
                    on:pointerup=move |event| graph.lift(&event, true)
                    on:pointercancel=move |event| graph.lift(&event, false)
                    on:click=move |event| graph.click_canvas(&event)
                    on:keydown=move |event| graph.press_key(&event)
                >
                    <g class="dag-parts" transform=move || graph.viewport.get().transform()>
                        // A list of one: a new layout has a new key, so all elements are replaced.
                        <For each=move || [graph.placed.get()] key=|placed| placed.number children=move |placed| {
                            view! { <Picture graph placed /> }
                        } />
                    </g>
                    <path class="dag-merge-line" aria-hidden="true" d=move || graph.merge_line()></path>
                </svg>
                <Minimap graph />
                <p class="dag-status" role="status" aria-live="polite">{status}</p>
                <p class="dag-empty" hidden=move || op_count() != 0>"No operations yet."</p>
            </div>
            <footer class="dag-foot">
                {children.map(|children| children())}
                <Tools graph panel />
            </footer>
            <p class="sr-only" id="dag-help">
                "Arrow keys follow the edges from operation to operation, Page Up and Page Down go from kernel to kernel, and Enter selects. Plus and minus zoom, 0 shows the whole graph, 1 shows it at a readable size, and a slash finds by name. M merges the kernel with another one, and X cuts it before the operation. When the graph itself has the focus, arrow keys move it."
            </p>
        </div>
    }
}

/// The buttons below the picture.
#[component]
fn Tools(
    graph: Graph,
    /// What *Full screen* shows, if there is that button.
    panel: Option<NodeRef<html::Section>>,
) -> impl IntoView {
    let drawing = Page::of_context().pictures.drawing;
    view! {
        <div class="dag-tools" role="group" aria-label="Zoom">
            <button type="button" aria-label="Zoom in" title="Zoom in (+)" on:click=move |_| graph.zoom(ZOOM_STEP, None)>
                "+"
            </button>
            <button type="button" aria-label="Zoom out" title="Zoom out (−)" on:click=move |_| graph.zoom(1.0 / ZOOM_STEP, None)>
                "−"
            </button>
            <button type="button" title="Show the whole graph, however small (0)" on:click=move |_| graph.show_whole()>
                "Fit"
            </button>
            <button
                type="button"
                title="Show the graph at a readable size (1)"
                hidden=move || !graph.is_cut_off.get()
                on:click=move |_| graph.show_readable()
            >
                "Large"
            </button>
            <button
                type="button"
                class="dag-fold"
                aria-expanded=move || drawing.is_unfolded().to_string()
                title=move || fold_title(drawing)
                hidden=move || !drawing.with(|drawn| drawn.is_foldable)
                on:click=move |_| drawing.toggle_fold()
            >
                {move || if drawing.is_unfolded() { "Fold" } else { "Unfold" }}
            </button>
            {panel.filter(|_| browser::can_fill_screen()).map(|panel| view! { <FullScreen panel /> })}
        </div>
    }
}

/// What the button *Fold* or *Unfold* does. Tracked.
fn fold_title(drawing: Drawing) -> &'static str {
    match (drawing.usual_folding(), drawing.is_unfolded()) {
        (Folding::Kernels, true) => "Show of each kernel only what it writes",
        (Folding::Kernels, false) => "Show all operations inside the kernels",
        (_, true) => "Show one iteration of each repeat",
        (_, false) => "Show all iterations of each repeat",
    }
}

/// The button that shows the panel of the graph full-screen, and the page again.
#[component]
fn FullScreen(panel: NodeRef<html::Section>) -> impl IntoView {
    let fills_screen = browser::is_full_screen(panel);
    // Browsers forget where the page was scrolled to, and the key of a browser leaves without this
    // page.
    let scrolled_px = StoredValue::new(0.0);
    let toggle = move || {
        if !fills_screen.get_untracked() {
            scrolled_px.set_value(browser::scrolled_px());
        }
        browser::toggle_full_screen(panel);
    };
    Effect::watch(
        move || fills_screen.get(),
        move |fills_screen, before, _| {
            if !fills_screen && before == Some(&true) {
                browser::after_picture(move || browser::scroll_page(scrolled_px.get_value()));
            }
        },
        false,
    );
    closes_on_back(move || fills_screen.get(), toggle);
    view! {
        <button
            type="button"
            class="dag-full-screen"
            aria-label=move || if fills_screen.get() { "Leave full screen" } else { "Full screen" }
            title="Show the graph on the whole screen (Escape exits)"
            on:click=move |_| toggle()
        >
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                // Arrows out, or in.
                <path d=move || if fills_screen.get() { "M13 7H9V3M9 7L14 2M3 9H7V13M7 9L2 14" } else { "M9 2H14V7M14 2L9 7M7 14H2V9M2 14L7 9" }></path>
            </svg>
        </button>
    }
}
