//! Figures of the whole program: sums over its kernels, and quotients of these.

use super::derived::Derived;
use super::{bytes, memory, work};
use crate::present::bottleneck::Bottleneck;
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::explain::has_assumed_size;
use crate::present::format::format_count;
use crate::present::names::{counted, kernel_ops, op_name};
use crate::present::number::Number;
use crate::present::prediction_error::PredictionError;
use crate::present::quantity::{Quantity, Run, Scope, Values};
use crate::present::slower::slower_kernel;
use crate::present::times::{TimeKind, missing_text, outside_text, program_outside};
use fuseline_core::analysis::{Analysis, Execution, Kernel};
use fuseline_core::model::ids::{KernelId, OpId};
use fuseline_core::model::op::Op;
use fuseline_core::model::op_type::OpType;

/// A figure of the whole program; `None` if it has none of this quantity.
pub(super) fn derived(analysis: &Analysis, quantity: Quantity, run: Run) -> Option<Derived> {
    let sum_of = |of: fn(&Kernel) -> u64| {
        Derived::by(sum(analysis, run, |_, kernel| Number::Bytes(of(kernel))))
    };
    let derived = match quantity {
        Quantity::Bytes => sum_of(Kernel::bytes),
        Quantity::BytesRead => sum_of(|kernel| kernel.bytes_read),
        Quantity::BytesWritten => sum_of(|kernel| kernel.bytes_written),
        // Lower bounds have no ratio.
        Quantity::Saving if analysis.is_partial() => return None,
        Quantity::Saving => {
            bytes::saving([analysis.unfused.traffic.total, analysis.fused.traffic.total])
                .noted(bytes::added_traffic(analysis, analysis.fused.kernels.ids()))
        }
        Quantity::Launches => launches(analysis, run),
        Quantity::Flops => flops(analysis, run),
        Quantity::Time => time(analysis, run),
        Quantity::LowerBound => bound(analysis, run),
        Quantity::Speedup => speedup(analysis, Quantity::Time)?,
        Quantity::BoundSpeedup => speedup(analysis, Quantity::LowerBound)?,
        Quantity::PeakMemory => memory::peak(analysis, run),
        Quantity::Ridge => work::ridge_for_f16(analysis)?,
        Quantity::DeviceMemory => {
            analysis.options.device.hardware.memory_bytes?;
            Derived::default()
        }
        _ => return None,
    };
    let is_sum = matches!(
        quantity,
        Quantity::Bytes
            | Quantity::BytesRead
            | Quantity::BytesWritten
            | Quantity::Launches
            | Quantity::Flops
            | Quantity::LowerBound
    );
    let is_joined = is_sum && run.execution(analysis).may_join > 0;
    Some(if is_joined { joined(derived) } else { derived })
}

/// A sum over kernels that ops of unknown shape may connect: it is less than the sum of its terms.
fn joined(derived: Derived) -> Derived {
    let note = "Ops of unknown shape may connect some of these kernels. The total counts connected kernels as one: one launch, and one read of each shared tensor.";
    Derived {
        derivation: None,
        ..derived.noted([note.to_owned()])
    }
}

/// The name of a kernel in a sum; in the unfused run, the name of its op.
pub(super) fn name(analysis: &Analysis, run: Run, id: KernelId, kernel: &Kernel) -> String {
    match (run, kernel.ops.first()) {
        (Run::Unfused, Some(&op)) => op_name(&analysis.graph, op).to_owned(),
        _ => format!("kernel {}: {}", id.number(), kernel_ops(analysis, id)),
    }
}

/// The sum of a number of each kernel.
fn sum(analysis: &Analysis, run: Run, number: impl Fn(KernelId, &Kernel) -> Number) -> Derivation {
    let kernels = run.execution(analysis).kernels.iter_enumerated();
    let terms = kernels.map(|(id, kernel)| {
        Term::given(name(analysis, run, id, kernel), number(id, kernel))
            .assumed(has_assumed_size(kernel))
    });
    Derivation::sum(terms.collect())
}

fn launches(analysis: &Analysis, run: Run) -> Derived {
    let execution = run.execution(analysis);
    let kernels = execution.kernels.len();
    let views = execution
        .kernels
        .iter()
        .filter(|kernel| kernel.is_free)
        .count();
    let free = if analysis.graph.results.pairs().next().is_some() {
        "views and second results of operators, which need no launch"
    } else {
        "views, which need no launch"
    };
    let launched = kernels - views;
    let further = execution.launches - launched;
    let count = |name: &str, count: usize| Term::given(name, Number::Count(count as u64));
    let without_views = || {
        let both = vec![count("kernels", kernels), count(free, views)];
        Derivation::new(Operation::Difference, both)
    };
    let with_further = |kernels: Term| {
        let further = count(
            "further launches, for copies and for second halves of reductions",
            further,
        );
        Derivation::sum(vec![kernels, further])
    };
    // The formula omits parts that are zero, because each of its parts is a row.
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
    Derived {
        formula: Some(formula),
        ..Derived::by(derivation).noted(copies_note(analysis, execution))
    }
}

/// How many of the kernels only copy, and which of these copies the reshape convention decides.
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

fn flops(analysis: &Analysis, run: Run) -> Derived {
    let mut kernels = run.execution(analysis).kernels.iter();
    let unknown = kernels.find(|kernel| kernel.work.is_unknown);
    Derived::by(sum(analysis, run, |_, kernel| {
        Number::Flops(kernel.work.flops())
    }))
    .noted(missing(analysis, unknown))
}

/// What a kernel leaves out, in a sentence.
fn missing(analysis: &Analysis, kernel: Option<&Kernel>) -> Option<String> {
    let missing = missing_text(kernel?, &analysis.options)?;
    Some(format!("{missing}."))
}

/// The time: predicted where it is known, otherwise the lower bound.
fn time(analysis: &Analysis, run: Run) -> Derived {
    let Some(predicted) = &analysis.predicted else {
        return bound(analysis, run);
    };
    let outside = Values::new(analysis).outside(Scope::Program, Quantity::Time, run);
    Derived::by(sum(analysis, run, |id, _| {
        let time_s = match run {
            Run::Unfused => predicted.unfused_kernels.get(id).map(|times| times.time_s),
            Run::Fused => predicted.kernels.get(id).map(|times| times.time_s),
        };
        Number::Seconds(time_s.unwrap_or_default())
    }))
    .noted(["The program runs once, on one GPU.".to_owned()])
    .noted(outside.map(outside_text))
}

/// The lower bound of the time.
fn bound(analysis: &Analysis, run: Run) -> Derived {
    let below = Values::new(analysis).is_below_bound(Scope::Program, run).then(|| {
        format!(
            "The {} time is below it, because the cache still holds data. The lower bound assumes a cold cache.",
            TimeKind::of(analysis).name()
        )
    });
    let incomplete = run.execution(analysis).first_incomplete();
    Derived::by(sum(analysis, run, |_, kernel| {
        Number::Seconds(kernel.placement.time_s)
    }))
    .noted(missing(analysis, incomplete))
    .noted(below)
}

/// Unfused over fused time; `None` where nothing runs, and where the times leave out FLOPs or ops.
fn speedup(analysis: &Analysis, quantity: Quantity) -> Option<Derived> {
    analysis.speedup?;
    let values = Values::new(analysis);
    let of_run = |run, name| values.marked_at(Scope::Program, quantity, run)?.term(name);
    let (unfused, fused) = (
        of_run(Run::Unfused, "unfused")?,
        of_run(Run::Fused, "fused")?,
    );
    let takes_time = fused.number.value() > 0.0;
    let outside = program_outside(analysis).filter(|_| quantity == Quantity::Time);
    (analysis.fused.launches > 0).then(|| {
        Derived::by(takes_time.then(|| Derivation::quotient(unfused, fused)))
            .noted(outside.map(outside_text))
            .noted(speedup_notes(analysis, quantity))
    })
}

/// Why the ratio is no larger, how exact it is, and for a prediction the lower bounds.
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
        let values = Values::new(analysis);
        let [unfused, fused] =
            [Run::Unfused, Run::Fused].map(|run| values.total(Quantity::LowerBound, run));
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
