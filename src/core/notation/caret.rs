//! The position of a caret in the grammar.

use crate::model::diagnostic::Span;
use crate::notation::lexer::tokens;
use crate::notation::lexer::{Lexeme, Token, name_text};
use crate::notation::parser::starts_statement;

/// A caret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caret {
    /// The word around it; empty between words.
    pub(crate) word: Span,
    /// The part of the word before it.
    pub(crate) typed: String,
    /// The kind of word that the caret's position allows.
    pub(crate) context: Context,
    /// The output of the statement, if it is an operation.
    pub(crate) output: Option<String>,
    /// Whether an opening parenthesis follows the word.
    pub(crate) is_called: bool,
}

/// The kind of word that the grammar allows at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    Statement,
    /// A function.
    Callee,
    /// An input or an attribute.
    Argument(CallSoFar),
    /// The value of an attribute of this name.
    Value(String),
    Size,
    /// An element type.
    Type,
    /// The output of an op.
    Output,
}

/// The readable part of a call around the caret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallSoFar {
    pub(crate) callee: String,
    /// Attributes that it gives, before or after the caret.
    pub(crate) attributes: Vec<String>,
    /// Whether an attribute stands before the caret, so that no input may follow.
    pub(crate) is_past_inputs: bool,
}

/// The caret at a byte of a text; `None` in a comment, in a name in backquotes and where the
/// grammar allows no word of a known kind. `O(text)`.
pub(crate) fn caret_at(text: &str, offset: usize) -> Option<Caret> {
    let all = tokens(text);
    let is_around = |token: &&Token| token.span.start < offset && offset <= token.span.end;
    let around = all.iter().find(is_around);
    let word = match around.map(|token| token.kind) {
        Some(Lexeme::Name) => around.map_or(Span::default(), |token| token.span),
        Some(
            Lexeme::Comment
            | Lexeme::QuotedName
            | Lexeme::OpenQuote
            | Lexeme::Int
            | Lexeme::Float
            | Lexeme::MalformedNumber,
        ) => return None,
        _ => Span::new(offset, offset),
    };
    let split = all.partition_point(|token| token.span.start < word.start);
    let (before, after) = all.split_at_checked(split)?;
    let before = statement_so_far(text, before);
    let after = after
        .get(usize::from(word.start < word.end)..)
        .unwrap_or_default();
    let context = context(text, &before, after)?;
    let output = (before.windows(2)).find_map(|pair| match pair {
        [name, equals] if equals.kind == Lexeme::Equals => Some(name_text(text, *name)),
        _ => None,
    });
    Some(Caret {
        word,
        typed: text.get(word.start..offset)?.to_owned(),
        context,
        output,
        is_called: after
            .first()
            .is_some_and(|token| token.kind == Lexeme::OpenParen),
    })
}

/// The tokens of the statement that these tokens end in, without comments and newlines.
fn statement_so_far(text: &str, before: &[Token]) -> Vec<Token> {
    let mut statement: Vec<Token> = Vec::new();
    let mut open = 0_usize;
    for line in before.split_inclusive(|token| token.kind == Lexeme::Newline) {
        // As in the parser, an unclosed bracket ends at a line that can only be a statement.
        if open == 0 || starts_statement(text, line) || begins(&statement, line) {
            statement.clear();
            open = 0;
        }
        for token in line {
            match token.kind {
                Lexeme::OpenParen | Lexeme::OpenBracket => open += 1,
                Lexeme::CloseParen | Lexeme::CloseBracket => open = open.saturating_sub(1),
                _ => {}
            }
            if !matches!(token.kind, Lexeme::Newline | Lexeme::Comment) {
                statement.push(*token);
            }
        }
    }
    let is_complete = before
        .last()
        .is_some_and(|last| last.kind == Lexeme::Newline)
        && open == 0;
    if is_complete { Vec::new() } else { statement }
}

/// Whether a line begins a new statement, and does not continue this one, which has an open
/// bracket.
fn begins(statement: &[Token], line: &[Token]) -> bool {
    let kind = |place: usize| line.get(place).map(|token| token.kind);
    let is_end = |last: &Token| {
        matches!(
            last.kind,
            Lexeme::Name | Lexeme::QuotedName | Lexeme::Int | Lexeme::Float
        )
    };
    statement.last().is_some_and(is_end)
        && kind(0) == Some(Lexeme::Name)
        && matches!(kind(1), Some(Lexeme::Equals | Lexeme::Colon))
}

fn context(text: &str, before: &[Token], after: &[Token]) -> Option<Context> {
    let Some(last) = before.last() else {
        return Some(Context::Statement);
    };
    let slice = |token: &Token| token.span.slice(text);
    let mut open: Vec<usize> = Vec::new();
    for (place, token) in before.iter().enumerate() {
        match token.kind {
            Lexeme::OpenParen | Lexeme::OpenBracket => open.push(place),
            Lexeme::CloseParen | Lexeme::CloseBracket => {
                open.pop();
            }
            _ => {}
        }
    }
    let Some(&inner) = open.last() else {
        let first = before.first().map(slice);
        let is_declaration = matches!(first, Some("input" | "weight")) && before.len() == 3;
        return match last.kind {
            Lexeme::Equals if first != Some("param") => Some(Context::Callee),
            Lexeme::Colon if is_declaration => Some(Context::Type),
            // After the call, and not after a label.
            Lexeme::Colon if before.len() > 2 => Some(Context::Type),
            Lexeme::Name if before.len() == 1 && first == Some("output") => Some(Context::Output),
            Lexeme::Name if slice(last) == "dividing" => Some(Context::Size),
            _ => None,
        };
    };
    let is_call = before
        .get(inner)
        .is_some_and(|t| t.kind == Lexeme::OpenParen)
        && inner >= 2
        && before
            .get(inner - 2)
            .is_some_and(|t| t.kind == Lexeme::Equals);
    let sign = matches!(
        last.kind,
        Lexeme::Plus | Lexeme::Minus | Lexeme::Star | Lexeme::Slash | Lexeme::OpenBracket
    );
    if !is_call {
        let starts = sign || matches!(last.kind, Lexeme::Comma | Lexeme::OpenParen);
        return starts.then_some(Context::Size);
    }
    let inside = before.get(inner + 1..).unwrap_or_default();
    match last.kind {
        Lexeme::Equals => {
            let name = before.get(before.len().checked_sub(2)?)?;
            Some(Context::Value(slice(name).to_owned()))
        }
        Lexeme::OpenParen | Lexeme::Comma => {
            let is_past_inputs = inside.iter().any(|token| token.kind == Lexeme::Equals);
            let behind = after
                .iter()
                .take_while(|token| !matches!(token.kind, Lexeme::CloseParen | Lexeme::Newline));
            let call: Vec<&Token> = inside.iter().chain(behind).collect();
            let attributes = call.windows(2).filter_map(|pair| match pair {
                [name, equals] if equals.kind == Lexeme::Equals => Some(slice(name).to_owned()),
                _ => None,
            });
            Some(Context::Argument(CallSoFar {
                callee: slice(before.get(inner - 1)?).to_owned(),
                attributes: attributes.collect(),
                is_past_inputs,
            }))
        }
        _ => sign.then_some(Context::Size),
    }
}
