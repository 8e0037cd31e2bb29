//! Rewrites lists in the place of inputs, as Python has them: `torch.cat([x, y])`,
//! `x.view([8, 6])`, `torch.reshape(x, (8, 6))`.

use crate::model::diagnostic::{Diagnostic, Span};
use crate::model::fix::{Fix, TextEdit};
use crate::model::functions::pytorch::{alias, without_module};
use crate::model::functions::{AttributeKind, AttributeName, Function, ShapeRule};
use crate::notation::lexer::{Lexeme, Token};

/// The error of a call with a list in the place of an input, with the text to write instead; `None`
/// for any other statement.
pub(super) fn without_list(
    text: &str,
    tokens: &[Token],
    problem: &Diagnostic,
) -> Option<Diagnostic> {
    let equals = tokens.iter().position(|t| t.kind == Lexeme::Equals)?;
    let (callee, call) = (tokens.get(equals + 1)?, tokens.get(equals + 3..)?);
    tokens
        .get(equals + 2)
        .filter(|t| t.kind == Lexeme::OpenParen)?;
    let (function, needs, receiver) = called(callee.span.slice(text))?;
    let list = List::find(call)?;
    let answered = |hint: String, label: &str, edits: Vec<TextEdit>| {
        let fix = Fix {
            label: label.to_owned(),
            edits,
        };
        Some(Diagnostic {
            hint: Some(hint),
            fixes: vec![fix],
            ..problem.clone()
        })
    };
    if function.row().shape_rule == ShapeRule::Concat {
        let mut edits = vec![TextEdit::remove(list.open), TextEdit::remove(list.close)];
        match list.behind {
            // A number after the list is the axis. PyTorch counts it from 0 on, and 0 is its
            // default.
            [comma, behind, ..] if comma.kind == Lexeme::Comma => match behind.kind {
                Lexeme::Int | Lexeme::Minus => {
                    edits.push(TextEdit::insert(behind.span.start, "axis="));
                }
                Lexeme::Name => {}
                _ => return None,
            },
            [_] => edits.push(TextEdit::insert(list.close.end, ", axis=0")),
            _ => return None,
        }
        let hint = format!(
            "name the tensors one by one, and the axis: `{}(a, b, axis=0)`",
            function.name()
        );
        return answered(hint, "Write the tensors as inputs", edits);
    }
    let is_last = list.behind.len() == 1;
    let is_second = list.inputs + usize::from(receiver.is_some()) == 1;
    let takes_list = |name: &&AttributeName| {
        matches!(
            name.kind(),
            AttributeKind::Sizes | AttributeKind::SizeOrSizes
        )
    };
    let attribute = function.row().attributes.iter().find(takes_list)?;
    if !is_last || !is_second {
        return None;
    }
    let dropped = if needs.contains(&AttributeName::Keepdim) {
        ", keepdim=false"
    } else {
        ""
    };
    let mut edits = Vec::new();
    let mut before = String::new();
    if let Some(receiver) = receiver {
        edits.push(TextEdit::replace(callee.span, function.name()));
        before = format!("{receiver}, ");
    }
    edits.push(TextEdit::replace(
        list.open,
        format!("{before}{attribute}=["),
    ));
    edits.push(TextEdit::replace(list.close, format!("]{dropped}")));
    answered(
        format!("give the list as an attribute: `{attribute}=`"),
        &format!("Write `{attribute}=`"),
        edits,
    )
}

/// The function of a name, the attributes that its call needs, and the tensor if it is a method of
/// one: `x` of `x.view`.
fn called(name: &str) -> Option<(Function, &'static [AttributeName], Option<&str>)> {
    let (plain, has_module) = without_module(name);
    let (receiver, plain) = match name.rsplit_once('.') {
        Some((receiver, method)) if !has_module => (Some(receiver), method),
        _ => (None, plain),
    };
    let is_own = receiver.is_none() && !has_module;
    match (Function::from_name(plain).filter(|_| is_own), alias(plain)) {
        (Some(function), _) => Some((function, &[], receiver)),
        (None, Some(alias)) => Some((alias.function, alias.needs, receiver)),
        (None, None) => Some((Function::from_name(plain)?, &[], receiver)),
    }
}

/// A list among the arguments of a call.
struct List<'a> {
    open: Span,
    close: Span,
    /// Number of arguments before it.
    inputs: usize,
    /// The tokens after it, up to the parenthesis that closes the call.
    behind: &'a [Token],
}

impl<'a> List<'a> {
    /// The first list among the arguments, which follow the opening parenthesis of a call.
    fn find(arguments: &'a [Token]) -> Option<Self> {
        let is_open = |t: &Token| matches!(t.kind, Lexeme::OpenBracket | Lexeme::OpenParen);
        let is_close = |t: &Token| matches!(t.kind, Lexeme::CloseBracket | Lexeme::CloseParen);
        let at = arguments.iter().position(is_open)?;
        let before = arguments.get(..at)?;
        let starts_argument = before.last().is_none_or(|t| t.kind == Lexeme::Comma);
        let inputs = before.iter().filter(|t| t.kind == Lexeme::Comma).count();
        // A list of tensors or sizes contains no brackets.
        let end = at + 1 + arguments.get(at + 1..)?.iter().position(is_close)?;
        let inner = arguments.get(at + 1..end)?;
        let behind = arguments.get(end + 1..)?;
        let call_end = behind.iter().position(is_close)?;
        let is_plain = starts_argument && !inner.is_empty() && !inner.iter().any(is_open);
        is_plain.then_some(Self {
            open: arguments.get(at)?.span,
            close: arguments.get(end)?.span,
            inputs,
            behind: behind.get(..=call_end)?,
        })
    }
}
