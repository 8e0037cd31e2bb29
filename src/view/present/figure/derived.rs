//! How a figure comes about, before words are added.

use crate::present::derivation::{Derivation, Term};

/// How a figure comes about.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) derivation: Option<Derivation>,
    /// Its formula in symbols, where that is not the one of its quantity.
    pub(super) formula: Option<&'static str>,
    /// The term of its card, where that is not the number that is shown everywhere with the
    /// `derivation`: behind a word, or of a figure that no table shows.
    pub(super) own: Option<Term>,
    pub(super) notes: Vec<String>,
}

impl Derived {
    /// A number that is shown everywhere.
    pub(super) fn by(derivation: impl Into<Option<Derivation>>) -> Self {
        Self {
            derivation: derivation.into(),
            ..Self::default()
        }
    }

    /// A number with its calculation.
    pub(super) fn of(term: Term) -> Self {
        Self {
            own: Some(term),
            ..Self::default()
        }
    }

    /// With more notes, if there are any.
    pub(super) fn noted(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }
}
