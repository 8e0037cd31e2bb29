//! The parser of statements.
//!
//! ```text
//! program     = { [ statement ] [ comment ] newline } ;
//! statement   = param | declaration | output | operation | header | "}" ;
//! param       = "param" name "=" ( integer [ range ] | expr ) ;  (* of the params above *)
//! range       = "in" integer ".." integer [ "step" integer ] [ "dividing" expr ] ;
//! declaration = ( "input" | "weight" ) name ":" annotation ;
//! output      = "output" name ;                          (* a result that ops read, too *)
//! header      = "repeat" expr [ "with" carried { "," carried } ] "{" ;  (* to "}"; never nested *)
//! carried     = name "=" name ;                          (* x = y: x is the last iteration's y *)
//! operation   = [ name ":" ] name "=" name "(" [ arguments ] ")" [ ":" annotation ] [ mark ] ;
//! mark        = "@" "kernel" digits ;
//! arguments   = argument { "," argument } [ "," ] ;
//! argument    = name | literal | attribute ;            (* inputs first, then attributes *)
//! literal     = [ "-" ] ( digits | float ) | "-" "inf" ;
//! attribute   = name "=" ( list | [ "-" ] float | expr ) ;  (* a lone name, no param: a word *)
//! annotation  = dtype list ;                            (* f32[] is a scalar *)
//! list        = "[" [ expr { "," expr } [ "," ] ] "]" ;
//! expr        = term { ( "+" | "-" ) term } ;
//! term        = unary { ( "*" | "/" ) unary } ;         (* "/" is exact *)
//! unary       = "-" unary | digits | name | "(" expr ")" ;
//! integer     = [ "-" ] digits ;
//! name        = letter-or-_ { letter, digit or _ | "." before one of these } | "`" any "`" ;
//! ```
//!
//! A statement ends with its line, except that newlines inside brackets are skipped. `param`,
//! `input`, `weight`, `output`, `in`, `step`, `dividing`, `repeat` and `with` are keywords only
//! where the grammar has them, so a tensor may be called `input`. A comment runs from `#` to the
//! end of the line. In backquotes `` \` ``, `\\`, `\n` and `\r` are escapes.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::{Fix, TextEdit};
use crate::model::op::TensorRole;
use crate::model::program::{
    Block, Carried, Declaration, DerivedParam, KernelMark, Name, OpStatement, Param, TypeAnnotation,
};
use crate::notation::arguments::Arguments;
use crate::notation::cursor::{Cursor, Parse};
use crate::notation::declared::unread_creation;
use crate::notation::einsum;
use crate::notation::expression::expression;
use crate::notation::foreign::answered;
use crate::notation::infix::as_calls;
use crate::notation::lexer::{Lexeme, Token};
use crate::notation::listed::without_list;
use crate::notation::pytorch::{answer_to, in_notation};
use crate::notation::spelling::{nearest_dtype, quoted, shortened};

/// One parsed statement.
pub(super) enum Statement {
    /// A param, and a diagnostic about its value or range.
    Param(Param, Option<Diagnostic>),
    /// A size that follows from params.
    Derived(DerivedParam),
    /// An external tensor.
    Declaration(Declaration),
    /// A result of the program that ops read, too.
    Output(Name),
    Op(OpStatement),
    /// The header of a block that has no statements yet.
    Repeat(Block),
    /// The end of a block.
    End(Span),
}

/// Parses one statement. `tokens` contains at least one token, no comments and no newlines.
pub(super) fn statement(text: &str, tokens: &[Token]) -> Result<Statement, Diagnostic> {
    own_statement(text, tokens).map_err(|problem| {
        if is_other_form(text, tokens) {
            return problem.hint(OTHER_FORM);
        }
        unread_creation(text, tokens)
            .or_else(|| answered(text, tokens, &problem))
            .unwrap_or(problem)
    })
}

/// A statement, or its error by the grammar alone.
fn own_statement(text: &str, tokens: &[Token]) -> Result<Statement, Diagnostic> {
    let mut cursor = Cursor {
        text,
        tokens,
        at: 0,
    };
    let statement = match declaring_keyword(text, tokens) {
        Some("param") => cursor.param(),
        Some("input") => cursor.declaration(TensorRole::Input),
        Some("weight") => cursor.declaration(TensorRole::Weight),
        Some("output") => cursor.output(),
        Some("repeat") => cursor.repeat(),
        _ if cursor.peek_kind() == Some(Lexeme::CloseBrace) => Ok(cursor.end()),
        _ => cursor.operation().map_err(|problem| {
            let rewritten = without_list(text, tokens, &problem);
            if let Some(rewritten) = rewritten.or_else(|| as_calls(text, tokens, &problem)) {
                return rewritten;
            }
            // Calls such as `einsum` have arguments that are not part of the notation.
            match answer_to(text, tokens) {
                Some(hint) => (einsum::in_words(text, tokens).into_iter())
                    .fold(problem.hint(hint), Diagnostic::with),
                None => problem,
            }
        }),
    }?;
    match cursor.peek() {
        None => Ok(statement),
        Some(token) => {
            let problem = cursor.unexpected_after_end(token);
            let is_op = matches!(statement, Statement::Op(_));
            let rewritten = is_op.then(|| as_calls(text, tokens, &problem)).flatten();
            Err(rewritten.unwrap_or(problem))
        }
    }
}

const OTHER_FORM: &str =
    "`Op(...)` lines and JSON become notation when they are pasted, or opened as a file";

/// Whether an invalid statement starts like one of the forms that [`super::import`] reads.
fn is_other_form(text: &str, tokens: &[Token]) -> bool {
    let starts = |token: Option<&Token>, all: &[&str]| {
        token.is_some_and(|token| all.contains(&token.span.slice(text)))
    };
    starts(tokens.first(), &["[", "{"])
        || starts(tokens.first(), &["Op"]) && starts(tokens.get(1), &["("])
}

/// `param`, `input`, `weight`, `output` or `repeat` if the statement starts with that keyword. The
/// next token decides, because a tensor may be called `input`; where that is a parenthesis, only
/// the header of a block has a brace.
pub(super) fn declaring_keyword<'a>(text: &'a str, tokens: &[Token]) -> Option<&'a str> {
    let first = tokens.first().filter(|t| t.kind == Lexeme::Name)?;
    let word = first.span.slice(text);
    let is_plain_name = match tokens.get(1).map(|t| t.kind) {
        Some(Lexeme::Equals | Lexeme::Colon) => true,
        Some(Lexeme::OpenParen) => word != "repeat" || !has_open_brace(tokens),
        _ => false,
    };
    let is_keyword = matches!(word, "param" | "input" | "weight" | "output" | "repeat");
    (is_keyword && !is_plain_name).then_some(word)
}

fn has_open_brace(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.kind == Lexeme::OpenBrace)
}

/// Whether a line that starts with `tokens` can only be a new statement, even if a bracket is still
/// open.
pub(super) fn starts_statement(text: &str, tokens: &[Token]) -> bool {
    let kind = |i: usize| tokens.get(i).map(|t| t.kind);
    let is_name = |i: usize| matches!(kind(i), Some(Lexeme::Name | Lexeme::QuotedName));
    if kind(0) == Some(Lexeme::CloseBrace) {
        return true;
    }
    if declaring_keyword(text, tokens) == Some("repeat") {
        return has_open_brace(tokens);
    }
    is_name(0)
        && match kind(1) {
            Some(Lexeme::Colon) => true,
            Some(Lexeme::Equals) => is_name(2) && kind(3) == Some(Lexeme::OpenParen),
            _ => is_name(1) && declaring_keyword(text, tokens).is_some(),
        }
}

impl Cursor<'_> {
    fn declaration(&mut self, role: TensorRole) -> Parse<Statement> {
        let hint = match role {
            TensorRole::Input => "write `input x : f16[1024, 4096]`",
            TensorRole::Weight => "write `weight w : f16[4096, 1024]`",
        };
        self.at += 1;
        let name = self.name("the tensor's name", hint)?;
        self.expect(Lexeme::Colon, "`:` and the tensor's type", hint)?;
        let annotation = self.annotation()?;
        Ok(Statement::Declaration(Declaration {
            role,
            name,
            annotation,
            span: self.span_so_far(),
        }))
    }

    fn output(&mut self) -> Parse<Statement> {
        const HINT: &str = "write `output y` for each result that ops also read";
        self.at += 1;
        Ok(Statement::Output(self.name("the name of a tensor", HINT)?))
    }

    fn repeat(&mut self) -> Parse<Statement> {
        const HINT: &str = "write `repeat 12 {` or `repeat L with x = y {`, and `}` on its own line after the statements";
        self.at += 1;
        if matches!(self.peek_kind(), None | Some(Lexeme::OpenBrace)) {
            return Err(self.expected("the number of iterations", HINT));
        }
        let count = expression(self)?;
        let mut carried = Vec::new();
        let mut goes_on = self.take_word("with");
        while goes_on {
            let name = self.name("the name of a tensor that the block reads", HINT)?;
            self.expect(Lexeme::Equals, "`=`", HINT)?;
            let from = self.name("the name of a tensor that the block writes", HINT)?;
            carried.push(Carried { name, from });
            goes_on = self.take(Lexeme::Comma).is_some();
        }
        self.expect(Lexeme::OpenBrace, "`{`", HINT)?;
        Ok(Statement::Repeat(Block {
            count,
            carried,
            declarations: 0..0,
            ops: 0..0,
            outputs: 0..0,
            header: self.span_so_far(),
            span: self.span_so_far(),
        }))
    }

    /// The `}` at the start of a statement.
    fn end(&mut self) -> Statement {
        self.at += 1;
        Statement::End(self.last_span())
    }

    fn operation(&mut self) -> Parse<Statement> {
        const HINT: &str = "write `output = function(inputs)`, such as `y = relu(x)`";
        let mut output = self.name("a statement", HINT)?;
        let mut label = None;
        if self.take(Lexeme::Colon).is_some() {
            let is_role = matches!(output.text.as_str(), "input" | "weight");
            if is_role && self.kind_ahead(1) != Some(Lexeme::Equals) {
                return Err(
                    Diagnostic::error(Code::Syntax, "the declared tensor has no name")
                        .at(output.span)
                        .hint("write it before the colon: `input x : f16[1024]`"),
                );
            }
            let annotation = self.at;
            let before_colon = output;
            output = self.name(
                "the name of the output",
                "a label precedes an op: `label: y = relu(x)`",
            )?;
            if self.peek_kind() == Some(Lexeme::OpenBracket) {
                self.at = annotation;
                return Err(self.type_before_call(&before_colon)?);
            }
            label = Some(before_colon);
        }
        self.expect(Lexeme::Equals, "`=`", HINT)?;
        let mut callee = self.name("the name of a function", HINT)?;
        let open = self.expect(Lexeme::OpenParen, "`(`", HINT)?;
        let Arguments {
            inputs,
            literals,
            mut attributes,
        } = self.arguments(open)?;
        in_notation(&mut callee, &mut attributes);
        let annotation = match self.take(Lexeme::Colon) {
            Some(_) => Some(self.annotation()?),
            None => None,
        };
        let kernel = self.kernel_mark()?;
        Ok(Statement::Op(OpStatement {
            label: label.filter(|l| l.text != output.text),
            output,
            callee,
            inputs,
            literals,
            attributes,
            annotation,
            kernel,
            span: self.span_so_far(),
        }))
    }

    /// The error of `y : f16[8] = relu(x)`, whose type belongs behind the call.
    fn type_before_call(&mut self, output: &Name) -> Parse<Diagnostic> {
        let annotation = self.annotation()?;
        let written = annotation.span.slice(self.text);
        let problem = Diagnostic::error(
            Code::Syntax,
            format!("the type of {} stands before its op", quoted(&output.text)),
        )
        .at(annotation.span)
        .hint(format!(
            "write it after the call: `{} = relu(x) : {written}`",
            output.text
        ));
        let end = self.tokens.last().map_or(0, |last| last.span.end);
        let is_marked = self.tokens.iter().any(|token| token.kind == Lexeme::At);
        if is_marked || self.peek_kind() != Some(Lexeme::Equals) {
            return Ok(problem);
        }
        let before = Span::new(output.span.end, annotation.span.end);
        Ok(problem.with(Fix {
            label: format!("Write `: {written}` after the call"),
            edits: vec![
                TextEdit::remove(before),
                TextEdit::insert(end, format!(" : {written}")),
            ],
        }))
    }

    fn kernel_mark(&mut self) -> Parse<Option<KernelMark>> {
        const HINT: &str = "write `@kernel 3` after each op of kernel 3";
        let Some(at) = self.take(Lexeme::At) else {
            return Ok(None);
        };
        if !self.take_word("kernel") {
            return Err(self.expected("`kernel`", HINT));
        }
        let token = self
            .take(Lexeme::Int)
            .ok_or_else(|| self.expected("the number of a kernel", HINT))?;
        let number = self.int_value(token, false, token.span)?;
        let number = u32::try_from(number).map_err(|_| {
            Diagnostic::error(Code::Overflow, "the number of the kernel is too large")
                .at(token.span)
                .hint(HINT)
        })?;
        Ok(Some(KernelMark {
            number,
            span: at.span.to(token.span),
        }))
    }

    fn annotation(&mut self) -> Parse<TypeAnnotation> {
        const HINT: &str = "write a type as `f16[1024, 4096]`, a scalar as `f32[]`";
        let token = self
            .peek()
            .filter(|t| t.kind == Lexeme::Name)
            .ok_or_else(|| {
                let expected = self.expected("an element type", HINT);
                let bracket = self.peek().filter(|t| t.kind == Lexeme::OpenBracket);
                match bracket {
                    Some(open) => expected.fix(
                        "Insert the element type `f16`",
                        TextEdit::insert(open.span.start, "f16"),
                    ),
                    None => expected,
                }
            })?;
        let Ok(dtype) = self.slice(token).parse() else {
            let unknown = unknown_dtype(self.slice(token)).at(token.span);
            let meant = nearest_dtype(self.slice(token)).name();
            let edit = TextEdit::replace(token.span, meant);
            return Err(unknown.fix(format!("Write `{meant}`"), edit));
        };
        self.at += 1;
        let open = self.expect(Lexeme::OpenBracket, "`[` and the shape", HINT)?;
        let dims = self.sizes(open)?;
        Ok(TypeAnnotation {
            dtype,
            dtype_span: token.span,
            dims,
            span: token.span.to(self.last_span()),
        })
    }

    fn unexpected_after_end(&self, token: Token) -> Diagnostic {
        self.unreadable(token).unwrap_or_else(|| {
            let found = shortened(self.slice(token));
            let (label, edit) = match token.kind {
                Lexeme::CloseParen
                | Lexeme::CloseBracket
                | Lexeme::OpenBrace
                | Lexeme::CloseBrace => (format!("Remove `{found}`"), TextEdit::remove(token.span)),
                _ => {
                    let comment = TextEdit::insert(token.span.start, "# ");
                    ("Make the rest a comment".to_owned(), comment)
                }
            };
            Diagnostic::error(
                Code::Syntax,
                format!("the statement is complete before `{found}`"),
            )
            .at(token.span)
            .hint(match token.kind {
                Lexeme::OpenBrace | Lexeme::CloseBrace => {
                    "only the header of a block ends with `{`, and `}` is on its own line"
                }
                _ => "write one statement per line, and comments after `#`",
            })
            .fix(
                "Start a new line here",
                TextEdit::insert(token.span.start, "\n"),
            )
            .fix(label, edit)
        })
    }
}

/// The error for an unknown element type.
pub(super) fn unknown_dtype(name: &str) -> Diagnostic {
    Diagnostic::error(
        Code::UnknownDtype,
        format!("there is no element type {}", quoted(name)),
    )
    .hint(format!("did you mean `{}`?", nearest_dtype(name).name()))
}
