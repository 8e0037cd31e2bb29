//! Converts the two other input forms, a JSON list of ops and pasted `Op(...)` lines, to programs.

mod check;
mod entry;
mod graph_collection;
mod op_lines;
mod problems;
mod statements;
mod values;

use crate::json::{JsonError, is_blank, read_json};
use crate::model::diagnostic::{Code, Diagnostic, sort_in_text_order};
use crate::model::functions::Function;
use crate::model::op::{Op, TensorDecl};
use crate::model::program::{Attribute, Literal, Program};
use crate::notation::spelling::quoted;
use crate::notation::{Parsed, foreign_json, foreign_text};
use crate::resolve::takes;
use check::{op_of_entry, tensor_of_entry};
use entry::{Entry, FieldSpans};
pub use graph_collection::OP_KEY;
use problems::Problems;
use serde_json::Value;
use statements::program_of_calls;
pub use statements::program_of_ops;
use std::collections::{HashMap, HashSet};
pub use values::{OpList, Tensors};

/// The input forms of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The notation, for [`super::parse`].
    Notation,
    /// For [`read_op_list`].
    Json,
    /// Python lines, for [`read_op_lines`].
    OpLines,
}

/// The most likely form of a text, judged by its first characters and those of its lines.
/// `O(text)`.
pub fn form_of(text: &str) -> Form {
    let start = text.trim_start_matches(is_blank);
    if op_lines::holds_op_lines(text) && !start.starts_with('{') {
        Form::OpLines
    } else if start.starts_with(['{', '[']) {
        Form::Json
    } else {
        Form::Notation
    }
}

/// Reads pasted lines `Op("matmul1", "matmul", ["x", "w1"], "y1", (1024, 4096), 2),`. Total;
/// `O(text)`.
///
/// Fields may be positional or named, strings may have either quotes, lists may be tuples. Text
/// around the calls is skipped. Spans are positions in the pasted text.
pub fn read_op_lines(text: &str) -> Parsed {
    let mut problems = Problems::default();
    let mut lines = Vec::new();
    for line in op_lines::op_lines(text) {
        match line {
            Ok(line) => lines.push((Value::Object(line.fields), line.spans)),
            Err(problem) => problems.push(problem),
        }
    }
    let entries = lines.iter().map(|(fields, spans)| (fields, Some(spans)));
    let mut parsed = program_of_entries(entries, Vec::new(), problems);
    sort_in_text_order(&mut parsed.diagnostics);
    parsed
}

/// Reads a JSON list of ops. What another tool has written gets one error that names it.
/// `O(text)`.
///
/// # Errors
/// If the text is no JSON, or JSON of an unknown kind.
pub fn read_op_list(text: &str) -> Result<Parsed, JsonError> {
    let parsed = read_json(text).map(|list| program_of_op_list(&list));
    let is_read = parsed
        .as_ref()
        .is_ok_and(|parsed| !parsed.program.ops.is_empty());
    // Texts such as `{ lambda ; ...` begin as JSON does.
    let refused = || foreign_json::refusal(text).or_else(|| foreign_text::refusal(text));
    match (!is_read).then(refused).flatten() {
        Some(refusal) => Ok(Parsed {
            program: Program::default(),
            diagnostics: vec![refusal],
        }),
        None => parsed,
    }
}

/// Converts a list to a program. Total; `O(list)`.
///
/// An invalid entry is left out, with one diagnostic that names it; past a thousand they are only
/// counted. Spans are empty because a list has no text.
pub fn program_of_op_list(list: &OpList) -> Parsed {
    let mut problems = Problems::default();
    let mut tensors = Vec::new();
    let mut declared = HashSet::new();
    for (index, fields) in list.tensors.iter().enumerate() {
        let entry = Entry::tensor(index, fields);
        let tensor = tensor_of_entry(&entry).and_then(|tensor| {
            entry.check_size(tensor.bytes_per_element)?;
            Ok(tensor)
        });
        match tensor {
            Ok(tensor) if declared.insert(tensor.name.clone()) => tensors.push(tensor),
            Ok(tensor) => problems.push(
                Diagnostic::error(
                    Code::DuplicateDeclaration,
                    format!("the tensor {} is given twice", quoted(&tensor.name)),
                )
                .hint("remove one of the two"),
            ),
            Err(problem) => problems.push(problem),
        }
    }
    let entries = list.ops.iter().map(|fields| (fields, None));
    program_of_entries(entries, tensors, problems)
}

/// The ops of a list as given, for the functions of the JavaScript API. `O(list)`.
///
/// Functions of another op type are allowed, and so are element widths that no type has. A function
/// that the table lacks is left out.
///
/// # Errors
/// One diagnostic for each of the first thousand invalid entries, and one for all others.
pub fn ops_of_list(list: &OpList) -> Result<Vec<Op>, Vec<Diagnostic>> {
    let entries = list.ops.iter().enumerate();
    all_or_problems(entries.map(|(index, fields)| {
        let (mut op, _) = op_of_entry(&Entry::op(index, fields, None))?;
        if let Some(Value::String(function)) = fields.get("function") {
            op.function = Function::called(function).map(|(function, _)| function);
        }
        Ok(op)
    }))
}

/// The declarations in a list of tensors, like [`ops_of_list`].
///
/// # Errors
/// One diagnostic for each invalid entry.
pub fn tensors_of_list(list: &[Value]) -> Result<Vec<TensorDecl>, Vec<Diagnostic>> {
    let entries = list.iter().enumerate();
    all_or_problems(entries.map(|(index, fields)| tensor_of_entry(&Entry::tensor(index, fields))))
}

/// All values, or all problems if there are any.
fn all_or_problems<T>(
    results: impl Iterator<Item = Result<T, Diagnostic>>,
) -> Result<Vec<T>, Vec<Diagnostic>> {
    let (mut values, mut problems) = (Vec::new(), Problems::default());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.has_errors() {
        Err(problems.into_diagnostics())
    } else {
        Ok(values)
    }
}

fn program_of_entries<'a>(
    entries: impl ExactSizeIterator<Item = (&'a Value, Option<&'a FieldSpans>)>,
    mut tensors: Vec<TensorDecl>,
    mut problems: Problems,
) -> Parsed {
    let mut ops: Vec<Op> = Vec::with_capacity(entries.len());
    let mut attributes: Vec<Vec<Attribute>> = Vec::with_capacity(entries.len());
    let mut literals: Vec<Vec<Literal>> = Vec::with_capacity(entries.len());
    let mut spans: Vec<Option<&FieldSpans>> = Vec::with_capacity(entries.len());
    let mut writer: HashMap<String, usize> = HashMap::with_capacity(entries.len());
    let mut named: HashSet<String> = HashSet::with_capacity(entries.len());
    for (index, (fields, field_spans)) in entries.enumerate() {
        let entry = Entry::op(index, fields, field_spans);
        let read = op_of_entry(&entry).and_then(|(op, doubt)| {
            entry.check_size(op.bytes_per_element)?;
            let literals = entry.literals(op.inputs.len())?;
            Ok((op, entry.attributes()?, literals, doubt))
        });
        let (op, mut own_attributes, own_literals) = match read {
            Ok((op, attributes, literals, doubt)) => {
                problems.extend(doubt);
                (op, attributes, literals)
            }
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        if let Some(first) = writer.get(&op.output).and_then(|&first| ops.get(first)) {
            let what = format!(
                "{} already writes {}",
                quoted(&first.name),
                quoted(&op.output)
            );
            problems.push(
                entry
                    .error(Code::DuplicateOutput, "output", what)
                    .hint("give this output another name"),
            );
            continue;
        }
        if !named.insert(op.name.clone()) {
            let what = format!("another op is already called {}", quoted(&op.name));
            problems.push(
                entry
                    .error(Code::DuplicateOpName, "name", what)
                    .hint("give this op another name"),
            );
            continue;
        }
        if let Some(function) = op.function {
            let unfit = own_attributes.extract_if(.., |attribute| !takes(function, attribute));
            problems.extend(unfit.map(|attribute| entry.left_out(&attribute)));
        }
        writer.insert(op.output.clone(), ops.len());
        ops.push(op);
        attributes.push(own_attributes);
        literals.push(own_literals);
        spans.push(field_spans);
    }
    tensors.retain(|tensor| {
        let Some(op) = writer.get(&tensor.name).and_then(|&op| ops.get(op)) else {
            return true;
        };
        // Lists often give the size of every tensor. For an op's output only the size in the op
        // counts.
        if (&tensor.shape, tensor.bytes_per_element) != (&op.shape, op.bytes_per_element) {
            problems.push(
                Diagnostic::warning(
                    Code::DuplicateDeclaration,
                    format!(
                        "the tensor {} has another size than the output of its op {}",
                        quoted(&tensor.name),
                        quoted(&op.name)
                    ),
                )
                .hint("remove it from `tensors`, or correct it"),
            );
        }
        false
    });
    let (mut program, doubts) = program_of_calls(&ops, &attributes, &literals, &tensors);
    problems.extend(doubts.into_iter().map(|mut doubt| {
        let place = doubt.op.and_then(|op| spans.get(op).copied().flatten());
        doubt.span = place.map(|spans| spans.of("shape"));
        doubt
    }));
    place_ops(&mut program, &spans);
    Parsed {
        program,
        diagnostics: problems.into_diagnostics(),
    }
}

/// Gives the statements the spans of the pasted `Op(...)` lines.
fn place_ops(program: &mut Program, spans: &[Option<&FieldSpans>]) {
    for (op, spans) in program.ops.iter_mut().zip(spans) {
        let Some(spans) = spans else { continue };
        op.span = spans.call;
        op.output.span = spans.of("output");
        op.callee.span = spans.of("op_type");
        if let Some(label) = &mut op.label {
            label.span = spans.of("name");
        }
        for input in &mut op.inputs {
            input.span = spans.of("inputs");
        }
        for attribute in &mut op.attributes {
            attribute.span = spans.call;
            attribute.name.span = spans.call;
        }
        if let Some(annotation) = &mut op.annotation {
            annotation.span = spans.of("shape");
            annotation.dtype_span = spans.of("bytes_per_element");
        }
    }
}
