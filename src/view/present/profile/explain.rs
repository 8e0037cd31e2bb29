//! The measured numbers of a table explain themselves; the predicted ones are figures of the
//! analysis.

use super::{RowOf, Sides, bytes_of, gap_of, times_of};
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::figure::Explanation;
use crate::present::names::{op_names, short_name};
use crate::present::number::Number;
use fuseline_core::{Analysis, KernelId};
use fuseline_import::matching::{Counted, Matching};
use fuseline_import::profile::MeasuredKernel;

/// Most characters of the name of a measured kernel.
const NAME_CHARS: usize = 60;

/// Why bytes that were measured may be fewer than those that go through DRAM.
pub(super) const WRITES_LEAVE_LATER: &str =
    "A kernel's writes may leave the cache only after the kernel ends";
/// How to measure reads and writes separately.
pub(super) const READS_TELL_MORE: &str = "For bytes read alone, profile with --metrics dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum.";

/// A measured number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileFigure {
    /// The summed predicted time of several kernels.
    PredictedTime,
    /// The summed predicted bytes of several kernels.
    PredictedBytes,
    Time,
    /// The relative error of the predicted time.
    TimeError,
    /// Bytes through DRAM.
    Bytes,
    /// The relative error of the predicted bytes.
    BytesError,
    /// The gap before the kernel.
    Gap,
}

/// The explanation of a measured number; `None` where the row has no such number. `source` says
/// where the measurement is from.
pub fn profile_explanation(
    analysis: &Analysis,
    matching: &Matching,
    of: RowOf,
    figure: ProfileFigure,
    source: &str,
) -> Option<Explanation> {
    let (title, formula, term) = match figure {
        ProfileFigure::PredictedTime => (
            "predicted time",
            match (of, matching.run.is_cold) {
                (RowOf::Found, true) => "Σ over matched kernels (time with a cold cache)",
                (_, true) => "Σ over kernels (time with a cold cache)",
                (_, false) => "Σ over matched kernels (time)",
            },
            each_found(analysis, matching, of, Number::Seconds, times_of)?,
        ),
        ProfileFigure::PredictedBytes => (
            "predicted bytes",
            "Σ over matched kernels (bytes)",
            each_found(analysis, matching, of, amount, bytes_of)?,
        ),
        ProfileFigure::Time => {
            let number = Number::Seconds(times_of(analysis, matching, of).measured?);
            let each = each_launch(matching, of, |launch| Some(Number::Seconds(launch.time_s)));
            (
                "measured time",
                "Σ over its measured kernels (time)",
                with_terms(number, each),
            )
        }
        ProfileFigure::TimeError => {
            let sides = times_of(analysis, matching, of);
            (
                "error of the predicted time",
                "predicted / measured − 1",
                error(sides, Number::Seconds)?,
            )
        }
        ProfileFigure::Bytes => {
            let counted = matching.counted;
            let number = amount(bytes_of(analysis, matching, of).measured?);
            let each = each_launch(matching, of, |launch| {
                counted.measured(launch).map(|bytes| amount(bytes as f64))
            });
            let formula = match counted {
                Counted::Read => "Σ over its measured kernels (bytes read from DRAM)",
                Counted::Moved => {
                    "Σ over its measured kernels (bytes read from and written to DRAM)"
                }
            };
            ("measured bytes", formula, with_terms(number, each))
        }
        ProfileFigure::BytesError => {
            let sides = bytes_of(analysis, matching, of);
            (
                "error of the predicted bytes",
                "predicted / measured − 1",
                error(sides, amount)?,
            )
        }
        ProfileFigure::Gap => {
            let number = Number::Seconds(gap_of(matching, of)?);
            (
                "gap before it",
                "start − end of the kernel before",
                Term::given("", number),
            )
        }
    };
    let subject = match of {
        RowOf::Kernel(kernel) => {
            let ops = analysis.partition.kernels.get(kernel)?;
            format!(
                "kernel {}: {}",
                kernel.number(),
                op_names(&analysis.graph, ops)
            )
        }
        RowOf::Unmatched(at) => short_name(&matching.run.kernels.get(at)?.name, NAME_CHARS),
        RowOf::Found => "the matched kernels".to_owned(),
        RowOf::Total => "all kernels".to_owned(),
    };
    let is_of_bytes = matches!(figure, ProfileFigure::Bytes | ProfileFigure::BytesError);
    let notes = match matching.counted {
        Counted::Read if is_of_bytes => {
            vec![format!(
                "{WRITES_LEAVE_LATER}, so the comparison uses reads."
            )]
        }
        Counted::Moved if is_of_bytes => vec![format!("{WRITES_LEAVE_LATER}. {READS_TELL_MORE}")],
        _ => Vec::new(),
    };
    Some(Explanation {
        notes,
        sources: vec![source.to_owned()],
        ..Explanation::of(title, subject, formula, term)
    })
}

const fn amount(bytes: f64) -> Number {
    Number::Amount(bytes, "B")
}

fn error(sides: Sides, number: fn(f64) -> Number) -> Option<Term> {
    let error = sides.error()?;
    let terms = vec![
        Term::given("predicted", number(sides.predicted?)),
        Term::given("measured", number(sides.measured?)),
    ];
    Some(Term::derived(
        "",
        Number::Error(error),
        Derivation::new(Operation::RelativeError, terms),
    ))
}

/// A term for each kernel that ran, if all have the number.
fn each_launch(
    matching: &Matching,
    of: RowOf,
    number: impl Fn(&MeasuredKernel) -> Option<Number>,
) -> Option<Vec<Term>> {
    let term = |launch: &MeasuredKernel| {
        Some(Term::given(
            short_name(&launch.name, NAME_CHARS),
            number(launch)?,
        ))
    };
    match of {
        RowOf::Kernel(kernel) => matching.launches(kernel).map(term).collect(),
        RowOf::Found => matching.launches_found().map(term).collect(),
        RowOf::Total => matching.run.kernels.iter().map(term).collect(),
        RowOf::Unmatched(_) => None,
    }
}

/// The sum of a predicted number over the matched kernels, for their row.
fn each_found(
    analysis: &Analysis,
    matching: &Matching,
    of: RowOf,
    number: fn(f64) -> Number,
    sides: fn(&Analysis, &Matching, RowOf) -> Sides,
) -> Option<Term> {
    let kernels: Vec<KernelId> = match of {
        RowOf::Found => matching.found().collect(),
        RowOf::Total => analysis.fused.kernels.ids().collect(),
        RowOf::Kernel(_) => Vec::new(),
        RowOf::Unmatched(_) => return None,
    };
    let sum = number(sides(analysis, matching, of).predicted?);
    let term = |kernel: KernelId| {
        let ops = analysis.partition.kernels.get(kernel)?;
        let predicted = sides(analysis, matching, RowOf::Kernel(kernel)).predicted?;
        Some(Term::given(
            op_names(&analysis.graph, ops),
            number(predicted),
        ))
    };
    Some(with_terms(sum, kernels.into_iter().map(term).collect()))
}

fn with_terms(number: Number, terms: Option<Vec<Term>>) -> Term {
    match terms {
        Some(terms) if terms.len() > 1 => {
            Term::derived("", number, Derivation::new(Operation::Sum, terms))
        }
        _ => Term::given("", number),
    }
}
