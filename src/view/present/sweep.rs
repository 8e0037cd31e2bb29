//! A sweep in words: its crossings as sentences, its figures as texts.

use super::figure::swept_number;
use super::format::{at_least, format_count, format_exact, format_ratio};
use super::names::{self, counted, joined};
use super::options::policy_title;
use super::times::{TimeKind, unverified};
use fuseline_core::analysis::sweep::{Change, Crossing, Figures, Measure, Relation, Sweep};
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
    /// Its name.
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

/// What exactly is measured on this device.
pub fn measure_title(measure: Measure, sweep: &Sweep, device: &Device) -> String {
    match measure {
        Measure::Bytes => "memory traffic".to_owned(),
        Measure::Time => {
            let kind = if sweep.is_predicted {
                TimeKind::Predicted
            } else {
                TimeKind::LowerBound
            };
            format!("{} on {}", kind.title(), device.name)
        }
        Measure::Kernels => "kernels".to_owned(),
        Measure::Intensity => "arithmetic intensity".to_owned(),
    }
}

/// A figure with its unit.
pub fn figure_text(measure: Measure, figures: &Figures) -> String {
    let number = swept_number(measure, figures);
    let Some(number) = number else {
        return "–".to_owned();
    };
    match measure {
        Measure::Time => {
            let text = unverified(figures.outside, &number.text());
            at_least(figures.is_time_least, &text)
        }
        _ => at_least(figures.is_partial, &number.text()),
    }
}

/// A figure as a multiple of that of *none*; `None` where one is unknown or nothing is there to divide by.
pub fn relative(measure: Measure, figures: &Figures, unfused: &Figures) -> Option<f64> {
    // Two lower bounds have no ratio.
    let is_least = |figures: &Figures| match measure {
        Measure::Time => figures.is_time_least,
        _ => figures.is_partial,
    };
    if is_least(figures) || is_least(unfused) {
        return None;
    }
    let unfused = unfused.value(measure).filter(|unfused| *unfused > 0.0)?;
    Some(figures.value(measure)? / unfused)
}

/// The same in words.
pub fn relative_text(measure: Measure, figures: &Figures, unfused: &Figures) -> String {
    relative(measure, figures, unfused).map_or_else(|| "–".to_owned(), format_ratio)
}

/// `S = 2,560`.
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
    /// The same in words.
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
    /// The value from which it holds.
    pub value: i64,
    /// What is otherwise, with code in backquotes.
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

/// What changes, and the values for which it holds.
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
    let from = format!("For {} ≥ {value}", printable(param));
    match &crossing.change {
        Change::Fits(true) => format!(
            "{from}, the program fits in the memory of {}{under}.",
            device.name
        ),
        Change::Fits(false) => format!(
            "{from}, the program does not fit in the memory of {}{under}.",
            device.name
        ),
        Change::Weights { tensors, is_larger } => {
            let each = if tensors.len() > 1 { " each" } else { "" };
            let names = tensor_names(tensors);
            if *is_larger {
                format!(
                    "{from}, {names} {}{each} larger than all weights together.",
                    is(tensors)
                )
            } else {
                format!(
                    "{from}, {names} {}{each} no larger than all weights together.",
                    is(tensors)
                )
            }
        }
        Change::Half { tensors, is_more } => {
            let names = tensor_names(tensors);
            let together = if tensors.len() > 1 { " together" } else { "" };
            let than = if *is_more {
                "more than half"
            } else {
                "no more than half"
            };
            format!(
                "{from}, {names}{together} {} {than} of the memory traffic{under}.",
                is(tensors)
            )
        }
        Change::Largest { tensors, before } => format!(
            "{from}, {} {}; below that, {} {}.",
            tensor_names(tensors),
            if tensors.len() > 1 {
                "are the largest tensors"
            } else {
                "is the largest tensor"
            },
            tensor_names(before),
            if before.len() > 1 { "are" } else { "is" },
        ),
        &Change::Order {
            measure,
            policies,
            before,
            now,
        } => {
            let names = policies.map(|policy| policy_title(policy, *objective));
            order_sentence(&from, measure, names, before, now)
        }
        Change::Kernels { count, before } => {
            let which = match &crossing.policies[..] {
                [] => String::new(),
                policies => titles(policies),
            };
            let run = if crossing.policies.len() > 1 {
                "run"
            } else {
                "runs"
            };
            format!(
                "{from}, {which} {run} {} instead of {}.",
                counted(*count, "kernel"),
                format_count(*before)
            )
        }
        Change::Bound {
            kernels,
            bound,
            before,
        } => {
            let name = |ops: &Vec<String>| {
                let names = ops.iter().map(|name| printable(name));
                format!("`{}`", joined(names, [" + "; 2], NAMED))
            };
            let (kernel, is) = if kernels.len() > 1 {
                ("kernels", "are")
            } else {
                ("kernel", "is")
            };
            format!(
                "{from}, {kernel} {} {is} {} instead of {}{under}.",
                listed(kernels, name),
                bound_words(*bound),
                bound_words(*before)
            )
        }
    }
}

fn order_sentence(
    from: &str,
    measure: Measure,
    [one, other]: [&str; 2],
    before: Relation,
    now: Relation,
) -> String {
    let (less, what) = match measure {
        Measure::Bytes => ("fewer", "bytes"),
        Measure::Time => ("a shorter", "time"),
        Measure::Kernels => ("fewer", "kernels"),
        Measure::Intensity => ("a lower", "arithmetic intensity"),
    };
    let until = match before {
        Relation::Equal => ", and below they are equal",
        Relation::Below | Relation::Above => "",
    };
    match now {
        Relation::Below => format!("{from}, {one} has {less} {what} than {other}{until}."),
        Relation::Above => format!("{from}, {other} has {less} {what} than {one}{until}."),
        Relation::Equal => {
            let (better, worse) = if before == Relation::Below {
                (one, other)
            } else {
                (other, one)
            };
            format!("{from}, {worse} and {better} are equal in {what}.")
        }
    }
}

/// The crossings that the curves of a measure show, by their numbers.
pub fn concerns(change: &Change, measure: Measure) -> bool {
    match change {
        Change::Order { measure: of, .. } => *of == measure,
        Change::Kernels { .. } => measure == Measure::Kernels,
        Change::Bound { .. } => matches!(measure, Measure::Time | Measure::Intensity),
        Change::Fits(_) | Change::Weights { .. } | Change::Half { .. } | Change::Largest { .. } => {
            measure == Measure::Bytes
        }
    }
}

const fn is(tensors: &[String]) -> &'static str {
    if tensors.len() > 1 { "are" } else { "is" }
}

const fn bound_words(bound: Bound) -> &'static str {
    match bound {
        Bound::Memory => "memory-bound",
        Bound::Matrix => "compute-bound (matrix units)",
        Bound::Vector => "compute-bound (vector units)",
        Bound::Launch => "launch-bound",
        Bound::Unknown => "of unknown bottleneck",
    }
}

/// `` `a` and `b` ``, of many the first ones.
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

/// `textbook rules and fewest bytes`.
fn titles(policies: &[Policy], objective: Objective) -> String {
    let titles = policies.iter();
    let titles = titles.map(|policy| policy_title(*policy, objective).to_owned());
    names::listed(titles.collect())
}
