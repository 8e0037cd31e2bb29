//! The traffic of copies into the memory of the caller, which follows from the kernel that each
//! joins.

use super::Numbered;
use super::node::{BufferId, NodeId, SchedulerNode};
use super::schedule::Fused;
use crate::cost::traffic::written;
use crate::cost::views::Views;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::options::ReshapeCost;
use crate::model::partition::{OperandCopy, Partition};
use std::collections::HashMap;

/// Adds what the nodes read and write that copy the results of these ops back. A copy reads nothing
/// that its kernel computes or reads in any case. `copied_back` ascends by node.
/// `O(ops + reads + nodes log copies)`.
pub(super) fn count(
    graph: &Graph,
    reshape: ReshapeCost,
    copied_back: &[(NodeId, OpId)],
    nodes: &IdVec<NodeId, SchedulerNode>,
    fused: &Fused,
    numbered: &Numbered,
    partition: &mut Partition,
) {
    if copied_back.is_empty() {
        return;
    }
    let views = Views::of_partition(graph, reshape, partition);
    let is_written = written(graph, partition, &views);
    // For each kernel with a copy the buffers that its other nodes read and write.
    let of_copies = copied_back.iter().map(|&(node, _)| fused.kernel_of[node]);
    let mut beside: HashMap<KernelId, Beside> = of_copies
        .map(|kernel| (kernel, Beside::default()))
        .collect();
    for (id, node) in nodes.iter_enumerated() {
        if let Some(beside) = beside.get_mut(&fused.kernel_of[id])
            && copied_back
                .binary_search_by_key(&id, |&(copy, _)| copy)
                .is_err()
        {
            beside.writes.push(node.writes.buffer);
            let reads = node.reads.iter().filter(|read| read.bytes > 0);
            beside.reads.extend(reads.map(|read| read.buffer));
        }
    }
    for &(node, op) in copied_back {
        let kernel = fused.kernel_of[node];
        let output = graph.output[op];
        let source = BufferId::of_tensor(output);
        let bytes = graph.tensors[output].bytes().unwrap_or(0);
        let own = numbered.of_kernel(kernel);
        let own = own.and_then(|kernel| partition.kernels[kernel].first().copied());
        let beside = beside.get(&kernel);
        let is_computed = beside.is_some_and(|beside| beside.writes.contains(&source));
        let is_read = is_computed || beside.is_some_and(|beside| beside.reads.contains(&source));
        let by = own.unwrap_or(op);
        partition.copies.push(OperandCopy {
            op: by,
            tensor: output,
            written_by: by,
            bytes_read: if is_read { 0 } else { bytes },
            bytes_written: bytes,
        });
        if views.is_value(op) && !is_written[op] && !is_computed {
            // No op of another kernel reads the buffer, but the copy does.
            partition.copies.push(OperandCopy {
                op,
                tensor: output,
                written_by: op,
                bytes_read: 0,
                bytes_written: bytes,
            });
        }
    }
    partition.copies.sort_by_key(|copy| copy.op);
}

/// What a kernel accesses beside what its copies do.
#[derive(Default)]
struct Beside {
    reads: Vec<BufferId>,
    writes: Vec<BufferId>,
}
