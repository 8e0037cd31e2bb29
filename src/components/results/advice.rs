//! The *What to do* tab: what would save time, the most first.

use crate::app::state::Page;
use crate::components::keyed_rows::row_at;
use crate::components::sentence::sentence;
use crate::components::work_line::WorkLine;
use crate::present::advice::AdviceRow;
use crate::present::why::saved_time_title;
use leptos::prelude::*;

/// The content of the tab.
#[component]
pub fn AdvicePanel() -> impl IntoView {
    let page = Page::of_context();
    let advice = Memo::new(move |_| page.advice());
    let rows = Memo::new(move |_| advice.get().unwrap_or_default());
    let is_empty = move || advice.with(|advice| advice.as_ref().is_some_and(Vec::is_empty));
    let time_title = move || page.analysis.with(|analysis| saved_time_title(analysis).0);
    view! {
        <div class="advice-panel">
            <div class="table-scroll" role="group" aria-label="What would save time" tabindex="0">
                <table class="kernels advice row-lines">
                    <thead>
                        <tr>
                            <th scope="col">"what to do"</th>
                            <th scope="col" class="number">{time_title}</th>
                            <th scope="col" class="number">"of the program"</th>
                            <th scope="col" class="number">"bytes to save"</th>
                            <th scope="col"><span class="sr-only">"try it"</span></th>
                        </tr>
                    </thead>
                    <tbody>
                        <ForEnumerate
                            each=move || rows.get()
                            key=|row| row.advice
                            children=move |place, row| view! { <Row row=row_at(rows, place, row) /> }
                        />
                        <Show when=is_empty>
                            <tr>
                                <td colspan="5" class="quiet">
                                    "Nothing that this page knows would save a thousandth of the time."
                                </td>
                            </tr>
                        </Show>
                    </tbody>
                </table>
            </div>
            <Show when=move || advice.with(Option::is_none)>
                <WorkLine />
            </Show>
            <p class="quiet">"Each line alone, on the chosen device: what several save does not add up."</p>
        </div>
    }
}

#[component]
fn Row(
    /// The text of the row.
    row: Memo<AdviceRow>,
) -> impl IntoView {
    let page = Page::of_context();
    let text = move |part: fn(&AdviceRow) -> &String| move || row.with(|row| part(row).clone());
    let follow = move |_| {
        page.keep_focus();
        page.follow(row.with_untracked(|row| row.advice));
    };
    view! {
        <tr>
            <td class="op-names">
                {move || row.with(|row| sentence(&row.action))}
                " "
                <small class="quiet">{text(|row| &row.caveat)}</small>
            </td>
            <td class="number"><strong>{text(|row| &row.saved_time)}</strong></td>
            <td class="number">{text(|row| &row.share)}</td>
            <td class="number">{text(|row| &row.saved_bytes)}</td>
            <td><button type="button" on:click=follow>"Try it"</button></td>
        </tr>
    }
}
