//! Orders kernels so that they can run. Convex kernels are not enough: two of them can depend on
//! each other.

use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::order::topological_order;
use crate::model::partition::Partition;

/// The partition with these kernels in an order in which they can run, ties by the first op.
///
/// `kernel_of` gives each op a kernel below the number of ops; the numbers need not be dense.
/// `O((ops + reads) log ops)`.
///
/// # Errors
/// A cycle, as a path of ops: each op must run before the next one or is in the same kernel, and
/// the last one is in the kernel of the first.
pub(crate) fn in_order(
    graph: &Graph,
    kernel_of: &IdVec<OpId, KernelId>,
) -> Result<Partition, Vec<OpId>> {
    // Dense numbers, in the order of the kernels' first ops.
    let mut dense: IdVec<KernelId, Option<KernelId>> = IdVec::from_elem(None, kernel_of.len());
    let mut needs: IdVec<KernelId, Vec<KernelId>> = IdVec::new();
    let kernel_of: IdVec<OpId, KernelId> = kernel_of
        .iter()
        .map(|&kernel| *dense[kernel].get_or_insert_with(|| needs.push(Vec::new())))
        .collect();
    for (op, &kernel) in kernel_of.iter_enumerated() {
        for before in graph.runs_after(op) {
            if kernel_of[before] != kernel {
                needs[kernel].push(kernel_of[before]);
            }
        }
    }
    let order = topological_order(&needs).map_err(|cycle| path(graph, &kernel_of, &cycle))?;
    let mut place = IdVec::from_elem(KernelId::new(0), needs.len());
    for (at, &kernel) in order.iter().enumerate() {
        place[kernel] = KernelId::new(at);
    }
    let kernel_of = kernel_of.iter().map(|&kernel| place[kernel]).collect();
    Ok(Partition::of_ops(kernel_of, needs.len()))
}

/// The ops by which each kernel of a cycle feeds the next one.
fn path(graph: &Graph, kernel_of: &IdVec<OpId, KernelId>, cycle: &[KernelId]) -> Vec<OpId> {
    let mut path = Vec::new();
    for (&kernel, &next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        let edge = kernel_of
            .ids()
            .filter(|&op| kernel_of[op] == next)
            .find_map(|after| {
                let before = graph
                    .runs_after(after)
                    .find(|&before| kernel_of[before] == kernel)?;
                Some((before, after))
            });
        if let Some((before, after)) = edge {
            if path.last() != Some(&before) {
                path.push(before);
            }
            path.push(after);
        }
    }
    path
}
