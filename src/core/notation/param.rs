//! The statement of a param: its value and its range.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::model::fix::TextEdit;
use crate::model::program::{DerivedParam, Param, ParamRange};
use crate::notation::cursor::{Cursor, Parse};
use crate::notation::expression::expression;
use crate::notation::lexer::Lexeme;
use crate::notation::parser::Statement;
use crate::notation::spelling::quoted;

impl Cursor<'_> {
    pub(super) fn param(&mut self) -> Parse<Statement> {
        const HINT: &str = "write `param S = 2048`, `param S = 2048 in 128..16384 step 128` or `param heads = 32 in 1..128 dividing H`";
        self.at += 1;
        let name = self.name("the name of the param", HINT)?;
        self.expect(Lexeme::Equals, "`=`", HINT)?;
        if self.computes() {
            let value = expression(self)?;
            if self.take_word("in") {
                let problem = format!(
                    "{} follows from other params, so it has no range",
                    quoted(&name.text)
                );
                return Err(Diagnostic::error(Code::Syntax, problem)
                    .at(self.span_so_far())
                    .hint(
                        "give the params that it is computed from a range, and remove this one",
                    ));
            }
            let span = self.span_so_far();
            return Ok(Statement::Derived(DerivedParam { name, value, span }));
        }
        let (value, value_span) = self.integer(HINT)?;
        let mut range = None;
        let mut finding = None;
        if self.take_word("in") {
            let (min, min_span) = self.integer(HINT)?;
            self.expect(Lexeme::DotDot, "`..`", HINT)?;
            let (max, max_span) = self.integer(HINT)?;
            let (step, step_span) = if self.take_word("step") {
                self.integer(HINT)?
            } else {
                (1, max_span)
            };
            let dividing = if self.take_word("dividing") {
                Some(expression(self)?)
            } else {
                None
            };
            let stated = ParamRange {
                min,
                max,
                step,
                dividing,
            };
            let spans = RangeSpans {
                value: value_span,
                ends: min_span.to(max_span),
                step: step_span,
            };
            let found = range_finding(&name.text, value, &stated, spans);
            let is_kept = found
                .as_ref()
                .is_none_or(|(_, part)| *part == RangePart::Value);
            range = is_kept.then_some(stated);
            finding = found.map(|(problem, _)| problem);
        }
        if value < 1 {
            // The param stays in the program, so that its slider can correct it.
            let least = range.as_ref().map_or(1, |range| range.min.max(1));
            let edit = TextEdit::replace(value_span, least.to_string());
            finding = Some(
                Diagnostic::error(
                    Code::NonPositiveSize,
                    format!("{} is {value}", quoted(&name.text)),
                )
                .at(value_span)
                .hint("give it a value of at least 1")
                .fix(format!("Change the value to {least}"), edit),
            );
        }
        let param = Param {
            name,
            value,
            value_span,
            range,
            span: self.span_so_far(),
        };
        Ok(Statement::Param(param, finding))
    }

    /// Whether a computation follows, and not a number alone, which a slider could set.
    fn computes(&self) -> bool {
        const OPERATORS: [Lexeme; 4] = [Lexeme::Plus, Lexeme::Minus, Lexeme::Star, Lexeme::Slash];
        let is = |at: usize, kinds: &[Lexeme]| {
            let token = self.tokens.get(self.at + at);
            token.is_some_and(|token| kinds.contains(&token.kind))
        };
        let sign = usize::from(is(0, &[Lexeme::Minus]));
        is(sign, &[Lexeme::Name, Lexeme::OpenParen]) || is(sign + 1, &OPERATORS)
    }
}

/// The warning that the value of a param is outside its range, without a span. Parsing gives the
/// same warning; this function is for values that do not come from a text.
pub fn out_of_range(param: &Param) -> Option<Diagnostic> {
    let range = param.range.as_ref()?;
    Some(range_problem(&param.name.text, param.value, range)?.0)
}

/// Most values of a range with `dividing`, because each value is tried.
const MOST_CANDIDATES: i64 = 1024;

/// The part of a range that a diagnostic is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RangePart {
    Value,
    Ends,
    Step,
}

/// The spans of a value and its range.
#[derive(Clone, Copy)]
struct RangeSpans {
    value: Span,
    ends: Span,
    step: Span,
}

/// The warning about a value and its range in a text, with fixes, and the part that it concerns.
fn range_finding(
    name: &str,
    value: i64,
    range: &ParamRange,
    at: RangeSpans,
) -> Option<(Diagnostic, RangePart)> {
    let (problem, part) = range_problem(name, value, range)?;
    let &ParamRange { min, max, .. } = range;
    let ends = |low: i64, high: i64| TextEdit::replace(at.ends, format!("{low}..{high}"));
    let problem = match part {
        RangePart::Value => {
            let nearest = value.clamp(min, max);
            let (low, high) = (min.min(value), max.max(value));
            (problem.at(at.value))
                .fix(
                    format!("Change the value to {nearest}"),
                    TextEdit::replace(at.value, nearest.to_string()),
                )
                .fix(format!("Widen the range to {low}..{high}"), ends(low, high))
        }
        RangePart::Ends => {
            let (low, high) = (min.min(max).max(1), max.max(min).max(1));
            (problem.at(at.ends)).fix(format!("Write the range as {low}..{high}"), ends(low, high))
        }
        RangePart::Step => {
            (problem.at(at.step)).fix("Use a step of 1", TextEdit::replace(at.step, "1"))
        }
    };
    Some((problem, part))
}

/// The warning about a value and its range, without a span.
fn range_problem(name: &str, value: i64, range: &ParamRange) -> Option<(Diagnostic, RangePart)> {
    let &ParamRange { min, max, step, .. } = range;
    let name = quoted(name);
    let warn = |message: String| Diagnostic::warning(Code::ParamOutOfRange, message);
    if min > max {
        let problem = warn(format!("the range {min}..{max} of {name} is empty"));
        return Some((problem.hint("write the smaller end first"), RangePart::Ends));
    }
    if min < 1 {
        let problem = warn(format!("the range of {name} starts at {min}"));
        return Some((problem.hint("start it at 1 or above"), RangePart::Ends));
    }
    if step < 1 {
        let problem = warn(format!("the step of {name} is {step}"));
        return Some((problem.hint("use a step of at least 1"), RangePart::Step));
    }
    if range.dividing.is_some() && (max - min) / step >= MOST_CANDIDATES {
        let problem = warn(format!(
            "the range of {name} has more than {MOST_CANDIDATES} candidates for a divisor"
        ));
        return Some((
            problem.hint("narrow the range, or give it a larger `step`"),
            RangePart::Ends,
        ));
    }
    if value < min || value > max {
        let problem = warn(format!("{name} is {value}, outside its range {min}..{max}"));
        return Some((
            problem.hint("change the value or widen the range"),
            RangePart::Value,
        ));
    }
    None
}
