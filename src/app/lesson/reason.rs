//! Why a quantity has its value, in the words that the page uses elsewhere.

use super::quantity::{Kernels, Metric, Quantity, Subject, kernel_names, op_named, tensor_named};
use super::resources;
use super::state::Seen;
use super::value::Value;
use crate::core::cost::traffic::Access;
use crate::core::{Analysis, IdVec, Kernel, KernelId, OpId, TensorId};
use crate::present::explain::flops_text;
use crate::present::figure::{self, Figure, Of, explanation};
use crate::present::format::{format_bandwidth, format_bytes, format_flops, format_rate};
use crate::present::names::{joined, op_names};
use crate::present::times::time_lines;
use crate::present::why::{EdgeOrder, WhyNot};
use std::fmt::Write as _;
use std::sync::Arc;

/// Most names that a list gives.
const MAX_NAMES: usize = 6;
/// Most edges whose reason is told.
const MAX_EDGES: usize = 2;

/// Why a quantity has its value: sentences, or nothing where there is nothing to tell.
pub(super) fn reason(quantity: &Quantity, seen: &Seen) -> String {
    let analysis = quantity.analysis(seen);
    let is_unfused = quantity.kernels == Kernels::Unfused;
    match &quantity.subject {
        Subject::Program => {
            of_program(quantity.metric, analysis, &seen.statement_of_op, is_unfused)
        }
        Subject::Kernel(name) => {
            let op = op_named(&analysis, name).ok();
            let kernel = op.and_then(|op| analysis.partition.kernel_of.get(op).copied());
            kernel.map_or_else(String::new, |kernel| {
                of_kernel(&analysis, kernel, quantity.metric)
            })
        }
        Subject::Op(name) => op_named(&analysis, name).map_or_else(
            |_| String::new(),
            |op| of_op(&analysis, op, quantity.metric),
        ),
        Subject::Tensor(name) => tensor_named(&analysis, name)
            .map_or_else(|_| String::new(), |tensor| of_tensor(&analysis, tensor)),
        Subject::Param(_) => String::new(),
    }
}

fn of_program(
    metric: Metric,
    analysis: Arc<Analysis>,
    statement_of_op: &IdVec<OpId, usize>,
    is_unfused: bool,
) -> String {
    let (unfused, fused) = (&analysis.unfused.traffic, &analysis.fused.traffic);
    match metric {
        Metric::Kernels if is_unfused => "Unfused, each op is a kernel of its own.".to_owned(),
        Metric::Kernels => kernels(analysis, statement_of_op),
        Metric::Bytes | Metric::Reads | Metric::Writes => {
            let traffic = if is_unfused { unfused } else { fused };
            format!(
                "The kernels read {} and write {}.",
                format_bytes(traffic.bytes_read),
                format_bytes(traffic.bytes_written)
            )
        }
        Metric::Saved | Metric::Saving => {
            calculation(&analysis, Of::Program, figure::Quantity::Saving)
        }
        Metric::Speedup => calculation(&analysis, Of::Program, figure::Quantity::Speedup),
        Metric::Ridge => calculation(&analysis, Of::Program, figure::Quantity::Ridge),
        Metric::Time => {
            let kernels = analysis.fused.kernels.iter_enumerated();
            let slowest = kernels
                .max_by(|(_, a), (_, b)| a.placement.time_s.total_cmp(&b.placement.time_s))
                .map(|(id, _)| id);
            slowest.map_or_else(String::new, |id| {
                format!(
                    "Most of it is this kernel. {}",
                    of_kernel(&analysis, id, Metric::Time)
                )
            })
        }
        Metric::Flops | Metric::Intensity => {
            let kernels = if is_unfused {
                &analysis.unfused
            } else {
                &analysis.fused
            };
            let flops = kernels.kernels.iter().map(|kernel| kernel.work.flops());
            format!(
                "{} for {} moved.",
                format_flops(flops.sum()),
                format_bytes(kernels.traffic.total)
            )
        }
        Metric::VectorRidge => vector_ridge(&analysis),
        metric => resources::reason(&analysis, None, metric),
    }
}

/// The calculation of a figure on one line, as the page tells it.
fn calculation(analysis: &Analysis, of: Of, quantity: figure::Quantity) -> String {
    let told = explanation(Figure::fused(of, quantity), analysis);
    let line = told.and_then(|told| told.line());
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
pub(super) fn of_ops(names: &[String], seen: &Seen) -> String {
    let analysis = &seen.analysis;
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
    format!(
        "They run in {}.",
        joined(listed.into_iter(), [", ", " and "], MAX_NAMES)
    )
}

/// The kernels by the names of their ops, and what keeps the costliest edges between them apart.
fn kernels(analysis: Arc<Analysis>, statement_of_op: &IdVec<OpId, usize>) -> String {
    let names = kernel_names(&analysis);
    let quoted = names.iter().map(|name| format!("`{name}`"));
    let list = joined(quoted, [", ", " and "], MAX_NAMES);
    let edges =
        WhyNot::new(analysis, statement_of_op, None).rows(EdgeOrder::Bytes, MAX_EDGES, None);
    let mut words = match names.len() {
        1 => format!("One kernel has all ops: {list}."),
        count => format!("The {count} kernels are {list}."),
    };
    for row in edges.rows {
        let reason = row.reason.trim_end_matches('.');
        // Writing to a string cannot fail.
        let _ = write!(words, " {}: {reason}.", row.names);
    }
    words
}

fn of_kernel(analysis: &Analysis, id: KernelId, metric: Metric) -> String {
    let Some(kernel) = analysis.fused.kernels.get(id) else {
        return String::new();
    };
    match metric {
        Metric::Bytes | Metric::Reads | Metric::Writes | Metric::Share | Metric::Saved => {
            accesses(analysis, kernel)
        }
        Metric::Intensity => (kernel.ops.first()).map_or_else(String::new, |&first| {
            calculation(analysis, Of::Kernel(first), figure::Quantity::Intensity)
        }),
        Metric::Bound | Metric::Time => sentences(&time_lines(analysis, id)),
        Metric::Flops => {
            let ops = kernel.ops.iter().map(|&op| flops_text(&analysis.graph, op));
            format!("{}.", joined(ops, ["; ", "; "], MAX_NAMES))
        }
        metric => resources::reason(analysis, Some(id), metric),
    }
}

fn of_op(analysis: &Analysis, op: OpId, metric: Metric) -> String {
    match metric {
        Metric::Flops => format!("{}.", flops_text(&analysis.graph, op)),
        _ => accesses(analysis, analysis.unfused.of_lone_op(op)),
    }
}

/// What a kernel reads and writes, by name.
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
        (true, true) => "It moves nothing.".to_owned(),
        (false, true) => format!("It reads {}.", list(reads)),
        (true, false) => format!("It writes {}.", list(writes)),
        (false, false) => format!("It reads {} and writes {}.", list(reads), list(writes)),
    }
}

/// Who writes and reads a tensor, and whether it leaves their kernel.
pub(super) fn of_tensor(analysis: &Analysis, tensor: TensorId) -> String {
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let name = graph.tensor_name(tensor);
    let size = Value::bytes(analysis.tensors.get(tensor).map_or(0, |t| t.bytes)).text();
    let readers = graph
        .consumers
        .get(tensor)
        .map_or(&[][..], |readers| readers);
    let Some(producer) = graph.tensors.get(tensor).and_then(|tensor| tensor.producer) else {
        return format!(
            "`{name}` ({size}) comes from outside, so every kernel that needs it reads it."
        );
    };
    let kernel = |op: OpId| partition.kernel_of.get(op).copied();
    let elsewhere = readers
        .iter()
        .find(|&&reader| kernel(reader) != kernel(producer));
    match elsewhere {
        _ if readers.is_empty() => {
            format!("`{name}` ({size}) is a result, so it has to be written.")
        }
        Some(&reader) => format!(
            "`{name}` ({size}) is written by {} and read by {} in another kernel.",
            graph.ops[producer].name, graph.ops[reader].name
        ),
        None if graph.is_final(tensor) => {
            format!("`{name}` ({size}) is a result, so it has to be written.")
        }
        None => format!("Whoever reads `{name}` ({size}) runs in the kernel that computes it."),
    }
}

fn sentences(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.trim_end_matches('.'));
        text.push_str(". ");
    }
    text.trim_end().to_owned()
}
