//! The box of an op.

use super::placed::StoredGraph;
use super::plan::MergeRole;
use super::state::Graph;
use fuseline_core::OpId;
use fuseline_view::picture::dag::focus::FocusTarget;
use leptos::prelude::*;
use std::sync::Arc;

/// A button in the shape of the box, under words that may be cut off. The name of the button has
/// them in full.
#[component]
pub(super) fn OpBox(graph: Graph, placed: StoredGraph, op: OpId) -> impl IntoView {
    let placed = placed.get_value();
    let laid_out = placed.layout.ops.get(op)?.clone();
    let kernel = *placed.analysis.partition.kernel_of.get(op)?;
    let kernel_look = placed.kernel_looks.get(kernel).copied().unwrap_or_default();
    let (rect, middle) = (laid_out.rect, laid_out.rect.center());
    let target = FocusTarget::Op(op);
    let number = placed.number;
    let inside: Arc<[OpId]> = placed.layout.inside(op).into();
    let look = graph.look(number, {
        let inside = inside.clone();
        move |looks| looks.op(op, &inside, rect.width)
    });
    let name = graph.name(number, move |looks| looks.op_name(op, &inside));
    let is_selected = move || graph.is_selected(target);
    let is_decided = move || graph.decided_ops.with(|ops| ops.contains(&op));
    let role = move || graph.merge_role(target);
    let node = NodeRef::new();
    graph.take_requests(target, node);
    let moving = NodeRef::new();
    graph.travel(moving, rect, |motion| motion.op(op));
    Some(view! {
        <g
            class=format!("dag-op {}", kernel_look.class())
            node_ref=moving
            on:pointerdown=move |event| graph.press_part(target, &event)
        >
            <g
                class="dag-op-box"
                class:is-selected=is_selected
                class:is-decided=is_decided
                class:is-merging=move || role() == Some(MergeRole::Merging)
                class:is-partner=move || role() == Some(MergeRole::Partner)
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
                // Unfused, where no kernel has a box.
                <text class="dag-op-number" x=rect.x - 4.0 y=rect.y + 9.0>
                    {move || look.with(|look| look.lone_number.clone())}
                </text>
                <text x=middle.x y=middle.y - 3.0>
                    <tspan class="dag-function">{laid_out.function}</tspan>
                    <tspan class="dag-label" dx="6">{laid_out.label}</tspan>
                </text>
                <text class="dag-shape" x=middle.x y=middle.y + 11.5>
                    {move || look.with(|look| look.second_line.clone())}
                </text>
            </g>
        </g>
    })
}
