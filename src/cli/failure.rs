//! Why a command has failed. The message is printed once, where the command ends, in words or as
//! JSON.

use crate::complaint::complain;
use crate::output::{json, print, tell};
use fuseline_core::model::diagnostic::{Diagnostic, Severity};
use fuseline_view::present::report::DiagnosticReport;
use serde::Serialize;
use std::error::Error;
use std::fmt::Display;
use std::path::Path;

/// Why a command has failed.
pub(super) enum Failed {
    /// A text has errors.
    Text {
        /// The name of its file.
        file: String,
        /// The text that spans point into.
        text: String,
        /// Errors, warnings and notes.
        diagnostics: Vec<Diagnostic>,
    },
    /// Anything else.
    Command {
        /// What is wrong.
        problem: String,
        /// What to do.
        help: Option<String>,
    },
    /// A failure whose reason the command has already printed.
    Reported,
}

/// An error of any kind. Only its message matters, because the command makes a [`Failed`] of it.
pub(super) type AnyError = Box<dyn Error + Send + Sync>;

/// The JSON of a command that has failed.
#[derive(Serialize)]
struct FailureReport {
    /// The file whose text has errors.
    file: Option<String>,
    diagnostics: Vec<DiagnosticReport>,
}

impl Failed {
    /// A failure with this problem and no help.
    pub(super) fn command(problem: impl Display) -> Self {
        Self::Command {
            problem: problem.to_string(),
            help: None,
        }
    }

    /// A failure with this problem, and what to do about it.
    pub(super) fn with_help(problem: impl Display, help: impl Display) -> Self {
        Self::Command {
            problem: problem.to_string(),
            help: Some(help.to_string()),
        }
    }

    /// Wrong arguments. The first paragraph of clap's message is the problem, the others the help.
    pub(super) fn usage(problem: &clap::Error) -> Self {
        let message = problem.to_string();
        let paragraphs = message.trim_start_matches("error: ").split("\n\n");
        let mut lines = paragraphs
            .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|line| !line.is_empty());
        let problem = lines.next().unwrap_or_default();
        Self::with_help(problem, lines.collect::<Vec<_>>().join(". "))
    }

    /// A failure about a file, whose name leads the message.
    pub(super) fn file(file: &Path, problem: impl Display) -> Self {
        Self::command(format!("{}: {problem}", file.display()))
    }

    /// Prints the failure on standard error, or as JSON on standard output.
    pub(super) fn tell(&self, is_json: bool) {
        if !is_json {
            self.tell_words();
            return;
        }
        if let Err(unwritten) = json(&self.report()).and_then(|json| print(&json)) {
            unwritten.tell_words();
        }
    }

    fn tell_words(&self) {
        match self {
            Self::Text {
                file,
                text,
                diagnostics,
            } => complain(file, text, diagnostics),
            Self::Command { problem, help } => {
                let help = help.as_ref().map(|help| format!("  = help: {help}\n"));
                tell(&format!("error: {problem}\n{}", help.unwrap_or_default()));
            }
            Self::Reported => {}
        }
    }

    fn report(&self) -> FailureReport {
        match self {
            Self::Text {
                file,
                text,
                diagnostics,
            } => FailureReport {
                file: Some(file.clone()),
                diagnostics: DiagnosticReport::of_all(diagnostics, text),
            },
            Self::Command { problem, help } => FailureReport {
                file: None,
                diagnostics: vec![DiagnosticReport::of_no_text(
                    Severity::Error,
                    problem.clone(),
                    help.clone(),
                )],
            },
            Self::Reported => FailureReport {
                file: None,
                diagnostics: Vec::new(),
            },
        }
    }
}
