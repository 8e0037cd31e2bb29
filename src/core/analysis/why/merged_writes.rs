//! Which outputs two kernels need not write when they are one.

use crate::analysis::Analysis;
use crate::cost::traffic::{leaves, written};
use crate::cost::views::Views;
use crate::model::adjacency::Adjacency;
use crate::model::ids::{IdVec, KernelId, OpId};

/// The outputs that merging two kernels of one analysis keeps on chip.
pub(super) struct MergedWrites<'a> {
    analysis: &'a Analysis,
    views: Views,
    /// For each op whether its output is written to memory.
    is_written: IdVec<OpId, bool>,
    /// For each op the kernels that compute it again.
    recomputed_in: Adjacency<OpId, KernelId>,
    /// Written outputs that one other kernel needs, sorted: the kernel of the op, the other one,
    /// the op.
    needed_by_one: Vec<(KernelId, KernelId, OpId)>,
    /// For each kernel the ops that it computes again although another one writes their outputs.
    written_elsewhere: Adjacency<KernelId, OpId>,
    /// For each kernel its written outputs of which that is not known beforehand.
    unsure: Adjacency<KernelId, OpId>,
}

/// The kernels beside its own that need the output of an op.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Nobody,
    One(KernelId),
    /// Several, or it is a result of the program.
    More,
    /// Views of an op that is computed again: it depends on where they run.
    Unsure,
}

impl Need {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            // First, because even of several readers an unsure one decides.
            (Self::Unsure, _) | (_, Self::Unsure) => Self::Unsure,
            (Self::Nobody, need) | (need, Self::Nobody) => need,
            (Self::One(a), Self::One(b)) if a == b => self,
            _ => Self::More,
        }
    }
}

impl<'a> MergedWrites<'a> {
    /// `O(ops log ops + reads)`.
    pub(super) fn new(analysis: &'a Analysis, views: Views) -> Self {
        let (graph, partition) = (&analysis.graph, &analysis.partition);
        let mut writes = Self {
            analysis,
            is_written: written(graph, partition, &views),
            recomputed_in: partition.recomputed.inverted(graph.ops.len()),
            views,
            needed_by_one: Vec::new(),
            written_elsewhere: Adjacency::default(),
            unsure: Adjacency::default(),
        };
        let again = partition.recomputed.iter_enumerated();
        let again = again.flat_map(|(kernel, ops)| ops.iter().map(move |&op| (kernel, op)));
        let again = again.filter(|&(_, op)| writes.is_written[op] && !writes.views.is_view[op]);
        let elsewhere = Adjacency::from_pairs(partition.kernels.len(), again);
        writes.written_elsewhere = elsewhere;
        // From the end, so that a view comes before its input.
        let mut needs = IdVec::from_elem(Need::Nobody, graph.ops.len());
        let mut unsure = Vec::new();
        for op in graph.ops.ids().rev() {
            let need = writes.need(op, &needs);
            needs[op] = need;
            if writes.is_written[op] && !writes.views.is_view[op] {
                let own = partition.kernel_of[op];
                match need {
                    Need::One(other) => writes.needed_by_one.push((own, other, op)),
                    Need::Unsure => unsure.push((own, op)),
                    Need::Nobody | Need::More => {}
                }
            }
        }
        // For the binary search in `kept`.
        writes.needed_by_one.sort_unstable();
        writes.unsure = Adjacency::from_pairs(partition.kernels.len(), unsure.iter().copied());
        writes
    }

    fn need(&self, op: OpId, needs: &IdVec<OpId, Need>) -> Need {
        let (graph, partition) = (&self.analysis.graph, &self.analysis.partition);
        let own = partition.kernel_of[op];
        let readers = &graph.successors[op];
        let mut need = if graph.is_final(graph.output[op]) {
            Need::More
        } else {
            Need::Nobody
        };
        for &reader in readers {
            for kernel in self.runs_in(reader) {
                if !partition.computes(kernel, op) {
                    need = need.and(Need::One(kernel));
                }
            }
            if self.views.is_view[reader] {
                let of_view = match needs[reader] {
                    // A kernel that computes the op again may run the view on its own copy.
                    _ if !self.recomputed_in[op].is_empty() => Need::Unsure,
                    // The view leads back into the kernel that has the bytes.
                    Need::One(kernel) if kernel == own => Need::Nobody,
                    need => need,
                };
                need = need.and(of_view);
            }
        }
        need
    }

    fn runs_in(&self, op: OpId) -> impl Iterator<Item = KernelId> + '_ {
        let again = self.recomputed_in[op].iter().copied();
        again.chain([self.analysis.partition.kernel_of[op]])
    }

    /// Whether the output of an op is written to memory.
    pub(super) fn is_written(&self, op: OpId) -> bool {
        self.is_written[op]
    }

    /// The views of the graph.
    pub(super) fn views(&self) -> &Views {
        &self.views
    }

    /// The ops whose outputs two kernels write and the merged one keeps on chip.
    pub(super) fn kept(&self, a: KernelId, b: KernelId) -> impl Iterator<Item = OpId> + '_ {
        let between = |own: KernelId, other: KernelId| {
            let start = (self.needed_by_one).partition_point(|&(x, y, _)| (x, y) < (own, other));
            let ops = self.needed_by_one.iter().skip(start);
            ops.take_while(move |&&(x, y, _)| (x, y) == (own, other))
                .map(|&(_, _, op)| op)
        };
        let unsure = self.unsure[a].iter().chain(&self.unsure[b]).copied();
        // An output that several other kernels need is written, whichever two of them merge.
        between(a, b)
            .chain(between(b, a))
            .chain(unsure)
            .filter(move |&op| !self.leaves(op, a, b))
    }

    /// The ops whose outputs a third kernel need not write: of two kernels one reads the output,
    /// the other computes the op again, and nothing else needs it. Ascending.
    pub(super) fn spared(&self, a: KernelId, b: KernelId) -> Vec<OpId> {
        let kernel_of = &self.analysis.partition.kernel_of;
        let again = [a, b].map(|kernel| self.written_elsewhere[kernel].iter());
        let mut spared: Vec<OpId> = again.into_iter().flatten().copied().collect();
        spared.retain(|&op| ![a, b].contains(&kernel_of[op]) && !self.leaves(op, a, b));
        spared.sort_unstable();
        spared.dedup();
        spared
    }

    /// Whether the output of an op leaves the merged kernel.
    fn leaves(&self, op: OpId, a: KernelId, b: KernelId) -> bool {
        let (graph, partition) = (&self.analysis.graph, &self.analysis.partition);
        // The op, and views of it in the merged kernel.
        let mut waiting = vec![op];
        while let Some(op) = waiting.pop() {
            let is_kept = |reader: OpId| {
                let is_merged = |kernel: KernelId| kernel == a || kernel == b;
                let mut runs_in = self.runs_in(reader);
                runs_in.all(|kernel| is_merged(kernel) || partition.computes(kernel, op))
            };
            let view_leaves = |view: OpId| {
                let is_in_merged = partition.computes(a, view) || partition.computes(b, view);
                if is_in_merged {
                    waiting.push(view);
                }
                !is_in_merged && self.is_written[view]
            };
            if leaves(graph, &self.views, op, is_kept, view_leaves) {
                return true;
            }
        }
        false
    }
}
