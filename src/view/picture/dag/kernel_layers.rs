//! Layer assignment: in which layer of the outer graph each kernel is.

use super::frames::Body;
use super::layered::LayerId;
use fuseline_core::{Graph, IdVec, KernelId, Partition};
use std::ops::Range;

/// The layer of each kernel, from 1: the first below all producers. A kernel moves down towards its
/// readers unless that lengthens the way of a tensor that it reads.
///
/// A layer with kernels of a body holds no other kernels. Above the first layer of a body, and of
/// what follows it, is one for pills alone where `needs_pills` says so for these kernels.
pub(super) fn kernel_layers(
    graph: &Graph,
    partition: &Partition,
    bodies: &[Body],
    needs_pills: impl Fn(Range<usize>) -> bool,
) -> IdVec<KernelId, LayerId> {
    let count = partition.kernels.len();
    let mut layers = IdVec::from_elem(LayerId::new(1), count);
    // For each kernel the last layer of its body, or of the kernels between two bodies.
    let mut limits = layers.clone();
    let borders = (bodies.iter()).flat_map(|body| [body.kernels.start, body.kernels.end]);
    let (mut start, mut last) = (0, LayerId::new(0));
    for (part, end) in borders.chain([count]).enumerate() {
        // A layer for the pills of its first kernels, which must not be in the body above.
        let above = if part > 0 && needs_pills(start..end) {
            last.below()
        } else {
            last
        };
        for kernel in (start..end).map(KernelId::new) {
            let producers = (partition.kernels[kernel].iter())
                .flat_map(|&op| graph.predecessors[op].iter())
                .map(|&producer| partition.kernel_of[producer]);
            let before = producers.filter(|&from| from < kernel);
            let above = before.map(|from| layers[from]).fold(above, LayerId::max);
            layers[kernel] = above.below();
            last = last.max(layers[kernel]);
        }
        for kernel in (start..end).map(KernelId::new) {
            limits[kernel] = last;
        }
        start = end;
    }
    // The lowest layer in which each tensor is read.
    // Stays right while kernels move, because no move below takes a reader deeper than this.
    let mut deepest = IdVec::from_elem(None, graph.tensors.len());
    for (tensor, consumers) in graph.consumers.iter_enumerated() {
        let readers = consumers.iter().map(|&c| layers[partition.kernel_of[c]]);
        deepest[tensor] = readers.max();
    }
    // From the end, so that readers have moved down before the kernels that they read from.
    for (kernel, members) in partition.kernels.iter_enumerated().rev() {
        let readers = members
            .iter()
            .flat_map(|&op| graph.successors[op].iter())
            .map(|&reader| partition.kernel_of[reader])
            .filter(|&reader| reader > kernel);
        let above = readers.filter_map(|reader| layers[reader].above());
        let Some(lowest) = above.min().map(|lowest| lowest.min(limits[kernel])) else {
            continue;
        };
        let lengthens = members.iter().any(|&op| {
            graph.inputs[op].iter().any(|&t| {
                let producer = graph.tensors[t].producer;
                // A pill from outside moves down with its reader.
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
