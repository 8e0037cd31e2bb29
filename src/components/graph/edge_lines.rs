//! The lines of an edge.

use super::placed::{PlacedGraph, StoredGraph};
use super::state::Graph;
use crate::app::state::Selection;
use fuseline_core::{OpId, OpType};
use fuseline_view::picture::dag::Edge;
use fuseline_view::picture::dag::looks::Way;
use fuseline_view::picture::dag::path::path_data;
use leptos::prelude::*;

/// Radius of an edge's corners.
const CORNER: f64 = 10.0;

/// A solid line for a tensor that goes through memory. If the tensor may stay on chip, a dotted
/// line as well; one of the two is visible.
#[component]
pub(super) fn EdgeLines(
    graph: Graph,
    placed: StoredGraph,
    /// The index of the edge in the layout.
    edge: usize,
) -> impl IntoView {
    let number = placed.with_value(|placed| placed.number);
    let (data, is_weight, may_stay_on_chip, selection) = placed.with_value(|placed| {
        let laid_out = placed.layout.edges.get(edge)?;
        let data = path_data(&laid_out.points, CORNER);
        let is_weight = placed.layout.brings_weight(laid_out);
        // What is behind a repeat reads the output of the last iteration, for which the shown one
        // stands.
        let producer = placed.analysis.graph.tensors.get(laid_out.tensor)?.producer;
        let selection = match producer.zip(laid_out.to.op()) {
            Some((producer, consumer)) => Selection::Edge { producer, consumer },
            None => Selection::Tensor(laid_out.tensor),
        };
        Some((
            data,
            is_weight,
            may_stay_on_chip(placed, laid_out),
            selection,
        ))
    })?;
    let look = graph.look(number, move |looks| {
        let of = |laid_out: &Edge| looks.edge(laid_out);
        placed
            .with_value(|placed| placed.layout.edges.get(edge).map(of))
            .unwrap_or_default()
    });
    let is_touched = move || {
        let selection = graph.selection.get();
        placed.with_value(|placed| {
            let laid_out = placed.layout.edges.get(edge);
            laid_out.is_some_and(|laid_out| placed.touches(laid_out, selection))
        })
    };
    let on_chip =
        may_stay_on_chip.then(|| view! { <path class="dag-on-chip" d=data.clone()></path> });
    let node = NodeRef::new();
    graph.appear(node);
    Some(view! {
        <g
            class="dag-edge"
            node_ref=node
            class:is-weight=is_weight
            class:is-dram=move || look.get().way == Way::Dram
            class:is-view=move || look.get().way == Way::View
            class:is-touched=is_touched
            on:click=move |event| {
                event.stop_propagation();
                graph.click_line(selection);
            }
        >
            {on_chip}
            <path class="dag-dram" d=data.clone() stroke-width=move || look.get().width_px></path>
            <path class="dag-edge-target" d=data></path>
        </g>
    })
}

/// Whether the tensor of an edge may stay on chip.
///
/// Only tensors inside a kernel, those that the kernel of the reader computes again, inputs and
/// outputs of a reshape, which may be a view, and a tensor that another op of the kernel has read.
fn may_stay_on_chip(placed: &PlacedGraph, edge: &Edge) -> bool {
    let analysis = &placed.analysis;
    let (from, to) = (edge.from.op(), edge.to.op());
    let kernel = |op: OpId| analysis.partition.kernel_of.get(op);
    let is_reshape = |op: OpId| {
        let op = analysis.graph.ops.get(op);
        op.is_some_and(|op| op.op_type == OpType::Reshape)
    };
    let is_read_before = |op: OpId| {
        let ops = kernel(op).and_then(|&kernel| analysis.partition.kernels.get(kernel));
        let reads = |other: &OpId| analysis.graph.inputs[*other].contains(&edge.tensor);
        let mut before = ops.into_iter().flatten().take_while(|other| **other != op);
        before.any(reads)
    };
    let is_computed_for = |(from, to): (OpId, OpId)| {
        let reader = kernel(to);
        reader.is_some_and(|&reader| analysis.partition.computes(reader, from))
    };
    from.zip(to).is_some_and(is_computed_for)
        || to.is_some_and(is_read_before)
        || from.is_some_and(is_reshape)
        || to.is_some_and(is_reshape)
}
