//! The problems of a list: of its errors the first ones in full, the others counted.

use crate::model::diagnostic::{Code, Diagnostic, Severity};

/// Most errors that are kept. A list of small wrong entries would take a hundred times its size for
/// all of them.
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

    /// Whether an entry is wrong.
    pub(super) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// What was kept and, if there are more errors, how many.
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
