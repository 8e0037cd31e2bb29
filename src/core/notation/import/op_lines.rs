//! Scanner for Python lines such as `Op("relu", "elementwise", ["x"], "y", (1024, 4096), 2)`.
//!
//! Text around the calls is skipped: the list's brackets, comments, other statements.

use crate::json::is_blank;
use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::notation::import::entry::FieldSpans;
use crate::notation::import::values::FIELDS;
use crate::notation::spelling::shortened;
use serde_json::{Map, Number, Value};

/// One parsed call.
pub(super) struct OpLine {
    /// Its fields, including unknown ones, as in JSON.
    pub(super) fields: Map<String, Value>,
    pub(super) spans: FieldSpans,
}

/// Every `Op(...)` of the text in order, or its error. `O(text)`.
pub(super) fn op_lines(text: &str) -> Vec<Result<OpLine, Diagnostic>> {
    let mut scanner = Scanner { text, at: 0 };
    let mut lines = Vec::new();
    while let Some(start) = scanner.next_call() {
        lines.push(scanner.call(start));
    }
    lines
}

/// Whether a line starts with an `Op(...)`, alone or inside a list.
pub(super) fn holds_op_lines(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(is_blank);
        line.starts_with("Op(") || line.contains("[Op(") || line.contains(".append(Op(")
    })
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Whether an open bracket can no longer be closed: the text ends or the next call begins.
    fn is_behind_call(&self) -> bool {
        self.rest().is_empty() || self.rest().starts_with("Op(")
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if self.peek() != Some('#') {
                return;
            }
            self.skip_line();
        }
    }

    /// Moves past the next `Op(` that is not part of a comment, a string or a longer name.
    fn next_call(&mut self) -> Option<usize> {
        let mut is_in_name = false;
        while let Some(c) = self.peek() {
            if c == '#' {
                self.skip_line();
            } else if matches!(c, '"' | '\'') {
                // An unpaired quote in the text around the calls skips the rest of its line only.
                if self.string().is_err() {
                    self.skip_line();
                }
            } else if !is_in_name && self.rest().starts_with("Op(") {
                let start = self.at;
                self.at += "Op(".len();
                return Some(start);
            } else {
                self.at += c.len_utf8();
            }
            is_in_name = c == '_' || c.is_alphanumeric();
        }
        None
    }

    /// Reads the fields of a call whose opening bracket is taken, up to its closing bracket.
    fn call(&mut self, start: usize) -> Result<OpLine, Diagnostic> {
        let mut fields = Map::new();
        let mut spans = FieldSpans::default();
        let mut position = 0;
        loop {
            self.skip_space();
            if self.take(')') {
                spans.call = Span::new(start, self.at);
                return Ok(OpLine { fields, spans });
            }
            if self.is_behind_call() {
                return Err(unclosed(start));
            }
            let positional = FIELDS.get(position).copied();
            let field = if let Some(keyword) = self.keyword() {
                keyword
            } else if let Some(field) = positional {
                position += 1;
                field
            } else {
                return Err(self.malformed(
                    format!("`Op` has only {} fields", FIELDS.len()),
                    "give name, op_type, inputs, output, shape and bytes_per_element",
                ));
            };
            self.skip_space();
            let from = self.at;
            let value = self.value()?;
            fields.insert(field.to_owned(), value);
            if let Some(known) = FIELDS.into_iter().find(|known| *known == field) {
                spans.values.push((known, Span::new(from, self.at)));
            }
            self.skip_space();
            if !self.take(',') && self.peek() != Some(')') && !self.is_behind_call() {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
    }

    fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        self.at += if is_next { c.len_utf8() } else { 0 };
        is_next
    }

    /// Takes `name =` and returns the name.
    fn keyword(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let name_end = rest.find(|c: char| c != '_' && !c.is_alphanumeric())?;
        let name = rest.get(..name_end).filter(|name| !name.is_empty())?;
        let behind = rest.get(name_end..)?.trim_start().strip_prefix('=')?;
        self.at = self.text.len() - behind.len();
        Some(name)
    }

    fn value(&mut self) -> Result<Value, Diagnostic> {
        let open = self.at;
        if !self.take('[') && !self.take('(') {
            return self.scalar();
        }
        let mut many = Vec::new();
        let mut has_comma = false;
        loop {
            self.skip_space();
            if self.take(']') || self.take(')') {
                // In Python `("x")` is a string and not a tuple.
                let is_grouping =
                    !has_comma && self.text.get(open..).is_some_and(|t| t.starts_with('('));
                return Ok(match (many.pop(), is_grouping) {
                    (Some(only), true) => only,
                    (last, _) => {
                        many.extend(last);
                        Value::Array(many)
                    }
                });
            }
            if self.is_behind_call() {
                return Err(unclosed(open));
            }
            many.push(self.scalar()?);
            self.skip_space();
            if self.take(',') {
                has_comma = true;
            } else if !matches!(self.peek(), Some(']' | ')')) && !self.is_behind_call() {
                return Err(self.unexpected("`,` or the closing bracket"));
            }
        }
    }

    fn scalar(&mut self) -> Result<Value, Diagnostic> {
        let rest = self.rest();
        let word_end = rest
            .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '+' | '-'))
            .unwrap_or(rest.len());
        let word = rest.get(..word_end).unwrap_or("");
        if matches!(self.peek(), Some('"' | '\'')) {
            return self.string().map(Value::String);
        }
        let value = match word {
            "None" => Value::Null,
            "True" | "False" => Value::Bool(word == "True"),
            _ => number(word).ok_or_else(|| self.unexpected("a string, a number or a list"))?,
        };
        self.at += word_end;
        Ok(value)
    }

    /// A string in single or double quotes, which must end on its line.
    fn string(&mut self) -> Result<String, Diagnostic> {
        let start = self.at;
        let mut characters = self.rest().char_indices();
        let quote = characters.next().map_or('"', |(_, quote)| quote);
        let mut text = String::new();
        while let Some((place, c)) = characters.next() {
            match c {
                '\n' => break,
                '\\' => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, '\n')) | None => break,
                    Some((_, escaped)) => text.push(escaped),
                },
                _ if c == quote => {
                    self.at = start + place + 1;
                    return Ok(text);
                }
                _ => text.push(c),
            }
        }
        Err(
            Diagnostic::error(Code::MalformedOpLine, "the string is not closed")
                .at(Span::new(start, start + 1))
                .hint("close it with the same quote on the same line"),
        )
    }

    fn unexpected(&self, what: &str) -> Diagnostic {
        let rest = self.rest();
        let found_end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '[' | ']'))
            .filter(|&end| end > 0)
            .or(rest.chars().next().map(char::len_utf8))
            .unwrap_or(0);
        let found = rest.get(..found_end).unwrap_or("");
        self.malformed(
            format!("expected {what}, found `{}`", shortened(found)),
            "write `Op(\"relu\", \"elementwise\", [\"x\"], \"y\", (1024, 4096), 2)`",
        )
    }

    fn malformed(&self, message: String, hint: &str) -> Diagnostic {
        let width = self.peek().map_or(0, char::len_utf8);
        Diagnostic::error(Code::MalformedOpLine, message)
            .at(Span::new(self.at, self.at + width))
            .hint(hint)
    }
}

fn unclosed(open: usize) -> Diagnostic {
    Diagnostic::error(Code::MalformedOpLine, "the bracket is not closed")
        .at(Span::new(open, open + 1))
        .hint("close it with `)` or `]`")
}

fn number(word: &str) -> Option<Value> {
    let digits = word.replace('_', "");
    if !digits
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    let integer = digits.parse::<i64>().ok().map(Number::from);
    let number = integer.or_else(|| Number::from_f64(digits.parse().ok()?))?;
    Some(Value::Number(number))
}
