//! Builds the tables of a region: kinds, neighbours and reads of its ops.

use super::{Bits, LocalOp, Region, RegionRead, RegionValue, Set, ValueId};
use crate::fusion::in_place;
use crate::fusion::rows::RowDomain;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::element_count;
use crate::model::op_type::OpType;
use crate::model::sizes::{loads, written_size};

impl Region<'_> {
    pub(super) fn relate(&mut self) {
        let graph = self.context.graph;
        for place in self.ops.ids() {
            let op = self.ops[place];
            let definition = &graph.ops[op];
            let bit = place.bit();
            match definition.op_type {
                OpType::Matmul => self.matmuls |= bit,
                OpType::Reduction => self.reductions |= bit,
                OpType::Opaque => self.opaques |= bit,
                OpType::Elementwise => self.elementwise |= bit,
                OpType::Reshape if !definition.keeps_order() => self.reordering |= bit,
                OpType::Reshape => {}
            }
            if definition.repeats_elements() {
                self.repeating |= bit;
            }
            self.elements[place] = element_count(&definition.shape).unwrap_or(0);
            self.rows[place] = RowDomain::of_op(graph, op);
            let views = &self.context.views;
            if !views.is_view[op] {
                let written = [Some(op), views.second_result(graph, op)];
                let written = written.into_iter().flatten();
                self.written_bytes[place] = written.map(|op| written_size(graph, op)).sum();
            } else if graph.results.first(op).is_some() {
                self.results |= bit;
            } else {
                self.views |= bit;
            }
            self.prev[place] = self.common(&graph.predecessors[op]);
            self.waits_for[place] = self.prev[place] | self.common(&graph.waits_for[op]);
            // Ops ascend in execution order, so `before` of each earlier op is complete.
            for from in Bits(self.waits_for[place]) {
                self.before[place] |= self.before[from] | from.bit();
            }
            for &reader in &graph.waits_for[op] {
                let bit = self.bit_of(Some(reader));
                let between = Bits(self.before[place]);
                let between = between.filter(|&other| self.before[other] & bit != 0);
                let between = between.map(|other| self.ops[other]);
                let reads_elsewhere = in_place::clash(graph, op, reader);
                if bit != 0 && (reads_elsewhere || in_place::moves_elements(graph, between)) {
                    self.clashes[place] |= bit;
                }
            }
            for from in Bits(self.prev[place]) {
                self.next[from] |= bit;
                if self.elements[from] < self.elements[place] {
                    self.note_spread(place, from);
                }
            }
        }
        for place in self.ops.ids().rev() {
            let readers = &graph.successors[self.ops[place]];
            let mut needed = self.next[place];
            // More readers than the region has: one is outside.
            let mut leaves = graph.is_final(graph.output[self.ops[place]])
                || readers.len() > self.next[place].count_ones() as usize;
            for later in Bits(self.next[place] | self.common(&graph.awaited_by[self.ops[place]])) {
                self.after[place] |= self.after[later] | later.bit();
            }
            for reader in Bits(self.next[place]) {
                // A view has no memory of its own: its readers need the output of this op.
                if self.views & reader.bit() != 0 {
                    needed |= self.needed_by[reader];
                    leaves |= self.leaving & reader.bit() != 0;
                }
            }
            self.needed_by[place] = needed;
            if leaves {
                self.leaving |= place.bit();
            }
        }
    }

    /// Notes that an elementwise op, or a reduction that gives rows, reads fewer elements than it
    /// gives.
    fn note_spread(&mut self, place: LocalOp, from: LocalOp) {
        let ops = &self.context.graph.ops;
        let (reader, value) = (&ops[self.ops[place]], &ops[self.ops[from]].shape);
        if !matches!(reader.op_type, OpType::Elementwise | OpType::Reduction) {
            return;
        }
        let rows = RowDomain::of_read(value, reader).unwrap_or_default();
        self.spread.push((place.bit() | from.bit(), rows));
    }

    pub(super) fn tie(&mut self) {
        let neighbours = self.prev.iter().zip(&self.next);
        self.ties = neighbours.map(|(prev, next)| prev | next).collect();
        // Both results of a reduction, such as a maximum and its index, may be one kernel.
        for place in self.ops.ids() {
            let first = self.bit_of(self.context.graph.results.first(self.ops[place]));
            for other in Bits(first) {
                self.ties[place] |= first;
                self.ties[other] |= place.bit();
            }
        }
        if self.context.options.fusion.horizontal {
            for value in &self.values {
                for reader in Bits(value.readers) {
                    self.ties[reader] |= value.readers;
                }
            }
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "ids and places were `usize` before"
    )]
    pub(super) fn read_values(&mut self) {
        let graph = self.context.graph;
        // Sorted as one number each, which is several times as fast as pairs: the tensor that is
        // stored, the one that is read, and a byte for the index of the op, of which there are at
        // most MAX_OPS.
        let mut readings: Vec<u128> = Vec::new();
        let views = &self.context.views;
        for (place, &op) in self.ops.iter_enumerated() {
            let tensors = graph.inputs[op].iter().enumerate();
            let loaded = tensors.filter(|&(at, _)| loads(graph, op, at));
            readings.extend(loaded.map(|(_, &tensor)| {
                let stored = views.base[tensor].index() as u128;
                stored << 40 | (tensor.index() as u128) << 8 | place.index() as u128
            }));
        }
        self.readings = readings.len();
        readings.sort_unstable();
        readings.dedup();
        let mut last: Option<(TensorId, ValueId, Set)> = None;
        for reading in readings {
            let tensor = TensorId::new((reading >> 8) as u32 as usize);
            let place = LocalOp::new((reading & 0xff) as usize);
            let (value, base) = match last {
                Some((before, value, base)) if before == tensor => (value, base),
                _ => {
                    let known = &graph.tensors[tensor];
                    let value = self.values.push(RegionValue {
                        readers: 0,
                        producer: self.bit_of(known.producer),
                        elements: known.elements(),
                    });
                    let base = &graph.tensors[self.context.views.base[tensor]];
                    (value, self.bit_of(base.producer))
                }
            };
            last = Some((tensor, value, base));
            self.values[value].readers |= place.bit();
            // A free view loads nothing; its readers count what they load through it. What the
            // first result of an operator loads, its second one does not load again.
            if (self.views | self.results) & place.bit() == 0 {
                self.read(tensor, base, place);
            }
        }
    }

    /// Adds a reader of a value.
    fn read(&mut self, tensor: TensorId, base: Set, place: LocalOp) {
        let (graph, views) = (self.context.graph, &self.context.views);
        let externals = self.context.options.conventions.externals;
        let (reading, _) = views.reading(graph, self.ops[place], tensor, None, externals);
        let of_stored = self.reads.iter_mut().rev();
        let mut of_stored = of_stored.take_while(|read| read.reading.stored == reading.stored);
        if let Some(same) = of_stored.find(|read| read.reading == reading) {
            same.readers |= place.bit();
            return;
        }
        self.reads.push(RegionRead {
            readers: place.bit(),
            base,
            reading,
        });
    }

    pub(super) fn bit_of(&self, op: Option<OpId>) -> Set {
        op.and_then(|op| self.place_of(op)).map_or(0, LocalOp::bit)
    }
}
