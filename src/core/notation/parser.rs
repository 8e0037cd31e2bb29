//! Tokens to statements.
//!
//! ```text
//! program     = { [ statement ] [ comment ] newline } ;
//! statement   = param | declaration | operation ;
//! param       = "param" name "=" integer [ "in" integer ".." integer [ "step" integer ] ] ;
//! declaration = ( "input" | "weight" ) name ":" annotation ;
//! operation   = [ name ":" ] name "=" name "(" [ arguments ] ")" [ ":" annotation ] ;
//! arguments   = argument { "," argument } [ "," ] ;
//! argument    = name | attribute ;                      (* inputs first, then attributes *)
//! attribute   = name "=" ( list | [ "-" ] float | expr ) ;  (* a lone name that is no param is a word *)
//! annotation  = dtype list ;                            (* f32[] is a scalar *)
//! list        = "[" [ expr { "," expr } [ "," ] ] "]" ;
//! expr        = term { ( "+" | "-" ) term } ;
//! term        = unary { ( "*" | "/" ) unary } ;         (* "/" is exact *)
//! unary       = "-" unary | digits | name | "(" expr ")" ;
//! integer     = [ "-" ] digits ;
//! name        = letter-or-_ { letter, digit or _ | "." before one of these } | "`" any "`" ;
//! ```
//!
//! A statement ends with its line, but for a newline inside brackets. `param`, `input`, `weight`, `in` and
//! `step` are keywords only where the grammar has them, so a tensor may be called `input`. A comment runs
//! from `#` to the end of the line. In backquotes `` \` ``, `\\`, `\n` and `\r` are escapes.

use super::lexer::{Lexeme, Token, unquoted};
use super::spelling::{nearest_dtype, quoted, shortened};
use crate::core::diagnostic::{Code, Diagnostic, Span};
use crate::core::dtype::DType;
use crate::core::op::TensorRole;
use crate::core::program::{
    Attribute, AttributeValue, BinaryOp, Declaration, Expr, ExprKind, Name, OpStatement, Param,
    ParamRange, TypeAnnotation,
};

/// Deepest nesting of an expression, so that nobody who walks one runs out of stack.
pub(super) const MAX_DEPTH: usize = 64;

/// One statement that could be read.
pub(super) enum Statement {
    /// A param, and what is doubtful about it.
    Param(Param, Option<Diagnostic>),
    /// An external tensor.
    Declaration(Declaration),
    /// An op.
    Op(OpStatement),
}

/// Reads the one statement that `tokens` are; they hold no comment and no newline, and at least one token.
pub(super) fn statement(text: &str, tokens: &[Token]) -> Result<Statement, Diagnostic> {
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
    };
    let statement = match parser.keyword() {
        Some("param") => parser.param(),
        Some("input") => parser.declaration(TensorRole::Input),
        Some("weight") => parser.declaration(TensorRole::Weight),
        _ => parser.operation(),
    }?;
    match parser.peek() {
        None => Ok(statement),
        Some(token) => Err(parser.unexpected_after_end(token)),
    }
}

/// Whether the line that starts with `tokens` can only be a new statement, even where a bracket is open.
pub(super) fn starts_statement(text: &str, tokens: &[Token]) -> bool {
    let kind = |i: usize| tokens.get(i).map(|t| t.kind);
    let is_name = |i: usize| matches!(kind(i), Some(Lexeme::Name | Lexeme::QuotedName));
    let is_keyword = || {
        tokens
            .first()
            .is_some_and(|t| matches!(t.span.slice(text), "param" | "input" | "weight"))
    };
    is_name(0)
        && match kind(1) {
            Some(Lexeme::Colon) => true,
            Some(Lexeme::Equals) => is_name(2) && kind(3) == Some(Lexeme::OpenParen),
            _ => is_name(1) && is_keyword(),
        }
}

type Parse<T> = Result<T, Diagnostic>;

/// An expression and how deep it nests.
struct Nested {
    expr: Expr,
    depth: usize,
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    fn peek_kind(&self) -> Option<Lexeme> {
        self.kind_ahead(0)
    }

    fn kind_ahead(&self, distance: usize) -> Option<Lexeme> {
        self.tokens.get(self.at + distance).map(|t| t.kind)
    }

    fn slice(&self, token: Token) -> &'a str {
        token.span.slice(self.text)
    }

    /// The span of the last token that was taken.
    fn last_span(&self) -> Span {
        let last = self.at.checked_sub(1).and_then(|i| self.tokens.get(i));
        last.map_or(Span::default(), |t| t.span)
    }

    /// From the start of the statement to the last token taken.
    fn span_so_far(&self) -> Span {
        let first = self.tokens.first().map_or(Span::default(), |t| t.span);
        first.to(self.last_span())
    }

    fn take(&mut self, kind: Lexeme) -> Option<Token> {
        let token = self.peek().filter(|t| t.kind == kind)?;
        self.at += 1;
        Some(token)
    }

    fn expect(&mut self, kind: Lexeme, what: &str, hint: &str) -> Parse<Token> {
        self.take(kind)
            .ok_or_else(|| self.expected(what).hint(hint))
    }

    /// The declaring keyword that the statement starts with. What follows it decides: a tensor may be
    /// called `input`.
    fn keyword(&self) -> Option<&'a str> {
        let first = self.peek().filter(|t| t.kind == Lexeme::Name)?;
        let is_plain_name = matches!(
            self.kind_ahead(1),
            Some(Lexeme::Equals | Lexeme::Colon | Lexeme::OpenParen)
        );
        Some(self.slice(first)).filter(|_| !is_plain_name)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = self
            .peek()
            .is_some_and(|t| t.kind == Lexeme::Name && self.slice(t) == word);
        self.at += usize::from(is_next);
        is_next
    }

    fn name(&mut self, what: &str, hint: &str) -> Parse<Name> {
        let token = self
            .peek()
            .filter(|t| matches!(t.kind, Lexeme::Name | Lexeme::QuotedName))
            .ok_or_else(|| self.expected(what).hint(hint))?;
        self.at += 1;
        let text = match token.kind {
            Lexeme::Name => self.slice(token).to_owned(),
            _ => unquoted(self.slice(token)).ok_or_else(|| {
                Diagnostic::error(Code::Syntax, "the name holds an unknown escape")
                    .at(token.span)
                    .hint(
                        "in backquotes write `\\\\` for a backslash and `` \\` `` for a backquote",
                    )
            })?,
        };
        Ok(Name {
            text,
            span: token.span,
        })
    }

    fn param(&mut self) -> Parse<Statement> {
        const HINT: &str = "write `param S = 2048` or `param S = 2048 in 128..16384 step 128`";
        self.at += 1;
        let name = self.name("the name of the param", HINT)?;
        self.expect(Lexeme::Equals, "`=`", HINT)?;
        let (value, value_span) = self.integer(HINT)?;
        let mut range = None;
        let mut doubt = None;
        if self.take_word("in") {
            let (min, min_span) = self.integer(HINT)?;
            self.expect(Lexeme::DotDot, "`..`", HINT)?;
            let (max, max_span) = self.integer(HINT)?;
            let (step, step_span) = if self.take_word("step") {
                self.integer(HINT)?
            } else {
                (1, max_span)
            };
            let range_span = min_span.to(max_span);
            match range_problem(&name.text, value, ParamRange { min, max, step }) {
                Some((problem, RangePart::Value)) => {
                    range = Some(ParamRange { min, max, step });
                    doubt = Some(problem.at(value_span));
                }
                Some((problem, RangePart::Ends)) => doubt = Some(problem.at(range_span)),
                Some((problem, RangePart::Step)) => doubt = Some(problem.at(step_span)),
                None => range = Some(ParamRange { min, max, step }),
            }
        }
        if value < 1 {
            // The param stays in the program: its slider is the quickest way to mend it.
            doubt = Some(
                Diagnostic::error(
                    Code::NonPositiveSize,
                    format!("{} is {value}", quoted(&name.text)),
                )
                .at(value_span)
                .hint("give it a value of at least 1"),
            );
        }
        let param = Param {
            name,
            value,
            value_span,
            range,
            span: self.span_so_far(),
        };
        Ok(Statement::Param(param, doubt))
    }

    /// `2048` or `-1`, and where it stands.
    fn integer(&mut self, hint: &str) -> Parse<(i64, Span)> {
        let minus = self.take(Lexeme::Minus);
        let token = self.take(Lexeme::Int).ok_or_else(|| match self.peek() {
            Some(t) if matches!(t.kind, Lexeme::Name | Lexeme::OpenParen) => self
                .expected("a whole number")
                .hint("a param is a plain number, so that a slider can set it; shapes may compute with it"),
            _ => self.expected("a whole number").hint(hint),
        })?;
        let span = minus.map_or(token.span, |m| m.span.to(token.span));
        Ok((self.int_value(token, minus.is_some(), span)?, span))
    }

    fn int_value(&self, token: Token, is_negative: bool, span: Span) -> Parse<i64> {
        let overflow = || {
            Diagnostic::error(
                Code::Overflow,
                format!("{} is past 2^63", shortened(span.slice(self.text))),
            )
            .at(span)
            .hint("use a smaller number")
        };
        let mut value: i64 = 0;
        for digit in self.slice(token).bytes().filter(u8::is_ascii_digit) {
            let digit = i64::from(digit - b'0');
            let signed = if is_negative { -digit } else { digit };
            value = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(signed))
                .ok_or_else(overflow)?;
        }
        Ok(value)
    }

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

    fn operation(&mut self) -> Parse<Statement> {
        const HINT: &str = "write `output = function(inputs)`, such as `y = relu(x)`";
        let mut output = self.name("a statement", HINT)?;
        let mut label = None;
        if self.take(Lexeme::Colon).is_some() {
            let hint = match output.text.as_str() {
                "input" | "weight" => "a declaration names its tensor: `input x : f16[1024]`",
                _ => "a label stands before an op: `label: y = relu(x)`",
            };
            label = Some(output);
            output = self.name("the name of the output", hint)?;
        }
        self.expect(Lexeme::Equals, "`=`", HINT)?;
        let callee = self.name("the name of a function", HINT)?;
        let open = self.expect(Lexeme::OpenParen, "`(`", HINT)?;
        let (inputs, attributes) = self.arguments(open)?;
        let annotation = match self.take(Lexeme::Colon) {
            Some(_) => Some(self.annotation()?),
            None => None,
        };
        Ok(Statement::Op(OpStatement {
            label: label.filter(|l| l.text != output.text),
            output,
            callee,
            inputs,
            attributes,
            annotation,
            span: self.span_so_far(),
        }))
    }

    fn arguments(&mut self, open: Token) -> Parse<(Vec<Name>, Vec<Attribute>)> {
        const HINT: &str = "list input tensors, then attributes: `softmax(x, axis=-1)`";
        let mut inputs = Vec::new();
        let mut attributes: Vec<Attribute> = Vec::new();
        while self.take(Lexeme::CloseParen).is_none() {
            let is_attribute = self.kind_ahead(1) == Some(Lexeme::Equals);
            if self.peek().is_none() {
                return Err(unclosed(open, "`)`"));
            }
            if matches!(self.peek_kind(), Some(Lexeme::Int | Lexeme::Float)) {
                return Err(self
                    .expected("the name of a tensor")
                    .hint("inputs are tensors; give numbers as attributes, such as `axis=-1`"));
            }
            let name = self.name("the name of a tensor", HINT)?;
            if is_attribute {
                if attributes.iter().any(|a| a.name.text == name.text) {
                    return Err(Diagnostic::error(
                        Code::Syntax,
                        format!("{} is given twice", quoted(&name.text)),
                    )
                    .at(name.span)
                    .hint("give each attribute once"));
                }
                self.at += 1;
                let value = self.attribute_value()?;
                let span = name.span.to(self.last_span());
                attributes.push(Attribute { name, value, span });
            } else if attributes.is_empty() {
                inputs.push(name);
            } else {
                return Err(Diagnostic::error(
                    Code::Syntax,
                    format!(
                        "the input {} stands behind an attribute",
                        quoted(&name.text)
                    ),
                )
                .at(name.span)
                .hint("name the inputs first, then the attributes"));
            }
            self.separator(open, Lexeme::CloseParen, "`,` or `)`")?;
        }
        Ok((inputs, attributes))
    }

    /// Takes a comma, or leaves the closing bracket to be taken.
    fn separator(&mut self, open: Token, close: Lexeme, what: &str) -> Parse<()> {
        if self.take(Lexeme::Comma).is_some() || self.peek_kind() == Some(close) {
            return Ok(());
        }
        Err(match self.peek() {
            None => unclosed(
                open,
                if close == Lexeme::CloseParen {
                    "`)`"
                } else {
                    "`]`"
                },
            ),
            Some(_) => self
                .expected(what)
                .hint("separate what stands in brackets by commas"),
        })
    }

    fn attribute_value(&mut self) -> Parse<AttributeValue> {
        if let Some(open) = self.take(Lexeme::OpenBracket) {
            return Ok(AttributeValue::Sizes(self.sizes(open)?));
        }
        let is_negative = self.peek_kind() == Some(Lexeme::Minus);
        if self.kind_ahead(usize::from(is_negative)) == Some(Lexeme::Float) {
            self.at += usize::from(is_negative);
            let sign = if is_negative { "-" } else { "" };
            let digits = self.take(Lexeme::Float).map_or("", |t| self.slice(t));
            return Ok(AttributeValue::Number(format!("{sign}{digits}")));
        }
        let is_lone = matches!(
            self.kind_ahead(1),
            None | Some(Lexeme::Comma | Lexeme::CloseParen)
        );
        // Which words are params is known only at the end of the text.
        match self.peek() {
            Some(token) if is_lone && token.kind == Lexeme::Name => {
                self.at += 1;
                Ok(AttributeValue::Size(Expr {
                    kind: ExprKind::Param(self.slice(token).to_owned()),
                    span: token.span,
                }))
            }
            Some(token) if is_lone && token.kind == Lexeme::QuotedName => {
                Ok(AttributeValue::Word(self.name("a word", "")?.text))
            }
            _ => Ok(AttributeValue::Size(self.expression(0)?.expr)),
        }
    }

    fn annotation(&mut self) -> Parse<TypeAnnotation> {
        const HINT: &str = "write a type as `f16[1024, 4096]`, a scalar as `f32[]`";
        let token = self
            .peek()
            .filter(|t| t.kind == Lexeme::Name)
            .ok_or_else(|| self.expected("an element type").hint(HINT))?;
        let Some(dtype) = DType::from_name(self.slice(token)) else {
            return Err(unknown_dtype(self.slice(token)).at(token.span));
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

    /// Sizes up to the closing bracket.
    fn sizes(&mut self, open: Token) -> Parse<Vec<Expr>> {
        let mut sizes = Vec::new();
        while self.take(Lexeme::CloseBracket).is_none() {
            if self.peek().is_none() {
                return Err(unclosed(open, "`]`"));
            }
            sizes.push(self.expression(0)?.expr);
            self.separator(open, Lexeme::CloseBracket, "`,` or `]`")?;
        }
        Ok(sizes)
    }

    /// `outside` is how many brackets and signs stand around it.
    fn expression(&mut self, outside: usize) -> Parse<Nested> {
        let mut left = self.term(outside)?;
        while let Some(operator) = match self.peek_kind() {
            Some(Lexeme::Plus) => Some(BinaryOp::Add),
            Some(Lexeme::Minus) => Some(BinaryOp::Sub),
            _ => None,
        } {
            self.at += 1;
            let right = self.term(outside)?;
            left = binary(operator, left, right)?;
        }
        Ok(left)
    }

    fn term(&mut self, outside: usize) -> Parse<Nested> {
        let mut left = self.unary(outside)?;
        while let Some(operator) = match self.peek_kind() {
            Some(Lexeme::Star) => Some(BinaryOp::Mul),
            Some(Lexeme::Slash) => Some(BinaryOp::Div),
            _ => None,
        } {
            self.at += 1;
            let right = self.unary(outside)?;
            left = binary(operator, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self, outside: usize) -> Parse<Nested> {
        const HINT: &str = "a size is a number, a param or a computation such as `4*H`";
        let Some(token) = self.peek() else {
            return Err(self.expected("a size").hint(HINT));
        };
        if outside >= MAX_DEPTH {
            return Err(too_deep(token.span));
        }
        let leaf = |kind, span| Nested {
            expr: Expr { kind, span },
            depth: 1,
        };
        match token.kind {
            Lexeme::Minus => {
                self.at += 1;
                if let Some(digits) = self.take(Lexeme::Int) {
                    let span = token.span.to(digits.span);
                    let value = self.int_value(digits, true, span)?;
                    return Ok(leaf(ExprKind::Int(value), span));
                }
                let operand = self.unary(outside + 1)?;
                let span = token.span.to(operand.expr.span);
                let depth = operand.depth + 1;
                if depth > MAX_DEPTH {
                    return Err(too_deep(span));
                }
                let kind = ExprKind::Negate(Box::new(operand.expr));
                Ok(Nested {
                    expr: Expr { kind, span },
                    depth,
                })
            }
            Lexeme::Int => {
                self.at += 1;
                let value = self.int_value(token, false, token.span)?;
                Ok(leaf(ExprKind::Int(value), token.span))
            }
            Lexeme::Name | Lexeme::QuotedName => {
                let name = self.name("a size", HINT)?;
                Ok(leaf(ExprKind::Param(name.text), name.span))
            }
            Lexeme::OpenParen => {
                self.at += 1;
                let mut inner = self.expression(outside + 1)?;
                let Some(close) = self.take(Lexeme::CloseParen) else {
                    return Err(match self.peek() {
                        None => unclosed(token, "`)`"),
                        Some(_) => self.expected("an operator or `)`").hint(HINT),
                    });
                };
                inner.expr.span = token.span.to(close.span);
                Ok(inner)
            }
            _ => Err(self.expected("a size").hint(HINT)),
        }
    }

    /// The next token is not `what` must stand here.
    fn expected(&self, what: &str) -> Diagnostic {
        let Some(token) = self.peek() else {
            return Diagnostic::error(Code::Syntax, format!("the line ends before {what}"))
                .at(self.last_span());
        };
        self.unreadable(token).unwrap_or_else(|| {
            let found = shortened(self.slice(token));
            Diagnostic::error(Code::Syntax, format!("expected {what}, found `{found}`"))
                .at(token.span)
        })
    }

    fn unexpected_after_end(&self, token: Token) -> Diagnostic {
        self.unreadable(token).unwrap_or_else(|| {
            let found = shortened(self.slice(token));
            Diagnostic::error(
                Code::Syntax,
                format!("the statement is complete before `{found}`"),
            )
            .at(token.span)
            .hint("write one statement a line, and comments behind `#`")
        })
    }

    /// What is wrong with the token itself, wherever it stands.
    fn unreadable(&self, token: Token) -> Option<Diagnostic> {
        let found = self.slice(token);
        let problem = match token.kind {
            Lexeme::Unknown => {
                return Some(unknown_character(found).at(token.span));
            }
            Lexeme::OpenQuote => "the name in backquotes has no end".to_owned(),
            Lexeme::MalformedNumber => {
                format!("`{}` is neither a number nor a name", shortened(found))
            }
            _ => return None,
        };
        let hint = match token.kind {
            Lexeme::OpenQuote => "close it with another backquote on the same line",
            _ => "write a product with `*`, as in `4*H`; a name starts with a letter",
        };
        Some(
            Diagnostic::error(Code::Syntax, problem)
                .at(token.span)
                .hint(hint),
        )
    }
}

/// Which part of a range a finding is about.
enum RangePart {
    Value,
    Ends,
    Step,
}

fn range_problem(name: &str, value: i64, range: ParamRange) -> Option<(Diagnostic, RangePart)> {
    let ParamRange { min, max, step } = range;
    let name = quoted(name);
    let warn = |message: String| Diagnostic::warning(Code::ParamOutOfRange, message);
    if min > max {
        let problem = warn(format!("the range {min}..{max} of {name} is empty"));
        return Some((problem.hint("write the smaller end first"), RangePart::Ends));
    }
    if min < 1 {
        let problem = warn(format!("the range of {name} starts at {min}"));
        return Some((problem.hint("start it at 1 or above"), RangePart::Ends));
    }
    if step < 1 {
        let problem = warn(format!("the step of {name} is {step}"));
        return Some((problem.hint("use a step of at least 1"), RangePart::Step));
    }
    if value < min || value > max {
        let problem = warn(format!("{name} is {value}, outside its range {min}..{max}"));
        return Some((
            problem.hint("change the value or widen the range"),
            RangePart::Value,
        ));
    }
    None
}

fn binary(operator: BinaryOp, left: Nested, right: Nested) -> Parse<Nested> {
    let span = left.expr.span.to(right.expr.span);
    let depth = left.depth.max(right.depth) + 1;
    if depth > MAX_DEPTH {
        return Err(too_deep(span));
    }
    let kind = ExprKind::Binary(operator, Box::new(left.expr), Box::new(right.expr));
    Ok(Nested {
        expr: Expr { kind, span },
        depth,
    })
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::Syntax,
        format!("the expression nests more than {MAX_DEPTH} levels deep"),
    )
    .at(span)
    .hint("shorten it, or give a part of it a name with `param`")
}

fn unclosed(open: Token, close: &str) -> Diagnostic {
    Diagnostic::error(Code::Syntax, "the bracket is never closed")
        .at(open.span)
        .hint(format!("close it with {close}"))
}

/// The error for an element type that there is not.
pub(super) fn unknown_dtype(name: &str) -> Diagnostic {
    Diagnostic::error(
        Code::UnknownDtype,
        format!("there is no element type {}", quoted(name)),
    )
    .hint(format!("did you mean `{}`?", nearest_dtype(name).name()))
}

fn unknown_character(character: &str) -> Diagnostic {
    let hint = match character {
        "×" | "·" | "∗" => "write `*` for a product",
        "÷" => "write `/` for a quotient",
        "−" | "–" | "—" => "write a minus as `-`",
        ";" => "write one statement a line",
        "{" | "}" => "sizes stand in `[ ]`, inputs in `( )`",
        "\"" | "'" | "“" | "”" | "‘" | "’" => {
            "write a name with special characters in backquotes"
        }
        "." => "write a number with a digit before the point, a range as `1..8`",
        _ => "remove it, or put it into a comment behind `#`",
    };
    Diagnostic::error(
        Code::UnknownCharacter,
        format!("`{character}` is no part of the notation"),
    )
    .hint(hint)
}
