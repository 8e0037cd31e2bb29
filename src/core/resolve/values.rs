//! Values of a program: those that a param may have, and attributes as numbers.

use super::attributes::word;
use super::expr::{Params, evaluate, is_reported_elsewhere};
use crate::model::diagnostic::{Code, Diagnostic};
use crate::model::fix::TextEdit;
use crate::model::functions::AttributeName;
use crate::model::program::{
    Attribute, AttributeValue, Expr, ExprKind, Param, ParamRange, Program,
};
use crate::notation::print_expr;
use crate::notation::spelling::quoted;
use std::collections::HashMap;

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
    /// The values of the range that divide another count, ascending; at least one.
    Listed(Vec<i64>),
}

impl ParamValues {
    /// Whether a value is valid. Within a range with steps every integer is, because the steps are
    /// only those of the slider.
    pub fn contains(&self, value: i64) -> bool {
        match self {
            Self::Steps { min, max, .. } => (*min..=*max).contains(&value),
            Self::Listed(values) => values.binary_search(&value).is_ok(),
        }
    }

    /// The nearest valid value; on a tie the smaller one.
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

/// The values of the first `max_params` params; `None` without a range, or if the range has no
/// value.
///
/// `O(params)`, and for a range with `dividing` the number of its steps in addition.
pub fn param_values(program: &Program, max_params: usize) -> Vec<Option<ParamValues>> {
    let params = Params::new(program);
    let values = |param| values_under(param, &params).unwrap_or_default();
    program.params.iter().take(max_params).map(values).collect()
}

/// The values of all params by name, those included that follow from others. `O(params)`.
pub fn values_by_name(program: &Program) -> HashMap<&str, i64> {
    Params::new(program).into_values()
}

/// The values of all params when one of them gets another value, which then stays.
///
/// A param that divided a changed value, and now does not, moves to its nearest value. `None` where
/// a param keeps its value.
pub(crate) fn params_following(
    program: &Program,
    param_index: usize,
    value: i64,
) -> Vec<Option<i64>> {
    let mut moved = vec![None; program.params.len()];
    let Some(changed) = program.params.get(param_index) else {
        return moved;
    };
    moved[param_index] = Some(value);
    let divides =
        |param: &Param| (param.range.as_ref()).is_some_and(|range| range.dividing.is_some());
    let mut followers: Vec<_> = (program.params.iter().enumerate())
        .filter(|&(index, param)| index != param_index && divides(param))
        .collect();
    if followers.is_empty() {
        // Most programs have no followers, and a slider event should not look up all params.
        return moved;
    }
    let mut params = Params::new(program);
    // A value outside the valid ones was written by hand, and stays.
    followers.retain(|(_, param)| {
        let values = values_under(param, &params);
        values.is_ok_and(|values| values.is_some_and(|values| values.contains(param.value)))
    });
    params.set(&changed.name.text, value);
    // A follower can have followers, which may come before it in the text.
    for _ in 0..FOLLOWING_ROUNDS {
        for &(index, param) in &followers {
            let now = moved[index].unwrap_or(param.value);
            let Ok(Some(values)) = values_under(param, &params) else {
                continue;
            };
            if !values.contains(now) {
                let nearest = values.nearest(now);
                moved[index] = Some(nearest);
                params.set(&param.name.text, nearest);
            }
        }
    }
    moved
}

/// How often the params that follow others are visited. In text order once is enough.
const FOLLOWING_ROUNDS: usize = 3;

/// The attributes of some statements, with numbers in place of expressions. An attribute without a
/// value is left out.
pub fn attributes_in_numbers(
    program: &Program,
    statements: impl IntoIterator<Item = usize>,
) -> Vec<Vec<Attribute>> {
    let params = Params::new(program);
    let in_numbers = |attribute: &Attribute| {
        let kind = AttributeName::from_name(&attribute.name.text)?.kind();
        let value = match (&attribute.value, word(&attribute.value)) {
            // Where a word is valid, a param of the same name does not count.
            (_, Some(word)) if kind.is_word(word) => AttributeValue::Word(word.to_owned()),
            (AttributeValue::Size(size), _) => AttributeValue::Size(number(size, &params)?),
            (AttributeValue::Sizes(sizes), _) => {
                let sizes = sizes.iter().map(|size| number(size, &params));
                AttributeValue::Sizes(sizes.collect::<Option<_>>()?)
            }
            (value, _) => value.clone(),
        };
        Some(Attribute {
            value,
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

/// The value of an expression as an expression.
fn number(expr: &Expr, params: &Params<'_>) -> Option<Expr> {
    Some(Expr {
        kind: ExprKind::Int(evaluate(expr, params).ok()?),
        span: expr.span,
    })
}

/// Reports params whose values do not divide the expression after `dividing`.
pub(super) fn check_dividing(program: &Program, params: &Params<'_>, found: &mut Vec<Diagnostic>) {
    for param in &program.params {
        let Some(range) = &param.range else { continue };
        let Some(dividend) = &range.dividing else {
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
            // A value outside the range has a diagnostic of the parser.
            Ok(Some(values))
                if !values.contains(param.value)
                    && (range.min..=range.max).contains(&param.value) =>
            {
                found.push(
                    warn(format!(
                        "{name} is {}, which is not one of the divisors of {} in its range",
                        param.value,
                        shown()
                    ))
                    .at(param.value_span)
                    .hint(format!("{} is", values.nearest(param.value)))
                    .fix(
                        format!("Change the value to {}", values.nearest(param.value)),
                        TextEdit::replace(
                            param.value_span,
                            values.nearest(param.value).to_string(),
                        ),
                    ),
                );
            }
            Ok(Some(_)) => {}
        }
    }
}

/// # Errors
/// The expression after `dividing` has no value.
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
    if dividend < 1 {
        return None;
    }
    let steps = (0..=(max - min) / step).map(|at| min + at * step);
    let values: Vec<_> = steps.filter(|value| dividend % value == 0).collect();
    (!values.is_empty()).then_some(ParamValues::Listed(values))
}
