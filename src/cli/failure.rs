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
    /// The arguments do not fit each other, or the program.
    Usage {
        /// What is wrong.
        problem: String,
        /// What to write instead.
        help: String,
    },
    /// Anything else that is wrong.
    Command(String),
    /// A failure whose reason the command has already printed.
    Reported,
    /// The result is printed, but it leaves out ops of unknown shape, which its warnings name.
    Incomplete,
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
    /// A failure with this problem.
    pub(super) fn command(problem: impl Display) -> Self {
        Self::Command(problem.to_string())
    }

    /// Wrong arguments, and what to write instead.
    pub(super) fn usage(problem: impl Display, help: impl Display) -> Self {
        Self::Usage {
            problem: problem.to_string(),
            help: help.to_string(),
        }
    }

    /// Arguments that the parser refuses. The first paragraph of its message is the problem, the
    /// others the help.
    pub(super) fn unparsed(problem: &clap::Error) -> Self {
        let message = problem.to_string();
        let paragraphs = message.trim_start_matches("error: ").split("\n\n");
        let mut lines = paragraphs
            .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|line| !line.is_empty());
        let problem = lines.next().unwrap_or_default();
        Self::usage(problem, lines.collect::<Vec<_>>().join(". "))
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
            Self::Usage { problem, help } => {
                tell(&format!("error: {problem}\n  = help: {help}\n"));
            }
            Self::Command(problem) => tell(&format!("error: {problem}\n")),
            Self::Reported | Self::Incomplete => {}
        }
    }

    fn report(&self) -> FailureReport {
        let without_text = |problem: &String, help: Option<&String>| FailureReport {
            file: None,
            diagnostics: vec![DiagnosticReport::of_no_text(
                Severity::Error,
                problem.clone(),
                help.cloned(),
            )],
        };
        match self {
            Self::Text {
                file,
                text,
                diagnostics,
            } => FailureReport {
                file: Some(file.clone()),
                diagnostics: DiagnosticReport::of_all(diagnostics, text),
            },
            Self::Usage { problem, help } => without_text(problem, Some(help)),
            Self::Command(problem) => without_text(problem, None),
            Self::Reported | Self::Incomplete => FailureReport {
                file: None,
                diagnostics: Vec::new(),
            },
        }
    }
}
