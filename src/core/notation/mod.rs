//! The notation: parser, printer, highlighting, imports and edits of programs as text.

mod arguments;
pub(crate) mod caret;
mod cursor;
pub(crate) mod declared;
pub mod edit;
mod einsum;
mod expression;
pub(crate) mod fix_edits;
mod foreign;
mod foreign_json;
mod foreign_signs;
mod foreign_text;
mod highlight;
pub mod import;
mod infinity;
mod infix;
mod lexer;
mod listed;
mod param;
mod parser;
mod printer;
mod pytorch;
mod reader;
pub mod spelling;

use crate::model::diagnostic::{Span, has_errors};
use crate::model::program::{Attribute, AttributeValue, ExprKind, OpStatement, Program};
pub use arguments::is_literal;
pub use foreign_signs::without_head;
pub use foreign_text::leads_to_export;
use foreign_text::refusal;
pub use highlight::{TokenKind, highlight};
use infinity::{INFINITY, resolve_infinities};
pub use lexer::written_name;
use lexer::{Lexeme, Lines, Token, name_text, tokens};
pub use param::out_of_range;
use parser::{starts_statement, statement};
pub use printer::{print, print_commented, print_expr, print_type};
pub use reader::Parsed;
use reader::Reader;
use std::collections::{HashMap, HashSet};

/// Reads a program. Total: any bytes give a program and diagnostics. `O(text)`.
///
/// ```
/// use fuseline_core::notation::parse;
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
    let mut parsed = reader.finish();
    // A valid text is never another tool's, whatever its lines look like.
    if has_errors(&parsed.diagnostics)
        && let Some(refusal) = refusal(text)
    {
        return Parsed {
            program: Program::default(),
            diagnostics: vec![refusal],
        };
    }
    resolve_words(text, &reader.params, &mut parsed.program);
    resolve_infinities(&mut parsed.program);
    parsed
}

/// Decides whether the value of `k=S` is the param `S` or a word. Params may be declared anywhere
/// in the text, so this runs after the last statement.
fn resolve_words(text: &str, params: &HashMap<String, Span>, program: &mut Program) {
    for op in &mut program.ops {
        for Attribute { value, .. } in &mut op.attributes {
            if let AttributeValue::Size(expr) = value
                && let ExprKind::Param(name) = &expr.kind
                // A name in brackets or backquotes is never a word.
                && expr.span.slice(text) == name
                && !params.contains_key(name)
            {
                *value = if name == INFINITY {
                    AttributeValue::Number(name.clone())
                } else {
                    AttributeValue::Word(name.clone())
                };
            }
        }
    }
}

/// Splits the tokens of a text into statements, without comments and newlines.
struct Statements<'a> {
    text: &'a str,
    lines: Lines<'a>,
    /// Tokens of the current statement, followed by those of the next line if that line had to be
    /// read to find the end.
    pending: Vec<Token>,
    statement_len: usize,
}

impl<'a> Statements<'a> {
    /// Reads from a line on that can only begin a statement, or from the start of the text.
    fn from(text: &'a str, line_start: usize) -> Self {
        Self {
            text,
            lines: Lines::from(text, line_start),
            pending: Vec::new(),
            statement_len: 0,
        }
    }

    fn next(&mut self) -> Option<&[Token]> {
        self.pending.drain(..self.statement_len);
        self.statement_len = 0;
        let mut open_brackets = 0;
        loop {
            let line = self.pending.get(self.statement_len..).unwrap_or(&[]);
            // An unclosed bracket ends at the next line that can only be a statement.
            if open_brackets > 0 && starts_statement(self.text, line) {
                break;
            }
            open_brackets = line.iter().fold(open_brackets, brackets_behind);
            self.statement_len = self.pending.len();
            let is_complete = open_brackets == 0 && self.statement_len > 0;
            if is_complete || !self.read_line() {
                break;
            }
        }
        let statement = self.pending.get(..self.statement_len)?;
        Some(statement).filter(|tokens| !tokens.is_empty())
    }

    /// Reads a line; `false` at the end of the text.
    fn read_line(&mut self) -> bool {
        let is_line = self.lines.next(&mut self.pending);
        // A comment ends at the newline, so at most these two tokens are dropped.
        for end in [Lexeme::Newline, Lexeme::Comment] {
            self.pending.pop_if(|last| last.kind == end);
        }
        is_line
    }
}

/// Number of open brackets after a token.
fn brackets_behind(open: usize, token: &Token) -> usize {
    match token.kind {
        Lexeme::OpenParen | Lexeme::OpenBracket => open + 1,
        Lexeme::CloseParen | Lexeme::CloseBracket => open.saturating_sub(1),
        _ => open,
    }
}

/// The parentheses of a call.
pub(crate) struct CallParens {
    /// `(`
    pub(crate) open: Span,
    /// `)`
    pub(crate) close: Span,
}

/// Finds the parentheses of an op's call in the text.
pub(crate) fn call_parens(text: &str, op: &OpStatement) -> Option<CallParens> {
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
                    return Some(CallParens {
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

/// Every name in the text, also in lines that cannot be parsed.
pub(crate) fn names_in(text: &str) -> HashSet<String> {
    (tokens(text).into_iter())
        .filter(|t| matches!(t.kind, Lexeme::Name | Lexeme::QuotedName))
        .map(|t| name_text(text, t))
        .collect()
}
