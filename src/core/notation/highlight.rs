//! Syntax highlighting for the editor.

use super::lexer::{Lexeme, Token, tokens};
use super::parser::declaring_keyword;
use super::{Statements, name_text};
use crate::core::model::diagnostic::Span;
use crate::core::model::dtype::DType;
use std::collections::HashSet;

/// The highlighting class of a span of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// `param`, `input`, `weight`, `in`, `step`, `@kernel`, and words such as `false` and `unknown`.
    Keyword,
    /// A param, in its declaration and in expressions.
    Param,
    /// A tensor.
    Tensor,
    /// The label of an op.
    Label,
    /// The function of an op.
    Function,
    /// The name of an attribute.
    Attribute,
    /// A number.
    Number,
    /// An element type.
    Dtype,
    /// From `#` to the end of the line.
    Comment,
    /// Operators, brackets and separators.
    Punctuation,
    /// Characters that are not part of the notation.
    Error,
    /// White space and line ends.
    Space,
}

/// The spans of `text` with their classes, in order; joined, they are `text`. Total, `O(text)`.
///
/// Classes depend only on single tokens and their neighbours, so a line that is being typed keeps its colours.
pub fn highlight(text: &str) -> Vec<(Span, TokenKind)> {
    let tokens = tokens(text);
    let mut params: HashSet<String> = HashSet::new();
    let mut statements = Statements::of(text);
    while let Some(statement) = statements.next() {
        if let ([_, name, ..], Some("param")) = (statement, declaring_keyword(text, statement)) {
            params.insert(name_text(text, *name));
        }
    }
    let mut kinds = Vec::with_capacity(tokens.len());
    let mut statements = Statements::of(text);
    while let Some(statement) = statements.next() {
        kinds.extend(kinds_of_statement(text, statement, &params));
    }

    let mut kinds = kinds.into_iter();
    let mut pieces: Vec<(Span, TokenKind)> = Vec::with_capacity(tokens.len() * 2);
    let mut end = 0;
    for token in tokens {
        let kind = match token.kind {
            Lexeme::Comment => TokenKind::Comment,
            Lexeme::Newline => continue,
            _ => kinds.next().unwrap_or(TokenKind::Error),
        };
        if end < token.span.start {
            pieces.push((Span::new(end, token.span.start), TokenKind::Space));
        }
        pieces.push((token.span, kind));
        end = token.span.end;
    }
    if end < text.len() {
        pieces.push((Span::new(end, text.len()), TokenKind::Space));
    }
    pieces
}

/// The part of a statement that a token belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StatementPart {
    /// `param ...`
    Param,
    /// Before the call or the type.
    Head,
    /// Inputs and names of attributes.
    Arguments,
    /// The value of an attribute.
    Value,
    /// Element type and shape.
    Type,
}

fn kinds_of_statement<'a>(
    text: &'a str,
    statement: &'a [Token],
    params: &'a HashSet<String>,
) -> impl Iterator<Item = TokenKind> + 'a {
    let keyword = declaring_keyword(text, statement);
    let mut part = match keyword {
        Some("param") => StatementPart::Param,
        _ => StatementPart::Head,
    };
    let mut open_brackets = 0_usize;
    let mut is_behind_equals = false;
    statement.iter().enumerate().map(move |(index, &token)| {
        let next = statement.get(index + 1).map(|t| t.kind);
        let last = index.checked_sub(1).and_then(|i| statement.get(i));
        match token.kind {
            Lexeme::OpenParen | Lexeme::OpenBracket => {
                open_brackets += 1;
                if part == StatementPart::Head {
                    part = StatementPart::Arguments;
                }
            }
            Lexeme::CloseParen | Lexeme::CloseBracket => {
                open_brackets = open_brackets.saturating_sub(1);
            }
            Lexeme::Equals => {
                is_behind_equals = true;
                if part == StatementPart::Arguments {
                    part = StatementPart::Value;
                }
            }
            Lexeme::Comma if part == StatementPart::Value && open_brackets <= 1 => {
                part = StatementPart::Arguments;
            }
            Lexeme::Colon if keyword.is_some() || is_behind_equals => part = StatementPart::Type,
            Lexeme::Int | Lexeme::Float => return TokenKind::Number,
            Lexeme::MalformedNumber | Lexeme::OpenQuote | Lexeme::Unknown => {
                return TokenKind::Error;
            }
            Lexeme::At => return TokenKind::Keyword,
            Lexeme::Name if last.is_some_and(|t| t.kind == Lexeme::At) => {
                return TokenKind::Keyword;
            }
            Lexeme::Name | Lexeme::QuotedName => {
                return match part {
                    _ if index == 0 && keyword.is_some() => TokenKind::Keyword,
                    StatementPart::Param if index > 1 => TokenKind::Keyword,
                    StatementPart::Head if next == Some(Lexeme::Colon) && keyword.is_none() => {
                        TokenKind::Label
                    }
                    StatementPart::Head if is_behind_equals => TokenKind::Function,
                    StatementPart::Arguments if next == Some(Lexeme::Equals) => {
                        TokenKind::Attribute
                    }
                    StatementPart::Head | StatementPart::Arguments => TokenKind::Tensor,
                    StatementPart::Value if is_lone_value(statement, index) => {
                        word_kind(&name_text(text, token), params)
                    }
                    StatementPart::Type if open_brackets == 0 => {
                        match DType::from_name(token.span.slice(text)) {
                            Some(_) => TokenKind::Dtype,
                            None => TokenKind::Error,
                        }
                    }
                    StatementPart::Param | StatementPart::Value | StatementPart::Type => {
                        TokenKind::Param
                    }
                };
            }
            _ => {}
        }
        TokenKind::Punctuation
    })
}

/// Whether the token is the whole value of an attribute.
fn is_lone_value(statement: &[Token], index: usize) -> bool {
    let kind = |i: usize| statement.get(i).map(|t| t.kind);
    index.checked_sub(1).and_then(kind) == Some(Lexeme::Equals)
        && matches!(
            kind(index + 1),
            None | Some(Lexeme::Comma | Lexeme::CloseParen)
        )
}

fn word_kind(word: &str, params: &HashSet<String>) -> TokenKind {
    if params.contains(word) {
        TokenKind::Param
    } else if DType::from_name(word).is_some() {
        TokenKind::Dtype
    } else {
        TokenKind::Keyword
    }
}
