//! The ops, kernels and edges of one layout that are mounted.

use super::edge_lines::EdgeLines;
use super::kernel_box::KernelBox;
use super::op_box::OpBox;
use super::overview::{EdgePaths, Overview};
use super::placed::PlacedGraph;
use super::plan::Plan;
use super::repeat_frame::{RepeatFrames, RepeatTags};
use super::size_label::SizeLabel;
use super::state::Graph;
use super::tensor_pill::TensorPill;
use crate::app::state::Selection;
use fuseline_core::{KernelId, OpId};
use fuseline_view::picture::dag::PillId;
use fuseline_view::picture::dag::focus::FocusTarget;
use fuseline_view::picture::dag::sight::{FULL_READABLE_OPS, Sight, keep_places};
use leptos::prelude::*;
use std::sync::Arc;

/// What is in view, bottom to top: in full, or as an overview if that is too much. What is selected
/// or focused, or is part of a plan or a decision, is always mounted in full, so that keys and
/// screen readers reach it out of view.
#[component]
pub(super) fn Picture(graph: Graph, placed: Arc<PlacedGraph>) -> impl IntoView {
    graph.start_motion(&placed);
    let placed = StoredValue::new(placed);
    let is_overview = graph.is_overview;
    let pinned = Memo::new(move |_| pinned(graph));
    let ops = Memo::new(move |before: Option<&Vec<OpId>>| {
        let pinned_ops = pinned.get().into_iter().filter_map(|target| match target {
            FocusTarget::Op(op) => Some(op),
            FocusTarget::Kernel(_) => None,
        });
        in_order(
            &with_more(in_full(graph, |sight| &sight.ops), pinned_ops),
            before,
        )
    });
    let kernels = Memo::new(move |before: Option<&Vec<KernelId>>| {
        let pinned_kernels = pinned.get().into_iter().filter_map(|target| match target {
            FocusTarget::Kernel(kernel) => Some(kernel),
            FocusTarget::Op(_) => None,
        });
        in_order(
            &with_more(in_full(graph, |sight| &sight.kernels), pinned_kernels),
            before,
        )
    });
    let edges = Memo::new(move |before: Option<&Vec<usize>>| {
        let edges = if graph.are_edges_many.get() {
            let selection = graph.selection.get();
            placed.with_value(|placed| {
                graph
                    .sight
                    .with(|sight| touched_edges(placed, sight, selection))
            })
        } else {
            graph.sight.with(|sight| sight.edges.clone())
        };
        in_order(&edges, before)
    });
    let size_labels = Memo::new(move |before: Option<&Vec<OpId>>| {
        in_order(&in_full(graph, |sight| &sight.size_labels), before)
    });
    let pills = Memo::new(move |before: Option<&Vec<PillId>>| {
        in_order(&in_full(graph, |sight| &sight.pills), before)
    });
    view! {
        <RepeatFrames placed />
        <Show when=move || is_overview.get()>
            <Overview graph placed />
        </Show>
        <For each=move || kernels.get() key=|kernel| *kernel children=move |kernel| {
            view! { <KernelBox graph placed kernel /> }
        } />
        <g class="dag-edges" aria-hidden="true">
            <Show when=move || graph.are_edges_many.get() && !is_overview.get()>
                <g class="dag-overview">
                    <EdgePaths graph placed />
                </g>
            </Show>
            <For each=move || edges.get() key=|edge| *edge children=move |edge| {
                view! { <EdgeLines graph placed edge /> }
            } />
        </g>
        <For each=move || ops.get() key=|op| *op children=move |op| {
            view! { <OpBox graph placed op /> }
        } />
        <g aria-hidden="true">
            <For each=move || size_labels.get() key=|op| *op children=move |op| {
                view! { <SizeLabel graph placed op /> }
            } />
        </g>
        <For each=move || pills.get() key=|pill| *pill children=move |pill| {
            view! { <TensorPill graph placed pill /> }
        } />
        <RepeatTags graph placed />
    }
}

/// A list of what is in view; empty while an overview shows it. Tracked.
fn in_full<I: Clone>(graph: Graph, list: fn(&Sight) -> &Vec<I>) -> Vec<I> {
    if graph.is_overview.get() {
        Vec::new()
    } else {
        graph.sight.with(|sight| list(sight).clone())
    }
}

/// `wanted`, in the order of `before` where possible: a moved element would lose the focus.
fn in_order<I: Copy + Ord>(wanted: &[I], before: Option<&Vec<I>>) -> Vec<I> {
    keep_places(before.map_or(&[], Vec::as_slice), wanted)
}

/// The ops and kernels that are mounted even out of view. Tracked.
fn pinned(graph: Graph) -> Vec<FocusTarget> {
    let mut pinned = vec![graph.tab_stop.get()];
    match graph.selection.get() {
        Selection::Nothing | Selection::Tensor(_) => {}
        Selection::Op(op) => pinned.push(FocusTarget::Op(op)),
        Selection::Kernel(kernel) => pinned.push(FocusTarget::Kernel(kernel)),
        Selection::Edge { producer, consumer } => {
            pinned.extend([producer, consumer].map(FocusTarget::Op));
        }
    }
    let merged = graph.plan().map(Plan::merged);
    pinned.extend(merged.into_iter().flatten().flatten());
    pinned.extend(
        graph
            .decided_ops
            .with(|ops| ops.iter().copied().map(FocusTarget::Op).collect::<Vec<_>>()),
    );
    let exists = |target: &FocusTarget| {
        graph
            .placed
            .with(|placed| placed.layout.rect_of(*target))
            .is_some()
    };
    pinned.retain(exists);
    pinned
}

/// `list` and `more`, ascending and without duplicates.
fn with_more<I: Ord>(mut list: Vec<I>, more: impl Iterator<Item = I>) -> Vec<I> {
    list.extend(more);
    list.sort_unstable();
    list.dedup();
    list
}

/// The edges in view that start or end at the selection, but not more than a reader can
/// distinguish.
fn touched_edges(placed: &PlacedGraph, sight: &Sight, selection: Selection) -> Vec<usize> {
    let is_touched = |edge: &usize| {
        let edge = placed.layout.edges.get(*edge);
        edge.is_some_and(|edge| placed.touches(edge, selection))
    };
    let touched = sight.edges.iter().copied().filter(is_touched);
    touched.take(FULL_READABLE_OPS).collect()
}
