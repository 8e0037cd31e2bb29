//! Converts programs in other forms to notation: a JSON list of ops or `Op(...)` lines.

pub mod model_file;

use crate::picture::code::line_at;
use crate::present::names::counted;
use crate::present::words::with_hint;
use fuseline_core::Severity;
use fuseline_core::input::{InputTooLarge, check_size};
use fuseline_core::json::{JsonError, read_json};
use fuseline_core::notation::import::{Form, OpList, form_of, program_of_op_list, read_op_lines};
use fuseline_core::notation::{Parsed, print};
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
    /// A list in which no op can be read.
    #[error("The {form} could not be read: {problem}.")]
    NoOps {
        /// What the list is made of.
        form: &'static str,
        /// What is wrong with the first op, as a clause.
        problem: String,
    },
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
        Form::Notation => None,
        Form::OpLines => Some(printed("Op(...) lines", text, &read_op_lines(text))),
        Form::Json => Some(match read_json::<OpList>(text) {
            Ok(list) => printed("JSON", text, &program_of_op_list(&list)),
            Err(problem) => Err(problem.into()),
        }),
    }
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
