//! Which values a kernel holds at once.

use crate::core::analysis::Analysis;
use crate::core::fusion::on_chip::KeptRows;
use crate::core::model::graph::OpId;
use crate::core::model::op::Op;
use crate::core::model::op_type::OpType;

/// What one kernel holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Live {
    /// Most values at any op: what was loaded or computed and is still to be read, and in a kernel along rows what its
    /// reductions have so far.
    pub(super) at_once: u64,
    /// Elements of the longest row that it reduces; 1 without a reduction.
    pub(super) row_elements: u64,
    /// Elements of the largest tensor that it reduces.
    pub(super) reduced_elements: u64,
    /// Bytes of the full-width values of one row that wait while a reduction ends, as the legality counts them.
    pub(super) kept_row_bytes: u64,
}

/// The same for all kernels of a program.
pub(super) struct LiveValues {
    pub(super) kernels: Vec<Live>,
}

impl LiveValues {
    /// `O(ops + reads)`: each kernel's values come and go once.
    pub(super) fn of(analysis: &Analysis) -> Self {
        let graph = &analysis.graph;
        // The kernel and place that read a tensor last, written over by each kernel in turn.
        let mut last_read: Vec<(usize, usize)> = vec![(usize::MAX, 0); graph.tensors.len()];
        let mut held_by: Vec<usize> = vec![usize::MAX; graph.tensors.len()];
        let kernels = analysis.fused.kernels.iter().enumerate();
        let kernels = kernels
            .map(|(index, kernel)| {
                for (place, &op) in kernel.ops.iter().enumerate() {
                    for &tensor in &graph.inputs[op] {
                        last_read[tensor] = (index, place);
                    }
                }
                one_kernel(analysis, index, &kernel.ops, &last_read, &mut held_by)
            })
            .collect();
        Self { kernels }
    }
}

fn one_kernel(
    analysis: &Analysis,
    index: usize,
    ops: &[OpId],
    last_read: &[(usize, usize)],
    held_by: &mut [usize],
) -> Live {
    let graph = &analysis.graph;
    let kept = KeptRows::of(graph, ops);
    let mut live = Live {
        row_elements: kept.map_or(1, |kept| kept.rows.width),
        reduced_elements: kept.map_or(0, |kept| kept.rows.full_elements()),
        kept_row_bytes: kept.map_or(0, |kept| kept.bytes()),
        ..Live::default()
    };
    let running = ops.iter().map(|&op| running_values(&graph.ops[op])).max();
    let running = running.unwrap_or(0);
    let mut held = 0_u64;
    for (place, &op) in ops.iter().enumerate() {
        for tensor in graph.distinct_inputs(op) {
            if held_by[tensor] != index {
                held_by[tensor] = index;
                held += 1;
            }
        }
        let output = graph.output[op];
        let is_read_here = last_read[output].0 == index;
        // A norm reads its weights when it has its row values.
        let later = match running_values(&graph.ops[op]) {
            0 => 0,
            _ => graph.distinct_inputs(op).count().saturating_sub(1) as u64,
        };
        live.at_once = live.at_once.max(held).max(held - later + running);
        // What is read for the last time makes room for the result.
        for tensor in graph.distinct_inputs(op) {
            if last_read[tensor] == (index, place) {
                held = held.saturating_sub(1);
            }
        }
        held_by[output] = index;
        held += 1;
        live.at_once = live.at_once.max(held);
        if !is_read_here {
            held = held.saturating_sub(1);
        }
    }
    live
}

/// What a reduction keeps for each element that a thread takes, and adds up across threads at the end of its rows: a
/// sum or a maximum; two of them where both run together.
fn running_values(op: &Op) -> u64 {
    match (op.op_type, op.function.as_deref()) {
        (OpType::Reduction, Some("softmax" | "log_softmax" | "layer_norm" | "var")) => 2,
        (OpType::Reduction, _) => 1,
        _ => 0,
    }
}
