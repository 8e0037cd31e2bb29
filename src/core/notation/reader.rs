//! Collects statements into a program and refuses duplicate names.

use crate::model::diagnostic::{Code, Diagnostic, Span, sort_in_text_order};
use crate::model::fix::TextEdit;
use crate::model::names::Names;
use crate::model::program::{Block, Declaration, Name, OpStatement, Program};
use crate::notation::cursor::begun_name;
use crate::notation::lexer::{Lexeme, Token, name_text, written_name};
use crate::notation::parser::{Statement, declaring_keyword};
use crate::notation::spelling::quoted;
use std::collections::HashMap;

/// The result of parsing a text.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Parsed {
    /// The valid statements.
    pub program: Program,
    /// One diagnostic for each invalid statement, in text order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Collects statements into a program and refuses duplicate names.
pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) parsed: Parsed,
    newlines: Vec<usize>,
    /// First declaration of each param, including those whose statement could not be parsed.
    pub(super) params: HashMap<String, Span>,
    /// Names of `output` statements.
    outputs: HashMap<String, Span>,
    /// Declared tensors, by index into the program's declarations.
    declared: Names,
    /// Outputs, by index into its ops.
    produced: Names,
    /// Names of ops, by index into its ops.
    op_names: Names,
    /// Whether the last block of the program has not ended yet.
    is_block_open: bool,
    /// Number of blocks whose header was refused, and which have not ended yet.
    refused_blocks: usize,
    /// Number of headers that were refused because they lack a `{`, whose `}` may follow.
    braceless_headers: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let newlines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let mut parsed = Parsed::default();
        // Few ops have shorter lines; empty lines are not ops.
        let ops = newlines.len().min(text.len() / 16) + 1;
        parsed.program.ops.reserve_exact(ops);
        Self {
            text,
            parsed,
            params: HashMap::new(),
            outputs: HashMap::new(),
            declared: Names::with_capacity(0),
            produced: Names::with_capacity(newlines.len()),
            op_names: Names::with_capacity(newlines.len()),
            newlines,
            is_block_open: false,
            refused_blocks: 0,
            braceless_headers: 0,
        }
    }

    /// The result, at the end of the text.
    pub(super) fn finish(&mut self) -> Parsed {
        if self.is_block_open {
            let end = self.text.trim_end().len();
            self.end_block(end);
            let header = self.parsed.program.blocks.last().map(|block| block.header);
            let unclosed = Diagnostic::error(Code::Syntax, "the block is not closed")
                .at(header.unwrap_or_default())
                .hint("write `}` on its own line after the last statement");
            self.parsed.diagnostics.push(unclosed);
            sort_in_text_order(&mut self.parsed.diagnostics);
        }
        std::mem::take(&mut self.parsed)
    }

    /// Records a statement that could not be parsed.
    pub(super) fn refuse(&mut self, tokens: &[Token], problem: Diagnostic) {
        self.parsed.diagnostics.push(problem);
        self.remember_unreadable(tokens);
        let is = |token: Option<&Token>, kind| token.is_some_and(|token| token.kind == kind);
        let has_open_brace = tokens.iter().any(|token| token.kind == Lexeme::OpenBrace);
        if is(tokens.first(), Lexeme::CloseBrace) || is(tokens.last(), Lexeme::CloseBrace) {
            if !has_open_brace {
                self.end_innermost(tokens.last().map_or(0, |token| token.span.end));
            }
        } else if has_open_brace {
            self.refused_blocks += 1;
        } else if declaring_keyword(self.text, tokens) == Some("repeat") {
            self.braceless_headers += 1;
        }
    }

    fn begin_block(&mut self, mut block: Block) -> Option<Diagnostic> {
        if self.is_block_open || self.refused_blocks > 0 {
            self.refused_blocks += 1;
            return Some(
                Diagnostic::error(Code::Syntax, "blocks cannot nest")
                    .at(block.header)
                    .hint("end the outer block first, or write out one of the two"),
            );
        }
        let program = &mut self.parsed.program;
        let (declarations, ops) = (program.declarations.len(), program.ops.len());
        block.declarations = declarations..declarations;
        block.ops = ops..ops;
        block.outputs = program.outputs.len()..program.outputs.len();
        program.blocks.push(block);
        self.is_block_open = true;
        None
    }

    fn end_block(&mut self, end: usize) {
        self.is_block_open = false;
        let program = &mut self.parsed.program;
        if let Some(block) = program.blocks.last_mut() {
            block.declarations.end = program.declarations.len();
            block.ops.end = program.ops.len();
            block.outputs.end = program.outputs.len();
            block.span.end = end.max(block.header.end);
        }
    }

    /// Ends the block that began last, valid or not. `false` where none is open.
    fn end_innermost(&mut self, end: usize) -> bool {
        if self.refused_blocks > 0 {
            self.refused_blocks -= 1;
        } else if self.is_block_open {
            self.end_block(end);
        } else if self.braceless_headers > 0 {
            self.braceless_headers -= 1;
        } else {
            return false;
        }
        true
    }

    /// Records the names of an invalid statement, and the one that it declares, so that its uses
    /// get no error of their own.
    fn remember_unreadable(&mut self, tokens: &[Token]) {
        let is_name = |t: &Token| matches!(t.kind, Lexeme::Name | Lexeme::QuotedName);
        let stated = tokens.iter().filter_map(|t| match t.kind {
            Lexeme::OpenQuote => Some(begun_name(t.span.slice(self.text)).to_owned()),
            _ => is_name(t).then(|| name_text(self.text, *t)),
        });
        let mentioned = stated.flat_map(|name| {
            // Of a method such as `x.relu`, the tensor too.
            let tensor = name.rsplit_once('.').map(|(tensor, _)| tensor.to_owned());
            [Some(name), tensor].into_iter().flatten()
        });
        self.parsed.program.mentioned.extend(mentioned);
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
            // Its uses are params and not words, although it has no value.
            self.params.entry(name.text.clone()).or_insert(name.span);
        }
        self.parsed.program.unreadable.push(name);
    }

    /// One-based line of a span. `O(log lines)`.
    fn line_of(&self, span: Span) -> usize {
        self.newlines.partition_point(|&n| n < span.start) + 1
    }

    pub(super) fn accept(&mut self, statement: Statement) {
        let problem = match statement {
            Statement::Param(param, finding) => {
                if let Some(&first) = self.params.get(&param.name.text) {
                    Some(self.twice("the param", &param.name, first, param.span))
                } else {
                    self.params.insert(param.name.text.clone(), param.name.span);
                    self.parsed.program.params.push(param);
                    finding
                }
            }
            Statement::Derived(derived) => {
                if let Some(&first) = self.params.get(&derived.name.text) {
                    Some(self.twice("the param", &derived.name, first, derived.span))
                } else {
                    let name = &derived.name;
                    self.params.insert(name.text.clone(), name.span);
                    self.parsed.program.derived.push(derived);
                    None
                }
            }
            Statement::Declaration(declaration) => self.accept_declaration(declaration),
            Statement::Output(name) => self.accept_output(name),
            Statement::Op(op) => self.accept_op(op),
            Statement::Repeat(block) => self.begin_block(block),
            Statement::End(brace) => (!self.end_innermost(brace.end)).then(|| {
                Diagnostic::error(Code::Syntax, "`}` ends no block")
                    .at(brace)
                    .hint("remove it, or begin a block above: `repeat 12 with x = y {`")
            }),
        };
        self.parsed.diagnostics.extend(problem);
    }

    fn accept_declaration(&mut self, declaration: Declaration) -> Option<Diagnostic> {
        let name = &declaration.name;
        let ops = &self.parsed.program.ops;
        let output = |op: usize| ops.get(op).map_or("", |op| op.output.text.as_str());
        let produced = self.produced.find(&name.text, &output);
        if let Some(first) = produced.and_then(|op| ops.get(op)) {
            let declared = declaration.span;
            return Some(self.declared_and_produced(name, first.output.span, declared));
        }
        let all = &self.parsed.program.declarations;
        let name_of = |place: usize| all.get(place).map_or("", |d| d.name.text.as_str());
        let (place, _) = self.declared.place(&name.text, all.len(), &name_of);
        if let Some(first) = all.get(place) {
            return Some(self.twice("the tensor", name, first.name.span, declaration.span));
        }
        self.parsed.program.declarations.push(declaration);
        None
    }

    fn accept_output(&mut self, name: Name) -> Option<Diagnostic> {
        if let Some(&first) = self.outputs.get(&name.text) {
            let line = self.line_of(first);
            let twice = format!("line {line} already makes {} an output", quoted(&name.text));
            return Some(
                Diagnostic::error(Code::DuplicateDeclaration, twice)
                    .at(name.span)
                    .hint("remove one of the two")
                    .fix(
                        "Remove this line",
                        TextEdit::remove(self.keyword_before(name.span).to(name.span)),
                    ),
            );
        }
        self.outputs.insert(name.text.clone(), name.span);
        self.parsed.program.outputs.push(name);
        None
    }

    fn accept_op(&mut self, op: OpStatement) -> Option<Diagnostic> {
        let written = &op.output;
        let declarations = &self.parsed.program.declarations;
        let name_of = |place: usize| {
            let declaration = declarations.get(place);
            declaration.map_or("", |declaration| declaration.name.text.as_str())
        };
        let declared = self.declared.find(&written.text, &name_of);
        if let Some(first) = declared.and_then(|place| declarations.get(place)) {
            let declared = first.span;
            return Some(self.declared_and_produced(written, written.span, declared));
        }
        let ops = &self.parsed.program.ops;
        let output = |op: usize| ops.get(op).map_or("", |op| op.output.text.as_str());
        let produced = self.produced.find(&written.text, &output);
        if let Some(first) = produced.and_then(|op| ops.get(op)) {
            let line = self.line_of(first.output.span);
            let name = quoted(&written.text);
            let problem = Diagnostic::error(
                Code::DuplicateOutput,
                format!("line {line} already writes {name}"),
            )
            .at(written.span)
            .hint("give this output another name");
            return Some(match self.free_name(&written.text) {
                Some(free) => problem.fix(
                    format!("Call it {}", quoted(&free)),
                    TextEdit::replace(written.span, written_name(&free)),
                ),
                None => problem,
            });
        }
        let name = op.name();
        let op_name = |op: usize| ops.get(op).map_or("", |op| op.name().text.as_str());
        let (place, _) = self.op_names.place(&name.text, ops.len(), &op_name);
        if let Some(first) = ops.get(place) {
            let line = self.line_of(first.name().span);
            let label = quoted(&name.text);
            let problem = Diagnostic::error(
                Code::DuplicateOpName,
                format!("the op in line {line} is already called {label}"),
            )
            .at(name.span)
            .hint("give this op another label");
            return Some(match self.free_name(&name.text) {
                Some(free) => {
                    let label = written_name(&free);
                    let edit = match op.label {
                        Some(_) => TextEdit::replace(name.span, label),
                        None => TextEdit::insert(name.span.start, format!("{label}: ")),
                    };
                    problem.fix(format!("Call it {}", quoted(&free)), edit)
                }
                None => problem,
            });
        }
        self.produced.place(&written.text, ops.len(), &output);
        self.parsed.program.ops.push(op);
        None
    }

    /// The name with the first suffix from `_2` to `_9` that no op, output or declaration has so
    /// far; `None` if all are taken.
    fn free_name(&self, name: &str) -> Option<String> {
        let program = &self.parsed.program;
        let output = |op: usize| program.ops.get(op).map_or("", |op| op.output.text.as_str());
        let op_name = |op: usize| program.ops.get(op).map_or("", |op| op.name().text.as_str());
        let declared = |place: usize| {
            let declaration = program.declarations.get(place);
            declaration.map_or("", |declaration| declaration.name.text.as_str())
        };
        let is_free = |name: &String| {
            self.produced.find(name, &output).is_none()
                && self.op_names.find(name, &op_name).is_none()
                && self.declared.find(name, &declared).is_none()
        };
        (2..10).map(|n| format!("{name}_{n}")).find(is_free)
    }

    /// The word before a name, on its line.
    fn keyword_before(&self, name: Span) -> Span {
        let before = self.text.get(..name.start).unwrap_or("").trim_end();
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        Span::new(start, before.len())
    }

    fn twice(&self, what: &str, name: &Name, first: Span, statement: Span) -> Diagnostic {
        let line = self.line_of(first);
        Diagnostic::error(
            Code::DuplicateDeclaration,
            format!("line {line} already declares {what} {}", quoted(&name.text)),
        )
        .at(name.span)
        .hint("remove one of the two, or rename it")
        .fix("Remove this line", TextEdit::remove(statement))
    }

    fn declared_and_produced(&self, name: &Name, produced: Span, declared: Span) -> Diagnostic {
        let line = self.line_of(produced);
        Diagnostic::error(
            Code::DuplicateDeclaration,
            format!(
                "{} is both declared and the output of the op in line {line}",
                quoted(&name.text)
            ),
        )
        .at(name.span)
        .hint("rename one of the two: only external tensors are declared")
        .fix("Remove the declaration", TextEdit::remove(declared))
    }
}
