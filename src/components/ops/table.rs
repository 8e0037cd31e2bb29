//! The op list as a table of form controls. Each control edits the text.

use super::row::Row;
use super::table_state::{PAGE_ROWS, SUGGESTIONS_ID, TableState, rows};
use super::tensors::Tensors;
use crate::app::state::{OpsView, Page};
use crate::components::keyed_rows::row_at;
use crate::components::show_more::ShowMore;
use fuseline_core::Program;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_view::present::op_rows::op_rows;
use leptos::prelude::*;

/// Number of tensors that are suggested as inputs.
const MAX_SUGGESTIONS: usize = 200;

/// A row for each op that could be parsed.
#[component]
pub fn OpsTable() -> impl IntoView {
    let page = Page::of_context();
    let max_rows = RwSignal::new(PAGE_ROWS);
    let rows = rows(page, max_rows, op_rows);
    let table = TableState::new(page, rows, max_rows);
    let row_count = move || rows.with(Vec::len);
    let op_count = move || page.parsed.with(|parsed| parsed.program.ops.len());
    view! {
        <div class="op-rows">
            <Tensors />
            <table class="op-table" role="table" aria-label="Operations as a table">
                <thead>
                    <tr role="row" class="op-head op-row">
                        <th role="columnheader" scope="col" class="op-kernel"><span class="sr-only">"kernel"</span></th>
                        <th role="columnheader" scope="col" class="op-name">"name"</th>
                        <th role="columnheader" scope="col" class="op-callee">"function"</th>
                        <th role="columnheader" scope="col" class="op-actions"><span class="sr-only">"actions"</span></th>
                        <th role="columnheader" scope="col" class="op-inputs">"inputs"</th>
                        <th role="columnheader" scope="col" class="op-type">"type and shape"</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| row.id
                        children=move |index, row| {
                            view! { <Row table index row=row_at(rows, index, row) /> }
                        }
                    />
                </tbody>
            </table>
            <datalist id=SUGGESTIONS_ID>{move || Some(suggestions(&table.typed_inputs.get()?, &page.parsed.get().program))}</datalist>
            <div class="op-table-end">
                <ShowMore max_rows step=PAGE_ROWS listed=row_count total=op_count />
                <button type="button" node_ref=table.add_button on:click=move |_| table.add(None)>
                    "Add an op"
                </button>
            </div>
            <Show when=move || page.parsed.with(|parsed| has_errors(&parsed.diagnostics))>
                <p class="quiet op-table-note">
                    "Some lines cannot be read. They are not in this table and stay in the "
                    <button
                        type="button"
                        class="link"
                        on:click=move |_| page.show_ops(OpsView::Text)
                    >
                        "text"
                    </button>
                    "."
                </p>
            </Show>
        </div>
    }
}

/// An option for each tensor: the inputs typed so far, with that tensor as the last one.
fn suggestions(typed: &str, program: &Program) -> impl IntoView + use<> {
    let before = typed
        .rsplit_once(',')
        .map_or_else(String::new, |(before, _)| format!("{before}, "));
    let declared = program.declarations.iter().map(|d| &d.name.text);
    let computed = program.ops.iter().map(|op| &op.output.text);
    let names = declared.chain(computed).take(MAX_SUGGESTIONS);
    let option = |name| view! { <option value=format!("{before}{name}")></option> };
    names.map(option).collect_view()
}
