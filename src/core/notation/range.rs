//! The ranges of params.

use crate::core::model::diagnostic::{Code, Diagnostic};
use crate::core::model::program::{Param, ParamRange};
use crate::core::notation::spelling::quoted;

/// The warning that the value of a param is outside its range, without a span. Parsing gives it, too: this is for values
/// that are not from a text.
pub fn out_of_range(param: &Param) -> Option<Diagnostic> {
    let range = param.range.as_ref()?;
    Some(range_problem(&param.name.text, param.value, range)?.0)
}

/// Most values of a range with `dividing`, each of which is tried.
const MOST_CANDIDATES: i64 = 1024;

/// The part of a range that a diagnostic is about.
pub(super) enum RangePart {
    Value,
    Ends,
    Step,
}

/// The warning about a value and its range, without a span.
pub(super) fn range_problem(
    name: &str,
    value: i64,
    range: &ParamRange,
) -> Option<(Diagnostic, RangePart)> {
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
            "the range of {name} has more than {MOST_CANDIDATES} values that may divide"
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
