//! `y = torch.einsum('ij,jk->ik', a, b)` in words of the notation.

use crate::model::diagnostic::Span;
use crate::model::fix::{Fix, TextEdit};
use crate::model::functions::pytorch::without_module;
use crate::notation::lexer::{Lexeme, Token};

/// The lines of an einsum under construction: their names and calls.
struct Lines<'a> {
    output: &'a str,
    calls: Vec<(String, String)>,
}

/// The correction of a statement that calls `einsum`. There is none where it needs sizes, or has
/// more than two operands.
pub(super) fn in_words(text: &str, tokens: &[Token]) -> Option<Fix> {
    let equals = tokens.iter().position(|t| t.kind == Lexeme::Equals)?;
    let output = tokens.get(equals.checked_sub(1)?)?;
    let (callee, open) = (tokens.get(equals + 1)?, tokens.get(equals + 2)?);
    if without_module(callee.span.slice(text)).0 != "einsum" {
        return None;
    }
    let rest = text.get(open.span.end..tokens.last()?.span.end)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (equation, operands) = rest.get(1..)?.split_once(quote)?;
    let (operands, behind) = operands.split_once(')')?;
    let operands: Vec<&str> = operands.split(',').skip(1).map(str::trim).collect();
    let (terms, result) = equation.split_once("->")?;
    let terms: Vec<Vec<char>> = terms.split(',').map(letters).collect::<Option<_>>()?;
    let result = letters(result)?;
    let mut lines = Lines {
        output: output.span.slice(text),
        calls: Vec::new(),
    };
    match (&terms[..], &operands[..]) {
        ([own], &[x]) => lines.of_one(x, own, &result)?,
        ([a, b], &[x, y]) => lines.of_two([x, y], [a, b], &result)?,
        _ => return None,
    }
    let (_, last) = lines.calls.pop()?;
    let end = tokens.last()?.span.end - behind.len();
    let mut edits = vec![TextEdit::replace(
        Span::new(callee.span.start, end),
        last.clone(),
    )];
    let before = lines.calls.into_iter();
    let before = before.fold(String::new(), |text, (name, call)| {
        text + &name + " = " + &call + "\n"
    });
    if !before.is_empty() {
        edits.insert(0, TextEdit::insert(tokens.first()?.span.start, before));
    }
    let label = format!("Write `{last}`");
    Some(Fix { label, edits })
}

/// The letters of a term, of which none occurs twice.
fn letters(term: &str) -> Option<Vec<char>> {
    let all: Vec<char> = term.chars().filter(|c| !c.is_whitespace()).collect();
    let is_new = |(at, c): (usize, &char)| c.is_alphabetic() && !all[..at].contains(c);
    all.iter().enumerate().all(is_new).then(|| all.clone())
}

impl Lines<'_> {
    fn line(&mut self, word: &str, call: String) -> String {
        let name = format!("{}_{word}", self.output);
        self.calls.push((name.clone(), call));
        name
    }

    /// The dimensions in another order.
    fn ordered(&mut self, x: &str, own: &[char], order: &[char], word: &str) -> Option<String> {
        if own == order {
            return Some(x.to_owned());
        }
        let place = |letter: &char| own.iter().position(|known| known == letter);
        let perm: Vec<usize> = order.iter().map(place).collect::<Option<_>>()?;
        (perm.len() == own.len()).then(|| self.line(word, format!("transpose({x}, perm={perm:?})")))
    }

    /// A sum over the letters that the result lacks.
    fn of_one(&mut self, x: &str, own: &[char], result: &[char]) -> Option<()> {
        let is_kept = |letter: &&char| result.contains(*letter);
        let axes: Vec<usize> = (0..own.len()).filter(|&at| !is_kept(&&own[at])).collect();
        let kept: Vec<char> = own.iter().filter(is_kept).copied().collect();
        let mut x = x.to_owned();
        if !axes.is_empty() {
            x = self.line("sum", format!("sum({x}, axis={axes:?}, keepdim=false)"));
        }
        self.ordered(&x, &kept, result, "ordered").map(drop)
    }

    /// A matrix product over the letter that both have and the result lacks.
    fn of_two(&mut self, [x, y]: [&str; 2], [a, b]: [&[char]; 2], result: &[char]) -> Option<()> {
        let (shared, left): (Vec<char>, Vec<char>) = a.iter().partition(|&c| b.contains(c));
        let (batch, contracted): (Vec<char>, Vec<char>) =
            shared.into_iter().partition(|c| result.contains(c));
        let right: Vec<char> = b.iter().filter(|c| !a.contains(c)).copied().collect();
        let is_matrix = left.len() == 1 || batch.is_empty() && !left.is_empty();
        if contracted.len() != 1 || right.len() != 1 || !is_matrix {
            return None;
        }
        let of = |first: &[char], second: &[char]| [&batch, first, second].concat();
        let mut flags = String::new();
        let x = if left.len() == 1 && a == of(&contracted, &left) {
            flags.push_str(", transpose_a=true");
            x.to_owned()
        } else {
            self.ordered(x, a, &of(&left, &contracted), "left")?
        };
        let y = if b == of(&right, &contracted) {
            flags.push_str(", transpose_b=true");
            y.to_owned()
        } else {
            self.ordered(y, b, &of(&contracted, &right), "right")?
        };
        let product = self.line("product", format!("matmul({x}, {y}{flags})"));
        let own = of(&left, &right);
        self.ordered(&product, &own, result, "ordered").map(drop)
    }
}
