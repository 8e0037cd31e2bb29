//! The pill of a tensor that enters or leaves the program.

use super::placed::StoredGraph;
use super::state::Graph;
use crate::app::state::Selection;
use fuseline_view::picture::dag::{PillId, PillKind};
use leptos::prelude::*;

/// A pill with the tensor's name and bytes.
#[component]
pub(super) fn TensorPill(
    graph: Graph,
    placed: StoredGraph,
    /// The index of the pill in the layout.
    pill: PillId,
) -> impl IntoView {
    let placed = placed.get_value();
    let laid_out = placed.layout.pills.get(pill)?.clone();
    let class = match laid_out.kind {
        PillKind::Input => "dag-pill is-input",
        PillKind::Weight => "dag-pill is-weight",
        PillKind::Output => "dag-pill is-output",
    };
    let (rect, middle) = (laid_out.rect, laid_out.rect.center());
    let tensor = *laid_out.tensors.first()?;
    let name = laid_out.text.clone();
    let moving = NodeRef::new();
    graph.travel(moving, rect, |motion| motion.pill(&placed.layout, pill));
    let tensors = laid_out.tensors.clone();
    let is_selected = move || match graph.selection.get() {
        Selection::Tensor(tensor) => tensors.contains(&tensor),
        _ => false,
    };
    let of_text = laid_out.clone();
    let bytes = graph.look(placed.number, move |looks| looks.pill_text(&of_text));
    let title = graph.name(placed.number, move |looks| looks.pill_title(&laid_out));
    Some(view! {
        <g
            class=class
            node_ref=moving
            class:is-selected=is_selected
            role="img"
            aria-label=title
            on:click=move |event| {
                event.stop_propagation();
                graph.click_line(Selection::Tensor(tensor));
            }
        >
            <title>{title}</title>
            <rect x=rect.x y=rect.y width=rect.width height=rect.height rx=rect.height / 2.0></rect>
            <text class="dag-name" x=middle.x y=middle.y - 2.0>{name}</text>
            <text class="dag-bytes" x=middle.x y=middle.y + 10.0>
                {bytes}
            </text>
        </g>
    })
}
