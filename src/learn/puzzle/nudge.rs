//! First hints: where to look and why, without the move.

use crate::lesson::state::AnalyzedProgram;
use fuseline_core::analysis::by_hand::Change;
use fuseline_core::cost::traffic::Access;
use fuseline_core::{Analysis, KernelId, OpId, TensorId};
use fuseline_view::present::format::format_bytes;
use fuseline_view::present::names::op_name;

/// A first hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nudge {
    /// A question about what the kernels pay for.
    pub words: String,
    /// Where to look.
    pub region: Region,
}

/// A part of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// The op whose result is meant.
    Op(OpId),
    /// A tensor from outside.
    Tensor(TensorId),
    Kernel(KernelId),
}

/// The first hint to a change, from what it saves. `edge` are the two ops that hold the kernels
/// together.
pub(super) fn nudge(
    now: &AnalyzedProgram,
    next: &AnalyzedProgram,
    change: Change,
    edge: [OpId; 2],
) -> Nudge {
    let before = &now.analysis;
    match change {
        Change::Merge(a, b) | Change::MergeOnTop(a, b) => {
            of_merge(before, &next.analysis, [a, b], edge)
        }
        Change::Cut { .. } => {
            let kernel = before.partition.kernel_of[edge[0]];
            Nudge {
                words: format!(
                    "Kernel {} is in the way: par keeps some of its ops in different kernels. With which kernels outside do they share more bytes?",
                    kernel.number()
                ),
                region: Region::Kernel(kernel),
            }
        }
    }
}

/// A question about the tensor of which the merge saves most.
fn of_merge(before: &Analysis, after: &Analysis, kernels: [KernelId; 2], edge: [OpId; 2]) -> Nudge {
    let graph = &before.graph;
    let merged = [after.partition.kernel_of[edge[0]]];
    let read_now = |tensor| bytes(before, &kernels, tensor);
    let [first, second] = edge.map(|op| op_name(graph, op));
    let saved = (kernels.iter())
        .flat_map(|&kernel| before.fused.kernels[kernel].traffic.reads.iter())
        .map(|read| {
            let ([reads, writes], [reads_after, writes_after]) =
                (read_now(read.tensor), bytes(after, &merged, read.tensor));
            let saved = (reads + writes).saturating_sub(reads_after + writes_after);
            (saved, read.tensor, read.bytes, [writes, writes_after])
        })
        .max_by_key(|&(saved, ..)| saved)
        .filter(|&(saved, ..)| saved > 0);
    let Some((_, tensor, read_bytes, [writes, writes_after])) = saved else {
        return Nudge {
            words: format!(
                "{first} launches a kernel of its own. Which kernel beside it has room for it?"
            ),
            region: Region::Op(edge[0]),
        };
    };
    let name = graph.tensor_name(tensor);
    let size = format_bytes(read_bytes);
    let words = if writes == 0 {
        format!(
            "{first} and {second} read the same tensor, {name}. What does it cost to read its {size} twice?"
        )
    } else if writes_after == 0 {
        let written = format_bytes(writes);
        format!(
            "{name} goes to memory and comes back: {written} written, {size} read. Which kernel could keep it on chip?"
        )
    } else {
        format!(
            "{name} is written once and read again: {size} each time. Which reader could take it before it leaves the chip?"
        )
    };
    let producer = graph.tensors[tensor].producer;
    Nudge {
        words,
        region: producer.map_or(Region::Tensor(tensor), Region::Op),
    }
}

/// Bytes of a tensor that these kernels read and write.
fn bytes(analysis: &Analysis, kernels: &[KernelId], tensor: TensorId) -> [u64; 2] {
    let traffic = (kernels.iter()).map(|&kernel| &analysis.fused.kernels[kernel].traffic);
    let of = |accesses: &[Access]| {
        let access = accesses.iter().find(|access| access.tensor == tensor);
        access.map_or(0, |access| access.bytes)
    };
    traffic.fold([0, 0], |[reads, writes], traffic| {
        [reads + of(&traffic.reads), writes + of(&traffic.writes)]
    })
}
