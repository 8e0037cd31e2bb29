//! Sentences with numbers in them.

use crate::present::quantity::{Figure, Values};

/// A part of a sentence or of a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub text: String,
    /// The figure whose number the text is; its card explains the number.
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

    /// A number; plain words without a figure.
    pub fn number(text: impl Into<String>, figure: impl Into<Option<Figure>>) -> Self {
        Self {
            figure: figure.into(),
            ..Self::words(text)
        }
    }

    /// The text of a sentence.
    pub fn text_of(parts: &[Self]) -> String {
        parts.iter().map(|part| part.text.as_str()).collect()
    }
}
