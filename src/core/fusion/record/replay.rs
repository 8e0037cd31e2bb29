//! Replays decisions to partitions.

use crate::core::disjoint_sets::DisjointSets;
use crate::core::fusion::none;
use crate::core::fusion::record::{Decision, Record};
use crate::core::model::adjacency::Adjacency;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, KernelId, OpId, define_ids};
use crate::core::model::order::topological_order;
use crate::core::model::partition::Partition;

impl Record {
    /// The kernels after the first `step` decisions. An op without a decision is a kernel of its own.
    ///
    /// Kernels are numbered in an order in which they can run, as close to the final order as possible.
    /// `O((ops + reads) log ops)`, plus the ops that the decisions name.
    pub fn partition_after(&self, graph: &Graph, step: usize) -> Partition {
        let mut replay = Replay::new(graph);
        for decision in self.decisions.iter().take(step) {
            replay.apply(decision);
        }
        let replayed = replay.partition(&self.kernel_of);
        let mut partition = replayed.unwrap_or_else(|| none::partition(graph));
        if step >= self.decisions.len() {
            partition
                .further_launches
                .clone_from(&self.further_launches);
        }
        partition
    }

    /// Number of kernels before the first decision and after each. `O(ops)` for all steps together, plus the
    /// ops that the decisions name.
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

define_ids! {
    /// A cell: first one for each op, then one for each buffer.
    struct CellId;
}

impl CellId {
    /// The cell of an op before any decision.
    const fn of_op(op: OpId) -> Self {
        Self::new(op.index())
    }
}

/// Ops that decisions move together.
struct Cell {
    /// The ops that it computes.
    ops: Vec<OpId>,
    /// An op whose final kernel is also that of the cell.
    named_by: OpId,
}

struct Replay<'a> {
    graph: &'a Graph,
    kernels: usize,
    cells: IdVec<CellId, Cell>,
    /// The cells of each kernel.
    kernel_cells: DisjointSets<CellId>,
    /// For each op the first cell that computes it.
    home: IdVec<OpId, CellId>,
    /// For each view that stays with a buffer the op that it views.
    viewed: IdVec<OpId, Option<OpId>>,
    /// For each norm the cell of its row values; all other cells that compute the norm read it.
    row_values: IdVec<OpId, Option<CellId>>,
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
            cells: graph.ops.ids().map(alone).collect(),
            kernel_cells: DisjointSets::new(count),
            home: graph.ops.ids().map(CellId::of_op).collect(),
            viewed: IdVec::from_elem(None, count),
            row_values: IdVec::from_elem(None, count),
        }
    }

    fn apply(&mut self, decision: &Decision) {
        match decision {
            Decision::Rewritten { ops }
            | Decision::Chosen { ops, .. }
            | Decision::Accepted { ops, .. } => {
                for (&op, &next) in ops.iter().zip(ops.iter().skip(1)) {
                    self.unite(op, next);
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
        self.kernels += 1;
        self.kernel_cells.push();
        let cell = self.cells.push(Cell {
            ops: ops.to_vec(),
            named_by,
        });
        for &op in ops {
            if self.home[op] == CellId::of_op(op) {
                // The ops of an attention move along with its last op.
                self.link(CellId::of_op(op), cell);
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

    fn link(&mut self, a: CellId, b: CellId) {
        let were_two = self.kernel_cells.unite(b, a);
        self.kernels -= usize::from(were_two);
    }

    /// The kernels, numbered as close to `kernel_of` as possible; `None` if they form a cycle.
    fn partition(mut self, kernel_of: &IdVec<OpId, KernelId>) -> Option<Partition> {
        let count = self.graph.ops.len();
        let (kernel_of_cell, kernels) = self.numbered(kernel_of);
        let mut computed_in: IdVec<OpId, Vec<KernelId>> = IdVec::from_elem(Vec::new(), count);
        for (cell, &kernel) in self.cells.iter().zip(&kernel_of_cell) {
            for &op in &cell.ops {
                if self.viewed[op].is_none() {
                    computed_in[op].push(kernel);
                }
            }
        }
        let order = topological_order(&self.needs(&kernel_of_cell, &computed_in, kernels)).ok()?;
        let mut place = IdVec::from_elem(KernelId::new(0), kernels);
        for (at, &kernel) in order.iter().enumerate() {
            place[kernel] = KernelId::new(at);
        }

        let mut kernel_of: IdVec<OpId, KernelId> = IdVec::with_capacity(count);
        let mut again = Adjacency::with_capacity(count, 0);
        for (viewed, kernels) in self.viewed.iter().zip(&mut computed_in) {
            for kernel in kernels.iter_mut() {
                *kernel = place[*kernel];
            }
            kernels.sort_unstable();
            kernels.dedup();
            kernel_of.push(match *viewed {
                Some(viewed) => kernel_of[viewed],
                None => kernels.first().copied().unwrap_or(KernelId::new(0)),
            });
            again.push(kernels.iter().copied().skip(1));
        }
        let recomputes = computed_in.iter().any(|kernels| kernels.len() > 1);
        let mut partition = Partition::of_ops(kernel_of, kernels);
        if recomputes {
            partition.recomputed = again.inverted(kernels);
        }
        Some(partition)
    }

    /// For each cell its kernel, numbered by final kernels, and the number of kernels.
    fn numbered(&mut self, kernel_of: &IdVec<OpId, KernelId>) -> (IdVec<CellId, KernelId>, usize) {
        let count = self.cells.len();
        let mut ranks: Adjacency<CellId, KernelId> = Adjacency::with_capacity(count, count);
        for (id, cell) in self.cells.iter_enumerated() {
            // A cell does not count if its op has moved to another cell or does not run.
            let op = OpId::new(id.index());
            let is_gone = self.home.get(op).is_some_and(|&home| home != id);
            let counts = !is_gone && self.viewed[cell.named_by].is_none();
            ranks.push(counts.then(|| kernel_of[cell.named_by]));
        }
        let mut kernel_of_root: IdVec<CellId, Option<KernelId>> = IdVec::from_elem(None, count);
        let mut kernels = 0;
        for &cell in ranks.inverted(self.graph.ops.len()).iter().flatten() {
            let root = self.kernel_cells.root(cell);
            kernel_of_root[root].get_or_insert_with(|| {
                kernels += 1;
                KernelId::new(kernels - 1)
            });
        }
        // The cell of a view that stays with a buffer has no kernel; nothing reads this entry.
        let of_root = |&root: &CellId| kernel_of_root[root].unwrap_or(KernelId::new(0));
        let of_cell = self.kernel_cells.roots().iter().map(of_root).collect();
        (of_cell, kernels)
    }

    /// For each kernel the kernels that it reads from.
    fn needs(
        &self,
        kernel_of_cell: &IdVec<CellId, KernelId>,
        computed_in: &IdVec<OpId, Vec<KernelId>>,
        kernels: usize,
    ) -> IdVec<KernelId, Vec<KernelId>> {
        let mut needs = IdVec::from_elem(Vec::new(), kernels);
        for (op, own) in computed_in.iter_enumerated() {
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
