//! A partition of the ops into kernels.

use crate::model::acyclic;
use crate::model::adjacency::Adjacency;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId, TensorId};
use borsh::{BorshDeserialize, BorshSerialize};

/// The kernels of a graph. Each op is in exactly one; kernels are in an order in which they can
/// run, and the ops of a kernel in execution order.
#[derive(Clone, Debug, PartialEq, Eq, Default, BorshSerialize, BorshDeserialize)]
pub struct Partition {
    /// The ops of each kernel.
    pub kernels: Adjacency<KernelId, OpId>,
    /// Which kernel each op belongs to; kernels that compute it again are in `recomputed`.
    pub kernel_of: IdVec<OpId, KernelId>,
    /// For each kernel the ops of other kernels that it computes again instead of reading their
    /// outputs. Empty for policies that do not recompute.
    pub recomputed: Adjacency<KernelId, OpId>,
    /// Reductions along rows whose statistics an earlier kernel than their own computes, ascending,
    /// each with that kernel, which has them in `recomputed`. Empty for policies whose kernels
    /// reduce and write at once.
    pub statistics: Vec<(OpId, KernelId)>,
    /// Reductions whose rows are cut into pieces, ascending. A further launch of their kernel or a
    /// later kernel joins the pieces. Empty for policies that do not say.
    pub split: Vec<OpId>,
    /// For each kernel its launches after the first: the second half of a split reduction, and
    /// copies of operands that a library needs in another layout. Empty for policies whose kernels
    /// are one launch each.
    pub further_launches: IdVec<KernelId, u32>,
    /// Copies that library calls read instead of an operand, by ascending op. Each is one of the
    /// further launches of the op's kernel, unless another kernel writes it. Empty for policies
    /// whose kernels read by strides.
    pub copies: Vec<OperandCopy>,
    /// Pieces that the kernels which compute them write where a concatenation has them, each behind
    /// its concatenation, ascending: the kernel of the concatenation copies the others. Also the
    /// tensors that an op out of place overwrites in part, because nothing else needs them. Empty
    /// for policies whose ops copy all.
    pub placed: Vec<(OpId, TensorId)>,
    /// Ops that index a part of a buffer, or repeat it, where their kernel writes the whole,
    /// ascending. They are views under any counting convention. Empty for policies that compute
    /// every op.
    pub views: Vec<OpId>,
    /// Second results of an operator that the kernel of the first result writes, ascending: they
    /// read nothing and launch nothing. Those of library kernels are such results anyway.
    pub results: Vec<OpId>,
    /// Whether a kernel computes of an op whose output it does not write only what the readers in
    /// the kernel take, as a compiler does that computes an op where it is read. `false` for
    /// policies whose kernels compute every op whole.
    pub computes_where_read: bool,
    /// Reshapes that no strides show, which a kernel writes for a library, ascending. They are
    /// views under no counting convention. Empty for policies whose kernels read by strides.
    pub copied_views: Vec<OpId>,
    /// Ops in place that compute a value of all of their tensor, ascending: they read what they
    /// leave as it is, and the caller gets a copy of the last one. Empty for policies that write in
    /// place.
    pub values: Vec<OpId>,
}

/// A copy of an operand, made for a library call that cannot read the operand as it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct OperandCopy {
    /// The op that reads the copy.
    pub op: OpId,
    /// The operand.
    pub tensor: TensorId,
    /// An op of the kernel that writes the copy: `op`, or the last one that is computed into it.
    pub written_by: OpId,
    /// What the call reads beyond the operand's own bytes.
    pub bytes_read: u64,
    /// What the copy writes beyond the operand's own bytes; 0 where an earlier call has made it.
    pub bytes_written: u64,
}

impl Partition {
    /// The launches of a kernel after the first.
    pub fn further_launches_of(&self, kernel: KernelId) -> u32 {
        self.further_launches.get(kernel).copied().unwrap_or(0)
    }

    /// Whether the rows of one of these reductions are cut into pieces. Logarithmic in `split`.
    pub fn splits_some(&self, reductions: &[OpId]) -> bool {
        let mut reductions = reductions.iter();
        reductions.any(|op| self.split.binary_search(op).is_ok())
    }

    /// The partition with these kernels. Each of the `ops` ops is in one of them.
    pub fn new(kernels: &[Vec<OpId>], ops: usize) -> Self {
        let mut kernel_of = IdVec::from_elem(KernelId::new(0), ops);
        for (kernel, members) in kernels.iter().enumerate() {
            for &op in members {
                if let Some(own) = kernel_of.get_mut(op) {
                    *own = KernelId::new(kernel);
                }
            }
        }
        Self::of_ops(kernel_of, kernels.len())
    }

    /// The partition that maps each op to its kernel; `kernels` is their number.
    /// `O(ops + kernels)`.
    pub fn of_ops(kernel_of: IdVec<OpId, KernelId>, kernels: usize) -> Self {
        let pairs = kernel_of
            .iter_enumerated()
            .map(|(op, &kernel)| (kernel, op));
        Self {
            kernels: Adjacency::from_pairs(kernels, pairs),
            kernel_of,
            recomputed: Adjacency::default(),
            statistics: Vec::new(),
            split: Vec::new(),
            further_launches: IdVec::new(),
            copies: Vec::new(),
            placed: Vec::new(),
            views: Vec::new(),
            results: Vec::new(),
            computes_where_read: false,
            copied_views: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The partition with these kernels in an order in which they can run, ties by the first op;
    /// `None` if the kernels form a cycle, or for an id that is not below the number of ops.
    /// `O((ops + reads) log ops)`.
    pub fn in_order(graph: &Graph, kernel_of: &IdVec<OpId, KernelId>) -> Option<Self> {
        let count = kernel_of.len();
        let is_below = kernel_of.iter().all(|kernel| kernel.index() < count);
        (is_below && count == graph.ops.len())
            .then(|| acyclic::in_order(graph, kernel_of).ok())
            .flatten()
    }

    /// The partition with these numbers of its kernels, below `count`. Kernels of one number are
    /// one, which computes an op once.
    pub(crate) fn renumbered(&self, number: &IdVec<KernelId, KernelId>, count: usize) -> Self {
        let kernel_of = self.kernel_of.iter().map(|&kernel| number[kernel]);
        let mut renumbered = Self::of_ops(kernel_of.collect(), count);
        let mut again: Vec<(KernelId, OpId)> = (self.recomputed.iter_enumerated())
            .flat_map(|(kernel, ops)| ops.iter().map(move |&op| (number[kernel], op)))
            .filter(|&(kernel, op)| renumbered.kernel_of[op] != kernel)
            .collect();
        again.sort_unstable();
        again.dedup();
        if !again.is_empty() {
            renumbered.recomputed = Adjacency::from_pairs(count, again.into_iter());
        }
        let statistics = self.statistics.iter();
        let statistics = statistics.map(|&(op, kernel)| (op, number[kernel]));
        // A kernel that runs later than the one of the elements computes all of the op again.
        renumbered.statistics = statistics
            .filter(|&(op, kernel)| kernel < renumbered.kernel_of[op])
            .collect();
        renumbered.split.clone_from(&self.split);
        renumbered.copies.clone_from(&self.copies);
        renumbered.placed.clone_from(&self.placed);
        renumbered.views.clone_from(&self.views);
        renumbered.results.clone_from(&self.results);
        renumbered.computes_where_read = self.computes_where_read;
        renumbered.copied_views.clone_from(&self.copied_views);
        renumbered.values.clone_from(&self.values);
        if !self.further_launches.is_empty() {
            renumbered.further_launches = IdVec::from_elem(0, count);
            for (kernel, &further) in self.further_launches.iter_enumerated() {
                renumbered.further_launches[number[kernel]] += further;
            }
        }
        renumbered
    }

    /// Whether this kernel computes the statistics of a reduction; if not, it may compute elements
    /// from them. Logarithmic in `statistics`.
    pub fn reduces(&self, kernel: KernelId, op: OpId) -> bool {
        let found = self.statistics.binary_search_by_key(&op, |&(op, _)| op);
        let apart = found.ok().and_then(|at| self.statistics.get(at));
        match apart {
            Some(&(_, of)) => of == kernel,
            None => self.kernel_of.get(op) == Some(&kernel),
        }
    }

    /// Whether this kernel computes the op, on its own or again. Logarithmic in what the kernel
    /// recomputes.
    pub fn computes(&self, kernel: KernelId, op: OpId) -> bool {
        self.kernel_of.get(op) == Some(&kernel)
            || self.recomputed[kernel].binary_search(&op).is_ok()
    }
}
