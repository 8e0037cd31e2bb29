//! The rows that a kernel keeps on chip while its reductions run.
//!
//! A reduction ends a *pass* over its rows: its result exists only after the whole row was read. A
//! full-width value that one pass reads or computes and a later one needs is kept on chip, because
//! each tensor moves once. Nothing is computed twice, because no kernel is charged for such FLOPs.

use crate::fusion::region::LocalOp;
use crate::fusion::rows::RowDomain;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op_type::OpType;

/// A value on chip is held in f32, whatever it is stored as.
pub const BYTES_PER_ELEMENT: u64 = 4;
/// Full-width values that a kernel may need again whatever the length of its rows. Softmax, one op
/// or taken apart, needs one. If the row does not fit on chip, each pass reads it again, in pieces.
/// Compulsory traffic does not count these reads, neither of an op alone nor of a fused kernel.
pub const READ_AGAIN_VALUES: usize = 1;

/// The rows that a kernel with a reduction keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptRows {
    /// The rows of its widest reduction.
    pub(crate) rows: RowDomain,
    /// Most full-width values that are kept while a reduction runs.
    pub(crate) values: usize,
    pub(crate) reduction: OpId,
}

impl KeptRows {
    /// The rows that a kernel of these ops, ascending, keeps; `None` without a reduction.
    ///
    /// A reduction runs as early as possible. The other ops run all as early or all as late as
    /// possible, whichever keeps less. A reduction that gives whole rows, such as softmax, needs
    /// its input for one more pass. `O(ops * passes + reads log reads)`.
    pub(crate) fn of(graph: &Graph, ops: &[OpId]) -> Option<Self> {
        let is_reduction = |op: OpId| graph.ops[op].op_type == OpType::Reduction;
        let mut widest: Option<(OpId, RowDomain)> = None;
        for &op in ops.iter().filter(|&&op| is_reduction(op)) {
            let rows = RowDomain::of_op(graph, op);
            if widest.is_none_or(|(_, known)| rows.width > known.width) {
                widest = Some((op, rows));
            }
        }
        let (reduction, rows) = widest?;
        let place_of = |op: &OpId| ops.binary_search(op).ok().map(LocalOp::new);
        let mut passes: IdVec<LocalOp, usize> = IdVec::with_capacity(ops.len());
        for &op in ops {
            // Ops ascend in execution order, so the passes of all producers in the kernel are
            // known.
            let before = graph.predecessors[op].iter();
            let earliest = before.filter_map(|&before| {
                Some(passes[place_of(&before)?] + usize::from(is_reduction(before)))
            });
            passes.push(earliest.max().unwrap_or(0));
        }
        let ended = ops.iter().zip(&passes).filter(|&(&op, _)| is_reduction(op));
        // Ops that need the results of all reductions run in one more pass after the last of them.
        let last = ended.map(|(_, &pass)| pass + 1).max().unwrap_or(0);
        let early = peak(graph, ops, rows, &passes, last);
        // Backwards, so that the pass of every reader is final.
        for (place, &op) in passes.ids().zip(ops).rev() {
            if !is_reduction(op) {
                let output = graph.output[op];
                let after = graph.successors[op].iter();
                let after = after.filter_map(|to| Some((to, passes[place_of(to)?])));
                let needed =
                    after.map(|(&to, pass)| pass + usize::from(ends_row(graph, to, output)));
                passes[place] = needed.min().unwrap_or(last);
            }
        }
        let late = peak(graph, ops, rows, &passes, last);
        let (values, pass) = if late.0 < early.0 { late } else { early };
        let mut ending = ops.iter().zip(&passes);
        let ending = ending.find(|&(&op, &own)| own == pass && is_reduction(op));
        Some(Self {
            rows,
            values,
            reduction: ending.map_or(reduction, |(&op, _)| op),
        })
    }

    /// Bytes of one row of each kept value.
    pub(crate) fn bytes(&self) -> u64 {
        (self.values as u64 * BYTES_PER_ELEMENT).saturating_mul(self.rows.width)
    }
}

/// Whether a reduction gives a value for each element of a row, as softmax and the norms do.
fn gives_rows(graph: &Graph, op: OpId) -> bool {
    let elements = |tensor: TensorId| graph.tensors[tensor].elements();
    let of_input = graph.inputs[op].first().and_then(|&input| elements(input));
    let of_output = elements(graph.output[op]);
    graph.ops[op].op_type == OpType::Reduction && of_input.or(of_output) == of_output
}

/// Whether an op needs a tensor only after it has reduced its rows, as a norm its weight and bias.
fn ends_row(graph: &Graph, op: OpId, tensor: TensorId) -> bool {
    gives_rows(graph, op) && graph.inputs[op].first() != Some(&tensor)
}

/// Most full-width values that are kept at the end of a pass, and that pass.
fn peak(
    graph: &Graph,
    ops: &[OpId],
    rows: RowDomain,
    passes: &IdVec<LocalOp, usize>,
    last: usize,
) -> (usize, usize) {
    let full = rows.full_elements();
    // A tensor, and a pass that reads or computes it.
    let mut touched: Vec<(TensorId, usize)> = Vec::new();
    for (&op, &pass) in ops.iter().zip(passes) {
        let (inputs, output) = (&graph.inputs[op], graph.output[op]);
        // A tensor of unknown size counts as large as the output of its reader, as for bytes.
        let is_full = |tensor: &TensorId| {
            let known = graph.tensors[*tensor].elements();
            known.or(graph.tensors[output].elements()) == Some(full)
        };
        let gives_rows = gives_rows(graph, op);
        let again = inputs.iter().take(usize::from(gives_rows));
        let reads = inputs.iter().map(|&input| {
            let is_late = ends_row(graph, op, input);
            (input, pass + usize::from(is_late))
        });
        let reads = reads.chain(again.map(|&input| (input, pass + 1)));
        touched.extend(reads.filter(|(input, _)| is_full(input)));
        if is_full(&output) {
            touched.push((output, pass + usize::from(gives_rows)));
        }
    }
    touched.sort_unstable();
    let mut waiting = vec![0; last + 1];
    // Between two passes that touch it, a value waits at the end of each pass but the last, so each
    // gap of the sorted list counts on its own.
    for pair in touched.windows(2) {
        if let &[(tensor, from), (next, until)] = pair
            && tensor == next
        {
            for count in waiting.iter_mut().take(until).skip(from) {
                *count += 1;
            }
        }
    }
    let counts = waiting.into_iter().zip(0..);
    counts.fold((0, 0), |most, at| if at.0 > most.0 { at } else { most })
}
