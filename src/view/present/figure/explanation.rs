//! The explanation of a number.

use super::conventions::{self, Convention, Counted};
use crate::present::derivation::Term;
use crate::present::quantity::Figure;
use fuseline_core::Analysis;

/// The explanation of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub title: String,
    /// What the figure is of: `kernel 3: softmax`.
    pub subject: String,
    /// The figure as it is shown.
    pub value: String,
    /// The formula in symbols.
    pub formula: &'static str,
    /// The number, and the formula with the figures of this program; `None` where it is not known.
    pub term: Option<Term>,
    /// What the figure leaves out, and what else matters for it.
    pub notes: Vec<String>,
    /// The options that decide how it is counted.
    pub conventions: Vec<Convention>,
    /// Where it comes from.
    pub sources: Vec<String>,
}

impl Explanation {
    /// The explanation of a number that is displayed like its term; a dash without a term.
    pub fn of(
        title: impl Into<String>,
        subject: impl Into<String>,
        formula: &'static str,
        term: impl Into<Option<Term>>,
    ) -> Self {
        let term = term.into();
        Self {
            title: title.into(),
            subject: subject.into(),
            value: term.as_ref().map_or_else(|| "–".to_owned(), Term::text),
            formula,
            term,
            notes: Vec::new(),
            conventions: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// Adds the conventions and sources of a figure that the number is computed from, unless it
    /// already has some.
    pub(super) fn counted_as(mut self, figure: Figure, analysis: &Analysis) -> Self {
        let Some(counted) = Counted::of(figure.of, analysis) else {
            return self;
        };
        let conventions = conventions::conventions(figure, counted);
        let sources = conventions::sources(figure, counted);
        add_missing(&mut self.conventions, conventions);
        add_missing(&mut self.sources, sources);
        self
    }

    /// All digits, if the figure is shown with fewer; `None` for a word.
    pub fn exact(&self) -> Option<String> {
        let number = self.term.as_ref()?.number;
        let exact = number.exact();
        (self.value.ends_with(&number.text()) && exact != self.value).then_some(exact)
    }

    /// The calculation with its result: `312 TFLOP/s / 2.04 TB/s = 153 FLOP/B`. `None` for a sum of
    /// many terms.
    pub fn line(&self) -> Option<String> {
        let line = self.term.as_ref()?.derivation.as_ref()?.line()?;
        Some(format!("{line} = {}", self.value))
    }
}

fn add_missing<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}
