//! Edits of a text, and corrections that a visitor can take with one click.

use crate::model::diagnostic::Span;

/// A part of a text and what replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The part; empty where something is inserted.
    pub span: Span,
    /// The replacement; empty where something is removed.
    pub text: String,
}

impl TextEdit {
    /// Replaces a part.
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { span, text }
    }

    /// Inserts at a byte.
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(Span::new(at, at), text)
    }

    /// Removes a part.
    pub fn remove(span: Span) -> Self {
        Self::replace(span, "")
    }
}

/// One correction: its label and the edits that make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The effect, as an imperative with code in backquotes.
    pub label: String,
    /// The edits, ascending; their spans do not overlap.
    pub edits: Vec<TextEdit>,
}

impl Fix {
    /// A correction by one edit.
    pub fn new(label: impl Into<String>, edit: TextEdit) -> Self {
        Self {
            label: label.into(),
            edits: vec![edit],
        }
    }

    /// The corrected text; `None` if the edits do not fit it. `O(text)`.
    pub fn applied(&self, text: &str) -> Option<String> {
        edited(text, &self.edits)
    }
}

/// A text after edits, which are ascending and do not overlap; `None` if they do not fit it.
/// `O(text)`.
pub fn edited(text: &str, edits: &[TextEdit]) -> Option<String> {
    let mut edited = String::with_capacity(text.len() + 64);
    let mut done = 0;
    for edit in edits {
        edited.push_str(text.get(done..edit.span.start)?);
        edited.push_str(&edit.text);
        done = edit.span.end;
    }
    edited.push_str(text.get(done..)?);
    Some(edited)
}
