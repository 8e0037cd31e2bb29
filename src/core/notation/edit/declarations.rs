//! Edits of the statements that declare tensors.

use crate::model::diagnostic::Span;
use crate::model::dtype::DType;
use crate::model::fix::TextEdit;
use crate::model::op::TensorRole;
use crate::model::program::Program;
use crate::notation::edit::lines::{free_name, line_end, whole_lines};
use crate::notation::edit::{main_dtype, replaced};
use crate::notation::names_in;

/// Declares another input on a line of its own. The line goes below the last declaration before all
/// blocks, else below the last such param, else to the start.
pub fn add_declaration(text: &str, program: &Program) -> String {
    let name = free_name("x", program.declarations.len() + 1, &names_in(text));
    let dtype = main_dtype(program).unwrap_or(DType::F16).name();
    let line = format!("input {name} : {dtype}[1024, 1024]");
    // In a block it would be one tensor for each iteration.
    let first_block = program.blocks.first().map(|block| block.header.start);
    let is_before = |span: &Span| first_block.is_none_or(|block| span.end <= block);
    let mut declared = program.declarations.iter().map(|declared| declared.span);
    let mut params = program.params.iter().map(|param| param.span);
    let above = declared
        .rfind(is_before)
        .or_else(|| params.rfind(is_before));
    let (place, added) = match above {
        Some(above) => (line_end(text, above.end), format!("\n{line}")),
        None => (0, format!("{line}\n")),
    };
    replaced(text, [TextEdit::insert(place, added)])
}

/// Removes a declaration with its line. The ops that read the tensor stay.
pub fn remove_declaration(text: &str, program: &Program, declaration: usize) -> String {
    let declared = program.declarations.get(declaration);
    let edit = declared.map(|declared| TextEdit::remove(whole_lines(text, declared.span)));
    replaced(text, edit)
}

/// Declares a tensor as an input or as a weight.
pub fn set_role(text: &str, program: &Program, declaration: usize, role: TensorRole) -> String {
    let edit = program.declarations.get(declaration).map(|declared| {
        let start = declared.span.start;
        let keyword = Span::new(start, start + declared.role.name().len());
        TextEdit::replace(keyword, role.name())
    });
    replaced(text, edit)
}

/// Writes the type and shape of a declared tensor, such as `f16[S, 4*H]`.
pub fn set_declared_type(
    text: &str,
    program: &Program,
    declaration: usize,
    annotation: &str,
) -> String {
    let declared = program.declarations.get(declaration);
    let edit = declared.map(|declared| TextEdit::replace(declared.annotation.span, annotation));
    replaced(text, edit)
}
