//! The op list as a table with form controls. Every control edits the text.

use super::row::Row;
use crate::app::history::Origin;
use crate::app::state::{OpsView, Page};
use crate::components::keyed_rows::row_at;
use crate::core::model::diagnostic::has_errors;
use crate::core::notation::edit::{add_op, move_op, remove_op};
use crate::present::op_rows::{FunctionOption, OpRow, OpSource, function_options, op_rows};
use leptos::html::Button;
use leptos::prelude::*;

/// Rows that are shown at once; a button shows more.
const PAGE_ROWS: usize = 60;
/// Tensors that are suggested.
const MAX_SUGGESTIONS: usize = 200;
/// Id of the list of suggestions, which the fields name.
pub(super) const SUGGESTIONS_ID: &str = "tensor-suggestions";

/// A control of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The field of the op's name.
    Name,
    /// The button that moves the op up.
    Up,
    /// The button that moves it down.
    Down,
    /// The button that removes it.
    Remove,
}

/// What the rows of the table have in common.
#[derive(Clone, Copy)]
pub struct Table {
    page: Page,
    rows: Memo<Vec<OpRow>>,
    max_rows: RwSignal<usize>,
    /// The id of a row and its control that shall have the focus, until the row has taken it. It is set after the text:
    /// effects run in the order in which they are woken, so the rows are in their places by then.
    pub focus: RwSignal<Option<(usize, Control)>>,
    /// What a field of inputs that is being typed into holds.
    pub typed_inputs: RwSignal<Option<String>>,
    /// All functions by op type.
    pub functions: StoredValue<Vec<(&'static str, Vec<FunctionOption>)>>,
    /// The button that adds an op behind all others.
    add_button: NodeRef<Button>,
}

/// A row for each op that could be read.
#[component]
pub fn OpsTable() -> impl IntoView {
    let page = Page::of_context();
    let max_rows = RwSignal::new(PAGE_ROWS);
    let rows = Memo::new(move |before: Option<&Vec<OpRow>>| {
        let present = page.present.get();
        let analysed = (present.as_ref()).map(|p| (&*p.analysis, p.statement_of_op.as_ref()));
        let (text, parsed, diagnostics) =
            (page.text.read(), page.parsed.get(), page.diagnostics.get());
        let source = OpSource {
            text: &text,
            program: &parsed.program,
            diagnostics: &diagnostics,
            analysed,
        };
        op_rows(
            source,
            max_rows.get(),
            before.map_or(&[], |before| before.as_slice()),
        )
    });
    let table = Table {
        page,
        rows,
        max_rows,
        focus: RwSignal::new(None),
        typed_inputs: RwSignal::new(None),
        functions: StoredValue::new(function_options()),
        add_button: NodeRef::new(),
    };
    let row_count = move || rows.with(Vec::len);
    let op_count = move || page.parsed.with(|parsed| parsed.program.ops.len());
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
                    <ForEnumerate
                        each=move || rows.get()
                        key=|row| row.id
                        children=move |place, row| {
                            view! { <Row table place row=row_at(rows, place, row) /> }
                        }
                    />
                </tbody>
            </table>
            <datalist id=SUGGESTIONS_ID>{move || suggestions(table)}</datalist>
            <div class="op-table-end">
                <Show when=move || row_count() < op_count()>
                    <button
                        type="button"
                        on:click=move |_| max_rows.update(|rows| *rows += PAGE_ROWS)
                    >
                        {move || format!("Show more ({} of {})", row_count(), op_count())}
                    </button>
                </Show>
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
                        on:click=move |_| page.ops_view.set(OpsView::Text)
                    >
                        "text"
                    </button>
                    "."
                </p>
            </Show>
        </div>
    }
}

impl Table {
    /// Adds an op behind the one in this place, or behind all.
    pub(super) fn add(self, after: Option<usize>) {
        self.page
            .change(Origin::Single, |text, program| add_op(text, program, after));
        let place = after.map_or_else(|| self.op_count().saturating_sub(1), |after| after + 1);
        if after.is_none() {
            self.max_rows
                .update(|rows| *rows = place.max(*rows - 1) + 1);
        }
        self.focus_at(place, Control::Name);
    }

    /// Moves the op in one place to another one. The focus stays with it.
    pub(super) fn move_op(self, from: usize, to: usize, control: Control) {
        if to < self.op_count() {
            self.page.change(Origin::Single, |text, program| {
                move_op(text, program, from, to)
            });
            self.focus_at(to, control);
        }
    }

    /// Removes the op in this place. The focus goes to the next one.
    pub(super) fn remove(self, place: usize) {
        self.page.change(Origin::Single, |text, program| {
            remove_op(text, program, place)
        });
        match self.op_count().checked_sub(1) {
            Some(last) => self.focus_at(place.min(last), Control::Remove),
            None => {
                if let Some(button) = self.add_button.get_untracked() {
                    // An element in the page takes the focus.
                    let _ = button.focus();
                }
            }
        }
    }

    fn focus_at(self, place: usize, control: Control) {
        let row = (self.rows).with_untracked(|rows| rows.get(place).map(|row| row.id));
        self.focus.set(row.map(|row| (row, control)));
    }

    fn op_count(self) -> usize {
        (self.page.parsed).with_untracked(|parsed| parsed.program.ops.len())
    }
}

/// The lists of inputs that what is being typed may become: with the name of each tensor at its end.
fn suggestions(table: Table) -> Option<impl IntoView> {
    let typed = table.typed_inputs.get()?;
    let before = typed
        .rsplit_once(',')
        .map_or_else(String::new, |(before, _)| format!("{before}, "));
    let parsed = table.page.parsed.get();
    let declared = parsed.program.declarations.iter().map(|d| &d.name.text);
    let computed = parsed.program.ops.iter().map(|op| &op.output.text);
    let names = declared.chain(computed).take(MAX_SUGGESTIONS);
    let option = |name| view! { <option value=format!("{before}{name}")></option> };
    Some(names.map(option).collect_view())
}
