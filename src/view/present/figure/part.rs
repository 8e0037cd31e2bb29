//! Sentences with numbers in them.

use crate::present::quantity::{Figure, Values};

/// A part of a sentence or of a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its words.
    pub text: String,
    /// The number that it is, which explains itself.
    pub figure: Option<Figure>,
}

impl Part {
    pub fn words(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            figure: None,
        }
    }

    /// A number as it is shown.
    pub fn of(values: &Values<'_>, figure: Figure) -> Self {
        Self::number(values.text(figure), figure)
    }

    /// A number; without a figure words like any other.
    pub fn number(text: impl Into<String>, figure: impl Into<Option<Figure>>) -> Self {
        Self {
            figure: figure.into(),
            ..Self::words(text)
        }
    }

    /// All words of a sentence.
    pub fn text_of(parts: &[Self]) -> String {
        parts.iter().map(|part| part.text.as_str()).collect()
    }
}
