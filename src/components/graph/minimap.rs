//! A small picture of the whole graph, on which a pointer moves the view. Keys and screen readers
//! reach everything on the graph itself.

use super::placed::PlacedGraph;
use super::state::Graph;
use fuseline_browser as browser;
use fuseline_view::picture::dag::Point;
use fuseline_view::picture::dag::minimap::{Corner, GAP_PX, Minimap as Map};
use fuseline_view::picture::dag::overview::{Boxes, boxes};
use fuseline_view::picture::dag::sight::Sight;
use fuseline_view::present::badge::KernelLook;
use leptos::ev::PointerEvent;
use leptos::prelude::*;
use leptos::svg;
use std::sync::Arc;

/// Shown while a part of the graph is out of sight.
#[component]
pub(super) fn Minimap(graph: Graph) -> impl IntoView {
    let map = Memo::new(move |_| {
        let picture = graph.placed.with(|placed| placed.layout.size());
        Map::of(picture, graph.viewport.get(), graph.canvas_px.get())
    });
    let present = Memo::new(move |last: Option<&Map>| {
        (map.get()).unwrap_or_else(|| last.copied().unwrap_or_default())
    });
    let corner = Memo::new(move |_| {
        let (map, canvas) = (present.get(), graph.canvas_px.get());
        let first_view = graph.first_view.get();
        (graph.placed).with(|placed| map.free_corner(&placed.layout, first_view, canvas))
    });
    // By default it covers nothing. A visitor who has moved the picture can move what it covers.
    let is_shown = move || {
        let is_apart = || graph.is_cut_off.get() && corner.get().is_some();
        map.with(Option::is_some) && (is_apart() || graph.is_moved_by_visitor())
    };
    let corner = Signal::derive(move || corner.get().unwrap_or_default());
    view! {
        <Show when=is_shown>
            <Small graph map=present corner />
        </Show>
    }
}

#[component]
fn Small(
    graph: Graph,
    /// The mapping from the graph to the minimap.
    map: Memo<Map>,
    corner: Signal<Corner>,
) -> impl IntoView {
    let page = graph.page();
    let canvas = NodeRef::<svg::Svg>::new();
    let is_pressed = RwSignal::new(false);
    let aim = move |event: &PointerEvent| {
        if let Some(canvas) = canvas.get_untracked() {
            let (x, y) =
                browser::point_on(&canvas, event.client_x().into(), event.client_y().into());
            let picture = graph.placed.with_untracked(|placed| placed.layout.size());
            let (now, room) = (
                graph.viewport.get_untracked(),
                graph.canvas_px.get_untracked(),
            );
            let map = map.get_untracked();
            graph.move_to(map.aimed(Point::new(x, y), now, picture, room));
        }
    };
    let press = move |event: PointerEvent| {
        if event.button() == 0
            && let Some(canvas) = canvas.get_untracked()
        {
            browser::capture_pointer(&canvas, event.pointer_id());
            is_pressed.set(true);
            aim(&event);
        }
    };
    let window = move || {
        map.get()
            .window(graph.viewport.get(), graph.canvas_px.get())
    };
    let scale = move || {
        let (x, y) = map.get().scale;
        format!("scale({x:.6} {y:.6})")
    };
    view! {
        <svg
            class="dag-minimap"
            class:is-left=move || corner.get().is_left
            class:is-bottom=move || corner.get().is_bottom
            style=("--gap", format!("{GAP_PX}px"))
            aria-hidden="true"
            width=move || map.get().size.0
            height=move || map.get().size.1
            node_ref=canvas
            on:pointerdown=press
            on:pointermove=move |event| {
                if is_pressed.get_untracked() {
                    aim(&event);
                }
            }
            on:pointerup=move |_| is_pressed.set(false)
            on:pointercancel=move |_| is_pressed.set(false)
        >
            <g transform=scale>
                // Only a new layout and the other view draw it anew.
                {move || {
                    let is_fused = page.chosen.is_fused.get();
                    graph.placed.with(|placed| parts(placed, is_fused))
                }}
            </g>
            <rect
                class="dag-minimap-window"
                rx="3"
                x=move || window().x
                y=move || window().y
                width=move || window().width
                height=move || window().height
            ></rect>
        </svg>
    }
}

/// The boxes of all kernels, or in the unfused view of all ops.
fn parts(placed: &Arc<PlacedGraph>, is_fused: bool) -> impl IntoView + use<> {
    let Sight { kernels, ops, .. } = Sight::of(&placed.layout, None);
    let parts = if is_fused {
        Sight {
            kernels,
            ..Sight::default()
        }
    } else {
        Sight {
            ops,
            ..Sight::default()
        }
    };
    let Boxes { panels, ops, .. } = boxes(&placed.layout, &parts, &placed.kernel_looks);
    let panel = |(look, data): (KernelLook, String)| {
        view! { <path class=format!("dag-minimap-panel {}", look.class()) d=data></path> }
    };
    let ops = (!ops.is_empty()).then(|| view! { <path class="dag-minimap-ops" d=ops></path> });
    (panels.into_iter().map(panel).collect_view(), ops)
}
