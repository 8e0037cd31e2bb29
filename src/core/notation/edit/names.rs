//! Renames ops and tensors in every statement that names them.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::TextEdit;
use crate::model::program::{Name, Program};
use crate::notation::edit::replaced;
use crate::notation::spelling::quoted;
use crate::notation::written_name;

/// Renames an op: its label if it has one, otherwise its output in every statement.
///
/// # Errors
/// The name is empty, or another op or tensor has it.
pub fn rename_op(
    text: &str,
    program: &Program,
    op: usize,
    new_name: &str,
) -> Result<String, Diagnostic> {
    let Some(statement) = program.ops.get(op) else {
        return Ok(text.to_owned());
    };
    let Some(label) = &statement.label else {
        return rename_tensor(text, program, &statement.output.text, new_name);
    };
    if label.text == new_name {
        return Ok(text.to_owned());
    }
    check_not_empty(new_name)?;
    check_no_op_is_called(program, new_name)?;
    let edit = TextEdit::replace(label.span, written_name(new_name));
    Ok(replaced(text, [edit]))
}

/// Renames a tensor in its declaration, its op and its readers. A name that no statement contains
/// changes nothing.
///
/// # Errors
/// The name is empty, another tensor has it, or the op that writes the tensor would get the name of
/// another op.
pub fn rename_tensor(
    text: &str,
    program: &Program,
    name: &str,
    new_name: &str,
) -> Result<String, Diagnostic> {
    if name == new_name {
        return Ok(text.to_owned());
    }
    let mut edits: Vec<TextEdit> = mentions(program)
        .filter(|mention| mention.text == name)
        .map(|mention| TextEdit::replace(mention.span, written_name(new_name)))
        .collect();
    if edits.is_empty() {
        return Ok(text.to_owned());
    }
    check_not_empty(new_name)?;
    if mentions(program).any(|mention| mention.text == new_name) {
        return Err(tensor_is_taken(program, new_name));
    }
    if let Some(op) = program.ops.iter().find(|op| op.output.text == name)
        && op.label.is_none()
    {
        check_no_op_is_called(program, new_name)?;
        if op.span.start < op.output.span.start {
            // In `y: y = ...` the label repeats the output; the new name replaces both.
            let written_twice = Span::new(op.span.start, op.output.span.end);
            edits.push(TextEdit::replace(written_twice, written_name(new_name)));
        }
    }
    Ok(replaced(text, edits))
}

/// Every occurrence of a tensor's name in the program.
fn mentions(program: &Program) -> impl Iterator<Item = &Name> {
    let declared = program.declarations.iter().map(|d| &d.name);
    let in_ops = (program.ops.iter()).flat_map(|op| op.inputs.iter().chain([&op.output]));
    let carried = program.blocks.iter().flat_map(|block| &block.carried);
    let carried = carried.flat_map(|carried| [&carried.name, &carried.from]);
    declared
        .chain(in_ops)
        .chain(&program.outputs)
        .chain(carried)
}

fn check_not_empty(name: &str) -> Result<(), Diagnostic> {
    if name.is_empty() {
        return Err(
            Diagnostic::error(Code::Syntax, "a name has at least one character")
                .hint("write a name"),
        );
    }
    Ok(())
}

fn check_no_op_is_called(program: &Program, name: &str) -> Result<(), Diagnostic> {
    match program.ops.iter().position(|op| op.name().text == name) {
        Some(op) => Err(Diagnostic::error(
            Code::DuplicateOpName,
            format!("another op is already called {}", quoted(name)),
        )
        .about(op)
        .hint("choose another name")),
        None => Ok(()),
    }
}

fn tensor_is_taken(program: &Program, name: &str) -> Diagnostic {
    let name_shown = quoted(name);
    let writer = program.ops.iter().position(|op| op.output.text == name);
    let problem = match writer {
        Some(op) => Diagnostic::error(
            Code::DuplicateOutput,
            format!("another op already writes {name_shown}"),
        )
        .about(op),
        None => Diagnostic::error(
            Code::DuplicateDeclaration,
            format!("there is another tensor {name_shown}"),
        ),
    };
    problem.hint("choose another name")
}
