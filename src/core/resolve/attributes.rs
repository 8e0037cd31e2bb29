//! Attributes of a call: which ones a function takes, and their values.

use super::expr::{Params, evaluate};
use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::dtype::DType;
use crate::model::fix::TextEdit;
use crate::model::functions::{AttributeKind, AttributeName, Function};
use crate::model::program::{Attribute, AttributeValue, Expr, ExprKind, OpStatement, Program};
use crate::notation::fix_edits::without_arguments;
use crate::notation::spelling::{nearest, quoted};

/// The attributes of one call, and the params that their expressions may name.
#[derive(Clone, Copy)]
pub(super) struct Attributes<'a> {
    /// The attributes in text order.
    pub(super) list: &'a [Attribute],
    /// The params that expressions may name.
    pub(super) params: &'a Params<'a>,
}

impl<'a> Attributes<'a> {
    /// Span of an attribute, or of the call if it has none of this name.
    pub(super) fn span(&self, name: AttributeName, call: Span) -> Span {
        self.get(name).map_or(call, |attribute| attribute.span)
    }

    fn get(&self, name: AttributeName) -> Option<&'a Attribute> {
        self.list.iter().find(|a| a.is(name))
    }

    /// The value of an integer attribute.
    pub(super) fn size(&self, name: AttributeName) -> Result<Option<i64>, Diagnostic> {
        match self.get(name) {
            Some(attribute) => match &attribute.value {
                AttributeValue::Size(expr) => evaluate(expr, self.params).map(Some),
                AttributeValue::Word(word) => {
                    evaluate(&param(word, attribute.span), self.params).map(Some)
                }
                _ => Err(unfit(attribute, "an integer")),
            },
            None => Ok(None),
        }
    }

    /// The value of an integer attribute, stated or its default.
    pub(super) fn size_or_default(&self, name: AttributeName) -> Result<i64, Diagnostic> {
        Ok(self.size(name)?.unwrap_or(name.default_size()))
    }

    /// The values of an attribute that takes one integer or a list.
    pub(super) fn sizes(&self, name: AttributeName) -> Result<Option<Vec<i64>>, Diagnostic> {
        match self.get(name) {
            Some(Attribute {
                value: AttributeValue::Sizes(list),
                ..
            }) => list
                .iter()
                .map(|expr| evaluate(expr, self.params))
                .collect::<Result<_, _>>()
                .map(Some),
            _ => Ok(self.size(name)?.map(|one| vec![one])),
        }
    }

    /// The values of an attribute that takes one integer or a list, stated or its default.
    pub(super) fn sizes_or_default(&self, name: AttributeName) -> Result<Vec<i64>, Diagnostic> {
        let stated = self.sizes(name)?;
        Ok(stated.unwrap_or_else(|| vec![name.default_size()]))
    }

    /// Height and width of a window, stated or the attribute's default; a single number is used for
    /// both.
    pub(super) fn pair_or_default(
        &self,
        name: AttributeName,
        smallest: i64,
    ) -> Result<[u64; 2], Diagnostic> {
        self.pair(name, smallest, [name.default_size().unsigned_abs(); 2])
    }

    /// Height and width of a window; a single number is used for both.
    pub(super) fn pair(
        &self,
        name: AttributeName,
        smallest: i64,
        default: [u64; 2],
    ) -> Result<[u64; 2], Diagnostic> {
        let Some(values) = self.sizes(name)? else {
            return Ok(default);
        };
        let pair = match values[..] {
            [both] => [both, both],
            [height, width] => [height, width],
            _ => {
                return Err(self
                    .problem(name, "takes one number or [height, width]")
                    .hint(format!("write `{name}=1` or `{name}=[1, 1]`")));
            }
        };
        if pair.iter().any(|&v| v < smallest) {
            return Err(self
                .problem(name, &format!("must be at least {smallest}"))
                .hint("use a larger number"));
        }
        Ok(pair.map(i64::unsigned_abs))
    }

    /// Whether a flag is set, by the call or by default.
    pub(super) fn flag(&self, name: AttributeName) -> bool {
        match self.get(name).and_then(|a| word(&a.value)) {
            Some("true") => true,
            Some("false") => false,
            _ => name.is_set_by_default(),
        }
    }

    /// The element type that an attribute names.
    pub(super) fn dtype(&self, name: AttributeName) -> Option<DType> {
        word(&self.get(name)?.value)?.parse().ok()
    }

    /// The value of an attribute that is a word.
    pub(super) fn word(&self, name: AttributeName) -> Option<&'a str> {
        word(&self.get(name)?.value)
    }

    /// Whether the attribute is the word `unknown`.
    pub(super) fn is_unknown(&self, name: AttributeName) -> bool {
        self.get(name).and_then(|a| word(&a.value)) == Some("unknown")
    }

    /// Whether the call states the attribute.
    pub(super) fn has(&self, name: AttributeName) -> bool {
        self.get(name).is_some()
    }

    /// An error about the value of an attribute, such as `axis=3` of a matrix.
    pub(super) fn problem(&self, name: AttributeName, why: &str) -> Diagnostic {
        let problem = Diagnostic::error(Code::UnknownAttribute, format!("`{name}` {why}"));
        match self.get(name) {
            Some(attribute) => problem.at(attribute.span),
            None => problem,
        }
    }
}

/// Whether the statement sets a flag to true.
pub(super) fn is_set(statement: &OpStatement, flag: AttributeName) -> bool {
    let mut attributes = statement.attributes.iter();
    attributes.any(|a| a.is(flag) && word(&a.value) == Some("true"))
}

/// The error for the first attribute that the callee does not take, that has an invalid value, or
/// that is repeated.
pub(super) fn check_attributes(
    statement: &OpStatement,
    allowed: &[AttributeName],
    params: &Params<'_>,
) -> Result<(), Diagnostic> {
    for (index, attribute) in statement.attributes.iter().enumerate() {
        let name = attribute.name.text.as_str();
        let known = AttributeName::from_name(name).filter(|known| allowed.contains(known));
        let Some(known) = known else {
            return Err(unknown_attribute(statement, attribute, allowed));
        };
        let is_repeated = statement
            .attributes
            .iter()
            .take(index)
            .any(|earlier| earlier.name.text == name);
        if is_repeated {
            return Err(Diagnostic::error(
                Code::UnknownAttribute,
                format!("`{name}` is given twice"),
            )
            .at(attribute.span)
            .hint("keep one of them")
            .fix(
                format!("Remove the second `{name}`"),
                without_arguments(statement, attribute.span),
            ));
        }
        if !fits(known.kind(), attribute, params)? {
            return Err(unfit(attribute, known.kind().expected()));
        }
    }
    Ok(())
}

/// Whether an attribute has a value of this kind.
///
/// # Errors
/// It names a param that does not exist.
fn fits(
    kind: AttributeKind,
    attribute: &Attribute,
    params: &Params<'_>,
) -> Result<bool, Diagnostic> {
    Ok(match (kind, &attribute.value) {
        (
            AttributeKind::Size | AttributeKind::SizeOrSizes | AttributeKind::SizeOrUnknown,
            AttributeValue::Size(_),
        )
        | (AttributeKind::SizeOrSizes | AttributeKind::Sizes, AttributeValue::Sizes(_))
        | (AttributeKind::Number, AttributeValue::Number(_)) => true,
        // The value itself is not needed, so `1/8` is valid here although it is not a size.
        (AttributeKind::Number, AttributeValue::Size(expr)) => match evaluate(expr, params) {
            Err(problem) if problem.code == Code::UnknownParam => return Err(problem),
            _ => true,
        },
        (AttributeKind::Word, value) => word(value).is_some(),
        (AttributeKind::Flag, value) => matches!(word(value), Some("true" | "false")),
        (AttributeKind::Type, value) => {
            word(value).is_some_and(|word| word.parse::<DType>().is_ok())
        }
        (AttributeKind::SizeOrUnknown, value) if word(value) == Some("unknown") => true,
        (
            AttributeKind::Approximation | AttributeKind::Interpolation | AttributeKind::Units,
            value,
        ) => word(value).is_some_and(|word| kind.is_word(word)),
        // A single name is a param wherever a number is valid.
        (kind, AttributeValue::Word(name)) if kind != AttributeKind::Sizes => {
            evaluate(&param(name, attribute.span), params)?;
            true
        }
        _ => false,
    })
}

/// Whether a function takes an attribute with this value, which names no param.
pub(crate) fn takes(function: Function, attribute: &Attribute) -> bool {
    let no_params = Program::default();
    let known = AttributeName::from_name(&attribute.name.text);
    known.is_some_and(|known| {
        function.row().attributes.contains(&known)
            && fits(known.kind(), attribute, &Params::new(&no_params)).unwrap_or(false)
    })
}

fn unknown_attribute(
    statement: &OpStatement,
    attribute: &Attribute,
    allowed: &[AttributeName],
) -> Diagnostic {
    let callee = quoted(&statement.callee.text);
    let name = attribute.name.text.as_str();
    let problem = Diagnostic::error(
        Code::UnknownAttribute,
        format!("{callee} has no attribute {}", quoted(name)),
    )
    .at(attribute.span);
    let removal = without_arguments(statement, attribute.span);
    let label = format!("Remove {}", quoted(name));
    if allowed.is_empty() {
        return problem.hint("remove it").fix(label, removal);
    }
    let known: Vec<String> = allowed.iter().map(|known| format!("`{known}`")).collect();
    let known = known.join(", ");
    match nearest(name, allowed.iter().map(|known| known.name())) {
        Some(meant) => problem
            .hint(format!("did you mean `{meant}`? {callee} takes {known}"))
            .fix(
                format!("Write `{meant}`"),
                TextEdit::replace(attribute.name.span, meant),
            ),
        None => problem.hint(format!("{callee} takes {known}")),
    }
    .fix(label, removal)
}

fn unfit(attribute: &Attribute, expected: &str) -> Diagnostic {
    let name = attribute.name.text.as_str();
    Diagnostic::error(Code::UnknownAttribute, format!("`{name}` takes {expected}"))
        .at(attribute.span)
        .hint(format!("write `{name}=` and {expected}"))
}

/// The value as a word. A single name is one, whether it was parsed as a word or as a param.
pub(super) fn word(value: &AttributeValue) -> Option<&str> {
    match value {
        AttributeValue::Word(word) => Some(word),
        AttributeValue::Size(Expr {
            kind: ExprKind::Param(name),
            ..
        }) => Some(name),
        _ => None,
    }
}

fn param(name: &str, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Param(name.to_owned()),
        span,
    }
}
