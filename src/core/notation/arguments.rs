//! Parses the arguments of a call: inputs, literals and attributes.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::TextEdit;
use crate::model::program::{Attribute, AttributeValue, Expr, ExprKind, Literal, Name};
use crate::notation::cursor::{Cursor, Parse};
use crate::notation::expression::expression;
use crate::notation::infinity::INFINITY;
use crate::notation::lexer::{Lexeme, Token, tokens};
use crate::notation::spelling::quoted;
use std::collections::HashSet;

pub(super) struct Arguments {
    pub(super) inputs: Vec<Name>,
    pub(super) literals: Vec<Literal>,
    pub(super) attributes: Vec<Attribute>,
}

/// Whether a text is a literal: `8`, `-1e-5`, `-inf`.
pub fn is_literal(text: &str) -> bool {
    let tokens = tokens(text);
    let mut cursor = Cursor {
        text,
        tokens: &tokens,
        at: 0,
    };
    cursor.literal().is_some_and(|(literal, _)| literal == text)
}

impl Cursor<'_> {
    /// The arguments up to the closing parenthesis, which is taken too.
    pub(super) fn arguments(&mut self, open: Token) -> Parse<Arguments> {
        const HINT: &str = "list input tensors, then attributes: `softmax(x, axis=-1)`";
        // Exact capacities save memory: a growing vector starts with four elements, which few ops
        // need.
        let attributes = self.count_ahead(Lexeme::Equals, Lexeme::CloseParen);
        let arguments = self.count_ahead(Lexeme::Comma, Lexeme::CloseParen) + 1;
        let mut inputs = Vec::with_capacity(arguments.saturating_sub(attributes));
        let mut literals: Vec<Literal> = Vec::new();
        let mut attributes: Vec<Attribute> = Vec::with_capacity(attributes);
        let mut named: HashSet<String> = HashSet::new();
        while self.take(Lexeme::CloseParen).is_none() {
            let is_attribute = self.kind_ahead(1) == Some(Lexeme::Equals);
            if self.peek().is_none() {
                return Err(self.unclosed(open));
            }
            if let Some((text, span)) = self.literal() {
                if !attributes.is_empty() {
                    return Err(self.input_after_attribute(&text, span, &attributes));
                }
                let place = inputs.len() + literals.len();
                literals.push(Literal { place, text, span });
                self.separator(open, Lexeme::CloseParen, "`,` or `)`")?;
                continue;
            }
            let name = self.name("the name of a tensor", HINT)?;
            if is_attribute {
                let before = self
                    .tokens
                    .get(self.at.wrapping_sub(2))
                    .map(|comma| comma.span);
                self.at += 1;
                let value = self.attribute_value()?;
                let span = name.span.to(self.last_span());
                if !named.insert(name.text.clone()) {
                    let removed = before.map_or(span, |comma| comma.to(span));
                    let label = format!("Remove the second {}", quoted(&name.text));
                    return Err(Diagnostic::error(
                        Code::Syntax,
                        format!("{} is given twice", quoted(&name.text)),
                    )
                    .at(name.span)
                    .hint("give each attribute once")
                    .fix(label, TextEdit::remove(removed)));
                }
                attributes.push(Attribute { name, value, span });
            } else if attributes.is_empty() {
                inputs.push(name);
            } else {
                return Err(self.input_after_attribute(&name.text, name.span, &attributes));
            }
            self.separator(open, Lexeme::CloseParen, "`,` or `)`")?;
        }
        Ok(Arguments {
            inputs,
            literals,
            attributes,
        })
    }

    /// Takes a number that replaces an input, as written without spaces, with its span.
    fn literal(&mut self) -> Option<(String, Span)> {
        let minus = self.peek().filter(|t| t.kind == Lexeme::Minus);
        let token = self.tokens.get(self.at + usize::from(minus.is_some()))?;
        let is_number = matches!(token.kind, Lexeme::Int | Lexeme::Float);
        // Without the minus, `inf` may be a tensor; see [`super::infinity`].
        let is_infinity = minus.is_some() && self.slice(*token) == INFINITY;
        if !is_number && !is_infinity {
            return None;
        }
        self.at += 1 + usize::from(minus.is_some());
        let sign = if minus.is_some() { "-" } else { "" };
        let span = minus.map_or(token.span, |minus| minus.span.to(token.span));
        Some((format!("{sign}{}", self.slice(*token)), span))
    }

    fn attribute_value(&mut self) -> Parse<AttributeValue> {
        if let Some(open) = self.take(Lexeme::OpenBracket) {
            return Ok(AttributeValue::Sizes(self.sizes(open)?));
        }
        let is_negative = self.peek_kind() == Some(Lexeme::Minus);
        let is_size = self.kind_ahead(usize::from(is_negative)) == Some(Lexeme::Int);
        // Without the minus, `inf` may be a param; see [`super::resolve_words`].
        if !is_size && let Some((text, _)) = self.literal() {
            return Ok(AttributeValue::Number(text));
        }
        let is_lone = matches!(
            self.kind_ahead(1),
            None | Some(Lexeme::Comma | Lexeme::CloseParen)
        );
        // Whether a name is a param or a word is known only at the end of the text.
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
            _ => Ok(AttributeValue::Size(expression(self)?)),
        }
    }

    /// The sizes up to the closing bracket, which is taken too.
    pub(super) fn sizes(&mut self, open: Token) -> Parse<Vec<Expr>> {
        let commas = self.count_ahead(Lexeme::Comma, Lexeme::CloseBracket);
        let mut sizes = Vec::with_capacity(commas + 1);
        while self.take(Lexeme::CloseBracket).is_none() {
            if self.peek().is_none() {
                return Err(self.unclosed(open));
            }
            sizes.push(expression(self)?);
            self.separator(open, Lexeme::CloseBracket, "`,` or `]`")?;
        }
        Ok(sizes)
    }

    /// The error for an input that follows `attributes`.
    fn input_after_attribute(
        &self,
        name: &str,
        span: Span,
        attributes: &[Attribute],
    ) -> Diagnostic {
        let misplaced = Diagnostic::error(
            Code::Syntax,
            format!("the input {} comes after an attribute", quoted(name)),
        )
        .at(span)
        .hint("name the inputs first, then the attributes");
        let ends = attributes.first().zip(attributes.last());
        let Some((first, last)) = ends.map(|(first, last)| (first.span, last.span)) else {
            return misplaced;
        };
        let stated = first.to(last).slice(self.text);
        let input = span.slice(self.text);
        misplaced.fix(
            format!("Move {} to the front", quoted(name)),
            TextEdit::replace(first.to(span), format!("{input}, {stated}")),
        )
    }
}
