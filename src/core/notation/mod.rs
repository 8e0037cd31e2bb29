//! Text to program and back.

mod cursor;
pub mod edit;
mod expression;
mod highlight;
pub mod import;
mod lexer;
mod parser;
mod printer;
mod reader;
pub(crate) mod spelling;

use crate::core::model::diagnostic::{Diagnostic, Span};
use crate::core::model::program::{Attribute, AttributeValue, ExprKind, OpStatement, Program};
use lexer::{Lexeme, Lines, Token, tokens, unquoted};
use parser::{starts_statement, statement};
use reader::Reader;
use std::collections::{HashMap, HashSet};

pub use highlight::{TokenKind, highlight};
pub(crate) use lexer::written_name;
pub use printer::{print, print_expr};

/// A text as far as it could be read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The statements that could be read.
    pub program: Program,
    /// One diagnostic for each line that could not, in text order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a program. Total: any bytes give a program and diagnostics. `O(text)`.
///
/// ```
/// use fuseline::core::notation::parse;
/// let parsed = parse("input x : f16[1024]\ny = relu(x)\nz = = add(y)\n");
/// assert_eq!(parsed.program.ops[0].callee.text, "relu");
/// assert_eq!(parsed.diagnostics[0].message, "expected the name of a function, found `=`");
/// ```
pub fn parse(text: &str) -> Parsed {
    let mut reader = Reader::new(text);
    let mut statements = Statements::from(text, 0);
    while let Some(tokens) = statements.next() {
        match statement(text, tokens) {
            Ok(statement) => reader.accept(statement),
            Err(problem) => reader.refuse(tokens, problem),
        }
    }
    settle_words(text, &reader.params, &mut reader.parsed.program);
    reader.parsed
}

/// `k=S` is a size when a param `S` stands anywhere in the text, else `S` is a word.
fn settle_words(text: &str, params: &HashMap<String, Span>, program: &mut Program) {
    for op in &mut program.ops {
        for Attribute { value, .. } in &mut op.attributes {
            if let AttributeValue::Size(expr) = value
                && let ExprKind::Param(name) = &expr.kind
                // In brackets, or in backquotes, a name is what it looks like.
                && expr.span.slice(text) == name
                && !params.contains_key(name)
            {
                *value = AttributeValue::Word(name.clone());
            }
        }
    }
}

/// Takes the tokens of a text statement by statement, without comments and newlines.
struct Statements<'a> {
    text: &'a str,
    lines: Lines<'a>,
    /// Of the statement at hand, and behind it those of the line that showed its end, if one had to be read.
    at_hand: Vec<Token>,
    statement_len: usize,
}

impl<'a> Statements<'a> {
    /// Reads from the beginning of a line on that can only begin a statement, or of the text.
    fn from(text: &'a str, line_start: usize) -> Self {
        Self {
            text,
            lines: Lines::from(text, line_start),
            at_hand: Vec::new(),
            statement_len: 0,
        }
    }

    fn next(&mut self) -> Option<&[Token]> {
        self.at_hand.drain(..self.statement_len);
        self.statement_len = 0;
        let mut open_brackets = 0;
        loop {
            let line = self.at_hand.get(self.statement_len..).unwrap_or(&[]);
            // A bracket that is never closed must not swallow the rest of the text.
            if open_brackets > 0 && starts_statement(self.text, line) {
                break;
            }
            open_brackets = line.iter().fold(open_brackets, brackets_behind);
            self.statement_len = self.at_hand.len();
            let is_complete = open_brackets == 0 && self.statement_len > 0;
            if is_complete || !self.read_line() {
                break;
            }
        }
        let statement = self.at_hand.get(..self.statement_len)?;
        Some(statement).filter(|tokens| !tokens.is_empty())
    }

    /// Whether there was a line.
    fn read_line(&mut self) -> bool {
        let is_line = self.lines.next(&mut self.at_hand);
        // A comment runs to the newline.
        for end in [Lexeme::Newline, Lexeme::Comment] {
            self.at_hand.pop_if(|last| last.kind == end);
        }
        is_line
    }
}

/// How many brackets are open behind a token.
fn brackets_behind(open: usize, token: &Token) -> usize {
    match token.kind {
        Lexeme::OpenParen | Lexeme::OpenBracket => open + 1,
        Lexeme::CloseParen | Lexeme::CloseBracket => open.saturating_sub(1),
        _ => open,
    }
}

/// Where the brackets of a call stand.
pub(crate) struct ArgumentPlaces {
    /// `(`
    pub(crate) open: Span,
    /// `)`
    pub(crate) close: Span,
}

/// Finds the brackets of an op's call again.
pub(crate) fn argument_places(text: &str, op: &OpStatement) -> Option<ArgumentPlaces> {
    let start = op.callee.span.end;
    let mut open = None;
    let mut depth = 0_usize;
    for token in tokens(text.get(start..op.span.end)?) {
        let span = Span::new(token.span.start + start, token.span.end + start);
        match token.kind {
            Lexeme::OpenParen => {
                depth += 1;
                open = open.or(Some(span));
            }
            Lexeme::CloseParen => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(ArgumentPlaces {
                        open: open?,
                        close: span,
                    });
                }
            }
            _ => {}
        }
    }
    None
}

/// Every name that the text mentions, for whatever, also in lines that cannot be read.
pub(crate) fn names_in(text: &str) -> HashSet<String> {
    (tokens(text).into_iter())
        .filter(|t| matches!(t.kind, Lexeme::Name | Lexeme::QuotedName))
        .map(|t| name_text(text, t))
        .collect()
}

/// The name that a token says; as written where it holds an unknown escape.
fn name_text(text: &str, token: Token) -> String {
    let written = token.span.slice(text);
    unquoted(written).unwrap_or_else(|| written.to_owned())
}
