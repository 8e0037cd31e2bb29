//! Edits of statements for use in fixes.

use crate::model::diagnostic::Span;
use crate::model::dtype::DType;
use crate::model::fix::TextEdit;
use crate::model::op::{TensorRole, shape_text};
use crate::model::program::{OpStatement, Program};
use crate::notation::written_name;

/// Spans of the arguments of a call, attributes included, in text order.
fn arguments(op: &OpStatement) -> Vec<Span> {
    let stated = op.arguments().into_iter().map(|(_, span)| span);
    stated
        .chain(op.attributes.iter().map(|attribute| attribute.span))
        .collect()
}

/// Adds an attribute at the end of a call: `transpose_b=true`.
pub(crate) fn with_attribute(op: &OpStatement, attribute: &str) -> TextEdit {
    match arguments(op).last() {
        Some(last) => TextEdit::insert(last.end, format!(", {attribute}")),
        None => TextEdit::insert(op.callee.span.end + "(".len(), attribute),
    }
}

/// Removes arguments of a call that stand next to each other, with a comma.
pub(crate) fn without_arguments(op: &OpStatement, removed: Span) -> TextEdit {
    let all = arguments(op);
    let before = all.iter().rfind(|span| span.end <= removed.start);
    let after = all.iter().find(|span| span.start >= removed.end);
    TextEdit::remove(match (before, after) {
        (Some(before), _) => Span::new(before.end, removed.end),
        (None, Some(after)) => Span::new(removed.start, after.start),
        (None, None) => removed,
    })
}

/// Adds the type annotation of an op that has none: `f16[8, 6]`.
pub(crate) fn with_annotation(op: &OpStatement, annotation: &str) -> TextEdit {
    match op.kernel {
        Some(mark) => TextEdit::insert(mark.span.start, format!(": {annotation} ")),
        None => TextEdit::insert(op.span.end, format!(" : {annotation}")),
    }
}

/// Adds lines before the first op and outside blocks, for declarations.
pub(crate) fn before_ops(program: &Program, lines: &str) -> TextEdit {
    TextEdit::insert(first_op(program).unwrap_or(0), lines)
}

/// Adds lines before the first statement, for params.
pub(crate) fn before_all(program: &Program, lines: &str) -> TextEdit {
    let declared = program.declarations.first().map(|d| d.span.start);
    let params = program.params.first().map(|param| param.span.start);
    let starts = [first_op(program), declared, params];
    let first = starts.into_iter().flatten().min();
    TextEdit::insert(first.unwrap_or(0), lines)
}

/// The start of the first op, or of the block that contains it.
fn first_op(program: &Program) -> Option<usize> {
    let op = program.ops.first().map(|op| op.span.start);
    let block = program.blocks.first().map(|block| block.header.start);
    op.into_iter().chain(block).min()
}

/// A declaration: `weight w : f16[8, 6]`.
pub(crate) fn declaration(role: TensorRole, name: &str, dtype: DType, shape: &[u64]) -> String {
    let (role, name) = (role.name(), written_name(name));
    format!("{role} {name} : {}{}", dtype.name(), shape_text(shape))
}
