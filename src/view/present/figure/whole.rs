//! Figures of the whole program: sums over its kernels, and quotients of these.

use super::found::Found;
use super::{bytes, memory, work};
use crate::present::bottleneck::Bottleneck;
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::explain::has_assumed_size;
use crate::present::format::format_count;
use crate::present::names::{counted, kernel_ops, op_name};
use crate::present::number::Number;
use crate::present::prediction_error::PredictionError;
use crate::present::quantity::{Quantity, Run};
use crate::present::slower::slower_kernel;
use crate::present::times::{TimeKind, missing_text, outside_text, program_outside, total_times};
use fuseline_core::analysis::{Analysis, Execution, Kernel};
use fuseline_core::model::ids::{KernelId, OpId};
use fuseline_core::model::op::Op;
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::work::Work;
use fuseline_core::numeral::Numeral;

/// A figure of the whole program; `None` if it has none of this quantity.
pub(super) fn found(analysis: &Analysis, quantity: Quantity, run: Run) -> Option<Found> {
    let execution = execution(analysis, run);
    let traffic = execution.traffic;
    let total = |bytes, of: fn(&Kernel) -> u64| {
        let term =
            |id, kernel: &Kernel| (name(analysis, run, id, kernel), Number::Bytes(of(kernel)));
        sum(execution, Number::Bytes(bytes), term)
    };
    let found = match quantity {
        Quantity::Bytes => Found::new(total(traffic.total, Kernel::bytes)),
        Quantity::BytesRead => Found::new(total(traffic.bytes_read, |kernel| kernel.bytes_read)),
        Quantity::BytesWritten => {
            let term = total(traffic.bytes_written, |kernel| kernel.bytes_written);
            // No written size is assumed.
            Found::new(term.assumed(false))
        }
        // Lower bounds have no ratio.
        Quantity::Saving if analysis.is_partial() => return None,
        Quantity::Saving => bytes::saving(
            [analysis.unfused.traffic.total, analysis.fused.traffic.total],
            analysis.unfused.kernels.iter().any(has_assumed_size),
        )
        .noted(bytes::added_traffic(analysis, analysis.fused.kernels.ids())),
        Quantity::Launches => launches(analysis, run),
        Quantity::Flops => flops(analysis, run),
        Quantity::Time => time(analysis, run),
        Quantity::LowerBound => bound(analysis, run),
        Quantity::Speedup => speedup(analysis, Quantity::Time)?,
        Quantity::BoundSpeedup => speedup(analysis, Quantity::LowerBound)?,
        Quantity::PeakMemory => memory::peak(analysis, run),
        Quantity::Ridge => work::ridge_for_f16(analysis)?,
        Quantity::DeviceMemory => memory::of_device(analysis)?,
        _ => return None,
    };
    let is_sum = matches!(
        quantity,
        Quantity::Bytes
            | Quantity::BytesRead
            | Quantity::BytesWritten
            | Quantity::Launches
            | Quantity::Flops
    );
    let is_joined = (is_sum || quantity == Quantity::LowerBound) && execution.may_join > 0;
    let found = if is_joined { joined(found) } else { found };
    // Texts of times and of memory have the mark already.
    Some(work::at_least_known(found, is_sum && analysis.is_partial()))
}

/// A sum of kernels of which ops of unknown shape may make one: it is less than its terms.
fn joined(found: Found) -> Found {
    let term = found.term.map(|term| Term {
        derivation: None,
        ..term
    });
    let note = "Ops of unknown shape may connect some of these kernels. The total counts connected kernels as one: one launch, and one read of each shared tensor.";
    Found {
        notes: found.notes.into_iter().chain([note.to_owned()]).collect(),
        term,
        ..found
    }
}

fn execution(analysis: &Analysis, run: Run) -> &Execution {
    match run {
        Run::Unfused => &analysis.unfused,
        Run::Fused => &analysis.fused,
    }
}

/// The name of a kernel in a sum: that of its op where each op is a kernel.
pub(super) fn name(analysis: &Analysis, run: Run, id: KernelId, kernel: &Kernel) -> String {
    match (run, kernel.ops.first()) {
        (Run::Unfused, Some(&op)) => op_name(&analysis.graph, op).to_owned(),
        _ => format!("kernel {}: {}", id.number(), kernel_ops(analysis, id)),
    }
}

/// The sum of a number of each kernel.
fn sum(
    execution: &Execution,
    total: Number,
    term: impl Fn(KernelId, &Kernel) -> (String, Number),
) -> Term {
    let terms = execution.kernels.iter_enumerated().map(|(id, kernel)| {
        let (name, number) = term(id, kernel);
        Term::given(name, number).assumed(has_assumed_size(kernel))
    });
    let derivation = Derivation::sum(terms.collect());
    let is_assumed = execution.kernels.iter().any(has_assumed_size);
    Term::derived("", total, derivation).assumed(is_assumed)
}

fn launches(analysis: &Analysis, run: Run) -> Found {
    let execution = execution(analysis, run);
    let kernels = execution.kernels.len();
    let views = execution
        .kernels
        .iter()
        .filter(|kernel| kernel.is_free)
        .count();
    let launched = kernels - views;
    let further = execution.launches - launched;
    let count = |name: &str, count: usize| Term::given(name, Number::Count(count as u64));
    let without_views = || {
        let both = vec![
            count("kernels", kernels),
            count("views, which need no launch", views),
        ];
        Derivation::new(Operation::Difference, both)
    };
    let with_further = |kernels: Term| {
        let further = count(
            "further launches, for copies and for second halves of reductions",
            further,
        );
        Derivation::sum(vec![kernels, further])
    };
    // The formula has no part that is zero here: each of its parts is a row.
    let (formula, derivation) = match (views, further) {
        (0, 0) => (
            "number of kernels",
            Derivation::sum(vec![count("kernels", kernels)]),
        ),
        (_, 0) => ("kernels − views", without_views()),
        (0, _) => (
            "kernels + further launches",
            with_further(count("kernels", kernels)),
        ),
        _ => {
            let launched = Term {
                derivation: Some(without_views()),
                ..count("launched kernels", launched)
            };
            (
                "launched kernels + further launches",
                with_further(launched),
            )
        }
    };
    let total = Number::Count(execution.launches as u64);
    let found = Found::new(Term::derived("", total, derivation).by(formula));
    found.noted(copies_note(analysis, execution))
}

/// How many of the kernels only copy, and which of these copies are a matter of the convention.
fn copies_note(analysis: &Analysis, execution: &Execution) -> Option<String> {
    let op = |op: &OpId| &analysis.graph.ops[*op];
    let launched = || execution.kernels.iter().filter(|kernel| !kernel.is_free);
    let copies = launched().filter(|kernel| {
        let mut ops = kernel.ops.iter().map(op);
        ops.all(|op| op.op_type == OpType::Reshape)
    });
    let (views, needed): (Vec<_>, Vec<_>) =
        copies.partition(|kernel| kernel.ops.iter().map(op).all(Op::is_view));
    let of = counted(launched().count(), "kernel");
    let note = |copies: &[_], what: &str| {
        let verb = if copies.len() == 1 { "copies" } else { "copy" };
        let count = format_count(copies.len());
        (!copies.is_empty()).then(|| format!("{count} of the {of} only {verb} a tensor {what}"))
    };
    let notes = [
        note(
            &views,
            "into another shape or layout. PyTorch often needs no such copy. Choose under Model that a reshape is a view to count none.",
        ),
        note(&needed, "into new memory. PyTorch makes such a copy, too."),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

fn flops(analysis: &Analysis, run: Run) -> Found {
    let execution = execution(analysis, run);
    let kernels = execution.kernels.iter();
    let work = kernels.fold(Work::default(), |sum, kernel| sum.and(kernel.work));
    let term = sum(execution, Number::Flops(work.flops()), |id, kernel| {
        (
            name(analysis, run, id, kernel),
            Number::Flops(kernel.work.flops()),
        )
    });
    let unknown = execution
        .kernels
        .iter()
        .find(|kernel| kernel.work.is_unknown);
    let missing = unknown.and_then(|kernel| missing_text(kernel, &analysis.options));
    let is_least = work.is_unknown && !analysis.is_partial();
    let found = work::at_least_known(Found::new(term.assumed(false)), is_least);
    Found {
        notes: missing
            .map(|missing| format!("{missing}."))
            .into_iter()
            .collect(),
        ..found
    }
}

/// The time: predicted where it is known, otherwise the lower bound.
fn time(analysis: &Analysis, run: Run) -> Found {
    let Some(predicted) = &analysis.predicted else {
        return bound(analysis, run);
    };
    let [unfused, fused] = total_times(analysis);
    let (seconds, text) = match run {
        Run::Unfused => (predicted.unfused_s, unfused),
        Run::Fused => (predicted.fused_s, fused),
    };
    let of_kernel = |id: KernelId, kernel: &Kernel| {
        let time_s = match run {
            Run::Unfused => predicted.unfused_kernels.get(id).map(|times| times.time_s),
            Run::Fused => predicted.kernels.get(id).map(|times| times.time_s),
        };
        let time_s = Number::Seconds(time_s.unwrap_or_default());
        (name(analysis, run, id, kernel), time_s)
    };
    let term = sum(
        execution(analysis, run),
        Number::Seconds(seconds),
        of_kernel,
    );
    Found {
        value: text.time,
        term: Some(term),
        notes: (std::iter::once("The program runs once, on one GPU.".to_owned()))
            .chain(text.outside.map(outside_text))
            .collect(),
    }
}

/// The lower bound of the time.
fn bound(analysis: &Analysis, run: Run) -> Found {
    let [unfused, fused] = total_times(analysis);
    let text = match run {
        Run::Unfused => unfused,
        Run::Fused => fused,
    };
    let execution = execution(analysis, run);
    let term = sum(
        execution,
        Number::Seconds(execution.time_s),
        |id, kernel| {
            (
                name(analysis, run, id, kernel),
                Number::Seconds(kernel.placement.time_s),
            )
        },
    );
    let missing = execution.first_incomplete();
    let missing = missing.and_then(|kernel| missing_text(kernel, &analysis.options));
    let below = text.is_below.then(|| {
        format!(
            "The {} time is below it, because the cache still holds data. The lower bound assumes a cold cache.",
            TimeKind::of(analysis).name()
        )
    });
    Found {
        value: text.bound.unwrap_or(text.time),
        term: Some(term),
        notes: missing
            .map(|missing| format!("{missing}."))
            .into_iter()
            .chain(below)
            .collect(),
    }
}

/// Unfused over fused time; `None` where nothing runs, and where the times leave out FLOPs or ops.
fn speedup(analysis: &Analysis, quantity: Quantity) -> Option<Found> {
    let ratio = match (&analysis.predicted, quantity) {
        _ if analysis.speedup.is_none() => return None,
        (Some(predicted), Quantity::Time) => predicted.speedup(),
        _ => analysis.speedup?,
    };
    let of_run = |run, name: &str| {
        let found = found(analysis, quantity, run)?;
        Some(Term {
            name: name.to_owned(),
            derivation: None,
            ..found.term?
        })
    };
    let (unfused, fused) = (
        of_run(Run::Unfused, "unfused")?,
        of_run(Run::Fused, "fused")?,
    );
    let is_assumed = analysis.unfused.kernels.iter().any(has_assumed_size);
    let takes_time = fused.number.value() > 0.0;
    let term = Term {
        derivation: takes_time.then(|| Derivation::quotient(unfused, fused)),
        ..Term::given("", Number::Ratio(ratio)).assumed(is_assumed)
    };
    let outside = program_outside(analysis).filter(|_| quantity == Quantity::Time);
    let found = Found::new(term);
    (analysis.fused.launches > 0).then(|| Found {
        notes: (outside.map(outside_text).into_iter())
            .chain(speedup_notes(analysis, quantity))
            .collect(),
        ..found
    })
}

/// Why the ratio is no larger, how exact it is, and beside a prediction what the lower bounds are.
fn speedup_notes(analysis: &Analysis, quantity: Quantity) -> Vec<String> {
    let mut notes: Vec<String> = (Bottleneck::of(analysis).iter())
        .map(Bottleneck::sentence)
        .collect();
    if quantity == Quantity::Time && analysis.predicted.is_some() {
        // Where fusion costs time, the reader asks for that first.
        if let Some(slower) = slower_kernel(analysis) {
            notes.insert(0, slower);
        }
        if let Some(error) = PredictionError::of(analysis) {
            notes.extend([error.speedup_sentence(), error.sentence()]);
        }
        let [unfused, fused] = total_times(analysis).map(|time| time.bound.unwrap_or_default());
        notes.push(format!("Lower bounds: {unfused} unfused, {fused} fused."));
    }
    if quantity == Quantity::LowerBound {
        notes.push(
            "It compares the fastest possible times. Where the unfused run is further from its own than the fused one, the measured speedup is larger."
                .to_owned(),
        );
    }
    notes
}
