//! Which values a kernel holds at once.

use crate::analysis::Analysis;
use crate::fusion::on_chip::KeptRows;
use crate::fusion::rows::RowDomain;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use crate::model::op::Op;
use crate::model::op_type::OpType;

/// Values that one kernel holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Live {
    /// Most values at any op: those that were loaded or computed and are still to be read, and the
    /// running values of reductions.
    pub(super) at_once: u64,
    /// The rows of its widest reduction; none without one.
    pub(super) rows: RowDomain,
    /// Full-width values of which one row is kept on chip.
    pub(super) kept_values: u64,
}

impl Live {
    /// The rows that a kernel of these ops reduces and keeps. The values at once are not counted.
    pub(super) fn of_rows(graph: &Graph, ops: &[OpId]) -> Self {
        let kept = KeptRows::of(graph, ops);
        Self {
            at_once: 0,
            rows: kept.map_or(RowDomain::default(), |kept| kept.rows),
            kept_values: kept.map_or(0, |kept| kept.values as u64),
        }
    }
}

/// For each tensor the last kernel that reads it, and its last op that does.
type LastReads = IdVec<TensorId, Option<(KernelId, OpId)>>;

/// The live values of each kernel. `O(ops + reads)`: each value of a kernel is added and removed
/// once.
pub(super) fn live_values(analysis: &Analysis) -> IdVec<KernelId, Live> {
    let graph = &analysis.graph;
    let mut last_read = LastReads::from_elem(None, graph.tensors.len());
    let mut held_by = IdVec::from_elem(None, graph.tensors.len());
    let kernels = analysis.fused.kernels.iter_enumerated();
    kernels
        .map(|(id, kernel)| {
            for &op in &kernel.ops {
                // Marks carry the kernel's id, so those of earlier kernels need no clearing.
                for &tensor in &graph.inputs[op] {
                    last_read[tensor] = Some((id, op));
                }
            }
            one_kernel(graph, id, &kernel.ops, &last_read, &mut held_by)
        })
        .collect()
}

fn one_kernel(
    graph: &Graph,
    kernel: KernelId,
    ops: &[OpId],
    last_read: &LastReads,
    held_by: &mut IdVec<TensorId, Option<KernelId>>,
) -> Live {
    let mut live = Live::of_rows(graph, ops);
    let running = ops.iter().map(|&op| running_values(&graph.ops[op])).max();
    let running = running.unwrap_or(0);
    let mut held = 0_u64;
    for &op in ops {
        for tensor in graph.distinct_inputs(op) {
            if held_by[tensor].replace(kernel) != Some(kernel) {
                held += 1;
            }
        }
        let output = graph.output[op];
        let is_read_here = last_read[output].is_some_and(|(reader, _)| reader == kernel);
        // A norm reads its weights after its row values are computed.
        let later = match running_values(&graph.ops[op]) {
            0 => 0,
            _ => graph.distinct_inputs(op).count().saturating_sub(1) as u64,
        };
        // While it reduces, weights are not loaded yet, and afterwards the running values are gone:
        // two peaks, not their sum.
        live.at_once = live.at_once.max(held).max(held - later + running);
        // Inputs that are read for the last time make room for the result.
        for tensor in graph.distinct_inputs(op) {
            if last_read[tensor] == Some((kernel, op)) {
                held = held.saturating_sub(1);
            }
        }
        // Even an output that nobody here reads takes a register until it is stored.
        held_by[output] = Some(kernel);
        held += 1;
        live.at_once = live.at_once.max(held);
        if !is_read_here {
            held = held.saturating_sub(1);
        }
    }
    live
}

/// Running values of a reduction for each element of a thread, combined across threads at the end
/// of a row: a sum or a maximum, or two of them at once.
fn running_values(op: &Op) -> u64 {
    match (op.op_type, op.function) {
        (
            OpType::Reduction,
            Some(
                Function::Softmax
                | Function::LogSoftmax
                | Function::LayerNorm
                | Function::GroupNorm
                | Function::Var,
            ),
        ) => 2,
        (OpType::Reduction, _) => 1,
        _ => 0,
    }
}
