//! Sentences in which `backquotes` stand for code, as markup.

use crate::markup::Markup;
use crate::present::words::pieces;

/// Adds the sentence with its quoted parts as `<code>`.
pub fn add_with_code(markup: &mut Markup, sentence: &str) {
    for piece in pieces(sentence) {
        if piece.is_code {
            markup.fill("<code>{}</code>", &[piece.text]);
        } else {
            markup.text(piece.text);
        }
    }
}
