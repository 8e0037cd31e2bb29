//! Policy `inductor`: what torch.compile's default compiler (TorchInductor 2.11) would launch, as a
//! deterministic recipe. `docs/inductor.md` says what it does not fuse and why, and how far the recipe holds.
//!
//! Three steps, a file each: `attention` finds what becomes a flash kernel, `lower` turns ops into the nodes
//! of a scheduler by inlining pointwise ops (with `library` for matmuls), `schedule` fuses nodes. An op that is inlined belongs to the
//! first kernel that computes it; [`Partition::recomputed`] names it for each further one.
//!
//! What an op list cannot say is left out: outside attention the axis of a softmax counts as the last one, a reduction over
//! few long rows is one kernel (the compiler splits it in two), and seeds of dropout cost no launch.
#![allow(
    clippy::indexing_slicing,
    reason = "op, tensor, node and group ids are dense indices of one graph"
)]

mod attention;
mod facts;
mod library;
mod lower;
mod schedule;

use super::decision::{Decision, Log};
use crate::core::model::graph::Graph;
use crate::core::model::lists::Lists;
use crate::core::model::partition::Partition;
use lower::Node;

pub(crate) use library::library_call;

/// The kernels that the compiler launches; `max_autotune`: it generates its matmuls, which take an epilogue.
///
/// `O(ops + reads)` steps: an inlined expression and a list of candidates are bounded, and so is the part
/// of the order that one fusion may touch.
pub(crate) fn partition(graph: &Graph, max_autotune: bool, log: &mut Log) -> Partition {
    let nodes = lower::nodes(graph, max_autotune, log);
    if log.is_on() {
        note_views(graph, &nodes, log);
    }
    let (kernel_of_node, kernels) = schedule::fuse(graph, &nodes, log);
    assemble(graph, &nodes, &kernel_of_node, kernels)
}

/// Notes the views that no node computes: views of what another op writes.
fn note_views(graph: &Graph, nodes: &[Node], log: &mut Log) {
    let mut is_computed = vec![false; graph.ops.len()];
    for &op in nodes.iter().flat_map(|node| &node.ops) {
        is_computed[op] = true;
    }
    for (view, definition) in graph.ops.iter().enumerate() {
        let source = graph.inputs[view].first().map(|&t| &graph.tensors[t]);
        if let Some(producer) = source.and_then(|tensor| tensor.producer)
            && !is_computed[view]
            && definition.is_view()
        {
            log.note(Decision::Stays { view, producer });
        }
    }
}

/// Nodes to ops: each op to the first kernel that computes it, a view of a buffer to the kernel that wrote it.
fn assemble(
    graph: &Graph,
    nodes: &[Node],
    kernel_of_node: &[usize],
    mut kernels: usize,
) -> Partition {
    const NOWHERE: usize = usize::MAX;
    let mut ops_of_kernel = Lists::with_capacity(kernels, graph.ops.len());
    let mut nodes_of_kernel = vec![Vec::new(); kernels];
    for (node, &kernel) in kernel_of_node.iter().enumerate() {
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

    let mut group_of = vec![NOWHERE; graph.ops.len()];
    let mut again = Lists::with_capacity(graph.ops.len(), 0);
    let mut recomputes = false;
    for op in 0..graph.ops.len() {
        let all = &computed_in[op];
        group_of[op] = all.first().copied().unwrap_or_else(|| {
            let source = graph.inputs[op].first().map(|&t| &graph.tensors[t]);
            match source.and_then(|tensor| tensor.producer) {
                Some(producer) if graph.ops[op].is_view() => group_of[producer],
                // A view of an external tensor without readers: a result without a kernel.
                _ => {
                    kernels += 1;
                    kernels - 1
                }
            }
        });
        recomputes |= all.len() > 1;
        again.push(all.iter().skip(1).copied());
    }
    let mut partition = Partition::of_ops(group_of, kernels);
    if recomputes {
        partition.recomputed = again.inverted(kernels);
    }
    partition
}
