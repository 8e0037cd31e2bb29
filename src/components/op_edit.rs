//! What the fields of the ops table do to the text.

use crate::app::history::Origin;
use crate::app::state::Page;
use crate::core::Diagnostic;
use crate::core::model::program::OpStatement;
use crate::core::notation::edit::{rename_op, set_annotation, set_inputs};
use crate::core::notation::parse;
use crate::present::words::with_hint;
use leptos::prelude::*;

/// What was typed into a field and could not be taken over. It holds while the text states what it did then.
pub(super) struct Refused {
    /// The row.
    pub op: usize,
    /// The field.
    pub part: String,
    /// What the text stated.
    pub value: String,
    /// What was typed.
    pub typed: String,
    /// Why that cannot be.
    pub reason: String,
}

impl Refused {
    /// Whether it belongs to this field.
    pub(super) fn is_at(&self, op: usize, part: &str) -> bool {
        self.op == op && self.part == part
    }
}

/// What a field or select of a row shows.
pub(super) fn field_value(page: Page, op: usize, part: &str) -> String {
    let parsed = page.parsed.get_untracked();
    let Some(statement) = parsed.program.ops.get(op) else {
        return String::new();
    };
    match part {
        "name" => statement.name().text.clone(),
        "callee" => statement.callee.text.clone(),
        "inputs" => joined_inputs(statement),
        _ => page.text.with_untracked(|text| {
            let annotation = statement.annotation.as_ref();
            annotation.map_or("", |a| a.span.slice(text)).to_owned()
        }),
    }
}

/// The tensors that an op reads, joined by commas.
pub(super) fn joined_inputs(statement: &OpStatement) -> String {
    let names: Vec<&str> = statement.inputs.iter().map(|i| i.text.as_str()).collect();
    names.join(", ")
}

/// Takes over what was typed into a field, unless it leaves a statement that can no longer be read.
pub(super) fn commit(page: Page, op: usize, part: &str, typed: &str) -> Result<(), String> {
    let before = page.parsed.get_untracked();
    let program = &before.program;
    let text = page.text.with_untracked(|text| match part {
        "name" => rename_op(text, program, op, typed).map_err(|d| with_hint(&d)),
        "inputs" => {
            let names = typed.split(',').map(|name| name.trim().to_owned());
            let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
            Ok(set_inputs(text, program, op, &names))
        }
        "type" => {
            let annotation = typed.trim_start_matches(':').trim();
            let stated = (!annotation.is_empty()).then_some(annotation);
            Ok(set_annotation(text, program, op, stated))
        }
        _ => Ok(text.clone()),
    })?;
    let after = parse(&text);
    if after.program.ops.len() < program.ops.len() {
        let is_known = |d: &Diagnostic| before.diagnostics.iter().any(|k| k.message == d.message);
        let news = after.diagnostics.iter().find(|d| !is_known(d));
        let news = news.or(after.diagnostics.first());
        return Err(news.map_or_else(|| "this cannot be read".to_owned(), with_hint));
    }
    page.edit(text, Origin::Single);
    Ok(())
}
