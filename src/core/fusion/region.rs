//! Up to 64 ops of a graph as the bits of a word, with what kernels of them read, write and compute.
//!
//! Legality and the exact search ask the same questions about thousands of sets of ops; here each takes a
//! few instructions.
#![allow(
    clippy::indexing_slicing,
    reason = "places of ops are below the number of ops of the region"
)]

use super::options::{MAX_OPS, Objective};
use crate::core::analysis::Options;
use crate::core::graph::{Graph, OpId};
use crate::core::op::{OpType, element_count};
use crate::core::roofline::place;
use crate::core::sizes::{Externals, read_size};
use crate::core::sorting::{rank_of, sort_by_rank};
use crate::core::traffic::Views;
use crate::core::work::{Work, op_work};
use std::borrow::Cow;

/// A set of ops of one region: bit `i` stands for its `i`-th op.
pub(super) type Set = u64;

/// What regions are cut from.
pub(in crate::core) struct Setting<'a> {
    /// The whole program.
    pub(super) graph: &'a Graph,
    /// What was chosen.
    pub(super) options: &'a Options,
    views: Cow<'a, Views>,
}

impl<'a> Setting<'a> {
    /// `O(ops)`.
    pub(in crate::core) fn new(graph: &'a Graph, options: &'a Options) -> Self {
        Self {
            graph,
            options,
            views: Cow::Owned(Views::under(graph, options.conventions.reshape)),
        }
    }

    /// The same for somebody who keeps the views of the graph.
    pub(in crate::core) const fn with_views(
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
    pub(super) setting: &'a Setting<'a>,
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
    pub(super) elements: u64,
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

/// How an op walks through its data: a reduction's rows are what it makes one value of, any other op's are
/// its innermost dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowDomain {
    /// Number of rows.
    pub rows: u64,
    /// Elements of a row.
    pub width: u64,
    /// Elements between neighbours of a row: 1 along the last axis; 0 when several axes lie apart.
    pub stride: u64,
}

impl RowDomain {
    fn innermost(shape: &[u64]) -> Self {
        let width = shape.last().copied().unwrap_or(1).max(1);
        Self {
            rows: element_count(shape).unwrap_or(0) / width,
            width,
            stride: 1,
        }
    }

    /// Of a reduction, which says no axis: the dimensions that its output lacks, else the last one.
    fn reduced(input: &[u64], output: &[u64]) -> Self {
        let count = |shape: &[u64]| element_count(shape).unwrap_or(0);
        if count(input) == count(output) {
            return Self::innermost(output);
        }
        let outer = input.iter().zip(output).take_while(|(a, b)| a == b).count();
        let (input_rest, output_rest) = (&input[outer..], &output[outer..]);
        let inner = input_rest
            .iter()
            .rev()
            .zip(output_rest.iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        let kept = &output_rest[..output_rest.len() - inner];
        Self {
            rows: count(output),
            width: (count(input) / count(output).max(1)).max(1),
            stride: if count(kept) == 1 {
                count(&output_rest[output_rest.len() - inner..])
            } else {
                0
            },
        }
    }

    /// Elements of all rows together.
    pub fn full_elements(self) -> u64 {
        self.rows.saturating_mul(self.width)
    }
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

/// What a kernel costs, so that costs add up without rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    /// Bytes, or time in parts of the unfused program's.
    pub(super) main: u64,
    /// Decides among equals: first the number of kernels, then the ops that run beside a matmul, for light
    /// work is better off in a kernel that waits for memory.
    pub(super) ties: u64,
}

impl Cost {
    /// A bound for kernels that move these bytes and take this time: rounded down, and a little below, so that
    /// a rounding error of sums does not lift it above the truth.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and times are not negative"
    )]
    pub(super) fn at_least(
        setting: &Setting<'_>,
        bytes: u64,
        time_s: f64,
        ticks_per_s: f64,
        kernels: u32,
    ) -> Self {
        const BELOW: f64 = 1.0 - 1e-12;
        Self {
            main: match setting.options.fusion.objective {
                Objective::Bytes => bytes,
                Objective::Time => (time_s * BELOW * ticks_per_s) as u64,
            },
            ties: u64::from(kernels) << 32,
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            main: self.main.saturating_add(other.main),
            ties: self.ties.saturating_add(other.ties),
        }
    }
}

impl<'a> Region<'a> {
    /// The region of these ops, ascending, of which the first [`MAX_OPS`] count.
    pub(super) fn of(setting: &'a Setting<'a>, ops: &[OpId]) -> Self {
        let graph = setting.graph;
        let ops = ops[..ops.len().min(MAX_OPS)].to_vec();
        let count = ops.len();
        let mut region = Self {
            setting,
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
        let graph = self.setting.graph;
        for place in 0..self.ops.len() {
            let op = self.ops[place];
            let definition = &graph.ops[op];
            let bit = 1 << place;
            match definition.op_type {
                OpType::Matmul => self.matmuls |= bit,
                OpType::Reduction => self.reductions |= bit,
                OpType::Elementwise | OpType::Reshape => {}
            }
            self.elements[place] = element_count(&definition.shape).unwrap_or(0);
            self.rows[place] = if definition.op_type == OpType::Reduction {
                let input = graph.inputs[op]
                    .first()
                    .and_then(|&tensor| graph.tensors[tensor].shape.as_deref());
                RowDomain::reduced(input.unwrap_or(&definition.shape), &definition.shape)
            } else {
                RowDomain::innermost(&definition.shape)
            };
            if self.setting.views.is_view[op] {
                self.views |= bit;
            } else {
                self.written_bytes[place] = graph.tensors[graph.output[op]].bytes().unwrap_or(0);
            }
            for &producer in &graph.predecessors[op] {
                if let Some(from) = self.place_of(producer) {
                    self.prev[place] |= 1 << from;
                    self.next[from] |= bit;
                    self.before[place] |= self.before[from] | 1 << from;
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

    fn tie(&mut self) {
        let neighbours = self.prev.iter().zip(&self.next);
        self.ties = neighbours.map(|(prev, next)| prev | next).collect();
        if self.setting.options.fusion.horizontal {
            for value in &self.values {
                for reader in Bits(value.readers) {
                    self.ties[reader] |= value.readers;
                }
            }
        }
    }

    fn read_values(&mut self) {
        let graph = self.setting.graph;
        let mut readings: Vec<(usize, usize)> = Vec::new();
        for (place, &op) in self.ops.iter().enumerate() {
            readings.extend(graph.inputs[op].iter().map(|&tensor| (tensor, place)));
        }
        sort_by_rank(&mut readings, |&(tensor, place)| {
            (rank_of(tensor), rank_of(place), 0)
        });
        readings.dedup();
        let mut last = None;
        for (tensor, place) in readings {
            let known = &graph.tensors[tensor];
            if last.replace(tensor) != Some(tensor) {
                let shape = known.shape.as_deref();
                self.values.push(Value {
                    readers: 0,
                    producer: self.bit_of(known.producer),
                    elements: shape.and_then(element_count).unwrap_or(0),
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
        let setting = self.setting;
        let base = &setting.graph.tensors[setting.views.base[tensor]];
        let externals = setting.options.conventions.externals;
        let bytes = if base.is_external() && externals == Externals::KnownOnly {
            0
        } else {
            read_size(setting.graph, self.ops[place], tensor, externals).0
        };
        let base = self.bit_of(base.producer);
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

    /// Bytes that these ops read together of values whose bytes no op of `made` makes; a value counts once, as
    /// large as its largest reader takes it.
    pub(super) fn read_bytes(&self, set: Set, made: Set) -> u64 {
        let mut counted = usize::MAX;
        let mut bytes = 0;
        for read in &self.reads {
            if read.readers & set != 0 && read.value != counted && read.base & made == 0 {
                counted = read.value;
                bytes += read.bytes;
            }
        }
        bytes
    }

    /// Whether the output of an op leaves a kernel of these ops.
    pub(super) fn is_written(&self, place: usize, set: Set) -> bool {
        self.leaving >> place & 1 == 1 || self.needed_by[place] & !set != 0
    }

    /// Bytes that a kernel of these ops moves, by the contract.
    pub(super) fn bytes(&self, set: Set) -> u64 {
        let written: u64 = Bits(set)
            .filter(|&place| self.is_written(place, set))
            .map(|place| self.written_bytes[place])
            .sum();
        self.read_bytes(set, set) + written
    }

    /// Predicted time of a kernel of these ops.
    pub(super) fn time_s(&self, set: Set) -> f64 {
        let work = Bits(set).fold(Work::default(), |sum, op| sum.and(self.work[op]));
        let device = &self.setting.options.device;
        place(device, work, self.bytes(set), self.is_free(set)).time_s
    }

    /// Views only: nobody launches it.
    pub(super) fn is_free(&self, set: Set) -> bool {
        set & !self.views == 0
    }

    /// What a kernel of these ops costs; `ticks_per_s` are the units of time, rounded up so that no sum falls
    /// below a bound.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and times are not negative"
    )]
    pub(super) fn cost(&self, set: Set, ticks_per_s: f64) -> Cost {
        let beside_matmul = if set & self.matmuls == 0 {
            0
        } else {
            set.count_ones() - 1
        };
        Cost {
            main: match self.setting.options.fusion.objective {
                Objective::Bytes => self.bytes(set),
                Objective::Time => (self.time_s(set) * ticks_per_s).ceil() as u64,
            },
            ties: u64::from(!self.is_free(set)) << 32 | u64::from(beside_matmul),
        }
    }
}
