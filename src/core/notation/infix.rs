//! Rewrites expressions as programming languages have them, `relu(x @ w.T + b)` and
//! `relu(x).sum(0)`, as calls on lines of their own.

use crate::model::diagnostic::{Diagnostic, Span};
use crate::model::fix::{Fix, TextEdit};
use crate::model::functions::Function;
use crate::model::functions::pytorch::without_module;
use crate::notation::cursor::Cursor;
use crate::notation::lexer::{Lexeme, Token, name_text, written_name};

/// Deepest nesting of operations that is rewritten; bounds the stack.
const MAX_DEPTH: usize = 64;

/// Most operations of a statement that is rewritten.
const MAX_OPERATIONS: usize = 16;

/// The error of a statement with operators or calls in calls, with what to write instead; `None`
/// for any other statement.
pub(super) fn as_calls(text: &str, tokens: &[Token], problem: &Diagnostic) -> Option<Diagnostic> {
    let equals = tokens.iter().position(|t| t.kind == Lexeme::Equals)?;
    let output = tokens.get(equals.checked_sub(1)?)?;
    let mut reader = Reader {
        cursor: Cursor {
            text,
            tokens,
            at: equals + 1,
        },
        output: name_text(text, *output),
        lines: Vec::new(),
        operations: 0,
    };
    let start = reader.cursor.peek()?.span;
    let value = reader.expression(0, MAX_DEPTH)?;
    let written = start.to(reader.cursor.last_span());
    let is_at_end = match reader.cursor.peek_kind() {
        None | Some(Lexeme::Colon) => true,
        Some(Lexeme::At) => reader.is_mark(),
        Some(_) => false,
    };
    let Operand::Call { callee, call } = value else {
        return None;
    };
    // A single call is the statement itself.
    if !is_at_end || reader.operations == 0 {
        return None;
    }
    let first = tokens.first()?.span.start;
    let indent = text.get(..first)?.rsplit('\n').next()?;
    let indent = if indent.trim().is_empty() { indent } else { "" };
    let before = (reader.lines.iter()).fold(String::new(), |before, line| {
        before + &line.name + " = " + &line.call + "\n" + indent
    });
    let callees = reader.lines.iter().map(|line| &line.callee);
    let callees: Vec<_> = (callees.chain([&callee]))
        .map(|name| format!("`{name}`"))
        .collect();
    let (label, hint) = if before.is_empty() {
        (format!("Write `{call}`"), format!("write `{call}`"))
    } else {
        (
            format!("Write {}", callees.join(", ")),
            format!(
                "write each operation as a call on its own line: {}",
                callees.join(", ")
            ),
        )
    };
    let mut edits = vec![TextEdit::replace(written, call)];
    if !before.is_empty() {
        edits.insert(0, TextEdit::insert(first, before));
    }
    Some(Diagnostic {
        hint: Some(hint),
        fixes: vec![Fix { label, edits }],
        ..problem.clone()
    })
}

/// An operand of an operation.
enum Operand {
    /// A name or a number, as written.
    Leaf(String),
    /// `add(x, y)`
    Call { callee: String, call: String },
}

/// A call that needs a name, because another one reads it.
struct Line {
    name: String,
    callee: String,
    call: String,
}

/// Whether PyTorch gives the transposed matrix by this name, as in `x.T`.
fn is_transpose(part: &str) -> bool {
    matches!(part, "T" | "mT")
}

/// Whether a function of PyTorch takes a tensor and the sizes of its result.
fn takes_shape(callee: &str) -> bool {
    let function = callee.rsplit('.').next();
    function.is_some_and(|function| matches!(function, "reshape" | "view" | "expand"))
}

fn transpose(tensor: &str) -> Operand {
    Operand::Call {
        callee: Function::Transpose.name().to_owned(),
        call: format!("transpose({tensor})"),
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    output: String,
    lines: Vec<Line>,
    /// Number of operators, and of calls in calls.
    operations: usize,
}

impl Reader<'_> {
    /// Reads operands and the operators between them that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8, depth: usize) -> Option<Operand> {
        let depth = depth.checked_sub(1)?;
        let mut left = self.operand(depth)?;
        while let Some((callee, binding, tokens)) = self.operator()
            && binding >= least
        {
            self.cursor.at += tokens;
            // Powers associate to the right.
            let is_power = callee == Function::Pow;
            if self.operations >= MAX_OPERATIONS {
                return None;
            }
            let right = self.expression(binding + u8::from(!is_power), depth)?;
            self.operations += 1;
            let [a, b] = [left, right].map(|side| self.named(side));
            left = Operand::Call {
                callee: callee.name().to_owned(),
                call: format!("{callee}({a}, {b})"),
            };
        }
        Some(left)
    }

    /// The function of the operator that comes next, how tightly it binds, and its number of
    /// tokens.
    fn operator(&self) -> Option<(Function, u8, usize)> {
        Some(match self.cursor.peek_kind()? {
            Lexeme::Plus => (Function::Add, 1, 1),
            Lexeme::Minus => (Function::Sub, 1, 1),
            Lexeme::Star if self.cursor.kind_ahead(1) == Some(Lexeme::Star) => {
                (Function::Pow, 4, 2)
            }
            Lexeme::Star => (Function::Mul, 2, 1),
            Lexeme::Slash => (Function::Div, 2, 1),
            Lexeme::At if !self.is_mark() && self.cursor.kind_ahead(1) != Some(Lexeme::Int) => {
                (Function::Matmul, 2, 1)
            }
            _ => return None,
        })
    }

    /// Whether `@kernel` comes next.
    fn is_mark(&self) -> bool {
        let word = self.cursor.tokens.get(self.cursor.at + 1);
        word.is_some_and(|word| self.cursor.slice(*word) == "kernel")
    }

    /// A value with the methods that follow it: `relu(x).sum(0)`, `(x + y).T`.
    fn operand(&mut self, depth: usize) -> Option<Operand> {
        let mut value = self.plain_operand(depth)?;
        while let Some(dot) = self.cursor.peek()
            && self.cursor.slice(dot) == "."
            && self.cursor.kind_ahead(1) == Some(Lexeme::Name)
            && self.operations < MAX_OPERATIONS
        {
            self.cursor.at += 1;
            let method = self.cursor.peek()?;
            self.cursor.at += 1;
            self.operations += 1;
            let receiver = self.named(value);
            let method = self.cursor.slice(method);
            value = if self.cursor.take(Lexeme::OpenParen).is_some() {
                // With the name of the module the defaults stay those of PyTorch.
                self.call(format!("torch.{method}"), vec![receiver], depth)?
            } else if is_transpose(method) {
                transpose(&receiver)
            } else {
                return None;
            };
        }
        Some(value)
    }

    fn plain_operand(&mut self, depth: usize) -> Option<Operand> {
        let token = self.cursor.peek()?;
        let written = self.cursor.slice(token).to_owned();
        self.cursor.at += 1;
        match token.kind {
            Lexeme::Name if self.cursor.take(Lexeme::OpenParen).is_some() => {
                match written.rsplit_once('.') {
                    // The lexer takes `x.view` for one name.
                    Some((tensor, method))
                        if takes_shape(method) && !without_module(&written).1 =>
                    {
                        self.call(format!("torch.{method}"), vec![tensor.to_owned()], depth)
                    }
                    _ => self.call(written, Vec::new(), depth),
                }
            }
            Lexeme::Int | Lexeme::Float | Lexeme::QuotedName | Lexeme::Name => {
                match written.rsplit_once('.') {
                    Some((tensor, part)) if is_transpose(part) => {
                        self.operations += 1;
                        Some(transpose(tensor))
                    }
                    _ => Some(Operand::Leaf(written)),
                }
            }
            Lexeme::OpenParen => {
                let value = self.expression(0, depth)?;
                self.cursor.take(Lexeme::CloseParen)?;
                Some(value)
            }
            Lexeme::Minus => {
                let next = self.cursor.peek()?;
                let is_number = matches!(next.kind, Lexeme::Int | Lexeme::Float);
                if is_number || self.cursor.slice(next) == "inf" {
                    self.cursor.at += 1;
                    return Some(Operand::Leaf(format!("-{}", self.cursor.slice(next))));
                }
                let value = self.expression(3, depth)?;
                self.operations += 1;
                let operand = self.named(value);
                Some(Operand::Call {
                    callee: Function::Neg.name().to_owned(),
                    call: format!("neg({operand})"),
                })
            }
            _ => None,
        }
    }

    /// The rest of a call after its opening parenthesis, and after the `arguments` that it has
    /// already.
    fn call(
        &mut self,
        callee: String,
        mut arguments: Vec<String>,
        depth: usize,
    ) -> Option<Operand> {
        while self.cursor.take(Lexeme::CloseParen).is_none() {
            if takes_shape(&callee) && arguments.len() == 1 && !self.is_attribute() {
                arguments.push(self.shape()?);
                self.operations += 1;
                continue;
            }
            arguments.push(if self.is_attribute() {
                self.argument()?
            } else {
                let value = self.expression(0, depth)?;
                self.operations += usize::from(matches!(value, Operand::Call { .. }));
                self.named(value)
            });
            if self.cursor.take(Lexeme::Comma).is_none()
                && self.cursor.peek_kind() != Some(Lexeme::CloseParen)
            {
                return None;
            }
        }
        let call = format!("{callee}({})", arguments.join(", "));
        Some(Operand::Call { callee, call })
    }

    fn is_attribute(&self) -> bool {
        self.cursor.kind_ahead(1) == Some(Lexeme::Equals)
    }

    /// The arguments up to the parenthesis that closes the call, as a shape.
    fn shape(&mut self) -> Option<String> {
        let mut sizes = vec![self.argument()?];
        while self.cursor.take(Lexeme::Comma).is_some() {
            sizes.push(self.argument()?);
        }
        // Every division of sizes is exact.
        Some(format!("shape=[{}]", sizes.join(", ").replace("//", "/")))
    }

    /// An argument as written, up to the comma or parenthesis after it.
    fn argument(&mut self) -> Option<String> {
        let start = self.cursor.peek()?.span;
        let mut open = 0_usize;
        loop {
            match self.cursor.peek_kind()? {
                Lexeme::Comma | Lexeme::CloseParen if open == 0 => break,
                Lexeme::OpenParen | Lexeme::OpenBracket => open += 1,
                Lexeme::CloseParen | Lexeme::CloseBracket => open = open.checked_sub(1)?,
                _ => {}
            }
            self.cursor.at += 1;
        }
        let span: Span = start.to(self.cursor.last_span());
        Some(span.slice(self.cursor.text).to_owned())
    }

    /// The value as an argument: a call gets a line and a name.
    fn named(&mut self, value: Operand) -> String {
        let (callee, call) = match value {
            Operand::Leaf(written) => return written,
            Operand::Call { callee, call } => (callee, call),
        };
        let function = callee.rsplit('.').next().unwrap_or(&callee);
        let alike = self.lines.iter().filter(|line| line.callee == callee);
        let name = match alike.count() {
            0 => format!("{}_{function}", self.output),
            count => format!("{}_{function}_{}", self.output, count + 1),
        };
        let name = written_name(&name);
        self.lines.push(Line {
            name: name.clone(),
            callee,
            call,
        });
        name
    }
}
