//! Replays decisions to partitions.

use crate::disjoint_sets::DisjointSets;
use crate::fusion::decision::NodeId;
use crate::fusion::decision_trace::{Decision, DecisionTrace};
use crate::fusion::none;
use crate::fusion::views::{home, with_placed_views};
use crate::model::adjacency::Adjacency;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, define_ids};
use crate::model::order::topological_order;
use crate::model::partition::Partition;

impl DecisionTrace {
    /// The kernels after the first `step` decisions. An op without a decision is a kernel of its
    /// own.
    ///
    /// Kernels are numbered in an order in which they can run, as close to the final order as
    /// possible. `O((ops + reads) log ops)`, plus the ops that the decisions name.
    pub fn partition_after(&self, graph: &Graph, step: usize) -> Partition {
        let mut replay = Replay::new(self, graph);
        for decision in self.decisions.iter().take(step) {
            replay.apply(decision);
        }
        let replayed = replay.partition().unwrap_or_else(|| none::partition(graph));
        if step < self.decisions.len() {
            return replayed;
        }
        // What no decision says of the final kernels.
        Partition {
            kernels: replayed.kernels,
            kernel_of: replayed.kernel_of,
            recomputed: replayed.recomputed,
            statistics: replayed.statistics,
            ..self.last.clone()
        }
    }

    /// Number of kernels before the first decision and after each, without those of free views
    /// alone. `O(ops)` for all steps together, plus the ops that the decisions name.
    pub fn kernel_counts(&self, graph: &Graph) -> Vec<usize> {
        let mut replay = Replay::new(self, graph);
        let mut counts = vec![replay.kernels];
        for decision in &self.decisions {
            replay.apply(decision);
            counts.push(replay.kernels);
        }
        counts
    }
}

define_ids! {
    /// A unit that decisions move as a whole: first one for each op, then one for each node of the
    /// compiler.
    struct CellId;
}

impl CellId {
    /// The cell of an op before any decision.
    const fn of_op(op: OpId) -> Self {
        Self::new(op.index())
    }
}

struct Replay<'a> {
    trace: &'a DecisionTrace,
    graph: &'a Graph,
    kernels: usize,
    /// For each cell that stands for a kernel whether anything runs for it; of no node before its
    /// decision.
    runs: IdVec<CellId, bool>,
    /// For each cell the ops that it computes; none if it does not exist yet, or no longer.
    cells: IdVec<CellId, Vec<OpId>>,
    kernel_cells: DisjointSets<CellId>,
    /// For each op the cell that writes its output or, if none does, the first that computes it.
    home: IdVec<OpId, CellId>,
    /// For each op whether its home writes its output.
    is_written: IdVec<OpId, bool>,
    /// For each view that stays with a buffer the op that it views.
    viewed: IdVec<OpId, Option<OpId>>,
}

impl<'a> Replay<'a> {
    fn new(trace: &'a DecisionTrace, graph: &'a Graph) -> Self {
        let count = graph.ops.len();
        let nodes = trace.nodes.iter().map(|_| Vec::new());
        let runs = |op: OpId| trace.is_view.get(op) != Some(&true);
        Self {
            trace,
            graph,
            kernels: graph.ops.ids().filter(|&op| runs(op)).count(),
            runs: (graph.ops.ids().map(runs))
                .chain(trace.nodes.iter().map(|_| false))
                .collect(),
            cells: graph.ops.ids().map(|op| vec![op]).chain(nodes).collect(),
            kernel_cells: DisjointSets::new(count + trace.nodes.len()),
            home: graph.ops.ids().map(CellId::of_op).collect(),
            is_written: IdVec::from_elem(false, count),
            viewed: IdVec::from_elem(None, count),
        }
    }

    fn of_node(&self, node: NodeId) -> CellId {
        CellId::new(self.graph.ops.len() + node.index())
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
            Decision::Viewed { view, with } => self.unite(*view, *with),
            Decision::Fused { first, second, .. } => {
                self.link(self.of_node(first.node), self.of_node(second.node));
            }
            Decision::Stays { view, producer } => {
                let cell = CellId::of_op(*view);
                self.viewed[*view] = Some(*producer);
                self.cells[cell].clear();
                // The view is part of the kernel that writes its buffer and launches none.
                self.kernels -= usize::from(self.runs[cell]);
            }
            Decision::Buffer { node, ops, output } => self.add(*node, ops, *output),
            Decision::Started { .. }
            | Decision::Closed { .. }
            | Decision::Inlined { .. }
            | Decision::Round { .. }
            | Decision::Searched { .. }
            | Decision::Refused { .. } => {}
        }
    }

    fn add(&mut self, node: NodeId, ops: &[OpId], output: Option<OpId>) {
        let cell = self.of_node(node);
        let is_view = |&op: &OpId| self.trace.is_view.get(op) == Some(&true);
        self.runs[cell] = !ops.iter().all(is_view);
        self.kernels += usize::from(self.runs[cell]);
        self.cells[cell] = ops.to_vec();
        for &op in ops {
            let alone = CellId::of_op(op);
            if self.home[op] == alone {
                // The ops of an attention move along with its last op.
                self.link(alone, cell);
                self.cells[alone].clear();
                self.home[op] = cell;
            }
        }
        if let Some(op) = output {
            self.home[op] = cell;
            self.is_written[op] = true;
        }
    }

    fn unite(&mut self, a: OpId, b: OpId) {
        self.link(self.home[a], self.home[b]);
    }

    fn link(&mut self, a: CellId, b: CellId) {
        let run = [a, b].map(|cell| self.runs[self.kernel_cells.root(cell)]);
        let were_two = self.kernel_cells.unite(b, a);
        // Two kernels that run become one; a cell of free views never counted.
        self.kernels -= usize::from(were_two && run == [true; 2]);
        let root = self.kernel_cells.root(a);
        self.runs[root] = run.contains(&true);
    }

    /// The kernels, numbered as close to the final ones as possible; `None` if they form a cycle.
    fn partition(mut self) -> Option<Partition> {
        let count = self.graph.ops.len();
        let (kernel_of_cell, kernels) = self.numbered();
        let order = topological_order(&self.needs(&kernel_of_cell, kernels)).ok()?;
        let mut place = IdVec::from_elem(KernelId::new(0), kernels);
        for (at, &kernel) in order.iter().enumerate() {
            place[kernel] = KernelId::new(at);
        }
        let mut computed_in: IdVec<OpId, Vec<KernelId>> = IdVec::from_elem(Vec::new(), count);
        for (ops, &kernel) in self.cells.iter().zip(&kernel_of_cell) {
            for &op in ops {
                computed_in[op].push(place[kernel]);
            }
        }

        let mut kernel_of: IdVec<OpId, KernelId> = IdVec::with_capacity(count);
        let mut all = Adjacency::with_capacity(count, count);
        for ((op, viewed), kernels) in self.viewed.iter_enumerated().zip(&mut computed_in) {
            kernels.sort_unstable();
            kernels.dedup();
            let writer = self.is_written[op].then(|| place[kernel_of_cell[self.home[op]]]);
            // Ops ascend in execution order, so the kernel of the viewed op is known.
            kernel_of.push(match *viewed {
                Some(viewed) => kernel_of[viewed],
                None => home(self.graph, op, writer, kernels).unwrap_or(KernelId::new(0)),
            });
            all.push(kernels.iter().copied());
        }
        Some(with_placed_views(self.graph, kernel_of, &all, kernels))
    }

    /// For each cell its kernel, numbered by final kernels, and the number of kernels.
    fn numbered(&mut self) -> (IdVec<CellId, KernelId>, usize) {
        let count = self.cells.len();
        let mut ranks: Adjacency<CellId, KernelId> = Adjacency::with_capacity(count, count);
        let nodes = self.trace.nodes.iter().map(|node| node.kernel);
        let last = self.trace.last.kernel_of.iter().copied().chain(nodes);
        for (ops, kernel) in self.cells.iter().zip(last) {
            ranks.push((!ops.is_empty()).then_some(kernel));
        }
        let mut kernel_of_root: IdVec<CellId, Option<KernelId>> = IdVec::from_elem(None, count);
        let mut kernels = 0;
        // There may be more kernels than ops.
        for &cell in ranks.inverted(count).iter().flatten() {
            let root = self.kernel_cells.root(cell);
            kernel_of_root[root].get_or_insert_with(|| {
                kernels += 1;
                KernelId::new(kernels - 1)
            });
        }
        // A cell without ops may have no kernel; nothing reads this entry.
        let of_root = |&root: &CellId| kernel_of_root[root].unwrap_or(KernelId::new(0));
        let of_cell = self.kernel_cells.roots().iter().map(of_root).collect();
        (of_cell, kernels)
    }

    /// For each kernel the kernels that it reads from.
    fn needs(
        &self,
        kernel_of_cell: &IdVec<CellId, KernelId>,
        kernels: usize,
    ) -> IdVec<KernelId, Vec<KernelId>> {
        let mut needs = IdVec::from_elem(Vec::new(), kernels);
        let mut need = |cell: CellId, read: CellId| {
            let (kernel, from) = (kernel_of_cell[cell], kernel_of_cell[read]);
            if kernel != from {
                needs[kernel].push(from);
            }
        };
        let count = self.graph.ops.len();
        for (cell, ops) in self.cells.iter_enumerated() {
            for &producer in ops.iter().flat_map(|&op| &self.graph.predecessors[op]) {
                let mut source = producer;
                while let Some(viewed) = self.viewed[source] {
                    source = viewed;
                }
                let home = self.home[source];
                // Nodes say themselves which nodes they read.
                if cell.index() < count || home.index() < count {
                    need(cell, home);
                }
            }
        }
        for (node, placed) in self.trace.nodes.iter_enumerated() {
            let cell = self.of_node(node);
            if !self.cells[cell].is_empty() {
                for &read in &placed.reads {
                    need(cell, self.of_node(read));
                }
            }
        }
        needs
    }
}
