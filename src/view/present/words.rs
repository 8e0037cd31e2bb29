//! Sentences with code in backquotes.

use fuseline_core::{Diagnostic, Severity};

/// A part of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its text, without backquotes.
    pub text: &'a str,
    /// Whether it is code.
    pub is_code: bool,
}

/// The parts of a sentence, in order and without the backquotes.
pub fn pieces(sentence: &str) -> impl Iterator<Item = Piece<'_>> {
    let parts = sentence.split('`').enumerate();
    let pieces = parts.map(|(place, text)| Piece {
        text,
        // Every second part stands between two quotes.
        is_code: place % 2 == 1,
    });
    pieces.filter(|piece| piece.is_code || !piece.text.is_empty())
}

/// A text with a capital first letter.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    (letters.next()).map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The beginning of a sentence, for use inside of one.
pub fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    (letters.next()).map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

/// The name of a severity.
pub fn severity_word(severity: Severity) -> &'static str {
    severity.into()
}

/// The message of a diagnostic and its hint, as one sentence.
pub fn with_hint(diagnostic: &Diagnostic) -> String {
    match &diagnostic.hint {
        Some(hint) => format!("{}: {hint}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}
