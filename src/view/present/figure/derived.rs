//! The derivation of a figure, before words are added.

use crate::present::derivation::{Derivation, Term};

/// The derivation of a figure, with its notes.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) derivation: Option<Derivation>,
    /// Its formula in symbols, if that differs from the formula of its quantity.
    pub(super) formula: Option<&'static str>,
    /// The term of its card, if that is not the displayed number with its `derivation`: behind a
    /// word, or for a figure that no table shows.
    pub(super) own: Option<Term>,
    pub(super) notes: Vec<String>,
}

impl Derived {
    /// A figure whose displayed number has this derivation.
    pub(super) fn by(derivation: impl Into<Option<Derivation>>) -> Self {
        Self {
            derivation: derivation.into(),
            ..Self::default()
        }
    }

    /// A figure with a term of its own.
    pub(super) fn of(term: Term) -> Self {
        Self {
            own: Some(term),
            ..Self::default()
        }
    }

    /// Adds notes.
    pub(super) fn noted(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }
}
