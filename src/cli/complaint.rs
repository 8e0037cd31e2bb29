//! Diagnostics for a terminal.

use crate::output::tell;
use fuseline_core::model::diagnostic::{Diagnostic, line_and_column};
use std::fmt::Write as _;

/// Prints diagnostics on standard error, each with line, column and the source line.
pub(super) fn complain(file: &str, text: &str, diagnostics: &[Diagnostic]) {
    const SHOWN: usize = 50;
    // Writing to a `String` cannot fail.
    let mut printed = String::new();
    for diagnostic in diagnostics.iter().take(SHOWN) {
        let _ = writeln!(printed, "{}: {}", diagnostic.severity, diagnostic.message);
        if let Some(span) = diagnostic.span {
            let (line, column) = line_and_column(text, span.start);
            let source = text.lines().nth(line - 1).unwrap_or("");
            let margin = " ".repeat(line.to_string().len());
            let (source, before, marked) = excerpt(source, column - 1, span.slice(text));
            let _ = writeln!(printed, "{margin}--> {file}:{line}:{column}");
            let _ = writeln!(printed, "{margin} |\n{line} | {source}");
            let _ = writeln!(
                printed,
                "{margin} | {}{}",
                " ".repeat(before),
                "^".repeat(marked)
            );
        }
        if let Some(hint) = &diagnostic.hint {
            let _ = writeln!(printed, "  = help: {hint}");
        }
    }
    if diagnostics.len() > SHOWN {
        let _ = writeln!(printed, "... and {} more", diagnostics.len() - SHOWN);
    }
    tell(&printed);
}

/// A section of the source line that fits a terminal, and the position of the mark in it.
fn excerpt(source: &str, column: usize, marked: &str) -> (String, usize, usize) {
    const WIDTH: usize = 96;
    let skipped = column.saturating_sub(WIDTH / 2);
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = source
        .chars()
        .skip(skipped)
        .take(WIDTH)
        .map(plain)
        .collect();
    let before = column - skipped;
    let length = marked.lines().next().unwrap_or("").chars().count();
    let room = shown.chars().count().saturating_sub(before);
    (shown, before, length.min(room).max(1))
}
