//! The parts of one layout that are in the page.

use super::edge::EdgePart;
use super::kernel::KernelPart;
use super::op::OpPart;
use super::overview::Overview;
use super::pill::PillPart;
use super::size_label::SizeLabelPart;
use super::state::{Graph, Placed};
use crate::app::state::Selection;
use crate::core::{KernelId, OpId, Partition};
use crate::picture::dag::focus::FocusTarget;
use crate::picture::dag::sight::{FULL_READABLE_OPS, Sight, keep_places};
use crate::picture::dag::{Edge, PillId};
use leptos::prelude::*;
use std::sync::Arc;

/// What is in sight, from the bottom to the top; in full, or where that are very many parts as an overview. What is
/// selected, has the focus, or takes part in a plan or a decision is in the page in full wherever it lies, so that
/// keys, focus and screen readers find it.
#[component]
pub(super) fn Picture(
    /// The graph.
    graph: Graph,
    /// The layout, as long as it is shown.
    placed: Arc<Placed>,
) -> impl IntoView {
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
        let edges = if is_overview.get() {
            let selection = graph.selection.get();
            placed.with_value(|placed| {
                graph
                    .sight
                    .with(|sight| touched_edges(placed, sight, selection))
            })
        } else {
            in_full(graph, |sight| &sight.edges)
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
        <Show when=move || is_overview.get()>
            <Overview graph placed />
        </Show>
        <For each=move || kernels.get() key=|kernel| *kernel children=move |kernel| {
            view! { <KernelPart graph placed kernel /> }
        } />
        <g class="dag-edges" aria-hidden="true">
            <For each=move || edges.get() key=|edge| *edge children=move |edge| {
                view! { <EdgePart graph placed edge /> }
            } />
        </g>
        <For each=move || ops.get() key=|op| *op children=move |op| {
            view! { <OpPart graph placed op /> }
        } />
        <g aria-hidden="true">
            <For each=move || size_labels.get() key=|op| *op children=move |op| {
                view! { <SizeLabelPart graph placed op /> }
            } />
        </g>
        <For each=move || pills.get() key=|pill| *pill children=move |pill| {
            view! { <PillPart graph placed pill /> }
        } />
    }
}

/// Parts that are in sight; none of them while an overview stands for them. Tracked.
fn in_full<I: Clone>(graph: Graph, parts: fn(&Sight) -> &Vec<I>) -> Vec<I> {
    if graph.is_overview.get() {
        Vec::new()
    } else {
        graph.sight.with(|sight| parts(sight).clone())
    }
}

fn in_order<I: Copy + Ord>(wanted: &[I], before: Option<&Vec<I>>) -> Vec<I> {
    keep_places(before.map_or(&[], Vec::as_slice), wanted)
}

/// What is in the page wherever somebody looks.
fn pinned(graph: Graph) -> Vec<FocusTarget> {
    let mut pinned = vec![graph.tab_stop.get()];
    match graph.selection.get() {
        Selection::Nothing => {}
        Selection::Op(op) => pinned.push(FocusTarget::Op(op)),
        Selection::Kernel(kernel) => pinned.push(FocusTarget::Kernel(kernel)),
        Selection::Edge { producer, consumer } => {
            pinned.extend([producer, consumer].map(FocusTarget::Op));
        }
    }
    pinned.extend(graph.merged_kernels().into_iter().map(FocusTarget::Kernel));
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

/// An ascending list with some more in it.
fn with_more<I: Ord>(mut list: Vec<I>, more: impl Iterator<Item = I>) -> Vec<I> {
    list.extend(more);
    list.sort_unstable();
    list.dedup();
    list
}

/// The edges in sight at what is selected, as far as they can be told apart.
fn touched_edges(placed: &Placed, sight: &Sight, selection: Selection) -> Vec<usize> {
    let partition = &placed.analysis.partition;
    let is_touched = |edge: &usize| {
        let edge = placed.layout.edges.get(*edge);
        edge.is_some_and(|edge| touches(edge, partition, selection))
    };
    let touched = sight.edges.iter().copied().filter(is_touched);
    touched.take(FULL_READABLE_OPS).collect()
}

/// Whether an edge begins or ends at what is selected.
pub(super) fn touches(edge: &Edge, partition: &Partition, selection: Selection) -> bool {
    let mut ends = [edge.from.op(), edge.to.op()].into_iter().flatten();
    match selection {
        Selection::Nothing => false,
        Selection::Op(op) => ends.any(|end| end == op),
        Selection::Edge { producer, consumer } => {
            edge.from.op() == Some(producer) && edge.to.op() == Some(consumer)
        }
        Selection::Kernel(kernel) => ends.any(|end| partition.kernel_of.get(end) == Some(&kernel)),
    }
}
