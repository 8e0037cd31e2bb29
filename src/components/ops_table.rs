//! The op list as a table with form controls. Every control edits the text.

use super::diagnostics::severity_word;
use super::op_row::OpRow;
use crate::core::diagnostic::{Diagnostic, Severity, has_errors};
use crate::core::edit::add_op;
use crate::core::op::shape_text;
use crate::core::{OpId, Program};
use crate::history::Origin;
use crate::platform;
use crate::state::{OpsView, Page};
use leptos::prelude::*;
use std::sync::Arc;

/// Rows that are shown at once; a button shows more.
const PAGE_ROWS: usize = 60;
/// Tensors that are suggested.
const SUGGESTED: usize = 200;
/// Id of the list of suggestions.
pub const SUGGESTIONS_ID: &str = "tensor-suggestions";

/// What a row shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowData {
    /// The op's name.
    pub name: String,
    /// What it calls.
    pub callee: String,
    /// The tensors that it reads, joined by commas.
    pub inputs: String,
    /// Whether a name holds a comma, so that the joined names cannot be taken apart again.
    pub has_comma: bool,
    /// Its annotation as written.
    pub annotation: String,
    /// Its shape, when it could be resolved.
    pub shape: String,
    /// The op of the analysis.
    pub op: Option<OpId>,
    /// What is wrong with it or assumed about it.
    pub problems: Vec<(Severity, String)>,
}

/// One row for each op that could be read.
#[component]
pub fn OpsTable(
    /// The page whose text is edited.
    page: Page,
) -> impl IntoView {
    let limit = RwSignal::new(PAGE_ROWS);
    let count = Memo::new(move |_| page.parsed.with(|p| p.program.ops.len()));
    let shown = Memo::new(move |_| count.get().min(limit.get()));
    let rows = Memo::new(move |_| Arc::new(rows(page, shown.get())));
    let unreadable = Memo::new(move |_| page.parsed.with(|p| has_errors(&p.diagnostics)));
    let typed = RwSignal::new(String::new());
    let suggestions = Memo::new(move |_| suggestions(page, &typed.get()));
    let add = move |_| {
        page.change(Origin::Single, |text, program| add_op(text, program, None));
        let added = count.get_untracked().saturating_sub(1);
        limit.update(|l| *l = (*l).max(added + 1));
        request_animation_frame(move || {
            platform::focus(&format!("op-{added}-name"));
        });
    };
    view! {
        <div class="op-rows">
            <table class="op-table" role="table" aria-label="Operations as a table">
                <thead class="sr-only">
                    <tr role="row">
                        <th role="columnheader" scope="col">"kernel"</th>
                        <th role="columnheader" scope="col">"name"</th>
                        <th role="columnheader" scope="col">"function"</th>
                        <th role="columnheader" scope="col">"actions"</th>
                        <th role="columnheader" scope="col">"inputs"</th>
                        <th role="columnheader" scope="col">"type and shape"</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">
                    <For each=move || 0..shown.get() key=|place| *place let(place)>
                        <OpRow
                            page
                            place
                            row=Memo::new(move |_| rows.with(|r| r.get(place).cloned()).unwrap_or_default())
                            typed=Callback::new(move |text| typed.set(text))
                        />
                    </For>
                </tbody>
            </table>
            <datalist id=SUGGESTIONS_ID>
                <For each=move || suggestions.get() key=Clone::clone let(name)>
                    <option value=name></option>
                </For>
            </datalist>
            <div class="op-table-end">
                <Show when=move || { shown.get() < count.get() }>
                    <button type="button" on:click=move |_| limit.update(|l| *l += PAGE_ROWS)>
                        {move || format!("Show more ({} of {})", shown.get(), count.get())}
                    </button>
                </Show>
                <button type="button" id="op-add" on:click=add>"Add an op"</button>
            </div>
            <Show when=move || unreadable.get()>
                <p class="quiet op-table-note">
                    "Some lines cannot be read. They are not in this table and stay in the "
                    <button type="button" class="link" on:click=move |_| page.ops_view.set(OpsView::Text)>"text"</button>
                    "."
                </p>
            </Show>
        </div>
    }
}

fn rows(page: Page, shown: usize) -> Vec<RowData> {
    let parsed = page.parsed.get();
    let outcome = page.outcome.get();
    let mut op_of_statement = vec![None; parsed.program.ops.len()];
    for (op, &statement) in outcome.statement_of_op.iter().enumerate() {
        if let Some(place) = op_of_statement.get_mut(statement) {
            *place = Some(op);
        }
    }
    let problems = page
        .diagnostics
        .with(|all| problems_by_statement(&parsed.program, all));
    page.text.with(|text| {
        parsed
            .program
            .ops
            .iter()
            .zip(op_of_statement)
            .zip(problems)
            .take(shown)
            .map(|((statement, op), problems)| {
                let names: Vec<&str> = statement.inputs.iter().map(|i| i.text.as_str()).collect();
                let analysis = outcome.analysis.as_ref();
                let resolved = op.and_then(|op| analysis?.graph.ops.get(op));
                RowData {
                    name: statement.name().text.clone(),
                    callee: statement.callee.text.clone(),
                    has_comma: names.iter().any(|n| n.contains(',') || n.trim() != *n),
                    inputs: names.join(", "),
                    annotation: statement
                        .annotation
                        .as_ref()
                        .map_or("", |a| a.span.slice(text))
                        .to_owned(),
                    shape: resolved.map_or(String::new(), |op| {
                        let dtype = op.element_type().map_or("", |d| d.name());
                        format!("{dtype}{}", shape_text(&op.shape))
                    }),
                    op,
                    problems,
                }
            })
            .collect()
    })
}

/// For each op statement what the diagnostics say about it. Statements stand in text order.
fn problems_by_statement(program: &Program, all: &[Diagnostic]) -> Vec<Vec<(Severity, String)>> {
    let mut problems = vec![Vec::new(); program.ops.len()];
    for diagnostic in all {
        let Some(span) = diagnostic.span else {
            continue;
        };
        let statement = program.ops.partition_point(|op| op.span.end < span.start);
        if let Some(op) = program.ops.get(statement)
            && op.span.start <= span.start
            && let Some(found) = problems.get_mut(statement)
        {
            let hint = diagnostic
                .hint
                .as_deref()
                .map_or(String::new(), |h| format!(": {h}"));
            found.push((
                diagnostic.severity,
                format!(
                    "{}: {}{hint}",
                    severity_word(diagnostic.severity),
                    diagnostic.message
                ),
            ));
        }
    }
    problems
}

/// What can stand at the end of a list of inputs that begins as `typed` does.
fn suggestions(page: Page, typed: &str) -> Vec<String> {
    let before = typed.rfind(',').map_or(String::new(), |comma| {
        format!("{}, ", typed.get(..comma).unwrap_or(""))
    });
    page.parsed.with(|parsed| {
        let declared = parsed.program.declarations.iter().map(|d| &d.name.text);
        let computed = parsed.program.ops.iter().map(|op| &op.output.text);
        declared
            .chain(computed)
            .take(SUGGESTED)
            .map(|name| format!("{before}{name}"))
            .collect()
    })
}
