//! Text to program and back.

mod cursor;
mod expression;
mod highlight;
pub mod import;
mod lexer;
mod parser;
mod printer;
pub(in crate::core) mod spelling;

use super::diagnostic::{Code, Diagnostic, Span};
use super::program::{
    Attribute, AttributeValue, Declaration, ExprKind, Name, OpStatement, Program,
};
use lexer::{Lexeme, Token, tokens, unquoted};
use parser::{Statement, starts_statement, statement};
use spelling::quoted;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

pub use highlight::{TokenKind, highlight};
pub(in crate::core) use lexer::written_name;
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
    let tokens = tokens(text);
    let newlines: Vec<usize> = (tokens.iter())
        .filter(|t| t.kind == Lexeme::Newline)
        .map(|t| t.span.start)
        .collect();
    let mut reader = Reader {
        text,
        parsed: Parsed::default(),
        params: HashMap::new(),
        tensors: HashMap::with_capacity(newlines.len()),
        op_names: HashMap::with_capacity(newlines.len()),
        newlines,
    };
    for_each_statement(text, &tokens, |tokens| match statement(text, tokens) {
        Ok(statement) => reader.accept(statement),
        Err(problem) => {
            reader.parsed.diagnostics.push(problem);
            reader.remember_unreadable(tokens);
        }
    });
    settle_words(text, &reader.params, &mut reader.parsed.program);
    reader.parsed
}

/// `k=S` is a size when a param `S` stands anywhere in the text, else `S` is a word.
fn settle_words(text: &str, params: &HashMap<Cow<'_, str>, Span>, program: &mut Program) {
    for op in &mut program.ops {
        for Attribute { value, .. } in &mut op.attributes {
            if let AttributeValue::Size(expr) = value
                && let ExprKind::Param(name) = &expr.kind
                // In brackets, or in backquotes, a name is what it looks like.
                && expr.span.slice(text) == name
                && !params.contains_key(name.as_str())
            {
                *value = AttributeValue::Word(name.clone());
            }
        }
    }
}

/// Calls `visit` with the tokens of each statement, without comments and newlines.
fn for_each_statement(text: &str, tokens: &[Token], mut visit: impl FnMut(&[Token])) {
    let mut statement: Vec<Token> = Vec::new();
    let mut open_brackets = 0_usize;
    for (index, &token) in tokens.iter().enumerate() {
        match token.kind {
            Lexeme::Comment => continue,
            Lexeme::Newline => {
                let next_line = tokens.get(index + 1..).unwrap_or(&[]);
                // A bracket that is never closed must not swallow the rest of the text.
                if open_brackets == 0 || starts_statement(text, next_line) {
                    if !statement.is_empty() {
                        visit(&statement);
                    }
                    statement.clear();
                    open_brackets = 0;
                }
                continue;
            }
            Lexeme::OpenParen | Lexeme::OpenBracket => open_brackets += 1,
            Lexeme::CloseParen | Lexeme::CloseBracket => {
                open_brackets = open_brackets.saturating_sub(1);
            }
            _ => {}
        }
        statement.push(token);
    }
    if !statement.is_empty() {
        visit(&statement);
    }
}

/// Where the brackets of a call stand.
pub(in crate::core) struct ArgumentPlaces {
    /// `(`
    pub(in crate::core) open: Span,
    /// `)`
    pub(in crate::core) close: Span,
}

/// Finds the brackets of an op's call again.
pub(in crate::core) fn argument_places(text: &str, op: &OpStatement) -> Option<ArgumentPlaces> {
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
pub(in crate::core) fn names_in(text: &str) -> HashSet<String> {
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

/// What has written or declared a tensor.
#[derive(Clone, Copy)]
enum Origin {
    Declared(Span),
    Produced(Span),
}

/// Collects statements and refuses what is there already.
struct Reader<'a> {
    text: &'a str,
    parsed: Parsed,
    newlines: Vec<usize>,
    params: HashMap<Cow<'a, str>, Span>,
    tensors: HashMap<Cow<'a, str>, Origin>,
    op_names: HashMap<Cow<'a, str>, Span>,
}

impl<'a> Reader<'a> {
    /// Keeps the name that a statement would have given, so that its uses are not blamed as well.
    fn remember_unreadable(&mut self, tokens: &[Token]) {
        let is_name = |t: &Token| matches!(t.kind, Lexeme::Name | Lexeme::QuotedName);
        let named = match tokens {
            [keyword, name, ..]
                if matches!(keyword.span.slice(self.text), "param" | "input" | "weight")
                    && is_name(name) =>
            {
                name
            }
            [label, colon, output, equals, ..]
                if is_name(label)
                    && colon.kind == Lexeme::Colon
                    && is_name(output)
                    && equals.kind == Lexeme::Equals =>
            {
                output
            }
            [output, equals, ..] if is_name(output) && equals.kind == Lexeme::Equals => output,
            _ => return,
        };
        let name = Name {
            text: name_text(self.text, *named),
            span: named.span,
        };
        if tokens
            .first()
            .is_some_and(|keyword| keyword.span.slice(self.text) == "param")
        {
            // Its uses are no words, though it has no value.
            self.params
                .entry(name.text.clone().into())
                .or_insert(name.span);
        }
        self.parsed.program.unreadable.push(name);
    }

    /// The name as a key: mostly it stands in the text as it is.
    fn key(&self, name: &Name) -> Cow<'a, str> {
        match name.span.slice(self.text) {
            written if written == name.text => Cow::Borrowed(written),
            _ => Cow::Owned(name.text.clone()),
        }
    }

    /// One-based line of a place in the text. `O(log lines)`.
    fn line_of(&self, span: Span) -> usize {
        self.newlines.partition_point(|&n| n < span.start) + 1
    }

    fn accept(&mut self, statement: Statement) {
        let problem = match statement {
            Statement::Param(param, doubt) => {
                if let Some(&first) = self.params.get(param.name.text.as_str()) {
                    Some(self.twice("the param", &param.name, first))
                } else {
                    let key = self.key(&param.name);
                    self.params.insert(key, param.name.span);
                    self.parsed.program.params.push(param);
                    doubt
                }
            }
            Statement::Declaration(declaration) => self.accept_declaration(declaration),
            Statement::Op(op) => self.accept_op(op),
        };
        self.parsed.diagnostics.extend(problem);
    }

    fn accept_declaration(&mut self, declaration: Declaration) -> Option<Diagnostic> {
        let name = &declaration.name;
        match self.tensors.get(name.text.as_str()).copied() {
            Some(Origin::Declared(first)) => Some(self.twice("the tensor", name, first)),
            Some(Origin::Produced(first)) => Some(self.declared_and_produced(name, first)),
            None => {
                self.tensors
                    .insert(self.key(name), Origin::Declared(name.span));
                self.parsed.program.declarations.push(declaration);
                None
            }
        }
    }

    fn accept_op(&mut self, op: OpStatement) -> Option<Diagnostic> {
        let output = &op.output;
        match self.tensors.get(output.text.as_str()).copied() {
            Some(Origin::Declared(first)) => {
                return Some(self.declared_and_produced(output, first));
            }
            Some(Origin::Produced(first)) => {
                let line = self.line_of(first);
                let name = quoted(&output.text);
                return Some(
                    Diagnostic::error(
                        Code::DuplicateOutput,
                        format!("{name} is already written in line {line}"),
                    )
                    .at(output.span)
                    .hint("give this output a name of its own"),
                );
            }
            None => {}
        }
        let name = op.name();
        if let Some(first) = self.op_names.get(name.text.as_str()).copied() {
            let line = self.line_of(first);
            let label = quoted(&name.text);
            return Some(
                Diagnostic::error(
                    Code::DuplicateOpName,
                    format!("the op in line {line} is already called {label}"),
                )
                .at(name.span)
                .hint("give this op another label"),
            );
        }
        self.op_names.insert(self.key(name), name.span);
        self.tensors
            .insert(self.key(output), Origin::Produced(output.span));
        self.parsed.program.ops.push(op);
        None
    }

    fn twice(&self, what: &str, name: &Name, first: Span) -> Diagnostic {
        let line = self.line_of(first);
        Diagnostic::error(
            Code::DuplicateDeclaration,
            format!(
                "{what} {} is already declared in line {line}",
                quoted(&name.text)
            ),
        )
        .at(name.span)
        .hint("remove one of the two, or rename it")
    }

    fn declared_and_produced(&self, name: &Name, first: Span) -> Diagnostic {
        let line = self.line_of(first);
        Diagnostic::error(
            Code::DuplicateDeclaration,
            format!(
                "{} is both declared and the output of an op, see line {line}",
                quoted(&name.text)
            ),
        )
        .at(name.span)
        .hint("rename one of the two: only tensors from outside are declared")
    }
}
