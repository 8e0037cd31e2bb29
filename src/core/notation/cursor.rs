//! A cursor over the tokens of one statement, and the diagnostics for an unexpected token.

use super::lexer::{Lexeme, Token, unquoted};
use super::spelling::shortened;
use crate::core::model::diagnostic::{Code, Diagnostic, Span};
use crate::core::model::program::Name;

/// A parsed value, or the one diagnostic that is reported for its statement.
pub(super) type Parse<T> = Result<T, Diagnostic>;

/// A position in the tokens of one statement.
pub(super) struct Cursor<'a> {
    /// The whole text.
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
        self.take(kind)
            .ok_or_else(|| self.expected(what).hint(hint))
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

    /// An integer such as `2048` or `-1`, and its span.
    pub(super) fn integer(&mut self, hint: &str) -> Parse<(i64, Span)> {
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

    pub(super) fn int_value(&self, token: Token, is_negative: bool, span: Span) -> Parse<i64> {
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

    /// Takes a comma. A closing bracket is left for the caller to take.
    pub(super) fn separator(&mut self, open: Token, close: Lexeme, what: &str) -> Parse<()> {
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
                .hint("separate the items in brackets by commas"),
        })
    }

    /// The error that `what` is expected here, and not the next token.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
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

    /// The error for a token that is invalid in every position.
    pub(super) fn unreadable(&self, token: Token) -> Option<Diagnostic> {
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

pub(super) fn unclosed(open: Token, close: &str) -> Diagnostic {
    Diagnostic::error(Code::Syntax, "the bracket is never closed")
        .at(open.span)
        .hint(format!("close it with {close}"))
}

fn unknown_character(character: &str) -> Diagnostic {
    let hint = match character {
        "×" | "·" | "∗" => "write `*` for a product",
        "÷" => "write `/` for a quotient",
        "−" | "–" | "—" => "write a minus as `-`",
        ";" => "write one statement a line",
        "\"" | "'" | "“" | "”" | "‘" | "’" => {
            "write a name with special characters in backquotes"
        }
        "." => "write a number with a digit before the point, a range as `1..8`",
        _ => "remove it, or put it into a comment after `#`",
    };
    Diagnostic::error(
        Code::UnknownCharacter,
        format!("`{character}` is not part of the notation"),
    )
    .hint(hint)
}
