//! Diagnostics of the text, as a list and in a sentence.

use super::names::counted;
use super::words::severity_word;
use fuseline_core::model::diagnostic::{has_errors, line_and_column};
use fuseline_core::notation::leads_to_export;
use fuseline_core::{Diagnostic, Fix, Severity, Span};
use std::iter;

/// A diagnostic as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingRow {
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// Line and column, both from 1: `5:10`.
    pub line_and_column: Option<String>,
    /// The problem, with code in backquotes.
    pub message: String,
    /// How to correct it, with code in backquotes.
    pub hint: Option<String>,
    /// Its position in the text.
    pub span: Option<Span>,
    /// The sound fixes of the problem.
    pub fixes: Vec<Fix>,
    /// Whether the way is the one of a PyTorch model.
    pub is_from_pytorch: bool,
}

/// A row for each of the first `max_rows` diagnostics of `text`, each with its fixes.
/// `O(text * max_rows)`.
pub fn finding_rows(
    diagnostics: &[Diagnostic],
    fixes: &[Vec<Fix>],
    text: &str,
    max_rows: usize,
) -> Vec<FindingRow> {
    let fixes = fixes.iter().cloned().chain(iter::repeat_with(Vec::new));
    let findings = diagnostics.iter().zip(fixes).take(max_rows);
    let rows = findings.map(|(finding, fixes)| FindingRow {
        fixes,
        severity: severity_word(finding.severity),
        line_and_column: finding.span.map(|span| {
            let (line, column) = line_and_column(text, span.start);
            format!("{line}:{column}")
        }),
        message: finding.message.clone(),
        hint: finding.hint.clone(),
        span: finding.span,
        is_from_pytorch: leads_to_export(finding),
    });
    rows.collect()
}

/// The fixes of the first diagnostic with any on the line of a byte; none while the diagnostics
/// belong to another text.
pub fn fixes_on_line<'a>(
    diagnostics: &[Diagnostic],
    fixes: &'a [Vec<Fix>],
    text: &str,
    byte: usize,
) -> &'a [Fix] {
    let (Some(before), Some(after)) = (text.get(..byte), text.get(byte..)) else {
        return &[];
    };
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = start..=byte + after.find('\n').unwrap_or(after.len());
    let is_here = |found: &Diagnostic| found.span.is_some_and(|span| line.contains(&span.start));
    let mut here = diagnostics
        .iter()
        .zip(fixes)
        .filter(|(found, _)| is_here(found));
    here.find(|(_, fixes)| !fixes.is_empty())
        .map_or(&[], |(_, fixes)| fixes)
}

/// The highest severity among the diagnostics, and how many have it; `None` without diagnostics.
pub fn worst(diagnostics: &[Diagnostic]) -> Option<(Severity, usize)> {
    let worst = diagnostics.iter().map(|d| d.severity).max()?;
    let count = diagnostics.iter().filter(|d| d.severity == worst).count();
    Some((worst, count))
}

/// What the page outside the editor shows while the text has an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownText {
    /// The last text without an error.
    LastGoodText,
    /// The lines of this text that can be read, because no text without an error came before.
    ReadableLines,
}

impl ShownText {
    /// The message that the text has an error, and what the page shows.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::LastGoodText => {
                "The text has an error. The page shows the last text without errors."
            }
            Self::ReadableLines => {
                "The text has an error. The page shows only the lines without errors."
            }
        }
    }
}

/// How many diagnostics of the highest severity there are, in a sentence, and what is shown if one
/// is an error.
pub fn findings_summary(diagnostics: &[Diagnostic], shown: ShownText) -> String {
    let Some((severity, count)) = worst(diagnostics) else {
        return "The text has no problems.".to_owned();
    };
    let stale = if has_errors(diagnostics) {
        match shown {
            ShownText::LastGoodText => " The pictures show the last text without errors.",
            ShownText::ReadableLines => " The pictures show only the lines without errors.",
        }
    } else {
        ""
    };
    let findings = counted(count, severity_word(severity));
    format!("{findings} in the text.{stale}")
}
