//! Sentences for people, in which `backquotes` stand for code.

use crate::core::Diagnostic;
use crate::markup::Markup;

/// Adds the sentence with its quoted parts as `<code>`.
pub fn add_with_code(markup: &mut Markup, sentence: &str) {
    for (place, part) in sentence.split('`').enumerate() {
        // Every second part stands between two quotes.
        if place % 2 == 1 {
            markup.fill("<code>{}</code>", &[part]);
        } else if !part.is_empty() {
            markup.text(part);
        }
    }
}

/// What a diagnostic says, with its hint, as one sentence.
pub fn with_hint(diagnostic: &Diagnostic) -> String {
    match &diagnostic.hint {
        Some(hint) => [&diagnostic.message, ": ", hint].concat(),
        None => diagnostic.message.clone(),
    }
}
