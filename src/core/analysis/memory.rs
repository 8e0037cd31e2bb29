//! Device memory that a program needs: the bytes of all tensors that are live at once.
//!
//! Kernels run in their order. A tensor that a kernel writes is live from that kernel to the last one that reads it, a
//! result of the program to the end, also where ops read it. Inputs and weights are live all the time, for the caller of
//! a PyTorch program holds them. A tensor that no kernel writes stays on chip, and a view indexes the bytes of another
//! tensor: neither needs memory of its own. Workspaces of libraries and what an allocator loses are not counted.

use crate::analysis::{Analysis, Execution, Kernel};
use crate::cost::traffic::Views;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, TensorId};
use crate::model::options::Externals;
use crate::model::sizes::read_size;

/// The most memory that the tensors of a program need at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeakMemory {
    /// Bytes of the tensors that are live together.
    pub bytes: u64,
    /// The first kernel that runs while so many are live; `None` without kernels.
    pub kernel: Option<KernelId>,
}

/// Bytes of all inputs and weights, each as large as its declaration or, without one, its largest reader says. What
/// they count as traffic is another matter. `O(ops + reads)`.
pub(super) fn external_bytes(graph: &Graph) -> u64 {
    let mut bytes = IdVec::from_elem(0, graph.tensors.len());
    for (op, inputs) in graph.inputs.iter_enumerated() {
        for &tensor in inputs {
            if graph.tensors[tensor].is_external() {
                let (size, _) = read_size(graph, op, tensor, Externals::Declared);
                bytes[tensor] = size.max(bytes[tensor]);
            }
        }
    }
    // No overflow: `build_graph` bounds what all ops read and write.
    bytes.iter().sum()
}

/// The peak while `kernels` run in their order and `external_bytes` are always live. `O(ops + reads and writes)`.
pub(super) fn peak_memory(
    graph: &Graph,
    kernels: &IdVec<KernelId, Kernel>,
    views: &Views,
    external_bytes: u64,
) -> PeakMemory {
    let mut last_use = last_uses(graph, kernels, views);
    let bytes_of = |tensor: TensorId| graph.tensors[tensor].bytes().unwrap_or(0);
    let mut peak = PeakMemory::default();
    let mut live = external_bytes;
    for (id, kernel) in kernels.iter_enumerated() {
        let writes = kernel.traffic.writes.iter().map(|write| write.tensor);
        live += writes.clone().map(bytes_of).sum::<u64>();
        if live > peak.bytes || peak.kernel.is_none() {
            peak = PeakMemory {
                bytes: live,
                kernel: Some(id),
            };
        }
        for tensor in writes {
            if last_use[tensor].is_none() {
                live -= bytes_of(tensor);
            }
        }
        for read in &kernel.traffic.reads {
            let base = views.base[read.tensor];
            if last_use[base] == Some(id) && !graph.tensors[base].is_external() {
                live -= bytes_of(base);
                // A kernel may read the same bytes through several views.
                last_use[base] = None;
            }
        }
    }
    peak
}

/// For each tensor the last kernel that needs it; for results of the program the last one of all.
fn last_uses(
    graph: &Graph,
    kernels: &IdVec<KernelId, Kernel>,
    views: &Views,
) -> IdVec<TensorId, Option<KernelId>> {
    let mut last_use = IdVec::from_elem(None, graph.tensors.len());
    for &output in graph.output.iter().filter(|&&output| graph.is_held(output)) {
        last_use[views.base[output]] = kernels.ids().last();
    }
    for (id, kernel) in kernels.iter_enumerated() {
        for read in &kernel.traffic.reads {
            let last = &mut last_use[views.base[read.tensor]];
            *last = (*last).max(Some(id));
        }
    }
    last_use
}

/// What is live at the peak of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveAtPeak {
    /// Bytes of inputs and weights.
    pub external_bytes: u64,
    /// The tensors that kernels have written and that are still needed, or are written just then.
    pub tensors: Vec<TensorId>,
}

/// What makes up [`Execution::peak_memory`](super::Execution::peak_memory). `O(ops + reads)`.
pub fn live_at_peak(analysis: &Analysis, execution: &Execution) -> LiveAtPeak {
    let (graph, kernels) = (&analysis.graph, &execution.kernels);
    let views = Views::under(graph, analysis.options.conventions.reshape);
    let last_use = last_uses(graph, kernels, &views);
    let external_bytes = external_bytes(graph);
    let Some(peak) = execution.peak_memory.kernel else {
        return LiveAtPeak::default();
    };
    let until_peak = kernels.iter_enumerated().take_while(|&(id, _)| id <= peak);
    let written = until_peak.flat_map(|(id, kernel)| {
        let writes = kernel.traffic.writes.iter();
        writes.map(move |write| (id, write.tensor))
    });
    let is_live =
        |&(id, tensor): &(KernelId, TensorId)| id == peak || last_use[tensor] >= Some(peak);
    LiveAtPeak {
        external_bytes,
        tensors: written.filter(is_live).map(|(_, tensor)| tensor).collect(),
    }
}
