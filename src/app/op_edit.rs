//! Writes what is typed into the tables of ops and tensors into the text.

use fuseline_core::model::diagnostic::{Code, Diagnostic};
use fuseline_core::notation::edit::{
    rename_op, rename_tensor, set_annotation, set_declared_type, set_inputs,
};
use fuseline_core::notation::{Parsed, parse};

/// A text field of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpField {
    Name,
    /// The tensors that it reads.
    Inputs,
    /// The type annotation.
    Type,
}

impl OpField {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Inputs => "inputs",
            Self::Type => "stated type",
        }
    }
}

/// `text` with `typed` as the value of a field of an op.
///
/// # Errors
/// Why this is not possible: another op or tensor has the name, or the statement would no longer
/// parse.
pub fn with_field(
    text: &str,
    before: &Parsed,
    op: usize,
    field: OpField,
    typed: &str,
) -> Result<String, Diagnostic> {
    let program = &before.program;
    let typed = typed.trim();
    let text = match field {
        OpField::Name => rename_op(text, program, op, typed)?,
        OpField::Inputs => {
            let names = typed.split(',').map(|name| name.trim().to_owned());
            let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
            set_inputs(text, program, op, &names)
        }
        OpField::Type => {
            let annotation = typed.trim_start_matches(':').trim();
            let stated = (!annotation.is_empty()).then_some(annotation);
            set_annotation(text, program, op, stated)
        }
    };
    readable(text, before)
}

/// A text field of a declared tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorField {
    Name,
    /// Its type and shape.
    Type,
}

impl TensorField {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Type => "type and shape",
        }
    }
}

/// `text` with `typed` as the value of a field of a declaration. The readers of a tensor follow its
/// name.
///
/// # Errors
/// As [`with_field`].
pub fn with_tensor_field(
    text: &str,
    before: &Parsed,
    declaration: usize,
    field: TensorField,
    typed: &str,
) -> Result<String, Diagnostic> {
    let program = &before.program;
    let typed = typed.trim();
    let Some(declared) = program.declarations.get(declaration) else {
        return Ok(text.to_owned());
    };
    let text = match field {
        TensorField::Name => rename_tensor(text, program, &declared.name.text, typed)?,
        TensorField::Type => {
            let annotation = typed.trim_start_matches(':').trim();
            set_declared_type(text, program, declaration, annotation)
        }
    };
    readable(text, before)
}

/// The text, if no statement was lost.
fn readable(text: String, before: &Parsed) -> Result<String, Diagnostic> {
    let after = parse(&text);
    let statements = |parsed: &Parsed| parsed.program.ops.len() + parsed.program.declarations.len();
    if statements(&after) < statements(before) {
        let is_known = |d: &Diagnostic| before.diagnostics.iter().any(|k| k.message == d.message);
        let news = after.diagnostics.iter().find(|d| !is_known(d));
        let news = news.or(after.diagnostics.first()).cloned();
        return Err(
            news.unwrap_or_else(|| Diagnostic::error(Code::Syntax, "this text cannot be read"))
        );
    }
    Ok(text)
}
