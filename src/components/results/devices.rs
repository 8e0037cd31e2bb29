//! The program on every device, for the *Compare* tab.

use crate::app::jobs::Job;
use crate::app::queries::OnDevices;
use crate::app::state::Page;
use crate::components::keyed_rows::row_at;
use crate::components::work_line::WorkLine;
use fuseline_core::device;
use fuseline_view::present::on_devices::DeviceRow;
use leptos::prelude::*;
use std::sync::Arc;

/// A row for each device, the chosen one first. A click chooses the device for the page.
#[component]
pub fn DeviceTable() -> impl IntoView {
    let page = Page::of_context();
    // Also of a small program the worker analyses it on every device, not an event of a slider.
    let job = Memo::new(move |_| page.shown.with(|shown| Job::new(OnDevices, shown)));
    let answer = Memo::new(move |_| job.with(|job| page.worker.answer::<OnDevices>(job)));
    // The last rows stay until there are new ones.
    let rows = Memo::new(move |last: Option<&Vec<DeviceRow>>| match answer.get() {
        Some(rows) => Arc::unwrap_or_clone(rows),
        None => last.cloned().unwrap_or_default(),
    });
    let beside = move || {
        rows.with(|rows| {
            let first = rows.first().map_or("", |row| row.name.as_str());
            format!("than {first}")
        })
    };
    view! {
        <div class="table-scroll" role="group" aria-label="Table of GPUs" tabindex="0">
            <table class="kernels compared on-devices row-lines">
                <thead>
                    <tr>
                        <th scope="col" class="is-unlined">"GPU"</th>
                        <th scope="col" class="number is-unlined">"kernels"</th>
                        <th scope="col" class="number is-unlined">"bytes"</th>
                        <th scope="col" class="number is-unlined">"predicted time"</th>
                        <th scope="col" class="number is-unlined">"lower bound"</th>
                        <th scope="col" class="is-unlined">{beside}</th>
                    </tr>
                </thead>
                <tbody>
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| row.id.clone()
                        children=move |index, row| view! { <Row row=row_at(rows, index, row) /> }
                    />
                </tbody>
            </table>
        </div>
        <Show when=move || answer.with(Option::is_none)>
            <WorkLine />
        </Show>
    }
}

/// A device with its figures.
#[component]
fn Row(
    /// The text of the row.
    row: Memo<DeviceRow>,
) -> impl IntoView {
    let page = Page::of_context();
    let id = row.with_untracked(|row| row.id.clone());
    let own = id.clone();
    let is_chosen = Memo::new(move |_| page.analysis.with(|a| a.options.device.id == own));
    let choose = move |_| {
        if let Some(known) = device(&id) {
            page.choose(|choices| choices.device.clone_from(known));
        }
    };
    let text = move |part: fn(&DeviceRow) -> &String| move || row.with(|row| part(row).clone());
    let is_too_large = move || row.with(|row| row.is_too_large);
    view! {
        <tr class="policy-row" class:is-selected=is_chosen on:click=choose>
            <td>
                // Its click bubbles to the row. The button makes the row reachable by keyboard.
                <button type="button" aria-pressed=move || is_chosen.get().to_string()>
                    {text(|row| &row.name)}
                </button>
                <Show when=is_too_large>
                    <small class="is-warning">" does not fit"</small>
                </Show>
            </td>
            <td class="number" data-label="kernels">{text(|row| &row.kernels)}</td>
            <td class="number" data-label="bytes">{text(|row| &row.bytes)}</td>
            <td class="number" data-label="predicted">
                {move || row.with(|row| row.predicted.clone()).unwrap_or_else(|| "–".to_owned())}
            </td>
            <td class="number" data-label="lower bound">{text(|row| &row.lower_bound)}</td>
            <td>{text(|row| &row.compared)}</td>
        </tr>
    }
}
