//! A figure before words are added.

use crate::present::derivation::Term;

/// A figure before words are added.
pub(super) struct Found {
    pub(super) value: String,
    pub(super) term: Option<Term>,
    pub(super) notes: Vec<String>,
}

impl Found {
    /// A figure that is shown as its number is.
    pub(super) fn new(term: Term) -> Self {
        Self {
            value: term.text(),
            term: Some(term),
            notes: Vec::new(),
        }
    }

    /// With another note, if there is one.
    pub(super) fn noted(mut self, note: Option<String>) -> Self {
        self.notes.extend(note);
        self
    }
}
