//! The label that says what the output of an op is and how large.

use super::placed::StoredGraph;
use super::state::Graph;
use fuseline_core::OpId;
use leptos::prelude::*;

/// A label below the op: the size of a tensor that goes through memory, where a click opens the
/// reason, or the name of one on chip.
#[component]
pub(super) fn SizeLabel(graph: Graph, placed: StoredGraph, op: OpId) -> impl IntoView {
    let placed = placed.get_value();
    let rect = (*placed.layout.size_labels.get(op)?)?;
    let middle = rect.center();
    let look = graph.look(placed.number, move |looks| looks.size_label(op, rect.width));
    let title = graph.name(placed.number, move |looks| looks.size_label_title(op));
    let is_dram = move || look.with(|look| look.is_dram);
    let width = move || look.with(|look| look.width_px);
    let node = NodeRef::new();
    graph.appear(node);
    Some(view! {
        <g
            class="dag-size-label"
            node_ref=node
            class:is-dram=is_dram
            on:click=move |event| {
                event.stop_propagation();
                graph.click_size_label(op);
            }
        >
            <title>{move || is_dram().then(|| title.get())}</title>
            <rect
                x=move || middle.x - width() / 2.0
                y=rect.y
                width=width
                height=rect.height
                rx=rect.height / 2.0
            ></rect>
            <text x=move || look.with(|look| look.text_x(middle.x)) y=middle.y + 4.0>{move || look.with(|look| look.text.clone())}</text>
        </g>
    })
}
