//! Converts programs in other forms to notation: a JSON list of ops, `Op(...)` lines, or a graph
//! that PyTorch has printed with its shapes.

pub mod model_file;

use crate::picture::code::line_at;
use crate::present::names::counted;
use crate::present::words::with_hint;
use fuseline_core::input::{InputTooLarge, check_size};
use fuseline_core::json::JsonError;
use fuseline_core::notation::import::{Form, form_of, read_op_lines, read_op_list};
use fuseline_core::notation::{Parsed, print};
use fuseline_core::{Code, Diagnostic, Severity};
use fuseline_import::Problem;
use fuseline_import::pt2::{import_printed, is_printed};
use model_file::notation_of;
use std::fmt::Write;

/// A program in another form, converted to notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The notation. Lines that could not be read are comments at its end.
    pub text: String,
    /// One or two sentences: the number of ops, the form that they had and what could not be read.
    pub summary: String,
    /// Whether some lines could not be read.
    pub is_incomplete: bool,
}

/// Why a text was not opened, as a sentence for the visitor.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// More bytes than the page reads.
    #[error("This text could not be read: {0}.")]
    TooLarge(#[from] InputTooLarge),
    /// JSON of something else.
    #[error("This JSON is not a list of ops: {0}.")]
    Json(#[from] JsonError),
    /// A text of another tool.
    #[error("This text was not opened: {}.", with_hint(.0))]
    Foreign(Diagnostic),
    /// A list in which no op can be read.
    #[error("The {form} could not be read: {problem}.")]
    NoOps {
        /// What the list is made of.
        form: &'static str,
        /// What is wrong with the first op, as a clause.
        problem: String,
    },
    /// A graph of PyTorch that cannot be read.
    #[error(
        "This printed graph of PyTorch could not be read: {0}. Save the program with torch.export.save(program, \"model.pt2\"), and open that file."
    )]
    Printed(#[from] Problem),
}

/// `text` converted to notation; `None` when it is notation already.
///
/// # Errors
/// If no op could be read, or if the text is too large in any form.
pub fn converted(text: &str) -> Option<Result<Converted, TextError>> {
    if let Err(too_large) = check_size(text.len()) {
        return Some(Err(too_large.into()));
    }
    match form_of(text) {
        Form::Notation => printed_graph(text),
        Form::OpLines => Some(printed("Op(...) lines", text, &read_op_lines(text))),
        Form::Json => Some(match read_op_list(text) {
            Ok(parsed) => match parsed.diagnostics.first() {
                Some(first) if first.code == Code::ForeignText => {
                    Err(TextError::Foreign(first.clone()))
                }
                _ => printed("JSON", text, &parsed),
            },
            Err(problem) => Err(problem.into()),
        }),
    }
}

/// The program of a graph that PyTorch has printed with its shapes; `None` for any other text.
pub fn printed_graph(text: &str) -> Option<Result<Converted, TextError>> {
    is_printed(text).then(|| {
        let (mut imported, others) = import_printed(text)?;
        if others > 0 {
            imported.notes.push(format!(
                "The text has {} more, which {} not read: paste one alone to read it.",
                counted(others, "graph"),
                if others == 1 { "was" } else { "were" }
            ));
        }
        let ops = counted(imported.program.ops.len(), "op");
        let origin = "a printed graph of PyTorch";
        let too_long = || Problem::new(format!("the notation of its {ops} is too long"));
        Ok(notation_of(origin, &imported).ok_or_else(too_long)?)
    })
}

fn printed(form: &'static str, text: &str, parsed: &Parsed) -> Result<Converted, TextError> {
    let diagnostics = parsed.diagnostics.iter();
    let errors: Vec<_> = diagnostics
        .filter(|d| d.severity == Severity::Error)
        .collect();
    let problem = errors.first().map(|first| with_hint(first));
    if parsed.program.ops.is_empty() {
        let problem = problem.unwrap_or_else(|| "it contains no ops".to_owned());
        return Err(TextError::NoOps { form, problem });
    }
    let mut notation = print(&parsed.program);
    for span in errors.iter().filter_map(|d| d.span) {
        for line in line_at(text, span.start).slice(text).lines() {
            // Writing to a `String` cannot fail.
            let _ = writeln!(notation, "# not read: {}", line.trim());
        }
    }
    let ops = counted(parsed.program.ops.len(), "op");
    let unread = match &problem {
        Some(problem) => format!(" Some of it could not be read: {problem}."),
        None => String::new(),
    };
    Ok(Converted {
        text: notation,
        summary: format!("Imported {ops} from {form}.{unread}"),
        is_incomplete: problem.is_some(),
    })
}
