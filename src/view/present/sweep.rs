//! A sweep in words: its crossings as sentences, its figures as texts.

use super::figure::swept_number;
use super::format::{at_least, format_count, format_exact, format_ratio};
use super::names::{counted, joined};
use super::options::policy_title;
use super::times::{TimeKind, bound_name, unverified};
use fuseline_core::analysis::sweep::{Change, Crossing, Figures, Measure, Relation, Sweep};
use fuseline_core::notation::spelling::printable;
use fuseline_core::resolve::{ParamValues, param_values};
use fuseline_core::{Bound, Device, Policy, Program};

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
        Measure::Intensity => "intensity",
    }
}

/// What exactly is measured on this device.
pub fn measure_title(measure: Measure, sweep: &Sweep, device: &Device) -> String {
    match measure {
        Measure::Bytes => "bytes moved".to_owned(),
        Measure::Time => {
            let calibration = device.calibration().filter(|_| sweep.is_expected);
            let kind = TimeKind::of_rates(calibration.as_ref().map(|found| &found.rates_from));
            format!("{} on {}", kind.title(), device.name)
        }
        Measure::Kernels => "kernels launched".to_owned(),
        Measure::Intensity => "FLOPs for each byte moved".to_owned(),
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
        sentence: crossing_sentence(crossing, &sweep.param, device),
    });
    rows.collect()
}

/// From which value on what is otherwise.
pub fn crossing_sentence(crossing: &Crossing, param: &str, device: &Device) -> String {
    let under = under(&crossing.policies);
    let from = format!("From {} on", param_text(param, crossing.value));
    match &crossing.change {
        Change::Fits(true) => format!(
            "{from}, the program fits the memory of {}{under}.",
            device.name
        ),
        Change::Fits(false) => format!(
            "{from}, the program no longer fits the memory of {}{under}.",
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
                "{from}, {names}{together} {} {than} of all bytes{under}.",
                is(tensors)
            )
        }
        Change::Largest { tensors, before } => format!(
            "{from}, {} {}; below, {} {}.",
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
        } => order_sentence(&from, measure, policies, before, now),
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
                "{from}, {which} {run} {}, not {}.",
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
                "{from}, {kernel} {} {is} bound by {}, no longer by {}{under}.",
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
    [first, second]: [Policy; 2],
    before: Relation,
    now: Relation,
) -> String {
    let (verb, less, what) = match measure {
        Measure::Bytes => ("moves", "fewer", "bytes"),
        Measure::Time => ("takes", "less", "time"),
        Measure::Kernels => ("runs", "fewer", "kernels"),
        Measure::Intensity => ("has", "less", "intensity"),
    };
    let [one, other] = [first, second].map(policy_title);
    let until = match before {
        Relation::Equal => ", until then as much",
        Relation::Below | Relation::Above => "",
    };
    match now {
        Relation::Below => format!("{from}, {one} {verb} {less} {what} than {other}{until}."),
        Relation::Above => format!("{from}, {other} {verb} {less} {what} than {one}{until}."),
        Relation::Equal => {
            let (better, worse) = if before == Relation::Below {
                (one, other)
            } else {
                (other, one)
            };
            let much = if measure == Measure::Time {
                "much"
            } else {
                "many"
            };
            format!("{from}, {worse} {verb} only as {much} {what} as {better}.")
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
        Bound::Launch => "the launch",
        Bound::Matrix => "the matrix units",
        Bound::Vector => "the vector units",
        Bound::Memory | Bound::Unknown => bound_name(bound),
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

/// ` under rules and optimal`.
fn under(policies: &[Policy]) -> String {
    match policies {
        [] => String::new(),
        some => format!(" under {}", titles(some)),
    }
}

fn titles(policies: &[Policy]) -> String {
    match policies {
        [] => String::new(),
        [one] => policy_title(*one).to_owned(),
        [others @ .., last] => {
            let others: Vec<&str> = others.iter().map(|policy| policy_title(*policy)).collect();
            format!("{} and {}", others.join(", "), policy_title(*last))
        }
    }
}
