//! A cursor over the tokens of one statement, and the diagnostics for an unexpected token.

use super::lexer::{Lexeme, Token, unquoted};
use super::spelling::shortened;
use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::TextEdit;
use crate::model::program::Name;

/// A parsed value, or the one diagnostic that is reported for its statement.
pub(super) type Parse<T> = Result<T, Diagnostic>;

/// A position in the tokens of one statement.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    /// The statement's tokens, without comments and newlines.
    pub(super) tokens: &'a [Token],
    /// Number of tokens taken so far.
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    pub(super) fn peek_kind(&self) -> Option<Lexeme> {
        self.kind_ahead(0)
    }

    pub(super) fn kind_ahead(&self, distance: usize) -> Option<Lexeme> {
        self.tokens.get(self.at + distance).map(|t| t.kind)
    }

    /// Number of tokens of a kind before the next closing bracket.
    pub(super) fn count_ahead(&self, kind: Lexeme, close: Lexeme) -> usize {
        let ahead = self.tokens.get(self.at..).unwrap_or(&[]);
        let inside = ahead.iter().take_while(|t| t.kind != close);
        inside.filter(|t| t.kind == kind).count()
    }

    pub(super) fn slice(&self, token: Token) -> &'a str {
        token.span.slice(self.text)
    }

    /// The span of the last token that was taken.
    pub(super) fn last_span(&self) -> Span {
        let last = self.at.checked_sub(1).and_then(|i| self.tokens.get(i));
        last.map_or(Span::default(), |t| t.span)
    }

    /// From the start of the statement to the end of the last token taken.
    pub(super) fn span_so_far(&self) -> Span {
        let first = self.tokens.first().map_or(Span::default(), |t| t.span);
        first.to(self.last_span())
    }

    pub(super) fn take(&mut self, kind: Lexeme) -> Option<Token> {
        let token = self.peek().filter(|t| t.kind == kind)?;
        self.at += 1;
        Some(token)
    }

    pub(super) fn expect(&mut self, kind: Lexeme, what: &str, hint: &str) -> Parse<Token> {
        self.take(kind).ok_or_else(|| {
            let expected = self.expected(what, hint);
            match (kind, self.peek()) {
                (Lexeme::Equals, Some(next)) => {
                    expected.fix("Insert `=`", TextEdit::insert(next.span.start, "= "))
                }
                (Lexeme::Colon, Some(next)) => {
                    expected.fix("Insert `:`", TextEdit::insert(next.span.start, ": "))
                }
                _ => expected,
            }
        })
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_next = self
            .peek()
            .is_some_and(|t| t.kind == Lexeme::Name && self.slice(t) == word);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn name(&mut self, what: &str, hint: &str) -> Parse<Name> {
        let token = self
            .peek()
            .filter(|t| matches!(t.kind, Lexeme::Name | Lexeme::QuotedName))
            .ok_or_else(|| self.expected(what, hint))?;
        self.at += 1;
        let text = match token.kind {
            Lexeme::Name => self.slice(token).to_owned(),
            _ => unquoted(self.slice(token)).ok_or_else(|| {
                Diagnostic::error(Code::Syntax, "the name holds an unknown escape")
                    .at(token.span)
                    .hint(
                        "in backquotes, write `\\\\` for a backslash and `` \\` `` for a backquote",
                    )
            })?,
        };
        Ok(Name {
            text,
            span: token.span,
        })
    }

    /// An integer such as `2048` or `-1`, and its span.
    pub(super) fn integer(&mut self, hint: &str) -> Parse<(i64, Span)> {
        let minus = self.take(Lexeme::Minus);
        let token = self
            .take(Lexeme::Int)
            .ok_or_else(|| self.expected("a whole number", hint))?;
        let span = minus.map_or(token.span, |m| m.span.to(token.span));
        Ok((self.int_value(token, minus.is_some(), span)?, span))
    }

    pub(super) fn int_value(&self, token: Token, is_negative: bool, span: Span) -> Parse<i64> {
        let overflow = || {
            Diagnostic::error(
                Code::Overflow,
                format!("{} exceeds 2^63", shortened(span.slice(self.text))),
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

    /// Takes a comma. A closing bracket is left for the caller to take.
    pub(super) fn separator(&mut self, open: Token, close: Lexeme, what: &str) -> Parse<()> {
        if self.take(Lexeme::Comma).is_some() || self.peek_kind() == Some(close) {
            return Ok(());
        }
        Err(match self.peek() {
            None => self.unclosed(open),
            Some(next) if self.unreadable(next).is_some() => self.expected(what, ""),
            Some(next) => {
                let end = self.last_span().end;
                let (close, bracket) = match close {
                    Lexeme::CloseParen => ("Close the bracket with `)`", ")"),
                    _ => ("Close the bracket with `]`", "]"),
                };
                self.expected(what, "separate the items in brackets by commas")
                    .fix("Insert a comma", TextEdit::insert(end, ","))
                    .fix(close, TextEdit::insert(end, bracket))
                    .fix(
                        close,
                        TextEdit::replace(Span::new(end, next.span.end), bracket),
                    )
            }
        })
    }

    /// The error for a bracket that the statement never closes.
    pub(super) fn unclosed(&self, open: Token) -> Diagnostic {
        let bracket = match open.kind {
            Lexeme::OpenParen => ")",
            _ => "]",
        };
        let close = format!("`{bracket}`");
        let end = self
            .tokens
            .last()
            .map_or(open.span.end, |last| last.span.end);
        Diagnostic::error(Code::Syntax, "the bracket is not closed")
            .at(open.span)
            .hint(format!("close it with {close}"))
            .fix(
                format!("Close it with {close}"),
                TextEdit::insert(end, bracket),
            )
    }

    /// The error that `what` is expected in place of the next token. A token that is invalid
    /// everywhere has its own hint.
    pub(super) fn expected(&self, what: &str, hint: &str) -> Diagnostic {
        let Some(token) = self.peek() else {
            return Diagnostic::error(Code::Syntax, format!("the line ends before {what}"))
                .at(self.last_span())
                .hint(hint);
        };
        self.unreadable(token).unwrap_or_else(|| {
            let found = shortened(self.slice(token));
            Diagnostic::error(Code::Syntax, format!("expected {what}, found `{found}`"))
                .at(token.span)
                .hint(hint)
        })
    }

    /// The error for a token that is invalid in every position.
    pub(super) fn unreadable(&self, token: Token) -> Option<Diagnostic> {
        let found = self.slice(token);
        let problem = match token.kind {
            Lexeme::Unknown => {
                return Some(unknown_character(found, token.span));
            }
            Lexeme::OpenQuote => "the name in backquotes is not closed".to_owned(),
            Lexeme::MalformedNumber => {
                format!("`{}` is neither a number nor a name", shortened(found))
            }
            _ => return None,
        };
        let hint = match token.kind {
            Lexeme::OpenQuote => "close it with another backquote on the same line",
            _ => "write a product as `4*H`; a name starts with a letter",
        };
        let unreadable = Diagnostic::error(Code::Syntax, problem)
            .at(token.span)
            .hint(hint);
        Some(if token.kind == Lexeme::OpenQuote {
            let end = token.span.start + "`".len() + begun_name(found).len();
            unreadable.fix("Close the name here", TextEdit::insert(end, "`"))
        } else {
            let is_digit = |c: char| c.is_ascii_digit() || c == '_';
            let digits = found.len() - found.trim_start_matches(is_digit).len();
            let (number, name) = found.split_at_checked(digits).unwrap_or_default();
            unreadable.fix(
                format!("Write `{}*{}`", shortened(number), shortened(name)),
                TextEdit::insert(token.span.start + digits, "*"),
            )
        })
    }
}

/// The name that most likely follows a backquote without an end.
pub(super) fn begun_name(found: &str) -> &str {
    let is_end = |c: char| c != '_' && c != '.' && !c.is_alphanumeric();
    let name = found.strip_prefix('`').unwrap_or(found);
    name.split(is_end).next().unwrap_or(name)
}

fn unknown_character(character: &str, span: Span) -> Diagnostic {
    let (hint, meant) = match character {
        "×" | "·" | "∗" => ("write a product with `*`", Some("*")),
        "÷" => ("write a quotient with `/`", Some("/")),
        "−" | "–" | "—" => ("write a minus as `-`", Some("-")),
        ";" => ("write one statement per line", Some("\n")),
        "\"" | "'" | "“" | "”" | "‘" | "’" => (
            "write a name with special characters in backquotes",
            Some("`"),
        ),
        "." => (
            "write a number with a digit before the point, a range as `1..8`",
            None,
        ),
        _ => ("remove it, or put it in a comment after `#`", None),
    };
    let unknown = Diagnostic::error(
        Code::UnknownCharacter,
        format!("`{character}` is not part of the notation"),
    )
    .at(span)
    .hint(hint);
    let unknown = match meant {
        Some("\n") => unknown.fix("Start a new line here", TextEdit::replace(span, "\n")),
        Some(meant) => {
            let label = format!("Write {} instead", code_text(meant));
            unknown.fix(label, TextEdit::replace(span, meant))
        }
        None => unknown,
    };
    unknown.fix(format!("Remove `{character}`"), TextEdit::remove(span))
}

/// A character as code in a sentence.
fn code_text(character: &str) -> String {
    match character {
        "`" => "a backquote".to_owned(),
        _ => format!("`{character}`"),
    }
}
