//! Times of kernels: how long each unit takes alone, and the whole kernel.

use super::derived::Derived;
use crate::present::bottleneck_names::bound_name;
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::format::format_seconds;
use crate::present::number::Number;
use crate::present::quantity::{Run, Scope, Values};
use crate::present::time_derivations::{
    Limit, breakdown_derivation, launch_term, limits_of, part_term,
};
use crate::present::times::{TimeKind, kernel_time, missing_text, outside_text};
use fuseline_core::analysis::device_model::{Breakdown, breakdown};
use fuseline_core::analysis::{Analysis, Kernel};
use fuseline_core::model::ids::KernelId;
use fuseline_core::model::options::Options;

/// The longest of the limits of a kernel.
fn longest(options: &Options, kernel: &Kernel) -> Term {
    let limits = limits_of(options, kernel);
    let terms: Vec<Term> = limits.iter().filter_map(Limit::term).collect();
    let seconds = terms.iter().map(|term| term.number.value());
    let longest_s = seconds.fold(0.0, f64::max);
    let derivation = Derivation::new(Operation::Longest, terms);
    Term::derived("the longest of", Number::Seconds(longest_s), derivation)
}

/// The lower bound of a fused kernel; `None` for a view, which is not launched.
fn bound_derivation(analysis: &Analysis, id: KernelId) -> Option<Derivation> {
    let kernel = &analysis.fused.kernels[id];
    let one = Number::Seconds(analysis.options.device.launch_s.value);
    let further = analysis.partition.further_launches_of(id);
    let launches = u64::from(further) + 1;
    let launch = match launches {
        1 => Term::given("launch", one),
        launches => Term::derived(
            "launches",
            Number::Seconds(one.value() * launches as f64),
            Derivation::new(
                Operation::Product,
                vec![
                    Term::given("", Number::Count(launches)),
                    Term::given("", one),
                ],
            ),
        ),
    };
    let terms = vec![longest(&analysis.options, kernel), launch];
    (!kernel.is_free).then(|| Derivation::new(Operation::Sum, terms))
}

/// The time of a kernel: predicted where that is known, otherwise the lower bound.
pub(super) fn of_kernel(analysis: &Analysis, id: KernelId) -> Derived {
    let Some(breakdown) = breakdown(analysis, id) else {
        return bound_of_kernel(analysis, id);
    };
    let text = kernel_time(analysis, id).unwrap_or_default();
    let bound = text.bound_beside().map(|bound| {
        format!("Its lower bound is {bound}, which uses the rates of the data sheet.")
    });
    Derived::by(breakdown_derivation(&breakdown))
        .noted(text.outside.map(outside_text))
        .noted(slower_than_alone(analysis, id))
        .noted(bound)
}

/// Why a kernel of one op takes longer than the op does unfused; `None` where it does not, and
/// where it has several ops.
fn slower_than_alone(analysis: &Analysis, id: KernelId) -> Option<String> {
    let times = analysis.predicted.as_ref()?.kernels.get(id)?;
    let ops = analysis.fused.kernels.get(id)?.ops.iter();
    let is_alone = ops
        .filter(|&&op| !analysis.unfused.of_lone_op(op).is_free)
        .count()
        == 1;
    (is_alone && times.unfused_s < times.time_s).then(|| {
        format!(
            "Unfused it takes {}: PyTorch's library kernel for this op is faster than a generated one.",
            format_seconds(times.unfused_s)
        )
    })
}

/// The lower bound of the time of a kernel.
pub(super) fn bound_of_kernel(analysis: &Analysis, id: KernelId) -> Derived {
    let kernel = &analysis.fused.kernels[id];
    let values = Values::new(analysis);
    let below = values.is_below_bound(Scope::Kernel(id), Run::Fused).then(|| {
        format!(
            "The {} time is below it, because some of the data is still in the cache. The lower bound assumes a cold cache.",
            TimeKind::of(analysis).name()
        )
    });
    Derived::by(bound_derivation(analysis, id))
        .noted(notes(analysis, kernel))
        .noted(below)
}

fn notes(analysis: &Analysis, kernel: &Kernel) -> Vec<String> {
    let missing = missing_text(kernel, &analysis.options).map(|missing| format!("{missing}."));
    let view = "A view needs no launch.".to_owned();
    missing
        .into_iter()
        .chain(kernel.is_free.then_some(view))
        .collect()
}

/// The bottleneck of a kernel: the unit that takes longest, or the launch.
pub(super) fn limit(analysis: &Analysis, id: KernelId) -> Derived {
    let kernel = &analysis.fused.kernels[id];
    if let Some(breakdown) = breakdown(analysis, id).filter(|_| !kernel.is_free) {
        return limit_of(&breakdown, analysis, id);
    }
    let Term {
        derivation, number, ..
    } = longest(&analysis.options, kernel);
    let launch = Number::Seconds(analysis.options.device.launch_s.value);
    let mut terms = derivation.map_or_else(Vec::new, |derivation| derivation.terms);
    terms.push(Term::given("launch", launch));
    let number = if launch.value() > number.value() {
        launch
    } else {
        number
    };
    let derivation = Derivation::new(Operation::Longest, terms);
    Derived {
        own: (!kernel.is_free).then(|| Term::derived("", number, derivation)),
        notes: notes(analysis, kernel),
        ..Derived::default()
    }
}

/// The bottleneck of a predicted time: its longest part, or the fixed time.
fn limit_of(breakdown: &Breakdown, analysis: &Analysis, id: KernelId) -> Derived {
    let kernel = &analysis.fused.kernels[id];
    let parts = breakdown.phases.iter().flatten();
    let mut terms: Vec<Term> = parts
        .filter(|part| part.seconds() > 0.0)
        .map(part_term)
        .collect();
    terms.push(launch_term(breakdown));
    let longest_s = terms.iter().map(|term| term.number.value());
    let longest = Number::Seconds(longest_s.fold(0.0, f64::max));
    let on_roofline = format!(
        "By the rates of the data sheet, which the roofline shows, it is: {}.",
        bound_name(kernel.placement.bound)
    );
    let derivation = Derivation::new(Operation::Longest, terms);
    Derived::of(Term::derived("", longest, derivation))
        .noted(notes(analysis, kernel))
        .noted([on_roofline])
}
