//! The *Functions* view of the op list: what an op may call.

use crate::components::sentence::sentence;
use fuseline_core::model::functions::AttributeName;
use fuseline_view::present::functions::{FunctionRow, function_rows};
use leptos::prelude::*;

/// A row for each function with the typed text in its name or description.
#[component]
pub fn FunctionsPanel() -> impl IntoView {
    let wanted = RwSignal::new(String::new());
    let rows = Memo::new(move |_| function_rows(&wanted.read()));
    let status = move || {
        rows.with(Vec::is_empty)
            .then(|| format!("No function matches “{}”.", wanted.get()))
    };
    view! {
        <label class="functions-search">
            <span>"Search"</span>
            <input
                type="search"
                autocomplete="off"
                spellcheck="false"
                placeholder="softmax, mean, matmul…"
                on:input:target=move |event| wanted.set(event.target().value())
            />
        </label>
        <div class="table-scroll functions-table" role="group" aria-label="Table of functions" tabindex="0">
            <table class="kernels functions">
                <thead>
                    <tr>
                        <th scope="col">"call"</th>
                        <th scope="col">"what it computes"</th>
                        <th scope="col">"shape of the result"</th>
                        <th scope="col" title="a multiply-add counts as 2">"FLOPs"</th>
                        <th scope="col">"op type"</th>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || rows.get() key=|row| row.name let:row>
                        <Row row />
                    </For>
                </tbody>
            </table>
        </div>
        <p class="panel-note" role="status" aria-live="polite">{status}</p>
    }
}

#[component]
fn Row(row: FunctionRow) -> impl IntoView {
    let attribute = |attribute: &AttributeName| {
        view! {
            <li><code>{attribute.name()}</code>" "{sentence(&attribute.summary())}</li>
        }
    };
    let attributes = row.attributes.iter().map(attribute).collect_view();
    let has_attributes = !row.attributes.is_empty();
    view! {
        <tr>
            <th scope="row"><code>{row.signature}</code></th>
            <td>
                {sentence(row.summary)}
                {has_attributes.then(|| view! { <ul class="functions-attributes">{attributes}</ul> })}
            </td>
            <td>{sentence(row.shape)}</td>
            <td>
                {row.flops}
                <span class="bound">{row.flops_source}</span>
            </td>
            <td>{row.op_type}</td>
        </tr>
    }
}
