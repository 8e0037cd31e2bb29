//! Policy `inductor`: a prediction of the kernels that torch.compile's default compiler (TorchInductor 2.11)
//! launches. `docs/inductor.md` says what it does not fuse and why, and how accurate the prediction is.
//!
//! Three steps, one file each: `attention` finds flash kernels, `lower` turns ops into the nodes of a scheduler
//! by inlining pointwise ops (with `library` for matmuls), `schedule` fuses nodes. An inlined op belongs to the
//! first kernel that computes it; [`Partition::recomputed`] lists it for each further one.
//!
//! Simplifications: outside attention a softmax runs along the last axis, a reduction over few long rows is one
//! kernel (the compiler splits it in two), and random seeds of dropout need no launch.

mod attention;
mod facts;
mod library;
mod lower;
mod schedule;

use super::decision::{Decision, Log};
use crate::core::model::adjacency::Adjacency;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, KernelId, OpId};
use crate::core::model::partition::Partition;
use lower::{Node, NodeId};

pub(crate) use library::library_call;

/// The kernels that the compiler launches. With `max_autotune` it generates its matmuls, which take an
/// epilogue.
///
/// `O(ops + reads)`: inlined expressions, candidate lists and the ranges that a fusion reorders are bounded.
pub(crate) fn partition(graph: &Graph, max_autotune: bool, log: &mut Log) -> Partition {
    let nodes = lower::nodes(graph, max_autotune, log);
    if log.is_on() {
        note_views(graph, &nodes, log);
    }
    let (kernel_of_node, kernels) = schedule::fuse(graph, &nodes, log);
    assemble(graph, &nodes, &kernel_of_node, kernels)
}

/// Notes the views that no node computes, because they view a buffer.
fn note_views(graph: &Graph, nodes: &IdVec<NodeId, Node>, log: &mut Log) {
    let mut is_computed = IdVec::from_elem(false, graph.ops.len());
    for &op in nodes.iter().flat_map(|node| &node.ops) {
        is_computed[op] = true;
    }
    for (view, definition) in graph.ops.iter_enumerated() {
        let source = graph.inputs[view].first().map(|&t| &graph.tensors[t]);
        if let Some(producer) = source.and_then(|tensor| tensor.producer)
            && !is_computed[view]
            && definition.is_view()
        {
            log.note(Decision::Stays { view, producer });
        }
    }
}

/// The partition: each op is in the first kernel that computes it, a view of a buffer in the kernel that writes
/// it.
fn assemble(
    graph: &Graph,
    nodes: &IdVec<NodeId, Node>,
    kernel_of_node: &IdVec<NodeId, KernelId>,
    mut kernels: usize,
) -> Partition {
    let mut ops_of_kernel: Adjacency<KernelId, OpId> =
        Adjacency::with_capacity(kernels, graph.ops.len());
    let mut nodes_of_kernel: IdVec<KernelId, Vec<NodeId>> = IdVec::from_elem(Vec::new(), kernels);
    for (node, &kernel) in kernel_of_node.iter_enumerated() {
        nodes_of_kernel[kernel].push(node);
    }
    for members in &nodes_of_kernel {
        ops_of_kernel.push(
            members
                .iter()
                .flat_map(|&node| nodes[node].ops.iter().copied()),
        );
    }
    let computed_in = ops_of_kernel.inverted(graph.ops.len());

    let mut kernel_of: IdVec<OpId, KernelId> = IdVec::with_capacity(graph.ops.len());
    let mut again = Adjacency::with_capacity(graph.ops.len(), 0);
    let mut recomputes = false;
    for op in graph.ops.ids() {
        let all = &computed_in[op];
        let first = all.first().copied().unwrap_or_else(|| {
            let source = graph.inputs[op].first().map(|&t| &graph.tensors[t]);
            match source.and_then(|tensor| tensor.producer) {
                Some(producer) if graph.ops[op].is_view() => kernel_of[producer],
                // A view of an external tensor that is a result gets a kernel of its own.
                _ => {
                    kernels += 1;
                    KernelId::new(kernels - 1)
                }
            }
        });
        kernel_of.push(first);
        recomputes |= all.len() > 1;
        again.push(all.iter().skip(1).copied());
    }
    let mut partition = Partition::of_ops(kernel_of, kernels);
    if recomputes {
        partition.recomputed = again.inverted(kernels);
    }
    partition
}
