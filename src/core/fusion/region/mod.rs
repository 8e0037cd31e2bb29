//! Up to 64 ops of a graph as the bits of a word, with what kernels of them read, write and
//! compute.
//!
//! Legality and the exact search query thousands of sets of ops; on bits, a query takes a few
//! instructions.

mod build;
mod cost;

use crate::cost::pieces::Union;
use crate::cost::roofline::{Times, times};
use crate::cost::views::{Reading, Views};
use crate::cost::work::op_work;
use crate::fusion::rows::RowDomain;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, define_ids};
use crate::model::options::{MAX_OPS, Options};
use std::borrow::Cow;
use std::cell::OnceCell;

pub use cost::Clock;
pub(super) use cost::Cost;
use cost::Generated;

define_ids! {
    /// An op by its place in a region.
    pub(crate) struct LocalOp;
    /// A tensor that ops of a region read.
    pub(super) struct ValueId;
}

impl LocalOp {
    /// The set of this op alone.
    pub(super) const fn bit(self) -> Set {
        1 << self.0
    }

    /// The last op of a set that has one.
    pub(super) const fn last_of(set: Set) -> Self {
        Self(Set::BITS - 1 - set.leading_zeros())
    }
}

/// A set of ops of one region: bit `i` stands for its `i`-th op.
pub type Set = u64;

/// The program that regions are part of.
pub struct RegionContext<'a> {
    pub(super) graph: &'a Graph,
    /// Policy, conventions and device.
    pub(super) options: &'a Options,
    pub(super) views: Cow<'a, Views>,
    /// How much longer a FLOP of a generated matmul takes than one of the library's, computed when
    /// a cost is asked for.
    generated_delay_s: OnceCell<f64>,
}

impl<'a> RegionContext<'a> {
    /// `O(ops)`.
    pub fn new(graph: &'a Graph, options: &'a Options) -> Self {
        Self {
            graph,
            options,
            views: Cow::Owned(Views::under(graph, options.conventions.reshape)),
            generated_delay_s: OnceCell::new(),
        }
    }

    /// The context of a graph whose views the caller has computed already.
    pub(crate) const fn with_views(
        graph: &'a Graph,
        options: &'a Options,
        views: &'a Views,
    ) -> Self {
        Self {
            graph,
            options,
            views: Cow::Borrowed(views),
            generated_delay_s: OnceCell::new(),
        }
    }

    /// Whether the op is a free view.
    pub fn is_view(&self, op: OpId) -> bool {
        self.views.is_view[op]
    }
}

/// Some ops of a graph. Its relations follow paths inside the region, so the region should be
/// convex.
pub struct Region<'a> {
    pub(super) context: &'a RegionContext<'a>,
    /// In execution order.
    pub(super) ops: IdVec<LocalOp, OpId>,
    pub(super) matmuls: Set,
    pub(super) reductions: Set,
    pub(super) opaques: Set,
    pub(super) elementwise: Set,
    /// Free views.
    pub(super) views: Set,
    /// Second results of an operator, which the kernel of the first result writes.
    pub(super) results: Set,
    /// For each op the ops that it reads from, and those that read it.
    pub(super) prev: IdVec<LocalOp, Set>,
    pub(super) next: IdVec<LocalOp, Set>,
    /// For each op those that share a tensor with it: producers and consumers, with *horizontal*
    /// also other readers of its inputs.
    pub(super) ties: IdVec<LocalOp, Set>,
    /// For each op those that must run before it: [`Self::prev`], and readers of what it
    /// overwrites.
    pub(super) waits_for: IdVec<LocalOp, Set>,
    /// For each op in place the readers of what it overwrites that read other elements than it
    /// writes at the same time, so that they cannot share a kernel with it.
    pub(super) clashes: IdVec<LocalOp, Set>,
    /// For each op those before it and after it along paths.
    pub(super) before: IdVec<LocalOp, Set>,
    pub(super) after: IdVec<LocalOp, Set>,
    /// For each op the elements of its output, and its rows.
    pub(super) elements: IdVec<LocalOp, u64>,
    pub(super) rows: IdVec<LocalOp, RowDomain>,
    /// For each op that broadcasts a smaller value of another op: both ops, and the rows along
    /// which it broadcasts.
    pub(super) spread: Vec<(Set, RowDomain)>,
    /// Reshapes that may put elements in another order.
    pub(super) reordering: Set,
    /// Reshapes that may give an element of an input several times.
    pub(super) repeating: Set,
    /// Tensors that ops of the region read.
    pub(super) values: IdVec<ValueId, RegionValue>,
    /// For each stored tensor an entry for each of the elements that ops read of it. Entries of a
    /// tensor are adjacent.
    pub(super) reads: Vec<RegionRead>,
    /// For each op the bytes of its output; 0 for a view.
    pub(super) written_bytes: IdVec<LocalOp, u64>,
    /// For each op the ops that must be in its kernel for its output to stay on chip.
    pub(super) needed_by: IdVec<LocalOp, Set>,
    /// Ops whose outputs are results or are read outside the region.
    pub(super) leaving: Set,
    /// For each op the times of its FLOPs alone, computed when a cost is asked for.
    busy: OnceCell<IdVec<LocalOp, Times>>,
    /// For each op what it loses as a generated matmul, computed when a cost is asked for.
    generated: OnceCell<IdVec<LocalOp, Generated>>,
    /// Inputs of all ops.
    readings: usize,
}

/// Number of inputs of a region's ops, or of values, that take as long as one state of a search.
const PER_STATE: usize = 256;

/// A tensor that ops of the region read.
pub(super) struct RegionValue {
    pub(super) readers: Set,
    /// The op of the region that writes it; empty if it is from outside.
    pub(super) producer: Set,
    /// `None` if it is undeclared and no reader fixes its size: it counts as large as the output of
    /// its reader.
    pub(super) elements: Option<u64>,
}

/// The load of a value by some readers, unless their kernel computes it.
pub(super) struct RegionRead {
    /// The readers that count this size.
    pub(super) readers: Set,
    /// The op that computes the bytes, seen through views; empty if it is outside the region.
    pub(super) base: Set,
    pub(super) reading: Reading,
}

impl RegionContext<'_> {
    /// The bytes that the readers of each read take from memory in sum. Reads of one stored tensor
    /// are adjacent.
    pub(super) fn bytes<'r>(&self, reads: impl Iterator<Item = &'r RegionRead>) -> u64 {
        let mut readings = reads.map(|read| read.reading).peekable();
        let mut sum = 0;
        while let Some(first) = readings.next() {
            let is_same = |next: &Reading| next.stored == first.stored;
            let Some(second) = readings.next_if(is_same) else {
                sum += first.bytes;
                continue;
            };
            let mut union = Union::default();
            union.add(first.elements);
            union.add(second.elements);
            while let Some(next) = readings.next_if(is_same) {
                union.add(next.elements);
            }
            sum += self.views.bytes(self.graph, first.stored, &union);
        }
        sum
    }
}

/// The ops of a set, ascending.
pub(super) struct Bits(pub(super) Set);

impl Iterator for Bits {
    type Item = LocalOp;

    fn next(&mut self) -> Option<LocalOp> {
        if self.0 == 0 {
            return None;
        }
        let lowest = LocalOp(self.0.trailing_zeros());
        self.0 &= self.0 - 1;
        Some(lowest)
    }
}

impl<'a> Region<'a> {
    /// The region of these ops, ascending, of which the first [`MAX_OPS`] count.
    /// `O(ops^2 + reads log reads)`.
    pub fn of(context: &'a RegionContext<'a>, ops: &[OpId]) -> Self {
        let mut region = Self::related(context, ops);
        region.read_values();
        region.tie();
        region
    }

    /// The region of these ops without values and ties, so that costs of kernels are not known.
    /// `O(ops^2 log reads)`.
    pub(super) fn related(context: &'a RegionContext<'a>, ops: &[OpId]) -> Self {
        let ops: IdVec<LocalOp, OpId> = ops.iter().copied().take(MAX_OPS).collect();
        let count = ops.len();
        let mut region = Self {
            context,
            matmuls: 0,
            reductions: 0,
            opaques: 0,
            elementwise: 0,
            views: 0,
            results: 0,
            prev: IdVec::from_elem(0, count),
            next: IdVec::from_elem(0, count),
            ties: IdVec::new(),
            waits_for: IdVec::from_elem(0, count),
            clashes: IdVec::from_elem(0, count),
            before: IdVec::from_elem(0, count),
            after: IdVec::from_elem(0, count),
            elements: IdVec::from_elem(0, count),
            rows: IdVec::from_elem(RowDomain::default(), count),
            spread: Vec::new(),
            reordering: 0,
            repeating: 0,
            values: IdVec::new(),
            reads: Vec::new(),
            written_bytes: IdVec::from_elem(0, count),
            needed_by: IdVec::from_elem(0, count),
            leaving: 0,
            busy: OnceCell::new(),
            generated: OnceCell::new(),
            readings: 0,
            ops,
        };
        region.relate();
        region
    }

    /// States of a search that making this region counts as; none if its ops have few inputs.
    pub(super) fn states(&self) -> usize {
        self.readings / PER_STATE
    }

    /// States of a search that checking one set of the region counts as.
    pub(super) fn states_of_set(&self) -> usize {
        1 + self.values.len() / PER_STATE
    }

    /// For each op the times of its FLOPs alone.
    pub(super) fn busy(&self) -> &IdVec<LocalOp, Times> {
        self.busy.get_or_init(|| {
            let RegionContext { graph, options, .. } = *self.context;
            let ops = self.ops.iter();
            ops.map(|&op| times(options, op_work(graph, op), 0))
                .collect()
        })
    }

    /// All ops.
    pub fn all(&self) -> Set {
        match self.ops.len() {
            // Shifting a word by its whole width overflows.
            MAX_OPS.. => u64::MAX,
            ops => (1 << ops) - 1,
        }
    }

    /// The ops of a set, ascending.
    pub fn ops_of(&self, set: Set) -> Vec<OpId> {
        Bits(set).map(|place| self.ops[place]).collect()
    }

    /// The set of these ops, without those outside the region.
    pub(super) fn set_of(&self, ops: &[OpId]) -> Set {
        ops.iter().fold(0, |set, &op| set | self.bit_of(Some(op)))
    }

    /// The set without free views of what its ops write that no other of its ops reads.
    pub(super) fn without_last_views(&self, set: Set) -> Set {
        // Backwards, so that a view whose only reader is another last view goes, too.
        let (mut left, mut views) = (set, set & self.views);
        while views != 0 {
            let place = LocalOp::last_of(views);
            views &= !place.bit();
            if self.next[place] & left == 0 && self.prev[place] & left != 0 {
                left &= !place.bit();
            }
        }
        left
    }

    /// The set without free views of inputs and weights next to its ops.
    pub(super) fn without_first_views(&self, set: Set) -> Set {
        let context = self.context;
        let is_first = |&place: &LocalOp| {
            let output = context.graph.output[self.ops[place]];
            let is_of_external = context.graph.tensors[context.views.base[output]].is_external();
            is_of_external && self.ties[place] & set != 0
        };
        let first = Bits(set & self.views).filter(is_first);
        first.fold(set, |left, place| left & !place.bit())
    }

    /// The set without second results of an operator whose first result it has.
    pub(super) fn without_results(&self, set: Set) -> Set {
        let first = |place: LocalOp| self.context.graph.results.first(self.ops[place]);
        let is_with_first = |&place: &LocalOp| self.bit_of(first(place)) & set != 0;
        let results = Bits(set & self.results).filter(is_with_first);
        results.fold(set, |left, place| left & !place.bit())
    }

    /// The smallest convex set around this one.
    pub(super) fn closed(&self, set: Set) -> Set {
        // `before` and `after` follow whole paths, so one step closes the set.
        let (before, after) = self.around(set);
        set | before & after
    }

    /// The ops before some op of the set, and those after some op of it.
    pub(super) fn around(&self, set: Set) -> (Set, Set) {
        Bits(set).fold((0, 0), |(before, after), place| {
            (before | self.before[place], after | self.after[place])
        })
    }

    /// Ops of the region that must run before a kernel of these ops.
    pub(super) fn needs(&self, set: Set) -> Set {
        Bits(set).fold(0, |needs, place| needs | self.waits_for[place]) & !set
    }

    /// The place of an op of the graph.
    pub(super) fn place_of(&self, op: OpId) -> Option<LocalOp> {
        let place = self.ops.as_slice().binary_search(&op);
        place.ok().map(LocalOp::new)
    }

    /// The set of the ops that are in this ascending list. Looks each op of the shorter list up in
    /// the longer one.
    fn common(&self, ops: &[OpId]) -> Set {
        if ops.len() <= self.ops.len() {
            return self.set_of(ops);
        }
        let own = self.ops.iter_enumerated();
        let listed = own.filter(|(_, op)| ops.binary_search(op).is_ok());
        listed.fold(0, |set, (place, _)| set | place.bit())
    }
}
