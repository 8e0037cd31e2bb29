//! Layer assignment: in which layer of the outer graph each kernel is.

use super::layered::LayerId;
use crate::core::{Graph, IdVec, KernelId, Partition};

/// The layer of each kernel, from 1: the first below all producers. A kernel moves down towards its readers unless that
/// lengthens the way of a tensor that it reads.
pub(super) fn kernel_layers(graph: &Graph, partition: &Partition) -> IdVec<KernelId, LayerId> {
    let mut layers = IdVec::from_elem(LayerId::new(1), partition.kernels.len());
    for (kernel, members) in partition.kernels.iter_enumerated() {
        for &op in members {
            for &producer in &graph.predecessors[op] {
                let from = partition.kernel_of[producer];
                if from < kernel {
                    layers[kernel] = layers[kernel].max(layers[from].below());
                }
            }
        }
    }
    // The lowest layer in which each tensor is read.
    let mut deepest = IdVec::from_elem(None, graph.tensors.len());
    for (tensor, consumers) in graph.consumers.iter_enumerated() {
        let readers = consumers.iter().map(|&c| layers[partition.kernel_of[c]]);
        deepest[tensor] = readers.max();
    }
    for (kernel, members) in partition.kernels.iter_enumerated().rev() {
        let readers = members
            .iter()
            .flat_map(|&op| graph.successors[op].iter())
            .map(|&reader| partition.kernel_of[reader])
            .filter(|&reader| reader > kernel);
        let above = readers.filter_map(|reader| layers[reader].above());
        let Some(lowest) = above.min() else {
            continue;
        };
        let lengthens = members.iter().any(|&op| {
            graph.inputs[op].iter().any(|&t| {
                let producer = graph.tensors[t].producer;
                producer.is_some_and(|p| partition.kernel_of[p] != kernel)
                    && deepest[t] < Some(lowest)
            })
        });
        if lowest > layers[kernel] && !lengthens {
            layers[kernel] = lowest;
        }
    }
    layers
}
