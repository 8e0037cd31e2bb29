//! Edits within one statement: its function, its inputs, its type annotation.

use crate::model::diagnostic::Span;
use crate::model::fix::TextEdit;
use crate::model::program::{Argument, OpStatement, Program};
use crate::notation::edit::replaced;
use crate::notation::{CallParens, call_parens, is_literal, written_name};

/// Replaces the function of an op; inputs, attributes and annotation stay.
pub fn set_callee(text: &str, program: &Program, op: usize, callee: &str) -> String {
    let statement = program.ops.get(op);
    let edit = statement.map(|op| TextEdit::replace(op.callee.span, written_name(callee)));
    replaced(text, edit)
}

/// Replaces the inputs of an op.
pub fn set_inputs(text: &str, program: &Program, op: usize, inputs: &[String]) -> String {
    let edits = (program.ops.get(op))
        .map(|statement| input_edits(text, statement, inputs))
        .unwrap_or_default();
    replaced(text, edits)
}

fn input_edits(text: &str, statement: &OpStatement, inputs: &[String]) -> Vec<TextEdit> {
    let as_written = |name: &String| {
        if is_literal(name) {
            name.clone()
        } else {
            written_name(name)
        }
    };
    let written: Vec<String> = inputs.iter().map(as_written).collect();
    let before = statement.arguments();
    if let Some((kept, added)) = written.split_at_checked(before.len())
        && let Some((_, last)) = before.last()
    {
        let mut edits: Vec<TextEdit> = (before.iter().zip(inputs).zip(kept))
            .filter(|(((old, _), new), _)| match old {
                Argument::Tensor(name) | Argument::Literal(name) => *name != **new,
            })
            .map(|(((_, span), _), written)| TextEdit::replace(*span, written))
            .collect();
        if !added.is_empty() {
            let added = format!(", {}", added.join(", "));
            edits.push(TextEdit::insert(last.end, added));
        }
        return edits;
    }
    let Some(CallParens { open, close }) = call_parens(text, statement) else {
        return Vec::new();
    };
    let (end, separator) = match statement.attributes.first() {
        Some(attribute) if written.is_empty() => (attribute.span.start, ""),
        Some(attribute) => (attribute.span.start, ", "),
        None => (close.start, ""),
    };
    let inputs = format!("{}{separator}", written.join(", "));
    vec![TextEdit::replace(Span::new(open.end, end), inputs)]
}

/// Writes the type annotation of the op's output, such as `f16[S, 4*H]`, or removes it.
pub fn set_annotation(
    text: &str,
    program: &Program,
    op: usize,
    annotation: Option<&str>,
) -> String {
    let edit = program.ops.get(op).and_then(|statement| {
        let one_line = annotation.map(|a| a.replace(['\n', '\r'], " "));
        match (&statement.annotation, one_line) {
            (Some(old), Some(new)) => Some(TextEdit::replace(old.span, new)),
            (Some(old), None) => {
                let call_end = call_parens(text, statement)?.close.end;
                Some(TextEdit::remove(Span::new(call_end, old.span.end)))
            }
            (None, Some(new)) => {
                // The annotation goes before the kernel mark.
                let end = match statement.kernel {
                    Some(_) => call_parens(text, statement)?.close.end,
                    None => statement.span.end,
                };
                Some(TextEdit::insert(end, format!(" : {new}")))
            }
            (None, None) => None,
        }
    });
    replaced(text, edit)
}
