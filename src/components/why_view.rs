//! Why edges are not fused: a reason and a price for each, and an answer for any two ops.

use crate::app::state::{Page, Selection, SetIfChanged, Tab};
use crate::browser::{self, Place, listen, set_flag, set_text};
use crate::core::OpId;
use crate::core::analysis::why::Why;
use crate::views::why::{Pair, answer, crossings, edge_id, pickers, rows};
use leptos::prelude::*;

/// Rows that are shown at once; a button shows more.
const PAGE_ROWS: usize = 100;
const MORE: &str = "why-more";

/// The tab.
#[component]
pub fn WhyView(
    /// The page whose edges are explained.
    page: Page,
    /// The two ops that a visitor asks about. Until then the question is about the dearest edge.
    asked: RwSignal<Option<Pair>>,
) -> impl IntoView {
    let limit = RwSignal::new(PAGE_ROWS);
    let dearest = RwSignal::new((OpId::new(0), OpId::new(1)));
    let mut table = Place::new("why-rows");
    let mut last = None;
    Effect::new(move || {
        let analysis = page.analysis.get();
        let all = crossings(
            Why::new(&analysis).edges(),
            analysis.options.fusion.objective,
        );
        let selected = selected_pair(page);
        let place = selected.and_then(|pair| all.iter().position(|crossing| crossing.ops == pair));
        let shown = all.len().min(limit.get().max(place.map_or(0, |p| p + 1)));
        table.show(rows(
            &analysis.graph,
            all.get(..shown).unwrap_or_default(),
            selected,
        ));
        set_flag(MORE, "hidden", shown == all.len());
        let (shown, count) = (shown.to_string(), all.len().to_string());
        set_text(MORE, &["Show more (", &shown, " of ", &count, ")"].concat());
        if let Some(pair) = selected.filter(|_| selected != last && place.is_some()) {
            asked.set_if_changed(Some(pair));
            browser::next_frame(move || browser::reveal(&edge_id(pair)));
        }
        last = selected;
        if let Some(first) = all.first() {
            dearest.set_if_changed(first.ops);
        }
    });
    let (mut choices, mut said) = (Place::new("why-pickers"), Place::new("why-answer"));
    Effect::new(move || {
        let analysis = page.analysis.get();
        let end = OpId::new(analysis.graph.ops.len().saturating_sub(1));
        let (first, second) = asked.get().unwrap_or_else(|| dearest.get());
        let pair = (first.min(end), second.min(end));
        choices.show(pickers(&analysis.graph, pair));
        if !analysis.graph.ops.is_empty() {
            let verdict = Why::new(&analysis).ask(pair.0, pair.1);
            said.show(answer(&analysis, pair, &verdict));
        }
    });
    listen("why", &["click", "change"], move |event| {
        let op = |name| {
            browser::closest_attribute(event, name)?
                .parse::<OpId>()
                .ok()
        };
        if event.type_() == "change" {
            let chosen = browser::input_value(event).parse::<OpId>();
            let is_first = browser::closest_id(event, "select").as_deref() == Some("why-first");
            if let Ok(op) = chosen {
                let before = asked.get_untracked();
                let mut pair = before.unwrap_or_else(|| dearest.get_untracked());
                *(if is_first { &mut pair.0 } else { &mut pair.1 }) = op;
                asked.set(Some(pair));
            }
        } else if browser::closest_id(event, "button").as_deref() == Some(MORE) {
            limit.update(|limit| *limit += PAGE_ROWS);
        } else if let (Some(producer), Some(consumer)) = (op("data-producer"), op("data-consumer"))
        {
            page.toggle(Selection::Edge { producer, consumer });
        }
    });
    view! {
        <div id="why">
            <div class="why-ask">
                <div class="why-pickers" id="why-pickers"></div>
                <p id="why-answer" role="status" aria-live="polite"></p>
            </div>
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
                    <tbody id="why-rows"></tbody>
                </table>
            </div>
            <button type="button" class="more" id=MORE hidden></button>
        </div>
    }
}

/// Opens the tab at the tensor that an op writes: at its first reader in another kernel.
pub(super) fn ask_why(page: Page, producer: OpId) {
    let reader = page.analysis.with_untracked(|analysis| {
        let partition = &analysis.partition;
        let mut readers = analysis.graph.successors.get(producer)?.iter().copied();
        readers.find(|&reader| {
            let kernel = partition.kernel_of.get(reader);
            kernel.is_some_and(|&kernel| !partition.computes(kernel, producer))
        })
    });
    let Some(consumer) = reader else {
        return page.selection.set(Selection::Op(producer));
    };
    page.tab.set_if_changed(Tab::Why);
    page.selection.set(Selection::Edge { producer, consumer });
}

fn selected_pair(page: Page) -> Option<Pair> {
    match page.selection.get() {
        Selection::Edge { producer, consumer } => Some((producer, consumer)),
        _ => None,
    }
}
