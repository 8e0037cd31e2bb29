//! Size expressions: `4*H`, `(S + 1)/2`.

use super::cursor::{Cursor, Parse};
use super::lexer::Lexeme;
use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::TextEdit;
use crate::model::program::{BinaryOp, Expr, ExprKind};

/// Deepest nesting of an expression. Bounds the stack of every recursive walk over one.
const MAX_DEPTH: usize = 64;

pub(super) fn expression(cursor: &mut Cursor<'_>) -> Parse<Expr> {
    sum(cursor, 0).map(|nested| nested.expr)
}

struct Nested {
    expr: Expr,
    depth: usize,
}

/// Reads a sum; `outside` is the number of brackets and signs around it.
fn sum(cursor: &mut Cursor<'_>, outside: usize) -> Parse<Nested> {
    let mut left = product(cursor, outside)?;
    while let Some(operator) = match cursor.peek_kind() {
        Some(Lexeme::Plus) => Some(BinaryOp::Add),
        Some(Lexeme::Minus) => Some(BinaryOp::Sub),
        _ => None,
    } {
        cursor.at += 1;
        let right = product(cursor, outside)?;
        left = binary(operator, left, right)?;
    }
    Ok(left)
}

fn product(cursor: &mut Cursor<'_>, outside: usize) -> Parse<Nested> {
    let mut left = unary(cursor, outside)?;
    while let Some(operator) = match cursor.peek_kind() {
        Some(Lexeme::Star) => Some(BinaryOp::Mul),
        Some(Lexeme::Slash) => Some(BinaryOp::Div),
        _ => None,
    } {
        cursor.at += 1;
        let right = unary(cursor, outside)?;
        left = binary(operator, left, right)?;
    }
    Ok(left)
}

fn unary(cursor: &mut Cursor<'_>, outside: usize) -> Parse<Nested> {
    const HINT: &str = "a size is a number, a param or a computation such as `4*H`";
    let Some(token) = cursor.peek() else {
        return Err(cursor.expected("a size", HINT));
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
            cursor.at += 1;
            if let Some(digits) = cursor.take(Lexeme::Int) {
                let span = token.span.to(digits.span);
                let value = cursor.int_value(digits, true, span)?;
                return Ok(leaf(ExprKind::Int(value), span));
            }
            let operand = unary(cursor, outside + 1)?;
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
            cursor.at += 1;
            let value = cursor.int_value(token, false, token.span)?;
            Ok(leaf(ExprKind::Int(value), token.span))
        }
        Lexeme::Name | Lexeme::QuotedName => {
            let name = cursor.name("a size", HINT)?;
            Ok(leaf(ExprKind::Param(name.text), name.span))
        }
        Lexeme::OpenParen => {
            cursor.at += 1;
            let mut inner = sum(cursor, outside + 1)?;
            let Some(close) = cursor.take(Lexeme::CloseParen) else {
                return Err(match cursor.peek() {
                    None => cursor.unclosed(token),
                    Some(_) => cursor.expected("an operator or `)`", HINT).fix(
                        "Close the bracket with `)`",
                        TextEdit::insert(cursor.last_span().end, ")"),
                    ),
                });
            };
            inner.expr.span = token.span.to(close.span);
            Ok(inner)
        }
        _ => Err(cursor.expected("a size", HINT)),
    }
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
