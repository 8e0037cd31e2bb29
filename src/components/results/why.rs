//! The *Why not* tab: the reason and the price of each edge that is not fused, and an answer for any two ops.

use super::op_picker::OpPicker;
use crate::app::state::{Page, Selection};
use crate::browser;
use crate::components::keyed_rows::row_at;
use crate::components::sentence::sentence;
use crate::components::show_more::ShowMore;
use crate::components::work_line::WorkLine;
use crate::core::analysis::why::PricedEdge;
use crate::core::{IdVec, OpId};
use crate::present::why::{CrossingRow, answer, crossing_rows};
use leptos::html;
use leptos::prelude::*;

/// Rows that are listed at first, and by how many a button adds more.
const PAGE_ROWS: usize = 100;

/// The op that writes a tensor, and an op that reads it.
type EdgeOps = (OpId, OpId);

/// The content of the tab.
#[component]
pub fn WhyPanel() -> impl IntoView {
    let page = Page::of_context();
    let max_rows = RwSignal::new(PAGE_ROWS);
    let selected = Memo::new(move |_| match page.selection.get() {
        Selection::Edge { producer, consumer } => Some((producer, consumer)),
        _ => None,
    });
    // Always lists the row of the selected edge.
    let known_rows = Memo::new(move |_| {
        let crossings = page.crossings.get()?;
        let place = selected.get().and_then(|edge| {
            (crossings.iter()).position(|crossing| (crossing.producer, crossing.consumer) == edge)
        });
        let max_rows = max_rows.get();
        let mut shown: Vec<PricedEdge> = crossings.iter().take(max_rows).copied().collect();
        let further = place.filter(|&place| place >= max_rows);
        shown.extend(further.and_then(|place| crossings.get(place)));
        page.why(|graph, why| crossing_rows(graph, why, &shown))
    });
    let rows = Memo::new(move |_| known_rows.get().unwrap_or_default());
    let row_count = move || rows.with(Vec::len);
    let crossing_count = move || {
        page.crossings
            .with(|known| known.as_ref().map_or(0, |edges| edges.len()))
    };
    let is_empty = move || {
        page.crossings
            .with(|known| known.as_ref().is_some_and(|edges| edges.is_empty()))
    };
    let is_selected = Selector::new(move || selected.get());
    view! {
        <div>
            <Question />
            <div class="table-scroll" role="group" aria-label="Table of edges between kernels" tabindex="0">
                <table class="kernels edges">
                    <thead>
                        <tr>
                            <th scope="col">"edge between kernels"</th>
                            <th scope="col" class="number" title="bytes that running the two kernels as one would save">"bytes to save"</th>
                            <th scope="col" class="number" title="predicted time that running the two kernels as one would save">"time to save"</th>
                            <th scope="col">"why it is not fused"</th>
                        </tr>
                    </thead>
                    <tbody>
                        <ForEnumerate
                            each=move || rows.get()
                            key=|row| (row.producer, row.consumer)
                            children=move |place, row| {
                                let edge = (row.producer, row.consumer);
                                let is_selected = is_selected.clone();
                                let is_selected = Signal::derive(move || is_selected.selected(&Some(edge)));
                                view! { <Row edge row=row_at(rows, place, row) is_selected /> }
                            }
                        />
                        <Show when=is_empty>
                            <tr>
                                <td colspan="4" class="quiet">"No tensor goes from one kernel to another."</td>
                            </tr>
                        </Show>
                    </tbody>
                </table>
            </div>
            <Show when=move || known_rows.with(Option::is_none)>
                <WorkLine />
            </Show>
            <ShowMore max_rows step=PAGE_ROWS listed=row_count total=crossing_count />
        </div>
    }
}

/// An edge between two kernels. A click selects it in all views.
#[component]
fn Row(
    /// The two ops of the edge.
    edge: EdgeOps,
    /// The text of the row.
    row: Memo<CrossingRow>,
    /// Whether the edge is selected.
    is_selected: Signal<bool>,
) -> impl IntoView {
    let page = Page::of_context();
    let (producer, consumer) = edge;
    let text = move |part: fn(&CrossingRow) -> &String| move || row.with(|row| part(row).clone());
    let button = NodeRef::<html::Button>::new();
    Effect::new(move || {
        // An edge selected in the graph may be out of view here.
        if is_selected.get()
            && let Some(button) = button.get()
        {
            browser::reveal(&button);
        }
    });
    view! {
        <tr
            class="why-row"
            class:is-selected=is_selected
            on:click=move |_| page.toggle(Selection::Edge { producer, consumer })
        >
            <td>
                // Its click bubbles to the row. The button makes the row reachable by keyboard.
                <button
                    type="button"
                    class="link"
                    node_ref=button
                    aria-pressed=move || is_selected.get().to_string()
                >
                    {text(|row| &row.edge)}
                </button>
            </td>
            <td class="number">{text(|row| &row.saved_bytes)}</td>
            <td class="number">{text(|row| &row.saved_time)}</td>
            <td class="why-reason">{move || row.with(|row| sentence(&row.reason))}</td>
        </tr>
    }
}

/// Two lists of all ops, and why the two chosen ones are not fused.
#[component]
fn Question() -> impl IntoView {
    let page = Page::of_context();
    let names = Memo::new(move |_| {
        page.analysis.with(|analysis| {
            let ops = analysis.graph.ops.iter();
            ops.map(|op| op.name.clone()).collect::<IdVec<OpId, _>>()
        })
    });
    // Until the visitor chooses two ops, those of the most expensive edge.
    let default = Memo::new(move |_| {
        let ops = |crossing: &PricedEdge| (crossing.producer, crossing.consumer);
        let first = page
            .crossings
            .with(|crossings| crossings.as_ref()?.first().map(ops));
        first.unwrap_or((OpId::new(0), OpId::new(1)))
    });
    let asked = Memo::new(move |_| {
        let last = OpId::new(names.with(IdVec::len).saturating_sub(1));
        let (first, second) = page.asked.get().unwrap_or_else(|| default.get());
        (first.min(last), second.min(last))
    });
    let answer = Memo::new(move |_| {
        let (first, second) = asked.get();
        page.why(|graph, why| {
            let has_ops = !graph.ops.is_empty();
            has_ops.then(|| answer(graph, why, first, second))
        })
        .flatten()
    });
    let first = Memo::new(move |_| asked.get().0);
    let second = Memo::new(move |_| asked.get().1);
    view! {
        <div class="why-ask">
            <div class="why-pickers">
                <span>"Why is"</span>
                " "
                <OpPicker
                    label="one op"
                    names
                    chosen=first
                    choose=move |op: OpId| page.asked.set(Some((op, second.get_untracked())))
                />
                " "
                <span>"not with"</span>
                " "
                <OpPicker
                    label="another op"
                    names
                    chosen=second
                    choose=move |op: OpId| page.asked.set(Some((first.get_untracked(), op)))
                />
                <span>"?"</span>
            </div>
            <p role="status" aria-live="polite">
                {move || answer.with(|answer| answer.as_deref().map(sentence))}
            </p>
        </div>
    }
}
