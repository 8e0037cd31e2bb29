//! Device memory that a program needs: the bytes of all tensors that are live at once.
//!
//! Kernels run in their order. A tensor that a kernel writes is live from that kernel to the last
//! one that reads it, a result of the program to the end, also where ops read it. Inputs and
//! weights are live all the time, for the caller of a PyTorch program holds them. A tensor that no
//! kernel writes stays on chip, a view indexes the bytes of another tensor, and the result of an op
//! in place is in the memory of another one: none needs memory of its own. Workspaces of libraries
//! and what an allocator loses are not counted.

use crate::analysis::execution::{Execution, Kernel, PeakMemory};
use crate::analysis::result::Analysis;
use crate::cost::traffic::Access;
use crate::cost::views::Views;
use crate::model::graph::{Graph, SizeSource, Tensor};
use crate::model::ids::{IdVec, KernelId, TensorId};
use crate::model::options::Externals;
use crate::model::sizes::read_size;
use smallvec::SmallVec;

/// A tensor in device memory, and the kernels that run while it is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Which tensor; of a view the tensor whose bytes it indexes, of a result in place the first
    /// one that a kernel wrote into its memory.
    pub tensor: TensorId,
    /// Whether it is a copy of the tensor, made for a library call.
    pub is_copy: bool,
    /// Bytes that it occupies.
    pub bytes: u64,
    /// The first kernel that runs while it is live.
    pub first: KernelId,
    /// The last kernel that runs while it is live.
    pub last: KernelId,
}

impl Lifetime {
    /// Whether it is live while this kernel runs.
    pub fn holds(&self, kernel: KernelId) -> bool {
        (self.first..=self.last).contains(&kernel)
    }
}

/// Bytes of each input and weight, as large as its declaration or, without one, its largest reader
/// says; 0 for other tensors. What they count as traffic is another matter. `O(ops + reads)`.
fn external_sizes(graph: &Graph) -> IdVec<TensorId, u64> {
    let mut bytes = IdVec::from_elem(0, graph.tensors.len());
    for (op, inputs) in graph.inputs.iter_enumerated() {
        for &tensor in inputs {
            if graph.tensors[tensor].is_external() {
                // An op may read a part of a tensor, or only write into it.
                let declared = graph.tensors[tensor].bytes();
                let read = || read_size(graph, op, tensor, Externals::Declared).bytes;
                bytes[tensor] = declared.unwrap_or_else(read).max(bytes[tensor]);
            }
        }
    }
    bytes
}

/// Bytes of all inputs and weights. `O(ops + reads)`.
pub(super) fn external_bytes(graph: &Graph) -> u64 {
    // No overflow: `build_graph` bounds what all ops read and write.
    external_sizes(graph).iter().sum()
}

/// The peak while `kernels` run in their order and `external_bytes` are always live.
/// `O(ops + reads and writes)`.
pub(super) fn peak_memory(
    graph: &Graph,
    kernels: &IdVec<KernelId, Kernel>,
    views: &Views,
    external_bytes: u64,
) -> PeakMemory {
    let mut freed_after = IdVec::from_elem(0, kernels.len());
    let mut live = external_bytes;
    let mut peak = PeakMemory::default();
    let mut written = written_lifetimes(graph, kernels, views).peekable();
    for id in kernels.ids() {
        while let Some(lifetime) = written.next_if(|lifetime| lifetime.first == id) {
            live += lifetime.bytes;
            freed_after[lifetime.last] += lifetime.bytes;
        }
        if live > peak.bytes || peak.kernel.is_none() {
            peak = PeakMemory {
                bytes: live,
                kernel: Some(id),
            };
        }
        live -= freed_after[id];
    }
    peak
}

/// The tensors that kernels write, in the order in which they do. One that nobody needs is live
/// while its kernel runs.
fn written_lifetimes<'a>(
    graph: &'a Graph,
    kernels: &'a IdVec<KernelId, Kernel>,
    views: &Views,
) -> impl Iterator<Item = Lifetime> + use<'a> {
    let memory = views.memory_of_whole(graph);
    let last_use = last_uses(graph, kernels, &memory);
    let mut last_read_of_copy: IdVec<TensorId, Option<KernelId>> =
        IdVec::from_elem(None, graph.tensors.len());
    for (id, kernel) in kernels.iter_enumerated() {
        let copies = kernel.traffic.reads.iter();
        for copy in copies.filter(|read| read.source == SizeSource::Copied) {
            last_read_of_copy[copy.tensor] = Some(id);
        }
    }
    let mut has_memory: IdVec<TensorId, bool> =
        graph.tensors.iter().map(Tensor::is_external).collect();
    kernels.iter_enumerated().flat_map(move |(first, kernel)| {
        let is_copy = |write: &Access| write.source == SizeSource::Copied;
        let is_new = |write: &&Access| {
            is_copy(write) || !std::mem::replace(&mut has_memory[memory[write.tensor]], true)
        };
        let lifetime = |write: &Access| {
            let is_copy = is_copy(write);
            // The first piece of a concatenation takes the memory of the whole.
            let tensor = if is_copy {
                write.tensor
            } else {
                memory[write.tensor]
            };
            // What reads a copy in the place of its tensor is a reader of the tensor.
            let last = last_read_of_copy[tensor].filter(|_| is_copy);
            let last = last.or(last_use[tensor]);
            let bytes = if is_copy {
                write.bytes
            } else {
                graph.tensors[tensor].bytes().unwrap_or(0)
            };
            Lifetime {
                tensor,
                is_copy,
                bytes,
                first,
                last: last.map_or(first, |last| last.max(first)),
            }
        };
        let lifetimes = kernel.traffic.writes.iter().filter(is_new).map(lifetime);
        lifetimes.collect::<SmallVec<[Lifetime; 2]>>()
    })
}

/// The lifetimes of all tensors in memory while an execution runs: inputs and weights throughout,
/// then what kernels write, in that order. The bytes that are live while a kernel runs are the sum
/// over those that [hold](Lifetime::holds) it. `O(ops + reads and writes)`.
pub fn lifetimes(analysis: &Analysis, execution: &Execution) -> Vec<Lifetime> {
    let (graph, kernels) = (&analysis.graph, &execution.kernels);
    let Some((first, last)) = kernels.ids().next().zip(kernels.ids().last()) else {
        return Vec::new();
    };
    let sizes = external_sizes(graph);
    let external = |(tensor, &bytes): (TensorId, &u64)| {
        let lifetime = Lifetime {
            tensor,
            is_copy: false,
            bytes,
            first,
            last,
        };
        graph.tensors[tensor].is_external().then_some(lifetime)
    };
    let externals = sizes.iter_enumerated().filter_map(external);
    externals
        .chain(written_lifetimes(graph, kernels, &execution.views))
        .collect()
}

/// For each tensor that stands for a memory the last kernel that needs it; for that of a result of
/// the program the last one of all.
fn last_uses(
    graph: &Graph,
    kernels: &IdVec<KernelId, Kernel>,
    memory: &IdVec<TensorId, TensorId>,
) -> IdVec<TensorId, Option<KernelId>> {
    let mut last_use = IdVec::from_elem(None, graph.tensors.len());
    for &output in graph.output.iter().filter(|&&output| graph.is_held(output)) {
        last_use[memory[output]] = kernels.ids().last();
    }
    for (id, kernel) in kernels.iter_enumerated() {
        // A write in place into a part of a tensor needs the rest of it, too.
        let traffic = &kernel.traffic;
        for access in traffic.reads.iter().chain(&traffic.writes) {
            let last = &mut last_use[memory[access.tensor]];
            *last = (*last).max(Some(id));
        }
    }
    last_use
}

/// The contents of memory at the peak of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveAtPeak {
    /// Bytes of inputs and weights.
    pub external_bytes: u64,
    /// The tensors that kernels have written and that are still needed, or are written just then.
    pub written: Vec<Lifetime>,
}

/// The tensors that add up to [`Execution::peak_memory`]. `O(ops + reads)`.
pub fn live_at_peak(analysis: &Analysis, execution: &Execution) -> LiveAtPeak {
    let (graph, kernels) = (&analysis.graph, &execution.kernels);
    let external_bytes = external_bytes(graph);
    let Some(peak) = execution.peak_memory.kernel else {
        return LiveAtPeak::default();
    };
    let written = written_lifetimes(graph, kernels, &execution.views);
    LiveAtPeak {
        external_bytes,
        written: written.filter(|lifetime| lifetime.holds(peak)).collect(),
    }
}
