//! Edges that differ only in the iteration of their block.

use crate::analysis::Analysis;
use crate::analysis::why::PricedEdge;
use crate::model::ids::{IdVec, OpId};
use std::collections::HashMap;

/// The iterations of a program's blocks.
pub struct Iterations<'a> {
    analysis: &'a Analysis,
    statement_of_op: &'a IdVec<OpId, usize>,
    /// The iteration of each op in its block, from 0.
    iteration_of_op: IdVec<OpId, usize>,
}

/// The key that an edge shares with its equals in other iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementEdge {
    /// The statements of its producer and its consumer.
    statements: [usize; 2],
    /// The statements of the first ops of their kernels.
    kernels: [Option<usize>; 2],
    /// An edge from one iteration to the next differs from an edge within an iteration.
    iteration_distance: usize,
}

impl<'a> Iterations<'a> {
    /// `statement_of_op` gives for each op its statement: those of a block have several.
    /// `O(n log n)` in ops.
    pub fn new(analysis: &'a Analysis, statement_of_op: &'a IdVec<OpId, usize>) -> Self {
        let graph = &analysis.graph;
        let mut iterations = Self {
            analysis,
            statement_of_op,
            iteration_of_op: IdVec::from_elem(0, graph.ops.len()),
        };
        // The list has the ops of a statement iteration by iteration.
        let mut listed: Vec<OpId> = graph.ops.ids().collect();
        listed.sort_by_key(|&op| graph.listed_at[op]);
        let mut counts = HashMap::new();
        for op in listed {
            let count = counts.entry(iterations.statement(op)).or_insert(0);
            iterations.iteration_of_op[op] = *count;
            *count += 1;
        }
        iterations
    }

    /// The key that an edge shares with its equals in other iterations.
    pub fn statement_edge(&self, edge: &PricedEdge) -> StatementEdge {
        let partition = &self.analysis.partition;
        let ops = [edge.producer, edge.consumer];
        let first_of_kernel =
            |op: OpId| partition.kernels[partition.kernel_of[op]].first().copied();
        let [from, to] = ops.map(|op| self.iteration_of_op[op]);
        StatementEdge {
            statements: ops.map(|op| self.statement(op)),
            kernels: ops.map(|op| Some(self.statement(first_of_kernel(op)?))),
            iteration_distance: to.abs_diff(from),
        }
    }

    fn statement(&self, op: OpId) -> usize {
        self.statement_of_op.get(op).copied().unwrap_or(op.index())
    }
}
