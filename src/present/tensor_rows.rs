//! The rows of the table of declared tensors.

use super::op_rows::{problems_by_statement, row_ids};
use crate::core::model::program::Program;
use crate::core::{Diagnostic, Severity, Span, TensorRole};

/// A row of the table: a declaration that could be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorRow {
    /// Identifies the row while tensors are declared, renamed and removed.
    pub id: usize,
    /// Its name.
    pub name: String,
    /// Input or weight.
    pub role: TensorRole,
    /// Its type and shape as written.
    pub stated_type: String,
    /// Its diagnostics, with code in backquotes.
    pub problems: Vec<(Severity, String)>,
}

/// A row for each of the first `max_rows` declarations in text order. A row keeps the id that it has among `before`.
pub fn tensor_rows(
    text: &str,
    program: &Program,
    diagnostics: &[Diagnostic],
    max_rows: usize,
    before: &[TensorRow],
) -> Vec<TensorRow> {
    let declared = &program.declarations;
    let declared = declared.get(..max_rows).unwrap_or(declared);
    let names: Vec<&str> = declared.iter().map(|d| d.name.text.as_str()).collect();
    let ids = row_ids(&names, before.iter().map(|row| (&*row.name, row.id)));
    let spans: Vec<Span> = declared.iter().map(|d| d.span).collect();
    let problems = problems_by_statement(&spans, diagnostics);
    let rows = ids.into_iter().zip(declared).zip(problems);
    rows.map(|((id, declaration), problems)| TensorRow {
        id,
        name: declaration.name.text.clone(),
        role: declaration.role,
        stated_type: declaration.annotation.span.slice(text).to_owned(),
        problems,
    })
    .collect()
}
