//! The panes in the middle of the page: ops, graph and charts, and the lines between them.

use crate::app::panes::{Divider, Panes};
use crate::app::state::Page;
use crate::app::storage_keys::PANES;
use crate::components::charts::Charts;
use crate::components::graph::GraphPanel;
use crate::components::ops::Ops;
use fuseline_browser as browser;
use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html;
use leptos::prelude::*;

/// By how much an arrow key moves a line between columns, in percent.
const STEP_PERCENT: f64 = 2.0;
/// By how much an arrow key moves the line below them, in pixels.
const STEP_PX: f64 = 32.0;

/// What the lines between the panes share.
#[derive(Clone, Copy)]
struct Division {
    panes: RwSignal<Panes>,
    /// The line that the pointer drags.
    dragged: RwSignal<Option<Divider>>,
    /// The element around all panes.
    workbench: NodeRef<html::Div>,
    /// The width and height of that element in CSS pixels.
    size_px: ReadSignal<(f64, f64)>,
}

/// The panes. On a wide window the lines between them can be moved; the browser keeps their places.
#[component]
pub fn Workbench() -> impl IntoView {
    let page = Page::of_context();
    let stored = browser::load(PANES).and_then(|stored| stored.parse::<Panes>().ok());
    let panes = RwSignal::new(stored.unwrap_or_default());
    let dragged = RwSignal::new(None);
    let element = NodeRef::<html::Div>::new();
    let division = Division {
        panes,
        dragged,
        workbench: element,
        size_px: browser::content_size(element),
    };
    Effect::watch(
        move || (panes.get(), dragged.get()),
        |(panes, dragged), _, _| {
            if dragged.is_none() {
                // Where storage refuses, the next visit has the default.
                let _ = browser::store(PANES, &panes.to_string());
            }
        },
        false,
    );
    let width = move |pane: usize| move || format!("{}fr", panes.get().widths()[pane]);
    let height = move || Some(format!("{}px", panes.get().position(Divider::Below)?));
    view! {
        <div
            class="workbench"
            class:has-ops=move || page.screen.is_ops_open.get()
            node_ref=element
            style:--ops-width=width(0)
            style:--graph-width=width(1)
            style:--charts-width=width(2)
            style:--panes-height=height
        >
            <Splitter divider=Divider::OpsGraph division />
            <GraphPanel />
            <Splitter divider=Divider::GraphCharts division />
            <Charts />
            <Ops />
            <Splitter divider=Divider::Below division />
        </div>
    }
}

/// A line between panes, which the pointer drags and arrow keys move. A double click or Enter puts
/// it back.
#[component]
fn Splitter(
    divider: Divider,
    /// What it divides.
    division: Division,
) -> impl IntoView {
    let Division {
        panes,
        dragged,
        workbench,
        size_px,
    } = division;
    let (name, label, orientation) = match divider {
        Divider::OpsGraph => ("ops-graph", "Width of the operations", "vertical"),
        Divider::GraphCharts => ("graph-charts", "Width of the graph", "vertical"),
        Divider::Below => ("below", "Height of the graph", "horizontal"),
    };
    let position = move || (panes.get().position(divider)).unwrap_or_else(|| size_px.get().1);
    let move_to =
        move |position: f64| panes.update(|panes| *panes = panes.moved(divider, position));
    let reset = move || panes.update(|panes| *panes = panes.reset(divider));
    let press = move |event: PointerEvent| {
        if event.button() == 0 {
            browser::capture_pointer(&event_target(&event), event.pointer_id());
            dragged.set(Some(divider));
        }
    };
    let drag = move |event: PointerEvent| {
        let is_dragged = dragged.get_untracked() == Some(divider);
        if let Some(workbench) = workbench.get_untracked().filter(|_| is_dragged) {
            let at = (f64::from(event.client_x()), f64::from(event.client_y()));
            let (x, y) = browser::point_on(&workbench, at.0, at.1);
            let (width, _) = size_px.get_untracked();
            move_to(match divider {
                Divider::OpsGraph | Divider::GraphCharts => 100.0 * x / width,
                Divider::Below => y,
            });
        }
    };
    let press_key = move |event: KeyboardEvent| {
        let (before, after, step) = match divider {
            Divider::OpsGraph | Divider::GraphCharts => ("ArrowLeft", "ArrowRight", STEP_PERCENT),
            Divider::Below => ("ArrowUp", "ArrowDown", STEP_PX),
        };
        let position = untrack(position);
        match event.key().as_str() {
            key if key == before => move_to(position - step),
            key if key == after => move_to(position + step),
            "Home" => move_to(f64::NEG_INFINITY),
            "End" => move_to(f64::INFINITY),
            "Enter" => reset(),
            _ => return,
        }
        event.prevent_default();
    };
    let end = move |which: usize| move || panes.get().range(divider)[which].round().to_string();
    let unit = if divider == Divider::Below {
        " pixels"
    } else {
        " percent of the width"
    };
    view! {
        <div
            class=format!("splitter is-{name}")
            role="separator"
            tabindex="0"
            aria-label=label
            aria-orientation=orientation
            aria-valuenow=move || position().round().to_string()
            aria-valuemin=end(0)
            aria-valuemax=end(1)
            aria-valuetext=move || format!("{}{unit}", position().round())
            title="Drag, or use the arrow keys. Double-click to reset."
            on:pointerdown=press
            on:pointermove=drag
            on:pointerup=move |_| dragged.set(None)
            on:pointercancel=move |_| dragged.set(None)
            on:dblclick=move |_| reset()
            on:keydown=press_key
        ></div>
    }
}
