//! Very many ops, kernels and edges as few paths.

use super::placed::StoredGraph;
use super::state::Graph;
use fuseline_view::picture::dag::overview::{Edges, boxes, edges};
use fuseline_view::present::badge::KernelLook;
use leptos::prelude::*;

/// Ops, kernels and edges in view, without words. They are no buttons; the few that must be are
/// drawn in full on top.
#[component]
pub(super) fn Overview(graph: Graph, placed: StoredGraph) -> impl IntoView {
    let of_boxes = placed.get_value();
    let boxes = Memo::new(move |_| {
        (graph.sight).with(|sight| boxes(&of_boxes.layout, sight, &of_boxes.kernel_looks))
    });
    let panels = move || {
        let panel = |(look, data): &(KernelLook, String)| {
            let class = format!("dag-panel {}", look.class());
            view! { <path class=class d=data.clone()></path> }
        };
        boxes.with(|boxes| boxes.panels.iter().map(panel).collect_view())
    };
    view! {
        <g class="dag-overview" aria-hidden="true">
            {panels}
            <EdgePaths graph placed />
            <path class="dag-ops" d=move || boxes.with(|boxes| boxes.ops.clone())></path>
            <path class="dag-weights" d=move || boxes.with(|boxes| boxes.weights.clone())></path>
            <path class="dag-activations" d=move || boxes.with(|boxes| boxes.activations.clone())></path>
        </g>
    }
}

/// The edges in view, without corners.
#[component]
pub(super) fn EdgePaths(graph: Graph, placed: StoredGraph) -> impl IntoView {
    let placed = placed.get_value();
    let edges = graph.look(placed.number, move |looks| {
        graph
            .sight
            .with(|sight| edges(&placed.layout, sight, looks, 1.0))
    });
    move || {
        let line = |Edges { style, data }: &Edges| {
            view! { <path class=style.class() stroke-width=style.width_px d=data.clone()></path> }
        };
        edges.with(|edges| edges.iter().map(line).collect_view())
    }
}
