//! Syntax highlighting for the editor.

use crate::model::diagnostic::Span;
use crate::model::dtype::DType;
use crate::notation::lexer::{Lexeme, Lines, Token, tokens};
use crate::notation::parser::{declaring_keyword, starts_statement};
use crate::notation::{Statements, name_text};
use std::collections::HashSet;

/// The highlighting class of a span of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// `param`, `input`, `weight`, `output`, `in`, `step`, `dividing`, `repeat`, `with`, `@kernel`,
    /// and words such as `false` and `unknown`.
    Keyword,
    /// A param, in its declaration and in expressions.
    Param,
    /// A tensor, where it is declared, written or read.
    Tensor,
    /// The label of an op.
    Label,
    /// The function of an op.
    Function,
    /// The name of an attribute.
    Attribute,
    /// A size, an attribute or a literal operand.
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

/// The pieces of some lines of `text`, in order; joined, they are the lines. `within` must begin at
/// the start of a line and end at the end of one.
///
/// It examines only single tokens and their neighbours, so a line that is being typed keeps its
/// colours. Total.
///
/// Linear in the lines, not in the text, with two exceptions: a search for `param` at the
/// beginnings of lines, and a text in which no line before `within` can be read as the beginning of
/// a statement.
pub fn highlight(text: &str, within: Span) -> Vec<(Span, TokenKind)> {
    let params = declared_params(text);
    let start = statement_start(text, within.start);
    let mut kinds = Vec::new();
    let mut statements = Statements::from(text, start);
    while let Some(statement) = statements.next() {
        if statement
            .first()
            .is_some_and(|t| t.span.start >= within.end)
        {
            break;
        }
        kinds.extend(kinds_of_statement(text, statement, &params));
    }

    let mut kinds = kinds.into_iter();
    let mut tokens = Vec::new();
    let mut lines = Lines::from(text, start);
    while lines.at() < within.end && lines.next(&mut tokens) {}
    let mut pieces: Vec<(Span, TokenKind)> = Vec::new();
    let mut end = within.start;
    for token in tokens {
        let kind = match token.kind {
            Lexeme::Comment => TokenKind::Comment,
            Lexeme::Newline => continue,
            _ => kinds.next().unwrap_or(TokenKind::Error),
        };
        if token.span.start < within.start {
            continue;
        }
        if end < token.span.start {
            pieces.push((Span::new(end, token.span.start), TokenKind::Space));
        }
        pieces.push((token.span, kind));
        end = token.span.end;
    }
    if end < within.end {
        pieces.push((Span::new(end, within.end), TokenKind::Space));
    }
    pieces
}

/// The names after `param` at the beginnings of lines.
fn declared_params(text: &str) -> HashSet<String> {
    let is_space = |c: char| c.is_whitespace() || c == '\u{feff}';
    let names = text.split('\n').filter_map(|line| {
        let is_candidate = line.trim_start_matches(is_space).starts_with("param");
        let tokens = is_candidate.then(|| tokens(line))?;
        match (&*tokens, declaring_keyword(line, &tokens)) {
            ([_, name, ..], Some("param")) => Some(name_text(line, *name)),
            _ => None,
        }
    });
    names.collect()
}

/// The last line start, at or before `line_start`, that can only begin a statement; else the start
/// of the text. Statements can be read from there on as from the start of the text.
fn statement_start(text: &str, line_start: usize) -> usize {
    let mut start = line_start;
    let mut tokens = Vec::new();
    while start > 0 {
        tokens.clear();
        Lines::from(text, start).next(&mut tokens);
        if starts_statement(text, &tokens) {
            break;
        }
        let before = text.get(..start - 1).unwrap_or_default();
        start = before.rfind('\n').map_or(0, |newline| newline + 1);
    }
    start
}

/// The part of a statement that a token belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StatementPart {
    /// `param ...`
    Param,
    /// The expression that the values of a param divide.
    Dividend,
    /// The number of iterations of a block.
    Count,
    /// The tensors that an iteration reads from the previous one.
    Carried,
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
        Some("repeat") => StatementPart::Count,
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
                let is_in_range = part == StatementPart::Param && index > 1;
                if is_in_range && token.span.slice(text) == "dividing" {
                    part = StatementPart::Dividend;
                    return TokenKind::Keyword;
                }
                // After an operator or in parentheses the word is a param.
                let ends_count = part == StatementPart::Count
                    && index > 1
                    && open_brackets == 0
                    && last.is_some_and(|t| ends_operand(t.kind));
                if ends_count && token.span.slice(text) == "with" {
                    part = StatementPart::Carried;
                    return TokenKind::Keyword;
                }
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
                    StatementPart::Arguments if last.is_some_and(|t| t.kind == Lexeme::Minus) => {
                        TokenKind::Number
                    }
                    StatementPart::Head | StatementPart::Arguments | StatementPart::Carried => {
                        TokenKind::Tensor
                    }
                    StatementPart::Value if is_lone_value(statement, index) => {
                        word_kind(&name_text(text, token), params)
                    }
                    StatementPart::Type if open_brackets == 0 => {
                        match token.span.slice(text).parse::<DType>() {
                            Ok(_) => TokenKind::Dtype,
                            Err(_) => TokenKind::Error,
                        }
                    }
                    StatementPart::Param
                    | StatementPart::Dividend
                    | StatementPart::Count
                    | StatementPart::Value
                    | StatementPart::Type => TokenKind::Param,
                };
            }
            _ => {}
        }
        TokenKind::Punctuation
    })
}

/// Whether an operand of an expression can end with such a token.
fn ends_operand(kind: Lexeme) -> bool {
    matches!(
        kind,
        Lexeme::Int | Lexeme::Name | Lexeme::QuotedName | Lexeme::CloseParen
    )
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
    } else if word.parse::<DType>().is_ok() {
        TokenKind::Dtype
    } else {
        TokenKind::Keyword
    }
}
