//! Edits of whole statements: add, remove, move.

use crate::model::diagnostic::Span;
use crate::model::fix::TextEdit;
use crate::model::functions::{Function, ShapeRule};
use crate::model::op_type::OpType;
use crate::model::program::{OpStatement, Program};
use crate::notation::edit::replaced;
use crate::notation::{names_in, written_name};
use std::collections::HashSet;

/// Adds `relu` on the output of the op `after`, or of the last op, on a new line below it. If the
/// last op is in a block, the line goes below the block.
///
/// Without ops it becomes the first op, on the first declared tensor or on a newly declared input.
pub fn add_op(text: &str, program: &Program, after: Option<usize>) -> String {
    let taken = names_in(text);
    let output = free_name("y", program.ops.len() + 1, &taken);
    let before = match after {
        Some(op) => program.ops.get(op),
        None => program.ops.last(),
    };
    if let Some(before) = before {
        let input = written_name(&before.output.text);
        let last_block = (program.blocks.last())
            .filter(|block| after.is_none() && block.ops.contains(&(program.ops.len() - 1)));
        let (start, end) = match last_block {
            Some(block) => (block.span.start, block.span.end),
            None => (before.output.span.start, before.span.end),
        };
        let indent = indent(text, start);
        let end = line_end(text, end);
        let line_break = if text.get(end..).is_some_and(|rest| rest.starts_with('\r')) {
            "\r\n"
        } else {
            "\n"
        };
        let line = format!("{line_break}{indent}{output} = relu({input})");
        return replaced(text, [TextEdit::insert(end, line)]);
    }
    if !program.ops.is_empty() {
        return text.to_owned();
    }
    let mut edited = text.to_owned();
    if !edited.is_empty() && !edited.ends_with('\n') {
        edited.push('\n');
    }
    let lines = if let Some(declared) = program.declarations.first() {
        format!("{output} = relu({})\n", written_name(&declared.name.text))
    } else {
        let input = free_name("x", 1, &taken);
        format!("input {input} : f16[1024, 1024]\n{output} = relu({input})\n")
    };
    edited.push_str(&lines);
    edited
}

/// The first of `x1`, `x2` and so on that is not taken, from this number on.
pub(super) fn free_name(letter: &str, from: usize, taken: &HashSet<String>) -> String {
    // There is one candidate more than there are names, so at least one is free.
    (from..=from + taken.len())
        .map(|number| format!("{letter}{number}"))
        .find(|name| !taken.contains(name))
        .unwrap_or_default()
}

/// Replaces the selection by `lines`; without a selection they go below the line of the caret. They
/// always have lines of their own. `O(text)`.
pub fn paste_lines(text: &str, selected: Span, lines: &str) -> String {
    let Span { mut start, mut end } = selected;
    if start == end {
        end = line_end(text, start);
        start = end;
    }
    let head = text.get(..start).unwrap_or(text);
    let tail = text.get(end..).unwrap_or("");
    if head.trim().is_empty() && tail.trim().is_empty() {
        return lines.to_owned();
    }
    let line_break = |is_needed: bool| if is_needed { "\n" } else { "" };
    let before = line_break(!head.is_empty() && !head.ends_with('\n'));
    let behind = line_break(!tail.starts_with(['\n', '\r']));
    format!("{head}{before}{}{behind}{tail}", lines.trim_end())
}

/// Removes the statement of an op with its lines.
///
/// If the op keeps the shape of its first input, its readers read that input instead; otherwise
/// they are unchanged. After a block, a tensor that an iteration takes from the previous one has
/// another meaning, so readers there are unchanged, too.
pub fn remove_op(text: &str, program: &Program, op: usize) -> String {
    let Some(statement) = program.ops.get(op) else {
        return text.to_owned();
    };
    let mut edits = vec![TextEdit::remove(whole_lines(text, statement.span))];
    if let Some(input) = statement.inputs.first()
        && passes_shape(statement)
    {
        let index = program.block_of_op(op);
        let block = index.and_then(|index| program.blocks.get(index));
        let is_carried = block.is_some_and(|b| b.carried.iter().any(|c| c.name.text == input.text));
        let readers = (program.ops.iter().enumerate()).filter(|&(reader, _)| {
            reader != op && (!is_carried || program.block_of_op(reader) == index)
        });
        // A block passes on only what its own ops write.
        let ops = block.and_then(|block| program.ops.get(block.ops.clone()));
        let is_written = |op: &OpStatement| op.output.text == input.text;
        let passed_on = block.filter(|_| ops.is_some_and(|ops| ops.iter().any(is_written)));
        let passed_on = passed_on.iter().flat_map(|block| &block.carried);
        edits.extend(
            readers
                .flat_map(|(_, reader)| &reader.inputs)
                .chain(passed_on.map(|carried| &carried.from))
                .filter(|read| read.text == statement.output.text)
                .map(|read| TextEdit::replace(read.span, written_name(&input.text))),
        );
    }
    // Without the op, the name in an `output` statement has no tensor.
    let outputs = (program.outputs.iter()).filter(|name| name.text == statement.output.text);
    edits.extend(outputs.map(|name| TextEdit::remove(whole_lines(text, name.span))));
    replaced(text, edits)
}

fn passes_shape(statement: &OpStatement) -> bool {
    let callee = statement.callee.text.as_str();
    callee == OpType::Elementwise.name()
        || Function::from_name(callee).is_some_and(|f| {
            f.row().op_type == OpType::Elementwise || f.row().shape_rule == ShapeRule::SameAsFirst
        })
}

/// Moves the lines of an op's statement so that it becomes the op `to_index`; past the end, the
/// last one.
pub fn move_op(text: &str, program: &Program, op: usize, to_index: usize) -> String {
    let to_index = to_index.min(program.ops.len().saturating_sub(1));
    let (Some(moved), Some(target)) = (program.ops.get(op), program.ops.get(to_index)) else {
        return text.to_owned();
    };
    if op == to_index {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let (first, last) = line_range(text, moved);
    let (target_first, target_last) = line_range(text, target);
    let slice = |from: usize, to: usize| lines.get(from..to).unwrap_or(&[]);
    let block = slice(first, last + 1);
    let parts = if to_index < op {
        [
            slice(0, target_first),
            block,
            slice(target_first, first),
            slice(last + 1, lines.len()),
        ]
    } else {
        [
            slice(0, first),
            slice(last + 1, target_last + 1),
            block,
            slice(target_last + 1, lines.len()),
        ]
    };
    parts.concat().join("\n")
}

/// Zero-based first and last line of a statement.
fn line_range(text: &str, statement: &OpStatement) -> (usize, usize) {
    let line = |end: usize| {
        let before = text.get(..end).unwrap_or("");
        before.bytes().filter(|&b| b == b'\n').count()
    };
    (line(statement.span.start), line(statement.span.end))
}

/// The lines of a statement, with the line break after them.
pub(super) fn whole_lines(text: &str, statement: Span) -> Span {
    let start = line_start(text, statement.start);
    let end = line_end(text, statement.end);
    let newline = text.get(end..).and_then(|rest| rest.find('\n'));
    Span::new(start, newline.map_or(end, |newline| end + newline + 1))
}

/// Start of the line that contains `offset`.
fn line_start(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or("");
    before.rfind('\n').map_or(0, |newline| newline + 1)
}

/// End of the line that contains `offset`, without its line break.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    let rest = text.get(offset..).unwrap_or("");
    let line = rest.split('\n').next().unwrap_or("");
    offset + line.strip_suffix('\r').unwrap_or(line).len()
}

/// White space as wide as the text before `offset` on its line.
pub(super) fn indent(text: &str, offset: usize) -> String {
    let before = text.get(line_start(text, offset)..offset).unwrap_or("");
    let blank = |c: char| if c.is_whitespace() { c } else { ' ' };
    before.chars().map(blank).collect()
}
