//! Copies for libraries in the kernels that write their operands.

use super::node::{BufferId, NodeId, SchedulerNode};
use crate::fusion::views::viewed_base;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::model::partition::OperandCopy;
use std::collections::{HashMap, HashSet};

/// A copy of an operand that lies in memory: the call, the operand, and the buffer that a node of
/// its own writes.
pub(super) type CopyOfBuffer = (OpId, TensorId, BufferId);

/// Counts each copy in the kernel that writes its operand as written by that kernel. The operand is
/// on chip there, so that the copy reads nothing. An operand that only copies need is written as
/// the first of them alone. Copies of one operand in one kernel read it once. `copies` ascend by
/// op. `O(nodes + reads + copies log copies)`.
pub(super) fn count_with_operands(
    graph: &Graph,
    nodes: &IdVec<NodeId, SchedulerNode>,
    kernel_of: &IdVec<NodeId, KernelId>,
    made: &[CopyOfBuffer],
    copies: &mut Vec<OperandCopy>,
) {
    if made.is_empty() {
        return;
    }
    let written = nodes.iter_enumerated();
    let writer: HashMap<BufferId, NodeId> = written
        .map(|(node, own)| (own.writes.buffer, node))
        .collect();
    // The buffers that another kernel than their own reads, and those that the caller gets.
    let mut is_needed: HashSet<BufferId> = HashSet::new();
    for (node, own) in nodes.iter_enumerated() {
        for read in own.reads.iter().filter(|read| !read.is_wait()) {
            let from = writer.get(&read.buffer).map(|&from| kernel_of[from]);
            if from != Some(kernel_of[node]) {
                is_needed.insert(read.buffer);
            }
        }
    }
    let finals = graph
        .ops
        .ids()
        .filter(|&op| graph.is_final(graph.output[op]));
    is_needed.extend(finals.map(|op| BufferId::of_tensor(viewed_base(graph, graph.output[op]))));
    let mut is_read: HashSet<(KernelId, BufferId)> = HashSet::new();
    for &(op, tensor, buffer) in made {
        let start = copies.partition_point(|copy| copy.op < op);
        let mut of_op = copies
            .iter_mut()
            .skip(start)
            .take_while(|copy| copy.op == op);
        let copy = of_op
            .find(|copy| (copy.tensor, copy.written_by) == (tensor, op) && copy.bytes_written > 0);
        let (Some(copy), Some(&node)) = (copy, writer.get(&buffer)) else {
            continue;
        };
        let [read] = nodes[node].reads[..] else {
            continue;
        };
        let from = writer.get(&read.buffer).map(|&from| kernel_of[from]);
        let operand = read.buffer.tensor(graph);
        let own = graph.tensors[tensor].bytes().unwrap_or(0);
        let beyond = copy.bytes_read.saturating_sub(own);
        let is_first = is_read.insert((kernel_of[node], read.buffer));
        if from == Some(kernel_of[node])
            && let Some(written_by) = operand.and_then(|operand| operand.producer)
        {
            copy.written_by = written_by;
            copy.bytes_read = beyond;
            if is_first && !is_needed.contains(&read.buffer) {
                copy.bytes_written = beyond;
            }
        } else if !is_first {
            copy.bytes_read = beyond;
        }
    }
    copies.retain(|copy| copy.bytes_read > 0 || copy.bytes_written > 0);
}
