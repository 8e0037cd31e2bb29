//! The *Why not* tab: the reason and the price of each edge that is not fused, and an answer for
//! any two ops.

use super::op_picker::OpPicker;
use crate::app::analysed::AnalysedText;
use crate::app::queries::{Edges, WhySeparate};
use crate::app::state::{ExplanationOf, Page, Selection, shared_memo};
use crate::components::keyed_rows::row_at;
use crate::components::number::{Number, NumberTable};
use crate::components::sentence::sentence;
use crate::components::show_more::ShowMore;
use crate::components::sort_header::{Direction, SortHeader};
use crate::components::verdict::VerdictWords;
use crate::components::work_line::WorkLine;
use fuseline_browser as browser;
use fuseline_core::{IdVec, OpId};
use fuseline_view::present::saved::Saved;
use fuseline_view::present::saved::saved_time_title;
use fuseline_view::present::why::{EdgeOps, EdgeOrder, EdgeRow, EdgeRows};
use leptos::either::Either;
use leptos::html;
use leptos::prelude::*;
use std::sync::Arc;

/// Rows that are listed at first, and by how many a button adds more.
const PAGE_ROWS: usize = 100;

/// The two ops that are chosen where no edge is listed.
const FIRST_OPS: EdgeOps = (OpId::new(0), OpId::new(1));

struct Listed {
    of: Arc<AnalysedText>,
    order: EdgeOrder,
    max_rows: usize,
    edges: Arc<EdgeRows>,
    /// Whether the worker still computes them.
    is_awaited: bool,
}

impl Listed {
    fn has(&self, edge: EdgeOps) -> bool {
        self.edges.rows.iter().any(|row| row.ops == edge)
    }
}

/// The content of the tab.
#[component]
pub fn WhyPanel(
    /// The order that the visitor chose. Without a choice what counts most under the objective of
    /// the policy comes first.
    chosen_order: RwSignal<Option<EdgeOrder>>,
) -> impl IntoView {
    let page = Page::of_context();
    let order = Memo::new(move |_| {
        let of_objective = || {
            page.analysis
                .with(|analysis| EdgeOrder::of(analysis.options.fusion.objective))
        };
        chosen_order.get().unwrap_or_else(of_objective)
    });
    let max_rows = RwSignal::new(PAGE_ROWS);
    let selected = Memo::new(move |_| match page.selection.get() {
        Selection::Edge { producer, consumer } => Some((producer, consumer)),
        _ => None,
    });
    let listed = shared_memo(move |last: Option<&Arc<Listed>>| {
        let (of, order) = (page.shown.get(), order.get());
        let (max_rows, selected) = (max_rows.get(), selected.get());
        let last = last.filter(|last| Arc::ptr_eq(&last.of, &of) && last.order == order);
        let has_all = |last: &&Arc<Listed>| {
            !last.is_awaited
                && last.max_rows == max_rows
                && selected.is_none_or(|edge| last.has(edge))
        };
        if let Some(last) = last.filter(has_all) {
            return last.clone();
        }
        let known = page.ask(Edges {
            order,
            max_rows,
            selected,
        });
        let is_awaited = known.is_none();
        // While the worker computes further rows, those that are listed stay.
        let edges = known.or_else(|| Some(last?.edges.clone()));
        Arc::new(Listed {
            of,
            order,
            max_rows,
            edges: edges.unwrap_or_default(),
            is_awaited,
        })
    });
    let row_count = move || listed.with(|listed| listed.edges.rows.len());
    let edge_count = move || listed.with(|listed| listed.edges.total);
    // Until the visitor chooses two ops, those of the first edge that is listed.
    let first_listed = Memo::new(move |_| {
        listed.with(|listed| {
            let first = listed.edges.rows.first().map(|row| row.ops);
            first.or_else(|| (!listed.is_awaited).then_some(FIRST_OPS))
        })
    });
    view! {
        <div>
            <Question first_listed />
            <p class="quiet why-note">"Each row estimates what one kernel in place of the two would save, even where the reason rules that kernel out, unless other ops must run between them. The savings of rows that share a kernel do not add up. "<em>"What to do"</em>" lists possible changes only and analyzes the whole program for each."</p>
            <EdgeTable listed selected order chosen_order />
            <Show when=move || listed.with(|listed| listed.is_awaited)>
                <WorkLine />
            </Show>
            <ShowMore max_rows step=PAGE_ROWS listed=row_count total=edge_count />
        </div>
    }
}

/// The edges that are listed.
#[component]
fn EdgeTable(
    listed: Memo<Arc<Listed>>,
    selected: Memo<Option<EdgeOps>>,
    /// The order of the rows.
    order: Memo<EdgeOrder>,
    /// The order that the visitor chose.
    chosen_order: RwSignal<Option<EdgeOrder>>,
) -> impl IntoView {
    let page = Page::of_context();
    let rows = Memo::new(move |_| listed.with(|listed| listed.edges.rows.clone()));
    let is_empty = move || listed.with(|listed| listed.edges.total == 0 && !listed.is_awaited);
    let is_selected = Selector::new(move || selected.get());
    let saved_time = move || page.analysis.with(|analysis| saved_time_title(analysis));
    let is_in = move |other| Signal::derive(move || order.get() == other);
    let choose = move |order| chosen_order.set(Some(order));
    view! {
        <div class="table-scroll" role="group" aria-label="Table of edges between kernels" tabindex="0">
            <NumberTable class="kernels edges row-lines">
                <thead>
                    <tr>
                        <SortHeader
                            direction=Direction::Ascending
                            is_sorted=is_in(EdgeOrder::Name)
                            sort=move || choose(EdgeOrder::Name)
                        >
                            "edge between kernels"
                        </SortHeader>
                        <SortHeader
                            direction=Direction::Descending
                            is_sorted=is_in(EdgeOrder::Bytes)
                            sort=move || choose(EdgeOrder::Bytes)
                            is_number=true
                            title="what one kernel in place of the two would save, even if no such kernel is legal"
                        >
                            "memory traffic saved"
                        </SortHeader>
                        <SortHeader
                            direction=Direction::Descending
                            is_sorted=is_in(EdgeOrder::Time)
                            sort=move || choose(EdgeOrder::Time)
                            is_number=true
                            title=move || saved_time().1
                        >
                            {move || saved_time().0}
                        </SortHeader>
                        <th scope="col" class="is-unlined">"why it is not fused"</th>
                    </tr>
                </thead>
                <tbody>
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| row.ops
                        children=move |index, row| {
                            let edge = row.ops;
                            let is_selected = is_selected.clone();
                            let is_selected = Signal::derive(move || is_selected.selected(&Some(edge)));
                            view! { <Row edge row=row_at(rows, index, row) listed is_selected /> }
                        }
                    />
                    <Show when=is_empty>
                        <tr>
                            <td colspan="4" class="quiet">"No tensor goes from one kernel to another."</td>
                        </tr>
                    </Show>
                </tbody>
            </NumberTable>
        </div>
    }
}

/// An edge between two kernels. A click selects it in all views.
#[component]
fn Row(
    /// The two ops of the edge.
    edge: EdgeOps,
    /// The text of the row.
    row: Memo<EdgeRow>,
    listed: Memo<Arc<Listed>>,
    /// Whether the edge is selected.
    is_selected: Signal<bool>,
) -> impl IntoView {
    let page = Page::of_context();
    let (producer, consumer) = edge;
    let is_possible = Memo::new(move |_| row.with(|row| row.is_possible));
    let number = move |saved: Saved| {
        let text = move || row.with(|row| row.saved(saved));
        if !is_possible.get() {
            return Either::Left(text);
        }
        let explanation = ExplanationOf::own(move || {
            listed.with(|listed| row.with(|row| row.explanation(listed.of.analysis(), saved)))
        });
        Either::Right(view! { <Number explanation>{text}</Number> })
    };
    let notes = move || {
        let notes = row.with(|row| row.notes.clone()).into_iter();
        let lines = notes.map(|note| view! { <span class="quiet">{sentence(&note)}</span> });
        lines.collect_view()
    };
    let button = NodeRef::<html::Button>::new();
    Effect::new(move || {
        // An edge of a link may be out of view. One that was clicked has its card where it was
        // clicked.
        if is_selected.get()
            && page.inspected() == Selection::Nothing
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
                    {move || row.with(|row| row.names.clone())}
                </button>
            </td>
            <td class="number">{move || number(Saved::Bytes)}</td>
            <td class="number">{move || number(Saved::Time)}</td>
            <td class="why-reason">{move || row.with(|row| sentence(&row.reason))} " " {notes}</td>
        </tr>
    }
}

/// Two lists of all ops, and why the two chosen ones are not fused.
#[component]
fn Question(
    /// The ops that are explained until the visitor chooses two.
    first_listed: Memo<Option<EdgeOps>>,
) -> impl IntoView {
    let page = Page::of_context();
    let names = Memo::new(move |_| {
        page.analysis.with(|analysis| {
            let ops = analysis.graph.ops.iter();
            ops.map(|op| op.name.clone()).collect::<IdVec<OpId, _>>()
        })
    });
    let chosen = Memo::new(move |_| {
        let asked = page.questions.asked.with(|asked| {
            let asked = asked.as_ref()?;
            page.analysis.with(|analysis| asked.ops(analysis))
        });
        asked.or_else(|| first_listed.get())
    });
    let asked = Memo::new(move |_| {
        let last = OpId::new(names.with(IdVec::len).saturating_sub(1));
        let (first, second) = chosen.get().unwrap_or(FIRST_OPS);
        (first.min(last), second.min(last))
    });
    let verdict = Memo::new(move |_| {
        chosen.get()?;
        let (first, second) = asked.get();
        page.ask(WhySeparate(first, second))
    });
    let ops = Memo::new(move |_| Some(asked.get()));
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
                    choose=move |op: OpId| page.ask_about((op, second.get_untracked()))
                />
                " "
                <span>"not fused with"</span>
                " "
                <OpPicker
                    label="another op"
                    names
                    chosen=second
                    choose=move |op: OpId| page.ask_about((first.get_untracked(), op))
                />
                <span>"?"</span>
            </div>
            <p role="status" aria-live="polite">
                <VerdictWords ops verdict=verdict />
            </p>
        </div>
    }
}
