//! Diagnostics as JSON.

use fuseline_core::fixes::sound_fixes;
use fuseline_core::model::diagnostic::{Code, Diagnostic, Severity, lines_and_columns};
use fuseline_core::model::fix::{Fix, TextEdit};
use serde::Serialize;

/// A diagnostic with line and column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticReport {
    pub severity: Severity,
    /// Its kind; `null` for a problem outside the text.
    pub code: Option<Code>,
    /// The problem.
    pub message: String,
    /// How to correct it.
    pub hint: Option<String>,
    /// One-based line, if it has a span.
    pub line: Option<usize>,
    /// One-based column in characters.
    pub column: Option<usize>,
    /// First byte of what it is about, if it has a span.
    pub start: Option<usize>,
    /// One past its last byte.
    pub end: Option<usize>,
    /// Fixes, each of which alone solves the problem.
    pub fixes: Vec<FixReport>,
}

/// One correction. The edits name byte ranges of the text, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FixReport {
    /// What it does.
    pub label: String,
    /// What it replaces.
    pub edits: Vec<EditReport>,
}

/// An edit for JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EditReport {
    /// First byte of the replaced part.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// The replacement.
    pub text: String,
}

impl DiagnosticReport {
    /// A problem outside the text.
    pub fn of_no_text(severity: Severity, message: String, hint: Option<String>) -> Self {
        Self {
            severity,
            code: None,
            message,
            hint,
            line: None,
            column: None,
            start: None,
            end: None,
            fixes: Vec::new(),
        }
    }

    /// The diagnostics with their places in `text` and the fixes that hold there. `O(text +
    /// diagnostics log diagnostics)`.
    pub fn of_all(diagnostics: &[Diagnostic], text: &str) -> Vec<Self> {
        let starts = diagnostics.iter().filter_map(|d| Some(d.span?.start));
        let starts: Vec<usize> = starts.collect();
        let mut places = lines_and_columns(text, &starts).into_iter();
        let mut fixes = sound_fixes(text, diagnostics).into_iter();
        let report = |diagnostic: &Diagnostic| {
            let place = diagnostic.span.and_then(|_| places.next());
            Self {
                severity: diagnostic.severity,
                code: Some(diagnostic.code),
                message: diagnostic.message.clone(),
                hint: diagnostic.hint.clone(),
                line: place.map(|(line, _)| line),
                column: place.map(|(_, column)| column),
                start: diagnostic.span.map(|span| span.start),
                end: diagnostic.span.map(|span| span.end),
                fixes: { fixes.next() }
                    .iter()
                    .flatten()
                    .map(FixReport::from)
                    .collect(),
            }
        };
        diagnostics.iter().map(report).collect()
    }
}

impl From<&Fix> for FixReport {
    fn from(fix: &Fix) -> Self {
        let edit = |edit: &TextEdit| EditReport {
            start: edit.span.start,
            end: edit.span.end,
            text: edit.text.clone(),
        };
        Self {
            label: fix.label.clone(),
            edits: fix.edits.iter().map(edit).collect(),
        }
    }
}
