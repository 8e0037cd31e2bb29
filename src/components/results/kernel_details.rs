//! The selected kernel in detail: the tensors that it moves, the edges that stay on chip, and how
//! each figure is computed.

use crate::app::state::{FocusRequest, Page};
use crate::components::by_pointer::ByPointer;
use crate::components::keyed_rows::row_at;
use crate::components::number::{Number, NumberTable};
use crate::components::results::kernel_code::KernelCodePanel;
use fuseline_browser as browser;
use fuseline_view::present::format::format_count;
use fuseline_view::present::kernel_details::{
    KernelDetails, OnChipEdge, TensorRow, kernel_details,
};
use fuseline_view::present::manual::Change;
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::why::EdgeOps;
use leptos::html;
use leptos::prelude::*;

/// The edges whose buttons the pointer is over and that has the focus.
#[derive(Clone, Copy, Default)]
struct Pointed {
    hovered: RwSignal<Option<EdgeOps>>,
    focused: RwSignal<Option<EdgeOps>>,
}

/// The panel beside the table of kernels.
#[component]
pub fn KernelDetailsPanel(
    /// The explanation of the selected kernel.
    #[prop(optional)]
    panel: NodeRef<html::Div>,
) -> impl IntoView {
    let page = Page::of_context();
    let selected = Memo::new(move |_| {
        let kernel = page.selected_kernel()?;
        page.analysis
            .with(|analysis| kernel_details(analysis, kernel))
    });
    let details = Memo::new(move |_| selected.get().unwrap_or_default());
    Effect::new(move || {
        let kernel = selected.with(|details| Some(details.as_ref()?.kernel));
        if let Some(kernel) = kernel
            && page.screen.focus_request.get() == Some(FocusRequest::KernelDetails(kernel))
            && let Some(element) = panel.get()
        {
            page.screen.focus_request.set(None);
            // The rows are there with the next frame.
            browser::next_frame(move || {
                browser::focus(panel);
                browser::reveal(&element);
            });
        }
    });
    let pointed = Pointed::default();
    let preview = Memo::new(move |_| {
        let (producer, consumer) = pointed.hovered.get().or_else(|| pointed.focused.get())?;
        let is_it = |edge: &OnChipEdge| (edge.producer, edge.consumer) == (producer, consumer);
        let is_listed = details.with(|details| details.edges.iter().any(is_it));
        (is_listed).then(|| page.proposal(Change::Cut { producer, consumer }))?
    });
    let status = move || preview.with(|preview| Some(preview.as_ref()?.words.clone()));
    let hint = || {
        view! {
            <p class="quiet hint">
                "Select a kernel to see which tensors it reads and writes, which bytes fusion saves, and how each figure is computed."
            </p>
        }
    };
    let has_kernels_to_merge = move || {
        page.analysis
            .with(|analysis| analysis.fused.kernels.len() > 1)
    };
    view! {
        <div class="kernels-details">
            <div class="kernel-details" tabindex="-1" node_ref=panel>
                <Show when=move || selected.with(Option::is_some) fallback=hint>
                    <Heading details />
                    <Tensors details />
                    <OnChipEdges details pointed />
                    <Formulas details />
                    <KernelCodePanel />
                </Show>
                <Show when=has_kernels_to_merge>
                    <p class="quiet hint">
                        <ByPointer
                            mouse="In the graph, drag a kernel onto another one to merge them, or press M on it."
                            touch="In the graph, drag a kernel by its number onto another one to merge them."
                        />
                    </p>
                </Show>
            </div>
            <p class="cut-status" role="status" aria-live="polite">{status}</p>
        </div>
    }
}

/// The number and the ops of the kernel.
#[component]
fn Heading(details: Memo<KernelDetails>) -> impl IntoView {
    let page = Page::of_context();
    let kernel = Memo::new(move |_| details.with(|details| details.kernel));
    view! {
        <h3 class="details-title">
            <span class=move || format!("badge {}", page.kernel_class(kernel.get()))>{move || kernel.get().number()}</span>
            " "
            <span>{move || details.with(|details| details.ops.clone())}</span>
            " "
            <small class="quiet">{move || details.with(|details| details.number_in_text.clone())}</small>
        </h3>
    }
}

/// A row for each tensor that the kernel moves or that vanished in it.
#[component]
fn Tensors(details: Memo<KernelDetails>) -> impl IntoView {
    let rows = Memo::new(move |_| details.with(|details| details.tensors.clone()));
    let hidden_count = move || details.with(|details| details.hidden_tensors);
    view! {
        <div class="table-scroll" role="group" aria-label="Tensors of this kernel" tabindex="0">
            <NumberTable class="ledger row-lines">
                <caption class="sr-only">"Tensors of this kernel"</caption>
                <thead>
                    <tr>
                        <th scope="col" class="is-unlined">"tensor"</th>
                        <th scope="col" class="number is-unlined access-size">"size of one access"</th>
                        <th scope="col">"source"</th>
                        <th scope="col" class="number">"read"</th>
                        <th scope="col" class="number">"written"</th>
                        <th scope="col" class="number">"vanished"</th>
                    </tr>
                </thead>
                <tbody>
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| row.of
                        children=move |index, row| {
                            view! { <TensorLine of=row.of row=row_at(rows, index, row) /> }
                        }
                    />
                </tbody>
            </NumberTable>
        </div>
        {move || more(hidden_count(), "tensors")}
    }
}

/// A tensor and its bytes.
#[component]
fn TensorLine(
    /// The tensor in its kernel.
    of: Subject,
    /// The text of the row.
    row: Memo<TensorRow>,
) -> impl IntoView {
    let text = move |part: fn(&TensorRow) -> &String| move || row.with(|row| part(row).clone());
    let number = move |quantity, part: fn(&TensorRow) -> Option<&String>| {
        let has_bytes = Memo::new(move |_| row.with(|row| part(row).is_some()));
        let bytes = move || row.with(|row| part(row).cloned());
        view! {
            <Show when=move || has_bytes.get() fallback=|| "–">
                <Number explanation=Figure::fused(of, quantity)>{bytes}</Number>
            </Show>
        }
    };
    view! {
        <tr>
            <th scope="row">{text(|row| &row.name)}</th>
            <td class="number access-size">{text(|row| &row.size)}</td>
            <td title=text(|row| &row.source_reason)>{text(|row| &row.source)}</td>
            <td class="number">{number(Quantity::BytesRead, |row| row.bytes_read.as_ref())}</td>
            <td class="number">{number(Quantity::BytesWritten, |row| row.bytes_written.as_ref())}</td>
            <td class="number vanished">{number(Quantity::BytesVanished, |row| row.bytes_vanished.as_ref())}</td>
        </tr>
    }
}

/// The edges that stay on chip, each with a button that cuts it.
#[component]
fn OnChipEdges(
    details: Memo<KernelDetails>,
    /// The edge whose button is pointed at.
    pointed: Pointed,
) -> impl IntoView {
    let edges = Memo::new(move |_| details.with(|details| details.edges.clone()));
    let hidden_count = move || details.with(|details| details.hidden_edges);
    view! {
        <Show when=move || edges.with(|edges| !edges.is_empty())>
            <h4>"Stays on chip"</h4>
            <ul class="cuts">
                <ForEnumerate
                    each=move || edges.get()
                    key=|edge| (edge.producer, edge.consumer)
                    children=move |index, edge| {
                        view! { <CutLine edge=row_at(edges, index, edge) pointed /> }
                    }
                />
            </ul>
            {move || more(hidden_count(), "edges")}
        </Show>
    }
}

/// An edge and its button. While it is pointed at or has the focus, the effect of the cut is shown;
/// a click cuts.
#[component]
fn CutLine(
    /// The edge. Its names may change, its ops do not.
    edge: Memo<OnChipEdge>,
    /// The edge whose button is pointed at.
    pointed: Pointed,
) -> impl IntoView {
    let page = Page::of_context();
    let names = move || edge.with(|edge| edge.names.clone());
    let ops = edge.with_untracked(|edge| (edge.producer, edge.consumer));
    let point_at = move |pointed: RwSignal<Option<EdgeOps>>| pointed.set(Some(ops));
    let leave = move |pointed: RwSignal<Option<EdgeOps>>| {
        // The panel may be closed.
        pointed.try_maybe_update(|at| (at.take_if(|at| *at == ops).is_some(), ()));
    };
    let Pointed { hovered, focused } = pointed;
    // A button that is removed gets no event when pointer or focus leave it.
    on_cleanup(move || [hovered, focused].into_iter().for_each(leave));
    let cut = move |_| {
        let (producer, consumer) = ops;
        page.make(
            Change::Cut { producer, consumer },
            FocusRequest::KernelButton,
        );
    };
    let label = move || {
        let [producer, consumer] = names();
        format!("Cut before this op: {producer} to {consumer}")
    };
    view! {
        <li>
            <span>{move || names().join(" → ")}</span>
            " "
            <button
                type="button"
                aria-label=label
                on:pointerenter=move |_| point_at(hovered)
                on:pointerleave=move |_| leave(hovered)
                on:focus=move |_| point_at(focused)
                on:blur=move |_| leave(focused)
                on:click=cut
            >
                "Cut before this op"
            </button>
        </li>
    }
}

/// How FLOPs and time are computed.
#[component]
fn Formulas(details: Memo<KernelDetails>) -> impl IntoView {
    let flops = move || {
        let line = |(name, formula): &(String, String)| {
            let (name, formula) = (name.clone(), formula.clone());
            view! { <div><dt>{name}</dt><dd>{formula}</dd></div> }
        };
        details.with(|details| details.flops.iter().map(line).collect_view())
    };
    let time = move || {
        let line = |line: &String| view! { <li>{line.clone()}</li> };
        details.with(|details| details.time.iter().map(line).collect_view())
    };
    let hidden_count = move || details.with(|details| details.hidden_ops);
    view! {
        <h4>"FLOPs"</h4>
        <dl class="formulas">{flops}</dl>
        {move || more(hidden_count(), "ops")}
        <h4>"Time"</h4>
        <ul class="formulas">{time}</ul>
    }
}

/// A line that says how many are not listed.
fn more(count: usize, what: &'static str) -> Option<impl IntoView> {
    (count > 0).then(
        || view! { <p class="quiet">{format!("and {} more {what}", format_count(count))}</p> },
    )
}
