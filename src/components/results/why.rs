//! Why edges are not fused: a reason and a price for each, and an answer for any two ops.

use crate::app::state::{Page, Selection};
use crate::browser;
use crate::components::keyed_rows::row_at;
use crate::components::sentence::sentence;
use crate::core::{IdVec, OpId};
use crate::present::why::{Crossing, CrossingRow, answer, crossing_rows};
use leptos::html;
use leptos::prelude::*;

/// Rows that are shown at once; a button shows more.
const PAGE_ROWS: usize = 100;

/// The op that writes a tensor, and one that reads it.
type Ends = (OpId, OpId);

/// The tab.
#[component]
pub fn WhyPanel() -> impl IntoView {
    let page = Page::of_context();
    let max_rows = RwSignal::new(PAGE_ROWS);
    let selected = Memo::new(move |_| match page.selection.get() {
        Selection::Edge { producer, consumer } => Some((producer, consumer)),
        _ => None,
    });
    // The row of the selected edge is always among them.
    let rows = Memo::new(move |_| {
        let crossings = page.crossings.get();
        let place = selected.get().and_then(|ends| {
            (crossings.iter()).position(|crossing| (crossing.producer, crossing.consumer) == ends)
        });
        let count = max_rows.get().max(place.map_or(0, |place| place + 1));
        let shown = crossings.get(..count).unwrap_or(&crossings);
        page.analysis
            .with(|analysis| crossing_rows(&analysis.graph, shown))
    });
    let row_count = move || rows.with(Vec::len);
    let crossing_count = move || page.crossings.with(|crossings| crossings.len());
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
                                let ends = (row.producer, row.consumer);
                                let is_selected = is_selected.clone();
                                let is_selected = Signal::derive(move || is_selected.selected(&Some(ends)));
                                view! { <Row ends row=row_at(rows, place, row) is_selected /> }
                            }
                        />
                        <Show when=move || row_count() == 0>
                            <tr>
                                <td colspan="4" class="quiet">"No tensor goes from one kernel to another."</td>
                            </tr>
                        </Show>
                    </tbody>
                </table>
            </div>
            <Show when=move || row_count() < crossing_count()>
                <button
                    type="button"
                    class="more"
                    on:click=move |_| max_rows.update(|rows| *rows += PAGE_ROWS)
                >
                    {move || format!("Show more ({} of {})", row_count(), crossing_count())}
                </button>
            </Show>
        </div>
    }
}

/// An edge between two kernels; choosing it selects its two ops everywhere.
#[component]
fn Row(
    /// The ends of the edge.
    ends: Ends,
    /// What the row says.
    row: Memo<CrossingRow>,
    /// The edge is selected.
    is_selected: Signal<bool>,
) -> impl IntoView {
    let page = Page::of_context();
    let (producer, consumer) = ends;
    let text = move |part: fn(&CrossingRow) -> &String| move || row.with(|row| part(row).clone());
    let button = NodeRef::<html::Button>::new();
    Effect::new(move || {
        // It may have been selected in the graph.
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
                // The click reaches the row; the button makes the row reachable by keyboard.
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

/// Two lists of all ops, and why the chosen ones are not fused.
#[component]
fn Question() -> impl IntoView {
    let page = Page::of_context();
    let names = Memo::new(move |_| {
        page.analysis.with(|analysis| {
            let ops = analysis.graph.ops.iter();
            ops.map(|op| op.name.clone()).collect::<IdVec<OpId, _>>()
        })
    });
    // Before anybody asks it is about the dearest edge.
    let dearest = Memo::new(move |_| {
        let ends = |crossing: &Crossing| (crossing.producer, crossing.consumer);
        let first = page.crossings.with(|crossings| crossings.first().map(ends));
        first.unwrap_or((OpId::new(0), OpId::new(1)))
    });
    let asked = Memo::new(move |_| {
        let last = OpId::new(names.with(IdVec::len).saturating_sub(1));
        let (first, second) = page.asked.get().unwrap_or_else(|| dearest.get());
        (first.min(last), second.min(last))
    });
    let answer = Memo::new(move |_| {
        let (first, second) = asked.get();
        page.analysis.with(|analysis| {
            let has_ops = !analysis.graph.ops.is_empty();
            has_ops.then(|| answer(analysis, first, second))
        })
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
                    on_choose=move |op| page.asked.set(Some((op, second.get_untracked())))
                />
                " "
                <span>"not with"</span>
                " "
                <OpPicker
                    label="another op"
                    names
                    chosen=second
                    on_choose=move |op| page.asked.set(Some((first.get_untracked(), op)))
                />
                <span>"?"</span>
            </div>
            <p role="status" aria-live="polite">
                {move || answer.with(|answer| answer.as_deref().map(sentence))}
            </p>
        </div>
    }
}

/// A list of all ops, of which one is chosen.
#[component]
fn OpPicker(
    /// The name of the list.
    label: &'static str,
    /// The names of the ops, by their ids.
    names: Memo<IdVec<OpId, String>>,
    /// The op that is chosen.
    chosen: Memo<OpId>,
    /// Called with the op that somebody chooses.
    #[prop(into)]
    on_choose: Callback<OpId>,
) -> impl IntoView {
    let options = move || {
        let chosen = chosen.get();
        let option = |(op, name): (OpId, &String)| {
            view! { <option value=op.to_string() prop:selected=op == chosen>{name.clone()}</option> }
        };
        names.with(|names| names.iter_enumerated().map(option).collect_view())
    };
    view! {
        <select
            aria-label=label
            on:change:target=move |event| {
                if let Ok(op) = event.target().value().parse() {
                    on_choose.run(op);
                }
            }
        >
            {options}
        </select>
    }
}
