//! Accesses of kernels that hit the shared cache.

use crate::analysis::execution::Execution;
use crate::cost::traffic::Access;
use crate::cost::views::Views;
use crate::model::adjacency::Adjacency;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, TensorId};
use crate::model::options::ReshapeCost;

/// For each access of each kernel whether it hits the shared cache, in the order of the kernel's
/// traffic.
#[derive(Clone, Debug)]
pub(crate) struct Hits {
    pub(crate) reads: Adjacency<KernelId, bool>,
    pub(crate) writes: Adjacency<KernelId, bool>,
}

/// What the cache holds when a program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheStart {
    /// What the last run of the same program left there.
    Warm,
    /// Nothing of the program.
    Cold,
}

/// The accesses that hit a cache of the last `kept_bytes`. `O(ops + reads)`.
///
/// An access hits if the program has moved at most `kept_bytes` since the last access to the
/// tensor. Writes count like reads, because overwriting cached data moves no DRAM bytes.
pub(super) fn hits(
    graph: &Graph,
    execution: &Execution,
    kept_bytes: f64,
    start: CacheStart,
) -> Hits {
    // A view has no bytes of its own, whatever a reshape costs.
    let storage = Views::under(graph, ReshapeCost::View).base;
    let mut touched: IdVec<TensorId, Option<f64>> = IdVec::from_elem(None, graph.tensors.len());
    let mut moved = 0.0_f64;
    let mut touch = |access: &Access| {
        let bytes = access.bytes as f64;
        let last = &mut touched[storage[access.tensor]];
        // Before the comparison: the cache must hold this tensor and all that came in between.
        moved += bytes;
        let is_hit = last.is_some_and(|at| moved - at <= kept_bytes);
        *last = Some(moved);
        is_hit
    };
    // The second run is like every later one.
    let is_repeated = start == CacheStart::Warm;
    let launched = execution.kernels.iter().filter(|kernel| !kernel.is_free);
    for kernel in launched.filter(|_| is_repeated) {
        let traffic = &kernel.traffic;
        for access in traffic.reads.iter().chain(&traffic.writes) {
            touch(access);
        }
    }
    let mut hits = Hits {
        reads: Adjacency::with_capacity(execution.kernels.len(), graph.ops.len()),
        writes: Adjacency::with_capacity(execution.kernels.len(), graph.ops.len()),
    };
    for kernel in &execution.kernels {
        let mut is_hit = |access| !kernel.is_free && touch(access);
        hits.reads
            .push(kernel.traffic.reads.iter().map(&mut is_hit));
        hits.writes
            .push(kernel.traffic.writes.iter().map(&mut is_hit));
    }
    hits
}
