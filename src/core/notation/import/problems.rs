//! The problems of a list: the first errors in full, the others counted.

use crate::model::diagnostic::{Code, Diagnostic, Severity};

/// Most errors that are kept. For a list of small invalid entries, all errors would take a hundred
/// times the size of the list.
const ERRORS: usize = 1000;

/// Errors and warnings about the entries of a list.
#[derive(Default)]
pub(super) struct Problems {
    kept: Vec<Diagnostic>,
    errors: usize,
}

impl Problems {
    pub(super) fn push(&mut self, problem: Diagnostic) {
        let is_error = problem.severity == Severity::Error;
        self.errors += usize::from(is_error);
        if !is_error || self.errors <= ERRORS {
            self.kept.push(problem);
        }
    }

    pub(super) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// The kept diagnostics and, if there are more errors, their number.
    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut problems = self.kept;
        if let Some(more @ 1..) = self.errors.checked_sub(ERRORS) {
            let message = format!("{more} more entries cannot be read");
            problems.push(
                Diagnostic::error(Code::MalformedJson, message)
                    .hint("correct the first errors: these may have the same cause"),
            );
        }
        problems
    }
}

impl Extend<Diagnostic> for Problems {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, problems: I) {
        problems.into_iter().for_each(|problem| self.push(problem));
    }
}
