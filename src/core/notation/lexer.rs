//! The lexer. Every byte of the text is in one token or in white space between two.

use crate::model::diagnostic::Span;

/// One token of the notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Lexeme,
    /// Its position in the text.
    pub(super) span: Span,
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    /// `h.0.attn`
    Name,
    /// A name in backquotes, which may contain any character.
    QuotedName,
    /// `2048`, `1_000`
    Int,
    /// `0.1`, `1e-5`
    Float,
    /// `=`
    Equals,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `..`
    DotDot,
    /// `@`
    At,
    /// `# to the end of the line`
    Comment,
    /// The end of a line.
    Newline,
    /// Digits followed by letters: `4H`.
    MalformedNumber,
    /// A backquote without a closing one on its line.
    OpenQuote,
    /// A character that is not part of the notation.
    Unknown,
}

/// All tokens of `text`, in order. `O(text)`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut lines = Lines::from(text, 0);
    while lines.next(&mut tokens) {}
    tokens
}

/// Reads a text line by line, because the tokens of a whole text take eight times its memory.
pub(super) struct Lines<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Lines<'a> {
    /// Reads from the beginning of a line on.
    pub(super) fn from(text: &'a str, line_start: usize) -> Self {
        let rest = text.get(line_start..).unwrap_or_default();
        Self { text, rest }
    }

    /// The position at which the next line begins.
    pub(super) fn at(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    /// Appends the tokens of the next line, its newline included. `false` at the end of the text.
    pub(super) fn next(&mut self, tokens: &mut Vec<Token>) -> bool {
        let is_line = !self.rest.is_empty();
        while let Some(first) = self.rest.chars().next() {
            let (kind, length) = match first {
                '\n' => (Some(Lexeme::Newline), 1),
                '\u{feff}' => (None, first.len_utf8()),
                _ if first.is_whitespace() => (None, first.len_utf8()),
                _ => {
                    let (kind, length) = token(self.rest, first);
                    (Some(kind), length)
                }
            };
            let start = self.at();
            self.rest = self.rest.get(length..).unwrap_or("");
            if let Some(kind) = kind {
                let span = Span::new(start, start + length);
                tokens.push(Token { kind, span });
            }
            if kind == Some(Lexeme::Newline) {
                break;
            }
        }
        is_line
    }
}

/// Kind and length in bytes of the token at the start of `rest`.
fn token(rest: &str, first: char) -> (Lexeme, usize) {
    let single = match first {
        '=' => Lexeme::Equals,
        ':' => Lexeme::Colon,
        ',' => Lexeme::Comma,
        '(' => Lexeme::OpenParen,
        ')' => Lexeme::CloseParen,
        '[' => Lexeme::OpenBracket,
        ']' => Lexeme::CloseBracket,
        '{' => Lexeme::OpenBrace,
        '}' => Lexeme::CloseBrace,
        '+' => Lexeme::Plus,
        '-' => Lexeme::Minus,
        '*' => Lexeme::Star,
        '/' => Lexeme::Slash,
        '@' => Lexeme::At,
        '#' => return (Lexeme::Comment, line_length(rest)),
        '`' => return quoted(rest),
        '.' if rest.starts_with("..") => return (Lexeme::DotDot, 2),
        _ if first.is_ascii_digit() => return number(rest),
        _ if starts_name(first) => return (Lexeme::Name, name_length(rest)),
        _ => return (Lexeme::Unknown, first.len_utf8()),
    };
    (single, 1)
}

fn line_length(rest: &str) -> usize {
    let length = rest.find('\n').unwrap_or(rest.len());
    let line = rest.get(..length).unwrap_or(rest);
    line.strip_suffix('\r').unwrap_or(line).len()
}

/// Whether a name may start with `c`.
fn starts_name(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn continues_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Length of the name at the start of `rest`. A dot belongs to a name only if another of its
/// characters follows, so that `a..b` is a range.
fn name_length(rest: &str) -> usize {
    let mut end = 0;
    let mut pending_dot = 0;
    for c in rest.chars() {
        if continues_name(c) {
            end += pending_dot + c.len_utf8();
            pending_dot = 0;
        } else if c == '.' && pending_dot == 0 {
            pending_dot = 1;
        } else {
            break;
        }
    }
    end
}

fn number(rest: &str) -> (Lexeme, usize) {
    let bytes = rest.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let digits_from = |start: usize| {
        let tail = bytes.get(start..).unwrap_or(&[]);
        start
            + tail
                .iter()
                .take_while(|&&b| b.is_ascii_digit() || b == b'_')
                .count()
    };
    let mut end = digits_from(0);
    let mut kind = Lexeme::Int;
    if at(end) == b'.' && at(end + 1).is_ascii_digit() {
        end = digits_from(end + 1);
        kind = Lexeme::Float;
    }
    if matches!(at(end), b'e' | b'E') {
        let digits = end + 1 + usize::from(matches!(at(end + 1), b'+' | b'-'));
        if at(digits).is_ascii_digit() {
            end = digits_from(digits);
            kind = Lexeme::Float;
        }
    }
    let tail = name_length(rest.get(end..).unwrap_or(""));
    if tail > 0 {
        return (Lexeme::MalformedNumber, end + tail);
    }
    (kind, end)
}

fn quoted(rest: &str) -> (Lexeme, usize) {
    let mut is_escaped = false;
    for (place, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => break,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '`' => return (Lexeme::QuotedName, place + 1),
            _ => {}
        }
    }
    (Lexeme::OpenQuote, line_length(rest))
}

/// The name inside backquotes with its escapes replaced; `None` for an unknown escape.
pub(super) fn unquoted(token: &str) -> Option<String> {
    let inner = token.strip_prefix('`')?.strip_suffix('`')?;
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    let mut name = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        name.push(match c {
            '\\' => match characters.next()? {
                'n' => '\n',
                'r' => '\r',
                escaped @ ('\\' | '`') => escaped,
                _ => return None,
            },
            _ => c,
        });
    }
    Some(name)
}

/// The name that a token means; as written if it contains an unknown escape.
pub(super) fn name_text(text: &str, token: Token) -> String {
    let written = token.span.slice(text);
    unquoted(written).unwrap_or_else(|| written.to_owned())
}

/// `name` as the notation writes it: in backquotes only if it needs them.
pub fn written_name(name: &str) -> String {
    let fits = name.starts_with(starts_name) && name_length(name) == name.len();
    if fits {
        return name.to_owned();
    }
    let mut written = String::with_capacity(name.len() + 2);
    written.push('`');
    for c in name.chars() {
        match c {
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\\' | '`' => {
                written.push('\\');
                written.push(c);
            }
            _ => written.push(c),
        }
    }
    written.push('`');
    written
}
