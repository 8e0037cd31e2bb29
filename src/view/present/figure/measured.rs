//! What was measured on a GPU, and what the device model predicts for it.

use super::Explanation;
use super::conventions::{Convention, measured_source, policy_sources};
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::measured::{
    Comparison, MeasuredQuantity, PredictedRow, size_text, source_notes, variant_text,
};
use crate::present::names::{names_of_ops, short_name};
use crate::present::number::Number;
use fuseline_core::analysis::measured::{Measurements, PredictedKernel, RESHAPE};
use fuseline_core::model::device::RatesFrom;
use fuseline_core::numeral::Numeral;
use fuseline_core::{Device, Objective};

/// Most characters of the name of a measured kernel.
const NAME_CHARS: usize = 60;

/// A number of a row of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredFigure {
    /// The relative error of the prediction.
    Error,
    Predicted,
    Measured,
    PredictedKernels,
    /// Kernels that ran.
    MeasuredKernels,
}

/// The explanation of a number of a row of measurements; `None` where the row has no such number.
pub fn measured_explanation(
    file: &Measurements,
    row: &PredictedRow,
    quantity: MeasuredQuantity,
    figure: MeasuredFigure,
) -> Option<Explanation> {
    let comparison = Comparison::of(row, quantity)?;
    let name = quantity.name();
    let (title, formula, term) = match figure {
        MeasuredFigure::Error => (
            format!("error of the predicted {name}"),
            "predicted / measured − 1",
            error(row, quantity, &comparison),
        ),
        MeasuredFigure::Predicted => (
            format!("predicted {name}"),
            match quantity {
                MeasuredQuantity::Time => "Σ over kernels (time)",
                MeasuredQuantity::Reads => "Σ over kernels (bytes read from DRAM)",
                MeasuredQuantity::Speedup => "time of the eager run / time of this run",
            },
            predicted(row, quantity, &comparison),
        ),
        MeasuredFigure::Measured => (
            format!("measured {name}"),
            match quantity {
                MeasuredQuantity::Time => "time of one run on the GPU",
                MeasuredQuantity::Reads => "bytes that its kernels read from DRAM on the GPU",
                MeasuredQuantity::Speedup => "time of the eager run / time of this run",
            },
            measured(row, quantity, &comparison),
        ),
        MeasuredFigure::PredictedKernels => (
            "predicted kernels".to_owned(),
            "Σ over kernels (launches)",
            launches(row),
        ),
        MeasuredFigure::MeasuredKernels => (
            "measured kernels".to_owned(),
            "kernels that ran on the GPU",
            kernels_that_ran(row),
        ),
    };
    let policy = row.row.variant.policy();
    let [_, measurement] = source_notes(file);
    let device = file.listed_device();
    let calibration = device.and_then(Device::calibration);
    let of_model = measured_source(
        device.map_or("", |device| &*device.name),
        (calibration.as_ref()).map_or(&RatesFrom::Device, |calibration| &calibration.rates_from),
    );
    let sources = match figure {
        MeasuredFigure::Error => vec![of_model, measurement],
        MeasuredFigure::Predicted => vec![of_model],
        MeasuredFigure::PredictedKernels => policy_sources(policy),
        MeasuredFigure::Measured | MeasuredFigure::MeasuredKernels => {
            let method = "docs/measurement.md describes the method.".to_owned();
            vec![measurement, method]
        }
    };
    let conventions = match figure {
        MeasuredFigure::Measured | MeasuredFigure::MeasuredKernels => Vec::new(),
        _ => vec![
            Convention::reshape(RESHAPE),
            Convention::policy(policy, Objective::default()),
        ],
    };
    let variant = variant_text(row.row.variant);
    let subject = format!("{} {}, {variant}", row.row.pattern, size_text(&row.row));
    Some(Explanation {
        conventions,
        sources,
        ..Explanation::of(title, subject, formula, term)
    })
}

fn error(row: &PredictedRow, quantity: MeasuredQuantity, comparison: &Comparison) -> Term {
    let sides = vec![
        predicted(row, quantity, comparison).named("predicted"),
        measured(row, quantity, comparison).named("measured"),
    ];
    let derivation = Derivation::new(Operation::RelativeError, sides);
    Term::derived("", Number::Error(comparison.error()), derivation)
}

fn predicted(row: &PredictedRow, quantity: MeasuredQuantity, comparison: &Comparison) -> Term {
    let number = quantity.number(comparison.predicted);
    let of_kernels = |number: fn(&PredictedKernel) -> Number| Some(sum_of_kernels(row, number));
    Term {
        derivation: match quantity {
            MeasuredQuantity::Time => of_kernels(|kernel| Number::Seconds(kernel.time_s)),
            MeasuredQuantity::Reads => {
                of_kernels(|kernel| MeasuredQuantity::Reads.number(kernel.dram_read_bytes))
            }
            MeasuredQuantity::Speedup => over_eager(row, |(predicted, _)| predicted),
        },
        ..Term::given("", number)
    }
}

fn measured(row: &PredictedRow, quantity: MeasuredQuantity, comparison: &Comparison) -> Term {
    Term {
        derivation: match quantity {
            MeasuredQuantity::Time | MeasuredQuantity::Reads => None,
            MeasuredQuantity::Speedup => over_eager(row, |(_, measured)| measured),
        },
        ..Term::given("", quantity.number(comparison.measured))
    }
}

/// The time of the eager run over that of this one.
fn over_eager(row: &PredictedRow, side: fn((f64, f64)) -> f64) -> Option<Derivation> {
    let time = |name, times| Term::given(name, Number::Seconds(side(times)));
    let (eager, own) = (
        time("eager", row.eager_s?),
        time("in this run", row.times_s()),
    );
    Some(Derivation::quotient(eager, own))
}

fn sum_of_kernels(row: &PredictedRow, number: impl Fn(&PredictedKernel) -> Number) -> Derivation {
    let kernels = row.predicted.kernels.iter().zip(1..);
    let term = |(kernel, place): (&PredictedKernel, usize)| {
        let ops = names_of_ops(kernel.ops.iter().map(String::as_str));
        Term::given(format!("kernel {place}: {ops}"), number(kernel))
    };
    Derivation::sum(kernels.map(term).collect())
}

fn launches(row: &PredictedRow) -> Term {
    let number = Number::Count(row.predicted.launches as u64);
    let derivation = sum_of_kernels(row, |kernel| Number::Count(kernel.launches as u64));
    Term::derived("", number, derivation)
}

/// The measured kernels, grouped by name.
fn kernels_that_ran(row: &PredictedRow) -> Term {
    let names = &row.row.kernels;
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let terms = (counts.into_iter())
        .map(|(name, count)| Term::given(short_name(name, NAME_CHARS), Number::Count(count)));
    let derivation = Derivation::sum(terms.collect());
    Term::derived("", Number::Count(names.len() as u64), derivation)
}
