//! A sweep in words: its crossings as sentences, its figures as texts.

use super::format::{format_count, format_exact, format_ratio};
use super::names::{self, counted, joined};
use super::number::Number;
use super::options::{policy_phrase, policy_title};
use super::quantity::{Marked, Quantity};
use fuseline_core::analysis::sweep::{
    Crossing, CrossingChange, Measure, Relation, Sweep, SweepFigures,
};
use fuseline_core::notation::spelling::printable;
use fuseline_core::resolve::{ParamValues, param_values};
use fuseline_core::{Bound, Device, Objective, Policy, Program};

/// Tensors or ops that a sentence names.
const NAMED: usize = 3;

/// A param that can be swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptParam {
    /// Its index among those of the text.
    pub index: usize,
    pub name: String,
}

/// The params whose slider has at least two values.
pub fn swept_params(program: &Program) -> Vec<SweptParam> {
    let values = param_values(program, program.params.len());
    let has_values = |values: &Option<ParamValues>| match values {
        None => false,
        Some(ParamValues::Steps { min, max, step }) => max - min >= *step,
        Some(ParamValues::Listed(values)) => values.len() > 1,
    };
    let params = program.params.iter().zip(values).enumerate();
    let swept = params.filter(|(_, (_, values))| has_values(values));
    swept
        .map(|(index, (param, _))| SweptParam {
            index,
            name: param.name.text.clone(),
        })
        .collect()
}

/// What is measured, as a choice and as the title of an axis.
pub const fn measure_name(measure: Measure) -> &'static str {
    match measure {
        Measure::Bytes => "bytes",
        Measure::Time => "time",
        Measure::Kernels => "kernels",
        Measure::Intensity => "arithmetic intensity",
    }
}

/// The quantity of a measure. The core keeps measures of its own, by which it finds crossings.
pub(super) const fn swept_quantity(measure: Measure, sweep: &Sweep) -> Quantity {
    match measure {
        Measure::Bytes => Quantity::Bytes,
        Measure::Time if sweep.is_predicted => Quantity::PredictedTime,
        Measure::Time => Quantity::LowerBound,
        Measure::Kernels => Quantity::Launches,
        Measure::Intensity => Quantity::Intensity,
    }
}

/// What exactly is measured on this device.
pub fn measure_title(measure: Measure, sweep: &Sweep, device: &Device) -> String {
    let title = swept_quantity(measure, sweep).title();
    match measure {
        Measure::Time => format!("{title} on {}", device.name),
        Measure::Bytes | Measure::Kernels | Measure::Intensity => title.to_owned(),
    }
}

/// A figure with its unit.
pub fn figure_text(measure: Measure, figures: &SweepFigures) -> String {
    let number = swept_number(measure, figures);
    let Some(number) = number else {
        return "–".to_owned();
    };
    let is_time = measure == Measure::Time;
    let marked = Marked {
        value: number.into(),
        is_assumed: false,
        is_recalled: false,
        is_incomplete: if is_time {
            figures.is_time_least
        } else {
            figures.is_partial
        },
        outside: figures.outside.filter(|_| is_time),
    };
    marked.text()
}

/// A figure as a multiple of its value without fusion; `None` if one is unknown or the divisor is
/// 0.
pub fn relative(measure: Measure, figures: &SweepFigures, unfused: &SweepFigures) -> Option<f64> {
    // Two lower bounds have no ratio.
    let is_least = |figures: &SweepFigures| match measure {
        Measure::Time => figures.is_time_least,
        _ => figures.is_partial,
    };
    if is_least(figures) || is_least(unfused) {
        return None;
    }
    let unfused = unfused.value(measure).filter(|unfused| *unfused > 0.0)?;
    Some(figures.value(measure)? / unfused)
}

/// [`relative`] in words.
pub fn relative_text(measure: Measure, figures: &SweepFigures, unfused: &SweepFigures) -> String {
    relative(measure, figures, unfused).map_or_else(|| "–".to_owned(), format_ratio)
}

/// A param with its value: `S = 2,560`.
pub fn param_text(param: &str, value: i64) -> String {
    format!(
        "{} = {}",
        printable(param),
        format_exact(value.unsigned_abs().into())
    )
}

/// A row of the table of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRow {
    /// The value of the param.
    pub value: i64,
    /// The param with its value.
    pub text: String,
    /// A figure for each policy.
    pub figures: Vec<String>,
}

/// A row for each value.
pub fn sweep_rows(sweep: &Sweep, measure: Measure) -> Vec<SweepRow> {
    let points = sweep.points.iter();
    let rows = points.map(|point| SweepRow {
        value: point.value,
        text: format_exact(point.value.unsigned_abs().into()),
        figures: (point.figures.iter())
            .map(|figures| figure_text(measure, figures))
            .collect(),
    });
    rows.collect()
}

/// A crossing with its sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossingRow {
    /// The number by which the chart refers to it.
    pub number: usize,
    /// The first value after the change.
    pub value: i64,
    /// What changes there, with code in backquotes.
    pub sentence: String,
}

/// A row for each crossing, ascending by value.
pub fn crossing_rows(sweep: &Sweep, device: &Device) -> Vec<CrossingRow> {
    let crossings = sweep.crossings.iter().zip(1..);
    let rows = crossings.map(|(crossing, number)| CrossingRow {
        number,
        value: crossing.value,
        sentence: crossing_sentence(crossing, sweep, device),
    });
    rows.collect()
}

/// What changes, and at which value. It claims nothing of larger values: a later crossing may undo
/// the change.
fn crossing_sentence(crossing: &Crossing, sweep: &Sweep, device: &Device) -> String {
    let Sweep {
        param, objective, ..
    } = sweep;
    let titles = |policies: &[Policy]| titles(policies, *objective);
    let under = match &crossing.policies[..] {
        [] => String::new(),
        policies => format!(" ({})", titles(policies)),
    };
    let value = format_exact(crossing.value.unsigned_abs().into());
    let at = format!("At {} = {value}", printable(param));
    match &crossing.change {
        CrossingChange::Fits(true) => format!(
            "{at}, the program begins to fit in the memory of {}{under}.",
            device.name
        ),
        CrossingChange::Fits(false) => format!(
            "{at}, the program no longer fits in the memory of {}{under}.",
            device.name
        ),
        CrossingChange::Weights { tensors, is_larger } => {
            let each = if tensors.len() > 1 { " each" } else { "" };
            format!(
                "{at}, {}{each} {} larger than all weights together.",
                tensor_names(tensors),
                begins(tensors, *is_larger)
            )
        }
        CrossingChange::Half { tensors, is_more } => {
            let together = if tensors.len() > 1 { " together" } else { "" };
            format!(
                "{at}, {}{together} {} more than half of the memory traffic{under}.",
                tensor_names(tensors),
                begins(tensors, *is_more)
            )
        }
        CrossingChange::Largest {
            tensors,
            before,
            was_equal,
        } => format!(
            "{at}, {} {} instead of {}{}.",
            tensor_names(tensors),
            if tensors.len() > 1 {
                "become the largest tensors that ops write,"
            } else {
                "becomes the largest tensor that an op writes,"
            },
            tensor_names(before),
            if *was_equal {
                equal_words(&param_text(param, crossing.before))
            } else {
                String::new()
            }
        ),
        &CrossingChange::Order {
            measure,
            policies,
            before,
            now,
        } => {
            let names = policies.map(|policy| policy_phrase(policy, *objective));
            let what = measured_quantity(measure, sweep);
            let equal_at = param_text(param, crossing.before);
            order_sentence(&at, what, names, [before, now], &equal_at)
        }
        CrossingChange::Kernels { count, before } => format!(
            "{at}, the program has {} instead of {}{under}.",
            counted(*count, "kernel"),
            format_count(*before)
        ),
        CrossingChange::Bound {
            kernels,
            bound,
            before,
        } => {
            let name = |ops: &Vec<String>| {
                let names = ops.iter().map(|name| printable(name));
                format!("`{}`", joined(names, [" + "; 2], NAMED))
            };
            let (kernel, change) = if kernels.len() > 1 {
                ("kernels", "change")
            } else {
                ("kernel", "changes")
            };
            format!(
                "{at}, {kernel} {} {change} from {} to {}{under}.",
                listed(kernels, name),
                bound_words(*before),
                bound_words(*bound)
            )
        }
    }
}

/// The quantity of which a policy has more or less than another one.
const fn measured_quantity(measure: Measure, sweep: &Sweep) -> &'static str {
    match measure {
        Measure::Bytes => "memory traffic",
        Measure::Time if sweep.is_predicted => "predicted time",
        Measure::Time => "lower bound",
        Measure::Kernels => "kernel count",
        Measure::Intensity => "arithmetic intensity",
    }
}

/// The clause that the compared policies are equal at the value before the change.
fn equal_words(equal_at: &str) -> String {
    format!("; at {equal_at} they are equal")
}

fn order_sentence(
    at: &str,
    what: &str,
    [one, other]: [String; 2],
    [before, now]: [Relation; 2],
    equal_at: &str,
) -> String {
    let until = match before {
        Relation::Equal => equal_words(equal_at),
        Relation::Below | Relation::Above => String::new(),
    };
    let falls = |less: &str, more: &str| {
        format!("{at}, the {what} of {less} falls below that of {more}{until}.")
    };
    match now {
        Relation::Below => falls(&one, &other),
        Relation::Above => falls(&other, &one),
        Relation::Equal => {
            let (better, worse) = if before == Relation::Below {
                (one, other)
            } else {
                (other, one)
            };
            format!("{at}, the {what} of {worse} becomes equal to that of {better}.")
        }
    }
}

/// The crossings that the curves of a measure show, by their numbers.
pub fn concerns(change: &CrossingChange, measure: Measure) -> bool {
    match change {
        CrossingChange::Order { measure: of, .. } => *of == measure,
        CrossingChange::Kernels { .. } => measure == Measure::Kernels,
        CrossingChange::Bound { .. } => matches!(measure, Measure::Time | Measure::Intensity),
        CrossingChange::Fits(_)
        | CrossingChange::Weights { .. }
        | CrossingChange::Half { .. }
        | CrossingChange::Largest { .. } => measure == Measure::Bytes,
    }
}

/// The verb of tensors that begin or cease to be something.
const fn begins(tensors: &[String], is_so: bool) -> &'static str {
    match (is_so, tensors.len() > 1) {
        (true, true) => "become",
        (true, false) => "becomes",
        (false, true) => "stop being",
        (false, false) => "stops being",
    }
}

const fn bound_words(bound: Bound) -> &'static str {
    match bound {
        Bound::Memory => "memory-bound",
        Bound::Matrix => "compute-bound on the matrix units",
        Bound::Vector => "compute-bound on the vector units",
        Bound::Launch => "launch-bound",
        Bound::Unknown => "an unknown bottleneck",
    }
}

/// The names of tensors, of many the first ones: `` `a` and `b` ``.
fn tensor_names(tensors: &[String]) -> String {
    listed(tensors, |name| format!("`{}`", printable(name)))
}

fn listed<T>(all: &[T], name: impl Fn(&T) -> String) -> String {
    match all {
        [first, second] => format!("{} and {}", name(first), name(second)),
        [first, second, third] => format!("{}, {} and {}", name(first), name(second), name(third)),
        many => joined(many.iter().map(name), [", ", " and "], NAMED),
    }
}

/// The titles of policies: `textbook rules and fewest bytes`.
fn titles(policies: &[Policy], objective: Objective) -> String {
    let titles = policies.iter();
    let titles = titles.map(|policy| policy_title(*policy, objective).to_owned());
    names::listed(titles.collect())
}

/// A figure of a sweep; `None` where it is not known.
pub(super) fn swept_number(measure: Measure, figures: &SweepFigures) -> Option<Number> {
    Some(match measure {
        Measure::Bytes => Number::Bytes(figures.bytes),
        Measure::Time => Number::Seconds(figures.time_s),
        Measure::Kernels => Number::Count(figures.kernels as u64),
        Measure::Intensity => Number::Intensity(figures.intensity()?),
    })
}
