//! The graph as files of other programs.

mod dot;
mod model_explorer;

pub use dot::dot;
pub use model_explorer::model_explorer;

use fuseline_core::{Analysis, KernelId, OpId, TensorId};
use std::collections::HashSet;

/// A tensor on its way to one reader.
struct Flow {
    tensor: TensorId,
    /// The op that writes it; `None` for a tensor from outside.
    from: Option<OpId>,
    /// The op that reads it, and its position among the distinct inputs of that op.
    to: OpId,
    input: usize,
    /// Bytes that the kernel of the reader reads from memory for it; `None` if it stays on chip or
    /// is a view.
    memory_bytes: Option<u64>,
}

/// Each distinct input of each op, by reader in execution order. `O(ops + reads)`.
fn flows(analysis: &Analysis) -> impl Iterator<Item = Flow> + '_ {
    let graph = &analysis.graph;
    let kernels = analysis.fused.kernels.iter_enumerated();
    let reads: HashSet<(KernelId, TensorId)> = kernels
        .flat_map(|(id, kernel)| {
            kernel
                .traffic
                .reads
                .iter()
                .map(move |read| (id, read.tensor))
        })
        .collect();
    graph.ops.ids().flat_map(move |to| {
        let kernel = analysis.partition.kernel_of[to];
        let inputs: Vec<TensorId> = graph.distinct_inputs(to).collect();
        let flow = |(input, tensor): (usize, TensorId)| Flow {
            tensor,
            from: graph.tensors[tensor].producer,
            to,
            input,
            memory_bytes: reads
                .contains(&(kernel, tensor))
                .then(|| analysis.tensors[tensor].bytes),
        };
        inputs.into_iter().enumerate().map(flow).collect::<Vec<_>>()
    })
}

/// The tensors that the program reads, and its results.
fn ends(analysis: &Analysis) -> (Vec<TensorId>, Vec<TensorId>) {
    let graph = &analysis.graph;
    let external = graph
        .tensors
        .ids()
        .filter(|&tensor| graph.tensors[tensor].is_external());
    let results = graph.tensors.ids().filter(|&tensor| graph.is_final(tensor));
    (external.collect(), results.collect())
}
