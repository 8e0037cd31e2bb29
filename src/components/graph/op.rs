//! The box of an op.

use super::state::{Graph, PlacedOnce};
use crate::core::OpId;
use crate::picture::dag::focus::FocusTarget;
use crate::present::badge::kernel_class;
use leptos::prelude::*;

/// A button in the box's shape. The words stand beside it: its name says them in full where the box is too narrow.
#[component]
pub(super) fn OpPart(
    /// The graph.
    graph: Graph,
    /// Its layout.
    placed: PlacedOnce,
    /// The op.
    op: OpId,
) -> impl IntoView {
    let placed = placed.get_value();
    let place = placed.layout.ops.get(op)?.clone();
    let kernel = *placed.analysis.partition.kernel_of.get(op)?;
    let (rect, middle) = (place.rect, place.rect.center());
    let target = FocusTarget::Op(op);
    let number = placed.number;
    let look = graph.look(number, move |looks| looks.op(op, rect.width));
    let name = move || look.with(|look| look.name.clone());
    let is_selected = move || graph.is_selected(target);
    let is_decided = move || graph.decided_ops.with(|ops| ops.contains(&op));
    let node = NodeRef::new();
    graph.take_focus(target, node);
    Some(view! {
        <g class=format!("dag-op {}", kernel_class(kernel))>
            <g
                class="dag-op-box"
                class:is-selected=is_selected
                class:is-decided=is_decided
                role="button"
                tabindex=move || graph.tab_index(target)
                aria-pressed=move || is_selected().to_string()
                aria-label=name
                node_ref=node
                on:click=move |event| {
                    event.stop_propagation();
                    graph.click(target);
                }
                on:focus=move |_| graph.on_focus(target)
                on:blur=move |_| graph.on_blur(number)
            >
                <title>{name}</title>
                <rect x=rect.x y=rect.y width=rect.width height=rect.height rx="7"></rect>
            </g>
            <g class="dag-op-words" aria-hidden="true">
                <text x=middle.x y=middle.y - 3.0>
                    <tspan class="dag-function">{place.function}</tspan>
                    <tspan class="dag-label" dx="6">{place.label}</tspan>
                </text>
                <text class="dag-shape" x=middle.x y=middle.y + 11.5>
                    {move || look.with(|look| look.shape.clone())}
                </text>
            </g>
        </g>
    })
}
