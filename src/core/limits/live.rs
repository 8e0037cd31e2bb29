//! Which values a kernel holds at once.

use crate::core::analysis::Analysis;
use crate::core::graph::{OpId, TensorId};
use crate::core::op::OpType;

/// What one kernel holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Live {
    /// Most values at any op: what was loaded or computed and is still to be read.
    pub(super) at_once: u64,
    /// Elements of the longest row that it reduces; 1 without a reduction.
    pub(super) row_elements: u64,
    /// Elements of the largest tensor that it reduces.
    pub(super) reduced_elements: u64,
    /// Bytes of the full-width values of one row that are needed on both sides of a reduction, 4 bytes each.
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
    let elements = |t: TensorId| {
        let shape = graph.tensors[t].shape.as_deref().unwrap_or(&[]);
        (
            shape.iter().fold(1_u64, |n, &d| n.saturating_mul(d)),
            shape.last().copied().unwrap_or(1),
        )
    };
    let mut live = Live {
        row_elements: 1,
        ..Live::default()
    };
    for &op in ops {
        if graph.ops[op].op_type == OpType::Reduction
            && let Some(&input) = graph.inputs[op].first()
        {
            let (count, width) = elements(input);
            live.row_elements = live.row_elements.max(width);
            live.reduced_elements = live.reduced_elements.max(count);
        }
    }
    let is_wide = |t: TensorId| elements(t).1 >= live.row_elements && live.row_elements > 1;
    let (mut held, mut wide) = (0_u64, 0_u64);
    for (place, &op) in ops.iter().enumerate() {
        for tensor in graph.distinct_inputs(op) {
            if held_by[tensor] != index {
                held_by[tensor] = index;
                held += 1;
                wide += u64::from(is_wide(tensor));
            }
        }
        let output = graph.output[op];
        let is_read_here = last_read[output].0 == index;
        live.at_once = live.at_once.max(held);
        // What is read for the last time makes room for the result.
        for tensor in graph.distinct_inputs(op) {
            if last_read[tensor] == (index, place) {
                held = held.saturating_sub(1);
                wide = wide.saturating_sub(u64::from(is_wide(tensor)));
            }
        }
        if graph.ops[op].op_type == OpType::Reduction {
            // A normalization reads its row again itself.
            let own = u64::from(is_wide(output) && wide == 0);
            let bytes = (wide + own)
                .saturating_mul(live.row_elements)
                .saturating_mul(4);
            live.kept_row_bytes = live.kept_row_bytes.max(bytes);
        }
        held_by[output] = index;
        held += 1;
        wide += u64::from(is_wide(output));
        live.at_once = live.at_once.max(held);
        if !is_read_here {
            held = held.saturating_sub(1);
            wide = wide.saturating_sub(u64::from(is_wide(output)));
        }
    }
    live
}
