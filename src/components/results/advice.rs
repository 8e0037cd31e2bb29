//! The *What to do* tab: what would save time, the most first.

use crate::app::queries::{Advice, FusionLimit};
use crate::app::state::{ExplanationOf, Page};
use crate::components::keyed_rows::row_at;
use crate::components::number::{Number, NumberTable};
use crate::components::sentence::sentence;
use crate::components::work_line::WorkLine;
use fuseline_view::present::advice::{AdviceRow, rows_note};
use fuseline_view::present::figure::advice_explanation;
use fuseline_view::present::saved::Saved;
use fuseline_view::present::saved::saved_time_title;
use leptos::prelude::*;
use std::sync::Arc;

/// The content of the tab.
#[component]
pub fn AdvicePanel() -> impl IntoView {
    let page = Page::of_context();
    let advice = Memo::new(move |_| page.ask(Advice));
    let limit = Memo::new(move |_| page.ask(FusionLimit).map(Arc::unwrap_or_clone));
    view! {
        <div class="advice-panel">
            <Show when=move || limit.with(|limit| limit.as_ref().is_some_and(|text| !text.is_empty()))>
                <p class="advice-limit">{move || limit.get()}</p>
            </Show>
            <AdviceTable advice />
            <Show when=move || advice.with(Option::is_none)>
                <WorkLine />
            </Show>
            <p class="quiet">{move || page.analysis.with(|analysis| rows_note(analysis))}</p>
        </div>
    }
}

#[component]
fn AdviceTable(
    /// What would save time; `None` until it is computed.
    advice: Memo<Option<Arc<Vec<AdviceRow>>>>,
) -> impl IntoView {
    let page = Page::of_context();
    let rows = Memo::new(move |_| advice.get().map(Arc::unwrap_or_clone).unwrap_or_default());
    let is_empty =
        move || advice.with(|advice| advice.as_ref().is_some_and(|rows| rows.is_empty()));
    let time_title = move || page.analysis.with(|analysis| saved_time_title(analysis).0);
    view! {
        <div class="table-scroll" role="group" aria-label="What would save time" tabindex="0">
            <NumberTable class="kernels advice row-lines">
                <thead>
                    <tr>
                        <th scope="col" class="is-unlined">"what to do"</th>
                        <th scope="col" class="number">{time_title}</th>
                        <th scope="col" class="number">"share of the time"</th>
                        <th scope="col" class="number">"memory traffic saved"</th>
                        <th scope="col"><span class="sr-only">"try it"</span></th>
                    </tr>
                </thead>
                <tbody>
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| row.advice
                        children=move |index, row| view! { <Row row=row_at(rows, index, row) /> }
                    />
                    <Show when=is_empty>
                        <tr>
                            <td colspan="5" class="quiet">
                                "No merge or option known here makes this more than 0.1 % faster."
                            </td>
                        </tr>
                    </Show>
                </tbody>
            </NumberTable>
        </div>
    }
}

#[component]
fn Row(
    /// The text of the row.
    row: Memo<AdviceRow>,
) -> impl IntoView {
    let page = Page::of_context();
    let number = move |saved: Saved| {
        let explanation = ExplanationOf::own(move || {
            page.shown
                .with(|shown| row.with(|row| advice_explanation(shown.analysis(), row, saved)))
        });
        view! { <Number explanation>{move || row.with(|row| row.saved(saved))}</Number> }
    };
    let follow = move |_| {
        page.keep_focus();
        page.follow(row.with_untracked(|row| row.advice));
    };
    view! {
        <tr>
            <td class="op-names">
                {move || row.with(|row| sentence(&row.action))}
                " "
                <small class="quiet">{move || row.with(|row| row.caveat.clone())}</small>
            </td>
            <td class="number"><strong>{number(Saved::Time)}</strong></td>
            <td class="number">{number(Saved::Share)}</td>
            <td class="number">{number(Saved::Bytes)}</td>
            <td><button type="button" on:click=follow>"Try it"</button></td>
        </tr>
    }
}
