//! Up to 64 ops of a graph as the bits of a word, with what kernels of them read, write and compute.
//!
//! Legality and the exact search ask the same questions about thousands of sets of ops; here each takes a
//! few instructions.
#![allow(
    clippy::indexing_slicing,
    reason = "places of ops are below the number of ops of the region"
)]

mod cost;

use crate::core::cost::traffic::Views;
use crate::core::cost::work::op_work;
use crate::core::fusion::rows::RowDomain;
use crate::core::model::graph::{Graph, OpId};
use crate::core::model::op::element_count;
use crate::core::model::op_type::OpType;
use crate::core::model::options::{MAX_OPS, Options};
use crate::core::model::work::Work;
pub(super) use cost::Cost;
use std::borrow::Cow;

/// A set of ops of one region: bit `i` stands for its `i`-th op.
pub(super) type Set = u64;

/// What regions are cut from.
pub(crate) struct RegionContext<'a> {
    /// The whole program.
    pub(super) graph: &'a Graph,
    /// What was chosen.
    pub(super) options: &'a Options,
    views: Cow<'a, Views>,
}

impl<'a> RegionContext<'a> {
    /// `O(ops)`.
    pub(crate) fn new(graph: &'a Graph, options: &'a Options) -> Self {
        Self {
            graph,
            options,
            views: Cow::Owned(Views::under(graph, options.conventions.reshape)),
        }
    }

    /// The same with views of the graph that the caller has.
    pub(crate) const fn with_views(
        graph: &'a Graph,
        options: &'a Options,
        views: &'a Views,
    ) -> Self {
        Self {
            graph,
            options,
            views: Cow::Borrowed(views),
        }
    }

    /// The op only renames bytes, for free.
    pub(super) fn is_view(&self, op: OpId) -> bool {
        self.views.is_view[op]
    }
}

/// Some ops of a graph. Relations are those inside the region, so it should be convex.
pub(super) struct Region<'a> {
    pub(super) context: &'a RegionContext<'a>,
    /// In execution order.
    pub(super) ops: Vec<OpId>,
    pub(super) matmuls: Set,
    pub(super) reductions: Set,
    /// Free views.
    pub(super) views: Set,
    /// For each op the ops that it reads from, and those that read it.
    pub(super) prev: Vec<Set>,
    pub(super) next: Vec<Set>,
    /// Ops that a tensor ties to it: from producer to consumer, with *horizontal* also two readers.
    pub(super) ties: Vec<Set>,
    /// What comes before and after it along paths.
    pub(super) before: Vec<Set>,
    pub(super) after: Vec<Set>,
    /// For each op its output's elements, and how it walks through them.
    pub(super) elements: Vec<u64>,
    pub(super) rows: Vec<RowDomain>,
    /// Where an op reads a smaller value that another op makes: both, and the rows that an element of it meets.
    pub(super) spread: Vec<(Set, RowDomain)>,
    /// Reshapes that may put elements in another order.
    pub(super) reordering: Set,
    /// Tensors that ops of the region read.
    pub(super) values: Vec<Value>,
    /// One entry for each size at which a value is read, a value's entries together, largest first.
    pub(super) reads: Vec<Read>,
    /// For each op the bytes of its output; 0 for a view.
    pub(super) written_bytes: Vec<u64>,
    /// For each op all that must be in its kernel for its output to stay on chip.
    pub(super) needed_by: Vec<Set>,
    /// Ops whose outputs are results or are read outside the region.
    pub(super) leaving: Set,
    pub(super) work: Vec<Work>,
}

/// A tensor that ops of the region read.
pub(super) struct Value {
    pub(super) readers: Set,
    /// The op of the region that writes it; empty when it comes from outside.
    pub(super) producer: Set,
    /// `None` where nothing declares it: it counts as large as what its reader makes.
    pub(super) elements: Option<u64>,
}

/// What readers of a value move when they do not make it themselves.
pub(super) struct Read {
    /// Index in [`Region::values`].
    pub(super) value: usize,
    /// The readers that count it as large as this.
    pub(super) readers: Set,
    /// The op whose bytes the value names, seen through views; empty when it is outside.
    pub(super) base: Set,
    pub(super) bytes: u64,
}

/// The ops of a set, ascending.
pub(super) struct Bits(pub(super) Set);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lowest = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(lowest)
    }
}

impl<'a> Region<'a> {
    /// The region of these ops, ascending, of which the first [`MAX_OPS`] count.
    pub(super) fn of(context: &'a RegionContext<'a>, ops: &[OpId]) -> Self {
        let graph = context.graph;
        let ops = ops[..ops.len().min(MAX_OPS)].to_vec();
        let count = ops.len();
        let mut region = Self {
            context,
            matmuls: 0,
            reductions: 0,
            views: 0,
            prev: vec![0; count],
            next: vec![0; count],
            ties: Vec::new(),
            before: vec![0; count],
            after: vec![0; count],
            elements: vec![0; count],
            rows: vec![RowDomain::default(); count],
            spread: Vec::new(),
            reordering: 0,
            values: Vec::new(),
            reads: Vec::new(),
            written_bytes: vec![0; count],
            needed_by: vec![0; count],
            leaving: 0,
            work: ops.iter().map(|&op| op_work(graph, op)).collect(),
            ops,
        };
        region.relate();
        region.read_values();
        region.tie();
        region
    }

    /// All ops.
    pub(super) fn all(&self) -> Set {
        match self.ops.len() {
            MAX_OPS.. => u64::MAX,
            ops => (1 << ops) - 1,
        }
    }

    /// The ops of a set, ascending.
    pub(super) fn ops_of(&self, set: Set) -> Vec<OpId> {
        Bits(set).map(|place| self.ops[place]).collect()
    }

    /// The set of these ops, those of others left out.
    pub(super) fn set_of(&self, ops: &[OpId]) -> Set {
        ops.iter().fold(0, |set, &op| set | self.bit_of(Some(op)))
    }

    /// The smallest convex set around this one.
    pub(super) fn closed(&self, set: Set) -> Set {
        let (before, after) = self.around(set);
        set | before & after
    }

    /// All that comes before some op of the set, and all that comes after some.
    pub(super) fn around(&self, set: Set) -> (Set, Set) {
        Bits(set).fold((0, 0), |(before, after), place| {
            (before | self.before[place], after | self.after[place])
        })
    }

    /// The place of an op of the graph.
    pub(super) fn place_of(&self, op: OpId) -> Option<usize> {
        self.ops.binary_search(&op).ok()
    }

    fn relate(&mut self) {
        let graph = self.context.graph;
        for place in 0..self.ops.len() {
            let op = self.ops[place];
            let definition = &graph.ops[op];
            let bit = 1 << place;
            match definition.op_type {
                OpType::Matmul => self.matmuls |= bit,
                OpType::Reduction => self.reductions |= bit,
                OpType::Reshape if definition.function.as_deref() != Some("reshape") => {
                    self.reordering |= bit;
                }
                OpType::Elementwise | OpType::Reshape => {}
            }
            self.elements[place] = element_count(&definition.shape).unwrap_or(0);
            self.rows[place] = RowDomain::of_op(graph, op);
            if self.context.views.is_view[op] {
                self.views |= bit;
            } else {
                self.written_bytes[place] = graph.tensors[graph.output[op]].bytes().unwrap_or(0);
            }
            for &producer in &graph.predecessors[op] {
                if let Some(from) = self.place_of(producer) {
                    self.prev[place] |= 1 << from;
                    self.next[from] |= bit;
                    self.before[place] |= self.before[from] | 1 << from;
                    if self.elements[from] < self.elements[place] {
                        self.note_spread(place, from);
                    }
                }
            }
        }
        for place in (0..self.ops.len()).rev() {
            let readers = &graph.successors[self.ops[place]];
            let mut needed = self.next[place];
            let mut leaves =
                readers.is_empty() || readers.len() > self.next[place].count_ones() as usize;
            for reader in Bits(self.next[place]) {
                self.after[place] |= self.after[reader] | 1 << reader;
                if self.views >> reader & 1 == 1 {
                    needed |= self.needed_by[reader];
                    leaves |= self.leaving >> reader & 1 == 1;
                }
            }
            self.needed_by[place] = needed;
            self.leaving |= u64::from(leaves) << place;
        }
    }

    /// An element-wise op, or a reduction that gives rows, reads fewer elements than it gives.
    fn note_spread(&mut self, place: usize, from: usize) {
        let ops = &self.context.graph.ops;
        let (reader, value) = (&ops[self.ops[place]], &ops[self.ops[from]].shape);
        if !matches!(reader.op_type, OpType::Elementwise | OpType::Reduction) {
            return;
        }
        let rows = RowDomain::of_read(value, reader).unwrap_or_default();
        self.spread.push((1 << place | 1 << from, rows));
    }

    fn tie(&mut self) {
        let neighbours = self.prev.iter().zip(&self.next);
        self.ties = neighbours.map(|(prev, next)| prev | next).collect();
        if self.context.options.fusion.horizontal {
            for value in &self.values {
                for reader in Bits(value.readers) {
                    self.ties[reader] |= value.readers;
                }
            }
        }
    }

    fn read_values(&mut self) {
        let graph = self.context.graph;
        let mut readings: Vec<(usize, usize)> = Vec::new();
        for (place, &op) in self.ops.iter().enumerate() {
            readings.extend(graph.inputs[op].iter().map(|&tensor| (tensor, place)));
        }
        readings.sort_unstable();
        readings.dedup();
        let mut last = None;
        for (tensor, place) in readings {
            let known = &graph.tensors[tensor];
            if last.replace(tensor) != Some(tensor) {
                self.values.push(Value {
                    readers: 0,
                    producer: self.bit_of(known.producer),
                    elements: known.elements(),
                });
            }
            let value = self.values.len() - 1;
            self.values[value].readers |= 1 << place;
            if self.views >> place & 1 == 0 {
                self.read(value, tensor, place);
            }
        }
    }

    /// Adds a reader that moves the value, its entries in order of their bytes.
    fn read(&mut self, value: usize, tensor: usize, place: usize) {
        let (graph, views) = (self.context.graph, &self.context.views);
        let externals = self.context.options.conventions.externals;
        let bytes = views.read(graph, self.ops[place], tensor, externals).bytes;
        let base = self.bit_of(graph.tensors[views.base[tensor]].producer);
        let mut at = self.reads.len();
        while at > 0 && self.reads[at - 1].value == value && self.reads[at - 1].bytes < bytes {
            at -= 1;
        }
        if let Some(same) = at.checked_sub(1).map(|before| &mut self.reads[before])
            && (same.value, same.bytes) == (value, bytes)
        {
            same.readers |= 1 << place;
            return;
        }
        let read = Read {
            value,
            readers: 1 << place,
            base,
            bytes,
        };
        self.reads.insert(at, read);
    }

    fn bit_of(&self, op: Option<OpId>) -> Set {
        op.and_then(|op| self.place_of(op))
            .map_or(0, |place| 1 << place)
    }
}
