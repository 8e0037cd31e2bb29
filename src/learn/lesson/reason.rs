//! Why a quantity has its value, in the words that the page uses elsewhere.

use super::named_figure::{
    Kernels, NamedFigure, NamedSubject, is_of_launch, kernel_names, op_named,
};
use super::resources;
use super::state::{AnalyzedProgram, tensor_named};
use super::tensor_reason::{name_and_size, of_tensor, product};
use super::time_reason::{limits_words, speedup, time_words};
use super::wording::join_sentences;
use fuseline_core::cost::traffic::Access;
use fuseline_core::{Analysis, IdVec, Kernel, KernelId, OpId};
use fuseline_view::present::explain::flops_text;
use fuseline_view::present::figure::explanation;
use fuseline_view::present::format::{
    format_bandwidth, format_bytes, format_flops, format_rate, format_seconds,
};
use fuseline_view::present::names::{joined, listed, op_names};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::why::{EdgeOrder, WhyNot};
use std::fmt::Write as _;
use std::sync::Arc;

/// Most names that a list gives.
const MAX_NAMES: usize = 6;
/// Most edges whose reason is given.
const MAX_EDGES: usize = 2;

/// Why a quantity has its value, in sentences; empty where no reason is known.
pub(super) fn reason(figure: &NamedFigure, analyzed: &AnalyzedProgram) -> String {
    let analysis = figure.analysis(analyzed);
    let is_unfused = figure.kernels == Kernels::Unfused;
    match &figure.subject {
        NamedSubject::Program => of_program(
            figure.quantity,
            analysis,
            &analyzed.statement_of_op,
            is_unfused,
        ),
        NamedSubject::Kernel(name) => {
            let op = op_named(&analysis, name).ok();
            let kernel = op.and_then(|op| analysis.partition.kernel_of.get(op).copied());
            let of = if is_unfused {
                of_unfused_ops
            } else {
                of_kernel
            };
            kernel.map_or_else(String::new, |kernel| of(&analysis, kernel, figure.quantity))
        }
        NamedSubject::Op(name) => op_named(&analysis, name).map_or_else(
            |_| String::new(),
            |op| of_op(&analysis, op, figure.quantity),
        ),
        NamedSubject::Tensor(name) => {
            tensor_named(&analysis.graph, name).map_or_else(String::new, |tensor| {
                match figure.quantity {
                    Quantity::TensorSize => product(&analysis, tensor),
                    Quantity::Bytes => join_sentences(
                        &product(&analysis, tensor),
                        &of_tensor(&analysis, tensor, &format!("`{name}`")),
                    ),
                    _ => of_tensor(&analysis, tensor, &name_and_size(&analysis, tensor)),
                }
            })
        }
        NamedSubject::Param(_) => String::new(),
    }
}

fn of_program(
    quantity: Quantity,
    analysis: Arc<Analysis>,
    statement_of_op: &IdVec<OpId, usize>,
    is_unfused: bool,
) -> String {
    let (unfused, fused) = (&analysis.unfused.traffic, &analysis.fused.traffic);
    match quantity {
        Quantity::Launches if is_unfused => "Unfused, each op is a kernel of its own.".to_owned(),
        Quantity::Launches => kernels(analysis, statement_of_op),
        Quantity::Bytes | Quantity::BytesRead | Quantity::BytesWritten => {
            let traffic = if is_unfused { unfused } else { fused };
            let run = if is_unfused {
                &analysis.unfused
            } else {
                &analysis.fused
            };
            let [who, reads, writes] = match run.launches {
                1 => ["The kernel", "reads", "writes"],
                _ => ["The kernels", "read", "write"],
            };
            format!(
                "{who} {reads} {} and {writes} {}.",
                format_bytes(traffic.bytes_read),
                format_bytes(traffic.bytes_written)
            )
        }
        Quantity::SavedBytes | Quantity::Saving => format!(
            "Memory traffic: {} unfused, {} fused.",
            format_bytes(unfused.total),
            format_bytes(fused.total)
        ),
        Quantity::Speedup => speedup(&analysis),
        Quantity::Ridge => calculation(&analysis, Subject::Program, Quantity::Ridge),
        Quantity::Time => {
            let kernels = analysis.fused.kernels.iter_enumerated();
            let slowest = kernels
                .max_by(|(_, a), (_, b)| a.placement.time_s.total_cmp(&b.placement.time_s))
                .map(|(id, _)| id);
            slowest.map_or_else(String::new, |id| {
                let words = of_kernel(&analysis, id, Quantity::Time);
                let kernel = analysis.fused.kernels.get(id);
                match (analysis.fused.launches, kernel) {
                    (2.., Some(kernel)) => {
                        let names = op_names(&analysis.graph, &kernel.ops);
                        format!("The slowest kernel is `{names}`. {words}")
                    }
                    _ => words,
                }
            })
        }
        Quantity::Flops | Quantity::Intensity => {
            let kernels = if is_unfused {
                &analysis.unfused
            } else {
                &analysis.fused
            };
            let flops = kernels.kernels.iter().map(|kernel| kernel.work.flops());
            work_and_bytes("The program has", flops.sum(), kernels.traffic.total)
        }
        Quantity::VectorRidge => vector_ridge(&analysis),
        quantity => resources::reason(&analysis, None, quantity),
    }
}

/// The calculation of a figure on one line, as the page shows it.
fn calculation(analysis: &Analysis, of: Subject, quantity: Quantity) -> String {
    let explanation = explanation(Figure::fused(of, quantity), analysis);
    let line = explanation.and_then(|explanation| explanation.line());
    line.map_or_else(String::new, |line| format!("{line}."))
}

/// The peak of the vector units over that of memory.
fn vector_ridge(analysis: &Analysis) -> String {
    let device = &analysis.options.device;
    device.vector_flops_per_s.map_or_else(String::new, |peak| {
        format!(
            "{} / {}.",
            format_rate(peak.value),
            format_bandwidth(device.memory_bytes_per_s.value)
        )
    })
}

/// Which kernels have ops of these names.
pub(super) fn of_ops(names: &[String], analyzed: &AnalyzedProgram) -> String {
    let analysis = &analyzed.analysis;
    let mut kernels: Vec<KernelId> = names
        .iter()
        .filter_map(|name| op_named(analysis, name).ok())
        .filter_map(|op| analysis.partition.kernel_of.get(op).copied())
        .collect();
    kernels.sort_unstable();
    kernels.dedup();
    let kernels = kernels
        .iter()
        .filter_map(|&id| analysis.fused.kernels.get(id));
    let listed: Vec<_> = kernels
        .map(|kernel| format!("`{}`", op_names(&analysis.graph, &kernel.ops)))
        .collect();
    match listed.len() {
        1 => format!("One kernel runs {}.", listed.join("")),
        _ => format!(
            "They run in {}.",
            joined(listed.into_iter(), [", ", " and "], MAX_NAMES)
        ),
    }
}

/// The kernels by the names of their ops, and why the costliest edges between them are not fused.
fn kernels(analysis: Arc<Analysis>, statement_of_op: &IdVec<OpId, usize>) -> String {
    let names = kernel_names(&analysis);
    let quoted = names.iter().map(|name| format!("`{name}`"));
    let list = if names.len() <= MAX_NAMES {
        listed(quoted.collect())
    } else {
        joined(quoted, [", ", " and "], MAX_NAMES)
    };
    let edges =
        WhyNot::new(analysis, statement_of_op, None).rows(EdgeOrder::Bytes, MAX_EDGES, None);
    let mut words = match names.len() {
        1 => format!("One kernel runs all ops: {list}."),
        count => format!("The {count} kernels are {list}."),
    };
    for row in edges.rows {
        let reason = row.reason.trim_end_matches('.');
        let names = row.names.replacen(" → ", "` and `", 1);
        // Writing to a string cannot fail.
        let _ = write!(words, " `{names}` stay separate: {reason}.");
    }
    words
}

fn of_kernel(analysis: &Analysis, id: KernelId, quantity: Quantity) -> String {
    let Some(kernel) = analysis.fused.kernels.get(id) else {
        return String::new();
    };
    match quantity {
        Quantity::Bytes
        | Quantity::BytesRead
        | Quantity::BytesWritten
        | Quantity::Share
        | Quantity::SavedBytes => accesses(analysis, kernel),
        Quantity::Intensity => work_and_bytes("It has", kernel.work.flops(), kernel.bytes()),
        Quantity::RooflineBound => limits_words(analysis, kernel),
        Quantity::Reached => reached_words(analysis, id, kernel),
        Quantity::Time => time_words(analysis, id, kernel),
        Quantity::Flops => {
            let ops = kernel.ops.iter().map(|&op| flops_text(&analysis.graph, op));
            format!("{}.", joined(ops, ["; ", "; "], MAX_NAMES))
        }
        quantity => resources::reason(analysis, Some(id), quantity),
    }
}

/// The lower bound beside the predicted time.
fn reached_words(analysis: &Analysis, id: KernelId, kernel: &Kernel) -> String {
    let time_s = analysis.kernel_time_s(id).unwrap_or_default();
    format!(
        "Its lower bound is {}, and the model predicts {}.",
        format_seconds(kernel.placement.time_s),
        format_seconds(time_s)
    )
}

/// The ops of a kernel, each as a kernel of its own.
fn of_unfused_ops(analysis: &Analysis, id: KernelId, quantity: Quantity) -> String {
    if is_of_launch(quantity) {
        return of_kernel(analysis, id, quantity);
    }
    let kernels = (analysis.fused.kernels.get(id)).zip(analysis.comparisons.get(id));
    kernels.map_or_else(String::new, |(kernel, before)| {
        let flops = kernel.work.flops();
        work_and_bytes("They have", flops, before.unfused_bytes)
    })
}

/// `It has 8.60 GFLOP and 18.9 MB of memory traffic.`
fn work_and_bytes(it_has: &str, flops: u128, bytes: u64) -> String {
    format!(
        "{it_has} {} and {} of memory traffic.",
        format_flops(flops),
        format_bytes(bytes)
    )
}

fn of_op(analysis: &Analysis, op: OpId, quantity: Quantity) -> String {
    match quantity {
        Quantity::Intensity | Quantity::RooflineBound | Quantity::Time => {
            let alone = analysis.unfused.of_lone_op(op);
            match quantity {
                Quantity::Intensity => work_and_bytes("It has", alone.work.flops(), alone.bytes()),
                _ => limits_words(analysis, alone),
            }
        }
        Quantity::Flops => format!("{}.", flops_text(&analysis.graph, op)),
        _ => accesses(analysis, analysis.unfused.of_lone_op(op)),
    }
}

/// The reads and writes of a kernel, by name.
fn accesses(analysis: &Analysis, kernel: &Kernel) -> String {
    let graph = &analysis.graph;
    let list = |accesses: &[Access]| {
        let accesses = accesses.iter();
        let named = accesses.map(|access| {
            format!(
                "`{}` {}",
                graph.tensor_name(access.tensor),
                format_bytes(access.bytes)
            )
        });
        joined(named, [", ", " and "], MAX_NAMES)
    };
    let (reads, writes) = (&kernel.traffic.reads, &kernel.traffic.writes);
    match (reads.is_empty(), writes.is_empty()) {
        (true, true) => "It has no memory traffic.".to_owned(),
        (false, true) => format!("It reads {}.", list(reads)),
        (true, false) => format!("It writes {}.", list(writes)),
        (false, false) => format!("It reads {} and writes {}.", list(reads), list(writes)),
    }
}
