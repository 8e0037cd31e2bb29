//! Accesses of kernels that hit the shared cache.

use crate::core::analysis::Analysis;
use crate::core::cost::traffic::Views;
use crate::core::model::ids::{IdVec, KernelId, TensorId};
use crate::core::model::options::ReshapeCost;

/// For each kernel the bytes read and the bytes written that hit a cache of the last `kept_bytes`, when the program
/// runs repeatedly. `O(ops + reads)`.
///
/// An access hits if the program has moved at most `kept_bytes` since the last access to the tensor. Writes count
/// like reads, because overwriting cached data moves no DRAM bytes.
pub(super) fn hits(analysis: &Analysis, kept_bytes: f64) -> IdVec<KernelId, (f64, f64)> {
    let graph = &analysis.graph;
    // A view has no bytes of its own, whatever a reshape costs.
    let storage = Views::under(graph, ReshapeCost::View).base;
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
