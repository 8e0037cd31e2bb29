//! Accesses of kernels that hit the shared cache.

use crate::core::analysis::Analysis;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, KernelId, TensorId};

/// For each kernel the bytes read and the bytes written that hit a cache of the last `kept_bytes`, when the program
/// runs repeatedly. `O(ops + reads)`.
///
/// An access hits if the program has moved at most `kept_bytes` since the last access to the tensor. Writes count
/// like reads, because overwriting cached data moves no DRAM bytes.
pub(super) fn hits(analysis: &Analysis, kept_bytes: f64) -> IdVec<KernelId, (f64, f64)> {
    let graph = &analysis.graph;
    let storage = storage_of(graph);
    let mut touched: IdVec<TensorId, Option<f64>> = IdVec::from_elem(None, graph.tensors.len());
    let mut moved = 0.0_f64;
    let mut hits = IdVec::from_elem((0.0, 0.0), analysis.fused.kernels.len());
    // The second run is like every later one.
    for _ in 0..2 {
        for (hit, kernel) in hits.iter_mut().zip(&analysis.fused.kernels) {
            *hit = (0.0, 0.0);
            if kernel.is_free {
                continue;
            }
            let traffic = &kernel.traffic;
            let reads = traffic.reads.iter().map(|access| (access, true));
            let writes = traffic.writes.iter().map(|access| (access, false));
            for (access, is_read) in reads.chain(writes) {
                let bytes = access.bytes as f64;
                let last = &mut touched[storage[access.tensor]];
                moved += bytes;
                if last.is_some_and(|at| moved - at <= kept_bytes) {
                    let side = if is_read { &mut hit.0 } else { &mut hit.1 };
                    *side += bytes;
                }
                *last = Some(moved);
            }
        }
    }
    hits
}

/// For each tensor the one whose bytes it is: a view has none of its own.
fn storage_of(graph: &Graph) -> IdVec<TensorId, TensorId> {
    let mut storage: IdVec<TensorId, TensorId> = graph.tensors.ids().collect();
    for (op, definition) in graph.ops.iter_enumerated() {
        if definition.is_view()
            && let Some(&input) = graph.inputs[op].first()
        {
            storage[graph.output[op]] = storage[input];
        }
    }
    storage
}
