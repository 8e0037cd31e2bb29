//! Decisions to partitions.
#![allow(
    clippy::indexing_slicing,
    reason = "op, cell and kernel ids are dense indices of one replay"
)]

use crate::core::disjoint_sets::DisjointSets;
use crate::core::fusion::none;
use crate::core::fusion::record::{Decision, Record};
use crate::core::model::graph::{Graph, OpId};
use crate::core::model::lists::Lists;
use crate::core::model::order::topological_order;
use crate::core::model::partition::Partition;

impl Record {
    /// The kernels after the first `step` decisions: what is not decided yet stands alone.
    ///
    /// Kernels are numbered in an order in which they can run, as near to the final one as it goes.
    /// `O((ops + reads) log ops)` beside the ops that the decisions name.
    pub fn partition_after(&self, graph: &Graph, step: usize) -> Partition {
        let mut replay = Replay::new(graph);
        for decision in self.decisions.iter().take(step) {
            replay.apply(decision);
        }
        replay
            .partition(&self.kernel_of)
            .unwrap_or_else(|| none::partition(graph))
    }

    /// How many kernels there are before the first decision and after each. `O(ops)` beside the ops that the
    /// decisions name, for all steps together.
    pub fn kernel_counts(&self, graph: &Graph) -> Vec<usize> {
        let mut replay = Replay::new(graph);
        let mut counts = vec![replay.kernels];
        for decision in &self.decisions {
            replay.apply(decision);
            counts.push(replay.kernels);
        }
        counts
    }
}

/// What was decided about some ops.
struct Cell {
    /// What it computes.
    ops: Vec<OpId>,
    /// An op whose kernel in the end is also the cell's.
    named_by: OpId,
}

struct Replay<'a> {
    graph: &'a Graph,
    kernels: usize,
    /// First one for each op, then one for each buffer.
    cells: Vec<Cell>,
    /// The cells of each kernel.
    kernel_cells: DisjointSets,
    /// For each op the first cell that computes it.
    home: Vec<usize>,
    /// For each view that stays with a buffer what it views.
    viewed: Vec<Option<OpId>>,
    /// For each norm the cell of its row values, which each other cell that computes the norm reads.
    row_values: Vec<Option<usize>>,
}

impl<'a> Replay<'a> {
    fn new(graph: &'a Graph) -> Self {
        let count = graph.ops.len();
        let alone = |op| Cell {
            ops: vec![op],
            named_by: op,
        };
        Self {
            graph,
            kernels: count,
            cells: (0..count).map(alone).collect(),
            kernel_cells: DisjointSets::new(count),
            home: (0..count).collect(),
            viewed: vec![None; count],
            row_values: vec![None; count],
        }
    }

    fn apply(&mut self, decision: &Decision) {
        match decision {
            Decision::Rewritten { ops }
            | Decision::Chosen { ops, .. }
            | Decision::Accepted { ops, .. } => {
                for pair in ops.windows(2) {
                    self.unite(pair[0], pair[1]);
                }
            }
            Decision::Joined { op, producer } | Decision::Merged { op, producer } => {
                self.unite(*op, *producer);
            }
            Decision::Fused { first, second, .. } => self.unite(*first, *second),
            Decision::Stays { view, producer } => {
                self.viewed[*view] = Some(*producer);
                self.kernels -= 1;
            }
            Decision::Buffer { ops, is_row_values } => self.add(ops, *is_row_values),
            Decision::Started { .. }
            | Decision::Closed { .. }
            | Decision::Inlined { .. }
            | Decision::Round { .. }
            | Decision::Searched { .. }
            | Decision::Refused { .. } => {}
        }
    }

    fn add(&mut self, ops: &[OpId], is_row_values: bool) {
        let Some(&named_by) = ops.last() else {
            return;
        };
        let cell = self.kernel_cells.push();
        self.kernels += 1;
        self.cells.push(Cell {
            ops: ops.to_vec(),
            named_by,
        });
        for &op in ops {
            if self.home[op] == op {
                // What an attention replaces comes along with its last op.
                self.link(op, cell);
                self.home[op] = cell;
            }
        }
        if is_row_values {
            self.row_values[named_by] = Some(cell);
        }
    }

    fn unite(&mut self, a: OpId, b: OpId) {
        self.link(self.home[a], self.home[b]);
    }

    fn link(&mut self, a: usize, b: usize) {
        let were_two = self.kernel_cells.unite(b, a);
        self.kernels -= usize::from(were_two);
    }

    /// The kernels, numbered as near as it goes to `kernel_of`; `None` when they cannot be ordered.
    fn partition(mut self, kernel_of: &[usize]) -> Option<Partition> {
        let count = self.graph.ops.len();
        let (kernel_of_cell, kernels) = self.numbered(kernel_of);
        let mut computed_in = vec![Vec::new(); count];
        for (cell, &kernel) in self.cells.iter().zip(&kernel_of_cell) {
            for &op in &cell.ops {
                if self.viewed[op].is_none() {
                    computed_in[op].push(kernel);
                }
            }
        }
        let order = topological_order(&self.needs(&kernel_of_cell, &computed_in, kernels)).ok()?;
        let mut place = vec![0; kernels];
        for (at, &kernel) in order.iter().enumerate() {
            place[kernel] = at;
        }

        let mut group_of: Vec<usize> = vec![0; count];
        let mut again = Lists::with_capacity(count, 0);
        for (op, kernels) in computed_in.iter_mut().enumerate() {
            for kernel in kernels.iter_mut() {
                *kernel = place[*kernel];
            }
            kernels.sort_unstable();
            kernels.dedup();
            group_of[op] = match self.viewed[op] {
                Some(viewed) => group_of[viewed],
                None => kernels.first().copied().unwrap_or(0),
            };
            again.push(kernels.iter().copied().skip(1));
        }
        let recomputes = computed_in.iter().any(|kernels| kernels.len() > 1);
        let mut partition = Partition::of_ops(group_of, kernels);
        if recomputes {
            partition.recomputed = again.inverted(kernels);
        }
        Some(partition)
    }

    /// For each cell its kernel, by the kernels in the end, and how many kernels there are.
    fn numbered(&mut self, kernel_of: &[usize]) -> (Vec<usize>, usize) {
        const NONE: usize = usize::MAX;
        let mut ranks = Lists::with_capacity(self.cells.len(), self.cells.len());
        for (id, cell) in self.cells.iter().enumerate() {
            // An op that has a cell elsewhere, or does not run, does not order its own cell.
            let is_gone = self.home.get(id).is_some_and(|&home| home != id);
            let counts = !is_gone && self.viewed[cell.named_by].is_none();
            let rank = kernel_of.get(cell.named_by).copied().unwrap_or(0);
            ranks.push(counts.then_some(rank));
        }
        let mut kernel_of_root = vec![NONE; self.cells.len()];
        let mut kernels = 0;
        for &cell in ranks.inverted(self.graph.ops.len()).iter().flatten() {
            let root = self.kernel_cells.root(cell);
            if kernel_of_root[root] == NONE {
                kernel_of_root[root] = kernels;
                kernels += 1;
            }
        }
        let roots = self.kernel_cells.roots().into_iter();
        (roots.map(|root| kernel_of_root[root]).collect(), kernels)
    }

    /// For each kernel those that it reads from.
    fn needs(
        &self,
        kernel_of_cell: &[usize],
        computed_in: &[Vec<usize>],
        kernels: usize,
    ) -> Vec<Vec<usize>> {
        let mut needs = vec![Vec::new(); kernels];
        for (op, own) in computed_in.iter().enumerate() {
            for &kernel in own {
                if let Some(cell) = self.row_values[op]
                    && kernel_of_cell[cell] != kernel
                {
                    needs[kernel].push(kernel_of_cell[cell]);
                }
                for &producer in &self.graph.predecessors[op] {
                    let mut source = producer;
                    while let Some(viewed) = self.viewed[source] {
                        source = viewed;
                    }
                    if !computed_in[source].contains(&kernel) {
                        needs[kernel].push(kernel_of_cell[self.home[source]]);
                    }
                }
            }
        }
        needs
    }
}
