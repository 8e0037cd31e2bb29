//! The fields of one op in the ops table.

use super::ops_table::{RowData, SUGGESTIONS_ID};
use super::picker::Picker;
use super::text_cell::TextCell;
use crate::core::edit::{rename_op, set_annotation, set_callee, set_inputs};
use crate::core::functions::{self, FUNCTIONS};
use crate::core::notation::parse;
use crate::core::{Diagnostic, OpType, Program};
use crate::history::Origin;
use crate::state::Page;
use leptos::prelude::*;

/// One text of a row.
fn part(row: Memo<RowData>, part: fn(&RowData) -> &String) -> Signal<String> {
    Signal::derive(move || row.with(|r| part(r).clone()))
}

/// The accessible name of a field.
fn name_of(row: Memo<RowData>, what: &'static str) -> Signal<String> {
    Signal::derive(move || row.with(|r| format!("{what} of {}", r.name)))
}

/// Takes an edit over unless it leaves a statement that can no longer be read.
fn commit(
    page: Page,
    change: impl FnOnce(&str, &Program) -> Result<String, Diagnostic>,
) -> Result<(), String> {
    let sentence = |diagnostic: &Diagnostic| match &diagnostic.hint {
        Some(hint) => format!("{}: {hint}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    let before = page.parsed.get_untracked();
    let text = page
        .text
        .with_untracked(|text| change(text, &before.program))
        .map_err(|diagnostic| sentence(&diagnostic))?;
    let after = parse(&text);
    if after.program.ops.len() < before.program.ops.len() {
        let is_known = |d: &Diagnostic| before.diagnostics.iter().any(|k| k.message == d.message);
        let news = after.diagnostics.iter().find(|d| !is_known(d));
        return Err(news
            .or(after.diagnostics.first())
            .map_or_else(|| "this cannot be read".to_owned(), sentence));
    }
    page.edit(text, Origin::Single);
    Ok(())
}

/// The op's label, or its output where it has none.
#[component]
pub fn NameCell(
    /// The page whose text is edited.
    page: Page,
    /// The op's place among the statements that could be read.
    place: usize,
    /// What the row shows.
    row: Memo<RowData>,
) -> impl IntoView {
    let rename =
        move |name: &str| commit(page, |text, program| rename_op(text, program, place, name));
    view! {
        <td role="cell" class="op-name">
            <TextCell
                id=format!("op-{place}-name")
                name=name_of(row, "name")
                value=part(row, |r| &r.name)
                placeholder="name"
                commit=rename
            />
        </td>
    }
}

/// What the op calls.
#[component]
pub fn FunctionCell(
    /// The page whose text is edited.
    page: Page,
    /// The op's place among the statements that could be read.
    place: usize,
    /// What the row shows.
    row: Memo<RowData>,
) -> impl IntoView {
    let value = part(row, |r| &r.callee);
    let choose = move |callee: String| {
        // A name of the table can always be written; whether it suits the inputs is for the diagnostics.
        page.change(Origin::Single, |text, program| {
            set_callee(text, program, place, &callee)
        });
    };
    let is_known =
        |callee: &String| functions::find(callee).is_some() || OpType::from_name(callee).is_some();
    let unknown = Memo::new(move |_| Some(value.get()).filter(|callee| !is_known(callee)));
    let groups = OpType::ALL
        .into_iter()
        .map(|op_type| {
            let name = op_type.name();
            let bare = functions::find(name)
                .is_none()
                .then(|| view! { <option value=name>{format!("{name} (any)")}</option> });
            let options = FUNCTIONS
                .iter()
                .filter(|f| f.op_type == op_type)
                .map(|f| view! { <option value=f.name title=f.summary>{f.name}</option> })
                .collect_view();
            view! { <optgroup label=name>{bare}{options}</optgroup> }
        })
        .collect_view();
    view! {
        <td role="cell" class="op-callee">
            <Picker value choose name=name_of(row, "function")>
                {move || unknown.get().map(|callee| view! { <option value=callee.clone()>{format!("{callee} ?")}</option> })}
                {groups}
            </Picker>
        </td>
    }
}

/// The tensors that the op reads.
#[component]
pub fn InputsCell(
    /// The page whose text is edited.
    page: Page,
    /// The op's place among the statements that could be read.
    place: usize,
    /// What the row shows.
    row: Memo<RowData>,
    /// Told of what is typed.
    typed: Callback<String>,
) -> impl IntoView {
    let value = part(row, |r| &r.inputs);
    let has_comma = Memo::new(move |_| row.with(|r| r.has_comma));
    let change = move |inputs: &str| {
        let inputs: Vec<String> = inputs
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        commit(page, |text, program| {
            Ok(set_inputs(text, program, place, &inputs))
        })
    };
    let field = move || {
        view! {
            <TextCell
                id=format!("op-{place}-inputs")
                name=name_of(row, "inputs")
                value
                placeholder="inputs"
                commit=change
                typed
                suggestions=SUGGESTIONS_ID
            />
        }
    };
    view! {
        <td role="cell" class="op-inputs">
            <Show
                when=move || has_comma.get()
                fallback=field
            >
                <span title="A name holds a comma: edit the inputs in the text">{value}</span>
            </Show>
        </td>
    }
}

/// The stated type of the output; what was inferred shows through an empty field.
#[component]
pub fn TypeCell(
    /// The page whose text is edited.
    page: Page,
    /// The op's place among the statements that could be read.
    place: usize,
    /// What the row shows.
    row: Memo<RowData>,
) -> impl IntoView {
    let inferred = Signal::derive(move || {
        row.with(|r| {
            if r.shape.is_empty() {
                "type and shape".to_owned()
            } else {
                r.shape.clone()
            }
        })
    });
    let evaluated = move || {
        row.with(|r| {
            if r.annotation.is_empty() || r.annotation == r.shape {
                String::new()
            } else {
                r.shape.clone()
            }
        })
    };
    let annotate = move |annotation: &str| {
        let annotation = annotation.trim_start_matches(':').trim();
        let stated = (!annotation.is_empty()).then_some(annotation);
        commit(page, |text, program| {
            Ok(set_annotation(text, program, place, stated))
        })
    };
    view! {
        <td role="cell" class="op-type">
            <TextCell
                id=format!("op-{place}-type")
                name=name_of(row, "stated type")
                value=part(row, |r| &r.annotation)
                placeholder=inferred
                commit=annotate
            />
            <span class="op-shape">{evaluated}</span>
        </td>
    }
}
