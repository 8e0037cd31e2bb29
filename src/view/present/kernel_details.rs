//! One fused kernel in detail: its tensors, its edges on chip, and how each figure is computed.

use super::explain::{LedgerRow, flops_text, ledger, part_read, source_reason, source_text};
use super::format::format_bytes;
use super::names::{op_name, op_names};
use super::quantity::Subject;
use super::times::time_lines;
use fuseline_core::{Analysis, KernelId, OpId, Policy, SizeSource};

/// Most tensors that are listed.
const MAX_TENSORS: usize = 60;

/// Most edges on chip that are listed.
const MAX_EDGES: usize = 24;

/// Most ops whose FLOPs are listed.
const MAX_OPS: usize = 24;

/// The details of one fused kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelDetails {
    pub kernel: KernelId,
    /// The names of its ops.
    pub ops: String,
    /// The kernel mark in the text, if it is not the number in the pictures.
    pub number_in_text: Option<String>,
    /// The first tensors that it touches.
    pub tensors: Vec<TensorRow>,
    /// How many more tensors it touches.
    pub hidden_tensors: usize,
    /// The first edges between its ops, which stay on chip.
    pub edges: Vec<OnChipEdge>,
    /// How many more edges stay on chip.
    pub hidden_edges: usize,
    /// For each of its first ops the name and how its FLOPs are computed.
    pub flops: Vec<(String, String)>,
    /// How many more ops it has.
    pub hidden_ops: usize,
    /// How its time is computed, a line for each part.
    pub time: Vec<String>,
}

/// Memory traffic of one tensor in a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorRow {
    /// The tensor in this kernel.
    pub of: Subject,
    pub name: String,
    /// How the bytes of one access are computed.
    pub size: String,
    /// Where the size comes from.
    pub source: String,
    /// The source in a sentence.
    pub source_reason: String,
    /// Bytes that the kernel reads; this and the next two are `None` for no bytes.
    pub bytes_read: Option<String>,
    /// Bytes that it writes.
    pub bytes_written: Option<String>,
    /// Bytes that its ops read or write as separate kernels and the kernel does not.
    pub bytes_vanished: Option<String>,
}

/// A tensor between two ops of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct OnChipEdge {
    /// The op that writes it.
    pub producer: OpId,
    /// The op that reads it.
    pub consumer: OpId,
    /// The names of both.
    pub names: [String; 2],
}

/// The details of a fused kernel; `None` when there is no such kernel. `O(accesses + edges)` of the
/// kernel.
pub fn kernel_details(analysis: &Analysis, kernel: KernelId) -> Option<KernelDetails> {
    let fused = analysis.fused.kernels.get(kernel)?;
    let graph = &analysis.graph;
    let tensors = ledger(analysis, kernel);
    let edges = on_chip_edges(analysis, kernel);
    let flops = fused
        .ops
        .iter()
        .map(|&op| (op_name(graph, op).to_owned(), flops_text(graph, op)));
    Some(KernelDetails {
        kernel,
        ops: op_names(graph, &fused.ops),
        number_in_text: number_in_text(analysis, kernel),
        hidden_tensors: tensors.len().saturating_sub(MAX_TENSORS),
        tensors: (tensors.iter().take(MAX_TENSORS))
            .filter_map(|row| tensor_row(analysis, &fused.ops, row))
            .collect(),
        hidden_edges: edges.len().saturating_sub(MAX_EDGES),
        edges: (edges.into_iter().take(MAX_EDGES))
            .map(|(producer, consumer)| OnChipEdge {
                producer,
                consumer,
                names: [producer, consumer].map(|op| op_name(graph, op).to_owned()),
            })
            .collect(),
        flops: flops.take(MAX_OPS).collect(),
        hidden_ops: fused.ops.len().saturating_sub(MAX_OPS),
        time: time_lines(analysis, kernel),
    })
}

/// The kernel mark in the text, if it differs from the number in the pictures. A merge or a cut
/// writes the numbers of the pictures.
fn number_in_text(analysis: &Analysis, kernel: KernelId) -> Option<String> {
    let first = *analysis.partition.kernels[kernel].first()?;
    let number = analysis.graph.ops[first].kernel?;
    let is_other = analysis.options.policy == Policy::Manual && number as usize != kernel.number();
    is_other.then(|| format!("@kernel {number} in the text"))
}

/// The edges between the ops of a kernel, by consumer in execution order. A free view reads
/// nothing.
fn on_chip_edges(analysis: &Analysis, kernel: KernelId) -> Vec<(OpId, OpId)> {
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let consumers = partition.kernels[kernel].iter();
    consumers
        .filter(|&&consumer| !analysis.is_free_view(consumer))
        .flat_map(|&consumer| {
            let producers = graph.predecessors[consumer].iter();
            producers.map(move |&producer| (producer, consumer))
        })
        .filter(|&(producer, _)| partition.kernel_of[producer] == kernel)
        .collect()
}

fn tensor_row(analysis: &Analysis, ops: &[OpId], row: &LedgerRow) -> Option<TensorRow> {
    let graph = &analysis.graph;
    let bytes = |bytes: u64| (bytes > 0).then(|| format_bytes(bytes));
    let mark = match row.source {
        SizeSource::Assumed => "~ ",
        _ => "",
    };
    let is_part = row.bytes_read > 0 && part_read(graph, ops, row.tensor).is_some();
    let part = if is_part { ", counted in full" } else { "" };
    Some(TensorRow {
        of: Subject::TensorAt(*ops.first()?, row.tensor),
        name: graph.tensor_name(row.tensor).to_owned(),
        // A unit stays with its number where the table breaks the line.
        size: row.size.replace(" B", "\u{a0}B"),
        source: format!("{mark}{}{part}", source_text(row.source)),
        source_reason: source_reason(analysis, ops, row.tensor, row.source),
        bytes_read: bytes(row.bytes_read),
        bytes_written: bytes(row.bytes_written),
        bytes_vanished: bytes(row.bytes_vanished),
    })
}
