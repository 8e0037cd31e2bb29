//! Answers as a visitor writes them: a number with its unit, or the calculation that leads to it.
//!
//! ```text
//! sum     = "-"? product (("+" | "-") product)*
//! product = factor (("*" | "/") factor)*
//! factor  = number | "(" sum ")"
//! ```
//!
//! A unit belongs to the number before it, and the only one of a text, at its end, to the whole:
//! `2 × 8.39 MB`.

use super::error::NumberError;
use super::value::{AnswerUnit, Unit, factor_of, plain_number};
use crate::language::Language;

/// Parentheses within each other, at most.
const MAX_DEPTH: usize = 16;

/// A number as a visitor or a lesson writes it, in the unit that is asked for: `1.2 GB`, `16 MiB`,
/// `2 * 1024 * 4096`, `(304 - 69.2) MB`. A share may be written as a part of one, too: `97 %`,
/// `0.97`, `128/132`.
///
/// # Errors
/// What is wrong and what to write instead.
pub fn number_in(text: &str, unit: Unit) -> Result<f64, NumberError> {
    number_of(text, unit, Language::English, &|_| false)
}

/// The number in an answer to a lesson in this language. A number without its unit takes the prefix
/// with which it is right, if there is one.
///
/// The figures of the page have a point before the decimals in every language. So `1.500` and
/// `1,500` may mean two numbers where the language has a decimal comma: the answer is right if
/// either number is.
///
/// # Errors
/// What is wrong and what to write instead.
pub(super) fn answer_in(
    text: &str,
    unit: Unit,
    language: Language,
    is_right: impl Fn(f64) -> bool,
) -> Result<f64, NumberError> {
    let as_on_page = number_of(text, unit, language, &is_right);
    if !language.has_decimal_comma() || as_on_page.as_ref().is_ok_and(|&number| is_right(number)) {
        return as_on_page;
    }
    let exchanged = text.chars().map(|c| match c {
        '.' => ',',
        ',' => '.',
        other => other,
    });
    number_of(&exchanged.collect::<String>(), unit, language, &is_right).or(as_on_page)
}

fn number_of(
    text: &str,
    unit: Unit,
    language: Language,
    is_right: &dyn Fn(f64) -> bool,
) -> Result<f64, NumberError> {
    let no_number = || NumberError::NoNumber { unit, language };
    let Written {
        tokens,
        factor,
        has_unit,
    } = Written::read(text, unit, language)?;
    let is_quotient = tokens.contains(&Token::Over);
    let mut reader = Reader { tokens: &tokens };
    let number = reader.sum(MAX_DEPTH).filter(|_| reader.tokens.is_empty());
    let number = number.ok_or_else(no_number)?;
    let prefixed = || {
        let mut numbers = unit.prefixes().iter().map(|prefix| prefix * number);
        numbers.find(|&number| is_right(number))
    };
    let value = match unit {
        _ if has_unit => number * factor,
        Unit::Percent if is_quotient || number.abs() < 1.0 => 100.0 * number,
        _ if unit.may_be_left_out(number) => number,
        _ => prefixed().ok_or(NumberError::NoUnit { unit, language })?,
    };
    value.is_finite().then_some(value).ok_or_else(no_number)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    /// A number, multiplied by the unit behind it.
    Number(f64),
    Plus,
    Minus,
    Times,
    Over,
    Open,
    Close,
}

/// The parts of a text.
struct Written {
    tokens: Vec<Token>,
    /// By what the unit at its end multiplies the whole.
    factor: f64,
    has_unit: bool,
}

impl Written {
    fn read(text: &str, unit: Unit, language: Language) -> Result<Self, NumberError> {
        let no_number = || NumberError::NoNumber { unit, language };
        let mut tokens = Vec::new();
        let (mut units, mut of_whole) = (0, 1.0);
        let text = without_group_marks(text);
        let mut rest = text.trim();
        while let Some(first) = rest.chars().next() {
            let after = rest.get(first.len_utf8()..).unwrap_or_default();
            let follows_factor = matches!(tokens.last(), Some(Token::Number(_) | Token::Close));
            let precedes_factor = (after.trim_start())
                .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '('));
            let operator = match first {
                '+' => Some(Token::Plus),
                '-' | '−' | '–' => Some(Token::Minus),
                '*' | '·' | '⋅' => Some(Token::Times),
                // At the end it is the unit of a ratio.
                'x' | 'X' | '×' if follows_factor && precedes_factor => Some(Token::Times),
                '/' | '÷' | ':' => Some(Token::Over),
                '(' => Some(Token::Open),
                ')' => Some(Token::Close),
                _ => None,
            };
            let end = if operator.is_some() {
                first.len_utf8()
            } else if first.is_ascii_digit() || first == '.' {
                number_end(rest)
            } else {
                unit_end(rest)
            };
            let (part, after) = rest.split_at(end);
            rest = after.trim_start();
            if let Some(operator) = operator {
                tokens.push(operator);
            } else if first.is_ascii_digit() || first == '.' {
                let number = plain_number(part).and_then(|number| number.parse().ok());
                tokens.push(Token::Number(number.ok_or_else(no_number)?));
            } else if !follows_factor {
                return Err(no_number());
            } else {
                let part = part.trim_end();
                let factor = factor_of(part, unit).ok_or_else(|| NumberError::OtherUnit {
                    written: part.to_owned(),
                    unit,
                    language,
                })?;
                units += 1;
                if rest.is_empty() && units == 1 {
                    of_whole = factor;
                    break;
                }
                match tokens.last_mut() {
                    Some(Token::Number(number)) => *number *= factor,
                    _ => return Err(no_number()),
                }
            }
        }
        Ok(Self {
            tokens,
            factor: of_whole,
            has_unit: units > 0,
        })
    }
}

/// Where the number at the start of a text ends: `3,328`, `134.2`, `1.2e9`.
fn number_end(text: &str) -> usize {
    let digits_end = |text: &str, is_part: fn(char) -> bool| {
        text.find(|c: char| !is_part(c)).unwrap_or(text.len())
    };
    let end = digits_end(text, |c| c.is_ascii_digit() || matches!(c, '.' | ','));
    let Some(exponent) = text
        .get(end..)
        .and_then(|rest| rest.strip_prefix(['e', 'E']))
    else {
        return end;
    };
    let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    match digits_end(unsigned, |c| c.is_ascii_digit()) {
        0 => end,
        digits => text.len() - unsigned.len() + digits,
    }
}

/// A text in which groups of three digits follow each other without the spaces or apostrophes of
/// many countries: `41 750`, `41'750`.
fn without_group_marks(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| characters.get(at).is_some_and(char::is_ascii_digit);
    let is_group = |from: usize| (from..from + 3).all(is_digit) && !is_digit(from + 3);
    let mut joined = String::new();
    // Digits of the group before; none after a decimal point, behind which nobody groups.
    let mut group = 0;
    let mut has_point = false;
    for (at, &c) in characters.iter().enumerate() {
        let is_mark = matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '’');
        if is_mark && !has_point && (1..=3).contains(&group) && is_group(at + 1) {
            group = 0;
            continue;
        }
        (group, has_point) = match c {
            '0'..='9' => (group + 1, has_point),
            '.' | ',' => (0, true),
            _ => (0, false),
        };
        joined.push(c);
    }
    joined
}

/// Where the unit at the start of a text ends. A bar is part of it before a letter only: `FLOP/B`,
/// but `8 MB/2`.
fn unit_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let goes_on = match c {
            '/' => characters
                .peek()
                .is_some_and(|(_, next)| next.is_alphabetic()),
            _ => {
                !(c.is_ascii_digit() || matches!(c, '+' | '-' | '−' | '*' | '·' | '÷' | '(' | ')'))
            }
        };
        if at > 0 && !goes_on {
            return at;
        }
    }
    text.len()
}

struct Reader<'a> {
    tokens: &'a [Token],
}

impl Reader<'_> {
    fn take(&mut self, wanted: &[Token]) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        wanted.contains(first).then(|| {
            self.tokens = rest;
            *first
        })
    }

    fn sum(&mut self, depth: usize) -> Option<f64> {
        let is_negative = self.take(&[Token::Minus]).is_some();
        let first = self.product(depth)?;
        let mut sum = if is_negative { -first } else { first };
        while let Some(sign) = self.take(&[Token::Plus, Token::Minus]) {
            let next = self.product(depth)?;
            sum += if sign == Token::Minus { -next } else { next };
        }
        Some(sum)
    }

    fn product(&mut self, depth: usize) -> Option<f64> {
        let mut product = self.factor(depth)?;
        while let Some(operator) = self.take(&[Token::Times, Token::Over]) {
            let next = self.factor(depth)?;
            if operator == Token::Over {
                product /= next;
            } else {
                product *= next;
            }
        }
        Some(product)
    }

    fn factor(&mut self, depth: usize) -> Option<f64> {
        if self.take(&[Token::Open]).is_some() {
            let sum = self.sum(depth.checked_sub(1)?)?;
            return self.take(&[Token::Close]).map(|_| sum);
        }
        let &[Token::Number(number), ref rest @ ..] = self.tokens else {
            return None;
        };
        self.tokens = rest;
        Some(number)
    }
}
