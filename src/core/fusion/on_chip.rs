//! The rows that a kernel keeps on chip while its reductions run.
//!
//! A reduction ends a *pass* over its rows: what it gives is there only when the whole row has been seen. A
//! full-width value that one pass reads or makes and a later one needs waits on chip, for each tensor moves once.
//! Nothing is computed twice: that would be arithmetic which no kernel is charged for.
#![allow(
    clippy::indexing_slicing,
    reason = "places are below the number of ops of the kernel, passes below the number of its passes"
)]

use crate::core::fusion::rows::RowDomain;
use crate::core::model::graph::{Graph, OpId};
use crate::core::model::op_type::OpType;

/// A value on chip is held in f32, whatever it is stored as.
pub(super) const BYTES_PER_ELEMENT: u64 = 4;

/// What a kernel with a reduction keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptRows {
    /// How its widest reduction walks.
    pub(crate) rows: RowDomain,
    /// Most full-width values that wait while a reduction ends.
    pub(crate) values: usize,
    /// That reduction.
    pub(crate) reduction: OpId,
}

impl KeptRows {
    /// Of these ops, ascending; `None` without a reduction.
    ///
    /// A reduction runs as soon as it can. The other ops all run as early as they can, or all as late: whichever
    /// keeps less. A reduction that gives a whole row, such as softmax, needs its input for one pass more.
    /// `O(ops * passes + reads)` but for a sort of the reads.
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
        let mut passes = vec![0; ops.len()];
        for place in 0..ops.len() {
            for before in &graph.predecessors[ops[place]] {
                if let Ok(from) = ops.binary_search(before) {
                    let earliest = passes[from] + usize::from(is_reduction(*before));
                    passes[place] = passes[place].max(earliest);
                }
            }
        }
        let ended = ops.iter().zip(&passes).filter(|&(&op, _)| is_reduction(op));
        let last = ended.map(|(_, &pass)| pass + 1).max().unwrap_or(0);
        let early = peak(graph, ops, rows, &passes, last);
        for place in (0..ops.len()).rev() {
            if !is_reduction(ops[place]) {
                let after = graph.successors[ops[place]].iter();
                let after = after.filter_map(|op| ops.binary_search(op).ok());
                passes[place] = after.map(|to| passes[to]).min().unwrap_or(last);
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

/// Most full-width values that wait at the end of a pass, and that pass.
fn peak(
    graph: &Graph,
    ops: &[OpId],
    rows: RowDomain,
    passes: &[usize],
    last: usize,
) -> (usize, usize) {
    let full = rows.full_elements();
    // A tensor, and a pass that reads or makes it.
    let mut touched: Vec<(usize, usize)> = Vec::new();
    for (&op, &pass) in ops.iter().zip(passes) {
        let (inputs, output) = (&graph.inputs[op], graph.output[op]);
        // What nothing declares is as large as what its reader makes, as it is for bytes.
        let is_full = |tensor: &usize| {
            let known = graph.tensors[*tensor].elements();
            known.or(graph.tensors[output].elements()) == Some(full)
        };
        let gives_rows = graph.ops[op].op_type == OpType::Reduction && is_full(&output);
        let again = inputs.iter().take(usize::from(gives_rows));
        let reads = inputs.iter().map(|&input| (input, pass));
        let reads = reads.chain(again.map(|&input| (input, pass + 1)));
        touched.extend(reads.filter(|(input, _)| is_full(input)));
        if is_full(&output) {
            touched.push((output, pass + usize::from(gives_rows)));
        }
    }
    touched.sort_unstable();
    let mut waiting = vec![0; last + 1];
    for pair in touched.windows(2) {
        if pair[0].0 == pair[1].0 {
            waiting[pair[0].1..pair[1].1]
                .iter_mut()
                .for_each(|count| *count += 1);
        }
    }
    let counts = waiting.into_iter().zip(0..);
    counts.fold((0, 0), |most, at| if at.0 > most.0 { at } else { most })
}
