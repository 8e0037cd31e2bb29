//! Values of a program: those that a param may take, and attributes in numbers.

use super::expr::{Params, evaluate, is_reported_elsewhere};
use crate::core::model::diagnostic::{Code, Diagnostic, Span};
use crate::core::model::program::{
    Attribute, AttributeValue, Expr, ExprKind, Param, ParamRange, Program,
};
use crate::core::notation::print_expr;
use crate::core::notation::spelling::quoted;

/// The values of a param with a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamValues {
    /// `min..max step step`, both ends included.
    Steps {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
        /// Distance between two values.
        step: i64,
    },
    /// Those of the range that divide another count, ascending; at least one.
    Listed(Vec<i64>),
}

impl ParamValues {
    /// Whether a value is one of them. Every whole number within a range with steps is: the steps are those of the slider.
    pub fn contains(&self, value: i64) -> bool {
        match self {
            Self::Steps { min, max, .. } => (*min..=*max).contains(&value),
            Self::Listed(values) => values.binary_search(&value).is_ok(),
        }
    }

    /// Of the listed values the nearest one, of two the smaller; within a range with steps the value itself.
    pub fn nearest(&self, value: i64) -> i64 {
        match self {
            Self::Steps { min, max, .. } => value.clamp(*min, *max),
            Self::Listed(values) => {
                let distance = |known: &&i64| (known.abs_diff(value), **known);
                values.iter().min_by_key(distance).copied().unwrap_or(value)
            }
        }
    }
}

/// The values of a param; `None` without a range, or if it has no value.
///
/// `O(params)`, and for a range with `dividing` the number of its steps in addition.
pub fn param_values(program: &Program, param: &Param) -> Option<ParamValues> {
    let range = param.range.as_ref()?;
    let dividend = match &range.dividing {
        Some(dividend) => Some(evaluate(dividend, &Params::new(program)).ok()?),
        None => None,
    };
    values_of(range, dividend)
}

/// The values of all params when one of them gets another value, which then stays: a param that divides what has changed,
/// and does so no longer, moves to its nearest value. `None` where a param keeps its value.
pub(in crate::core) fn params_following(
    program: &Program,
    param_index: usize,
    value: i64,
) -> Vec<Option<i64>> {
    let mut moved = vec![None; program.params.len()];
    let mut params = Params::new(program);
    let Some(changed) = program.params.get(param_index) else {
        return moved;
    };
    moved[param_index] = Some(value);
    params.set(&changed.name.text, value);
    let divides = |param: &Param| {
        param
            .range
            .as_ref()
            .is_some_and(|range| range.dividing.is_some())
    };
    let followers: Vec<_> = (program.params.iter().enumerate())
        .filter(|&(index, param)| index != param_index && divides(param))
        .collect();
    // A follower can have followers. They cannot all move more often than there are of them, unless they run in a circle.
    for _ in 0..followers.len() {
        let mut is_settled = true;
        for &(index, param) in &followers {
            let now = moved[index].unwrap_or(param.value);
            let Ok(Some(values)) = values_under(param, &params) else {
                continue;
            };
            if !values.contains(now) {
                let nearest = values.nearest(now);
                moved[index] = Some(nearest);
                params.set(&param.name.text, nearest);
                is_settled = false;
            }
        }
        if is_settled {
            break;
        }
    }
    moved
}

/// The attributes of some statements of a program, with numbers in place of expressions. One that has no value is left out.
pub fn attributes_in_numbers(
    program: &Program,
    statements: impl IntoIterator<Item = usize>,
) -> Vec<Vec<Attribute>> {
    let params = Params::new(program);
    // A lone name is a word in the syntax tree, even if it is a param's.
    let param = |word: &str| {
        let expr = Expr {
            kind: ExprKind::Param(word.to_owned()),
            span: Span::default(),
        };
        Some(ExprKind::Int(evaluate(&expr, &params).ok()?))
    };
    let number = |expr: &Expr| {
        Some(Expr {
            kind: ExprKind::Int(evaluate(expr, &params).ok()?),
            span: expr.span,
        })
    };
    let in_numbers = |attribute: &Attribute| {
        Some(Attribute {
            value: match &attribute.value {
                AttributeValue::Size(size) => AttributeValue::Size(number(size)?),
                AttributeValue::Sizes(sizes) => {
                    AttributeValue::Sizes(sizes.iter().map(number).collect::<Option<_>>()?)
                }
                AttributeValue::Word(word) => match param(word) {
                    Some(kind) => AttributeValue::Size(Expr {
                        kind,
                        span: attribute.span,
                    }),
                    None => attribute.value.clone(),
                },
                AttributeValue::Number(_) => attribute.value.clone(),
            },
            ..attribute.clone()
        })
    };
    let statements = statements.into_iter().map(|at| program.ops.get(at));
    statements
        .map(|op| {
            let attributes = op.map_or(&[][..], |op| &op.attributes);
            attributes.iter().filter_map(in_numbers).collect()
        })
        .collect()
}

/// What is wrong with the values that divide something.
pub(super) fn check_dividing(program: &Program, params: &Params<'_>, found: &mut Vec<Diagnostic>) {
    for param in &program.params {
        let Some(dividend) = param
            .range
            .as_ref()
            .and_then(|range| range.dividing.as_ref())
        else {
            continue;
        };
        let name = quoted(&param.name.text);
        let warn = |message: String| Diagnostic::warning(Code::ParamOutOfRange, message);
        let printed = print_expr(dividend);
        let shown = || match evaluate(dividend, params) {
            Ok(value) if printed != value.to_string() => format!("{} = {value}", quoted(&printed)),
            _ => printed.clone(),
        };
        match values_under(param, params) {
            Err(problem) if is_reported_elsewhere(&problem) => {}
            Err(problem) => found.push(problem),
            Ok(None) => found.push(
                warn(format!(
                    "no value of the range of {name} divides {}",
                    shown()
                ))
                .at(dividend.span)
                .hint("widen the range"),
            ),
            Ok(Some(values)) if !values.contains(param.value) => {
                let range = param.range.as_ref();
                // The parser has said that a value is outside the range.
                if range.is_some_and(|range| (range.min..=range.max).contains(&param.value)) {
                    found.push(
                        warn(format!(
                            "{name} is {}, which does not divide {}",
                            param.value,
                            shown()
                        ))
                        .at(param.value_span)
                        .hint(format!("{} does", values.nearest(param.value))),
                    );
                }
            }
            Ok(Some(_)) => {}
        }
    }
}

/// # Errors
/// Why what the values shall divide has no value.
fn values_under(param: &Param, params: &Params<'_>) -> Result<Option<ParamValues>, Diagnostic> {
    let Some(range) = &param.range else {
        return Ok(None);
    };
    let dividend = (range.dividing.as_ref()).map(|dividend| evaluate(dividend, params));
    Ok(values_of(range, dividend.transpose()?))
}

fn values_of(range: &ParamRange, dividend: Option<i64>) -> Option<ParamValues> {
    let (min, max, step) = (range.min, range.max, range.step);
    let Some(dividend) = dividend else {
        return Some(ParamValues::Steps { min, max, step });
    };
    let steps = (0..=(max - min) / step).map(|at| min + at * step);
    let values: Vec<_> = steps.filter(|value| dividend % value == 0).collect();
    (!values.is_empty()).then_some(ParamValues::Listed(values))
}
