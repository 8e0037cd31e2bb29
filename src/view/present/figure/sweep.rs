//! What a policy costs at a value of a swept param.

use super::conventions::{Convention, Counted, conventions, policy_sources, sources};
use super::explanation::Explanation;
use super::words::formula;
use crate::present::derivation::{Derivation, Term};
use crate::present::format::{format_exact, format_ratio};
use crate::present::number::Number;
use crate::present::options::policy_title;
use crate::present::quantity::{Figure, Subject};
use crate::present::sweep::{
    figure_text, measure_title, param_text, relative, swept_number, swept_quantity,
};
use crate::present::times::outside_text;
use fuseline_core::analysis::Analysis;
use fuseline_core::analysis::sweep::{Measure, Sweep, SweepFigures};
use fuseline_core::model::options::Policy;

/// The explanation of what a policy of a sweep costs at a value of the param; `None` where the
/// sweep has no such point. The analysis is that of the program at its present value.
pub fn swept_explanation(
    sweep: &Sweep,
    value: i64,
    policy: Policy,
    measure: Measure,
    analysis: &Analysis,
) -> Option<Explanation> {
    let point = sweep.points.iter().find(|point| point.value == value)?;
    let place = sweep.policies.iter().position(|&other| other == policy)?;
    let figures = point.figures.get(place)?;
    let quantity = swept_quantity(measure, sweep);
    let of_none = point.figures.first().filter(|_| policy != Policy::None);
    let multiple = of_none.and_then(|none| multiple(measure, figures, none));
    // The policy of a sweep is not the chosen one.
    let counted = Counted::program(analysis);
    let figure = Figure::unfused(Subject::Program, quantity);
    let mut conventions = conventions(figure, counted);
    conventions.push(Convention::policy(policy, sweep.objective));
    let title = measure_title(measure, sweep, &analysis.options.device);
    let at = param_text(&sweep.param, value);
    let outside = figures.outside.filter(|_| measure == Measure::Time);
    Some(Explanation {
        value: figure_text(measure, figures),
        notes: (multiple.into_iter())
            .chain([whence(measure, figures, value, policy, analysis)])
            .chain(outside.map(outside_text))
            .collect(),
        conventions,
        sources: match measure {
            Measure::Kernels => policy_sources(policy),
            _ => sources(figure, counted),
        },
        ..Explanation::of(
            title,
            format!(
                "the whole program at {at} ({})",
                policy_title(policy, sweep.objective)
            ),
            formula(Figure::fused(Subject::Program, quantity), analysis),
            term(measure, figures),
        )
    })
}

fn term(measure: Measure, figures: &SweepFigures) -> Option<Term> {
    let number = swept_number(measure, figures)?;
    let quotient = |flops| {
        Derivation::quotient(
            Term::given("", Number::Flops(flops)),
            Term::given("", Number::Bytes(figures.bytes)),
        )
    };
    let of_intensity = |flops| matches!(measure, Measure::Intensity).then(|| quotient(flops));
    Some(Term {
        derivation: figures.flops.and_then(of_intensity),
        ..Term::given("", number)
    })
}

/// The figure as a multiple of its value without fusion.
fn multiple(measure: Measure, figures: &SweepFigures, none: &SweepFigures) -> Option<String> {
    let multiple = format_ratio(relative(measure, figures, none)?);
    let [own, none] = [figures, none].map(|figures| swept_number(measure, figures));
    let line = Derivation::quotient(Term::given("", own?), Term::given("", none?)).line()?;
    Some(format!("{multiple} the value without fusion: {line}."))
}

/// Where the reader finds the terms, which a sweep does not keep.
fn whence(
    measure: Measure,
    figures: &SweepFigures,
    value: i64,
    policy: Policy,
    analysis: &Analysis,
) -> String {
    let select = format!(
        "Select {} at the start of the row",
        format_exact(value.unsigned_abs().into())
    );
    let is_chosen = policy == analysis.options.policy;
    let place = match measure {
        Measure::Intensity if figures.flops.is_none() => {
            return "The FLOPs of one op are unknown.".to_owned();
        }
        Measure::Intensity => "The tab Kernels then has the FLOPs and the bytes of each kernel",
        _ if is_chosen => "The number in the headline then shows its derivation",
        _ => "The policy's number in the tab Compare then shows its derivation",
    };
    format!("{select}. {place}.")
}
