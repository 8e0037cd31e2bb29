//! The rows of the table of declared tensors.

use super::op_rows::{OpSource, Problem, problems_by_statement, row_ids};
use fuseline_core::{Span, TensorRole};

/// A row of the table: a declaration that could be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorRow {
    /// Identifies the row while tensors are declared, renamed and removed.
    pub id: usize,
    pub name: String,
    /// Input or weight.
    pub role: TensorRole,
    /// Its type and shape as written.
    pub stated_type: String,
    /// Its diagnostics.
    pub problems: Vec<Problem>,
}

/// A row for each of the first `max_rows` declarations in text order. A row keeps the id that it
/// has among `before`.
pub fn tensor_rows(source: OpSource<'_>, max_rows: usize, before: &[TensorRow]) -> Vec<TensorRow> {
    let declared = &source.program.declarations;
    let declared = declared.get(..max_rows).unwrap_or(declared);
    let names: Vec<&str> = declared.iter().map(|d| d.name.text.as_str()).collect();
    let ids = row_ids(&names, before.iter().map(|row| (&*row.name, row.id)));
    let spans: Vec<Span> = declared.iter().map(|d| d.span).collect();
    let problems = problems_by_statement(&spans, source.diagnostics, source.fixes);
    let rows = ids.into_iter().zip(declared).zip(problems);
    rows.map(|((id, declaration), problems)| TensorRow {
        id,
        name: declaration.name.text.clone(),
        role: declaration.role,
        stated_type: declaration.annotation.span.slice(source.text).to_owned(),
        problems,
    })
    .collect()
}
