//! Free views: ops that only index bytes that are there, and second results of an operator.

use crate::cost::computed_in_part::ComputedPart;
use crate::cost::equal_parts::equal_parts;
use crate::cost::named::Named;
use crate::cost::pieces::{Elements, Pieces, Strided, Union};
use crate::cost::statistics::computes_elements;
use crate::model::adjacency::Adjacency;
use crate::model::functions::{Function, ShapeRule};
use crate::model::graph::{Graph, SizeSource};
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::Op;
use crate::model::op_type::OpType;
use crate::model::options::{Externals, ReshapeCost};
use crate::model::partition::Partition;
use crate::model::sizes::{ReadSize, loads, part_size, read_size, written_size};
use std::collections::HashMap;

/// For each op whether it is a free view, and for each tensor the tensor whose bytes it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Views {
    /// Whether each op is a free view, or the second result of an operator, which the kernel of the
    /// first one writes.
    pub is_view: IdVec<OpId, bool>,
    /// For each tensor the one whose bytes it is, which is itself where it is no view.
    pub base: IdVec<TensorId, TensorId>,
    /// For each view what it names of its base, and for each other slice what it takes of that of
    /// its input.
    names: IdVec<TensorId, Option<Names>>,
    /// For each of these, behind slices of known elements, the pieces of the base, as bits.
    named_pieces: IdVec<TensorId, Option<u64>>,
    /// For each tensor the elements in each of its pieces; none where it is one.
    pieces: Adjacency<TensorId, u64>,
    /// For each tensor the first one that names the same elements of the same memory.
    equal: IdVec<TensorId, TensorId>,
    /// Ops in place that compute a value of all of their tensor, ascending.
    values: Vec<OpId>,
    /// As [`Partition::placed`].
    placed: Vec<(OpId, TensorId)>,
}

/// What a view names of a stored tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Names {
    /// The bytes, at most.
    bytes: u64,
    /// The nearest tensor of known elements that has them.
    known: TensorId,
    /// Whether these are all elements of `known`.
    is_known: bool,
}

/// What an op reads of a tensor from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reading {
    /// The tensor that has the bytes.
    pub(crate) stored: TensorId,
    pub(crate) elements: Elements,
    /// For some elements of unknown places the tensor and the part that is taken of it, each the
    /// first of equal ones.
    pub(crate) some: Option<[TensorId; 2]>,
    /// The bytes of this reading alone.
    pub(crate) bytes: u64,
}

impl Views {
    /// The views of a graph where reshapes cost this. Where ops write a part of a tensor in place,
    /// its reshapes are views in any case: who writes a part does not copy the whole.
    /// `O(n)` in ops and tensors.
    pub fn under(graph: &Graph, reshape: ReshapeCost) -> Self {
        Self::of_partition(graph, reshape, &Partition::default())
    }

    /// The views of a graph in the kernels of a partition: what is one under the convention, and
    /// what the policy indexes in a buffer or writes with another op, but for what it copies.
    /// `O(n)` in ops and tensors.
    pub fn of_partition(graph: &Graph, reshape: ReshapeCost, partition: &Partition) -> Self {
        let mut indexed = partition.views.iter().copied().peekable();
        let mut copied = partition.copied_views.iter().copied().peekable();
        let mut views = Self {
            is_view: (graph.ops.ids())
                .map(|op| reshape.is_free_view(graph, op))
                .collect(),
            base: graph.tensors.ids().collect(),
            names: IdVec::from_elem(None, graph.tensors.len()),
            named_pieces: IdVec::from_elem(None, graph.tensors.len()),
            pieces: Adjacency::default(),
            equal: IdVec::new(),
            values: partition.values.clone(),
            placed: partition.placed.clone(),
        };
        let mut named: HashMap<TensorId, Named> = HashMap::new();
        let mut slices: Vec<(TensorId, TensorId, Strided)> = Vec::new();
        for (op, definition) in graph.ops.iter_enumerated() {
            views.is_view[op] |= indexed.next_if_eq(&op).is_some();
            views.is_view[op] &= copied.next_if_eq(&op).is_none() && !views.is_value(op);
            // A part that is put back leads to the value of all of its tensor, a new one.
            let Some(&input) = graph.inputs[op].first().filter(|_| !definition.in_place) else {
                continue;
            };
            let (output, stored) = (graph.output[op], views.base[input]);
            if views.is_view[op] {
                views.base[output] = stored;
            } else if !is_slice(definition) {
                continue;
            }
            if graph.tensors[input].bytes().is_none() {
                continue;
            }
            let before = named
                .entry(input)
                .or_insert_with(|| match graph.tensor_shape(input) {
                    Some(shape) if stored == input => Named::whole(stored, shape),
                    shape => Named::unknown(stored, shape.unwrap_or(&definition.shape)),
                });
            let mut own = before.through(output, definition);
            let before = graph.tensors[stored].bytes_per_element;
            own.is_known &= before == Some(definition.bytes_per_element);
            let size = definition.bytes_per_element.bytes_of(own.elements);
            let most = views.names[input].map(|names| names.bytes);
            let most = most.or(graph.tensors[input].bytes()).unwrap_or(u64::MAX);
            views.names[output] = Some(Names {
                bytes: size.map_or(most, |size| size.min(most)),
                known: own.known,
                is_known: own.is_known,
            });
            if own.known == output
                && let Some(strided) = own.strided()
            {
                slices.push((stored, output, strided));
            }
            if views.is_view[op] {
                named.insert(output, own);
            }
        }
        views.cut(graph, slices);
        for (op, first) in graph.results.pairs() {
            // A compiler that generates the kernel, such as that of a sort, keeps what only the
            // kernel reads.
            let kernel = partition.kernel_of.get(op);
            let beside = kernel.map_or(&[][..], |&kernel| &partition.kernels[kernel]);
            let is_call = |other: &OpId| [op, first].contains(other) || graph.ops[*other].is_view();
            let is_of_library =
                graph.ops[op].op_type == OpType::Opaque && beside.iter().all(is_call);
            views.is_view[op] |= is_of_library || partition.results.binary_search(&op).is_ok();
        }
        views.equal = equal_parts(graph, &views.is_view, &views.base);
        views
    }

    /// Cuts stored tensors to the pieces of slices: the tensor, the slice and where its elements
    /// are.
    fn cut(&mut self, graph: &Graph, mut slices: Vec<(TensorId, TensorId, Strided)>) {
        slices.sort_by_key(|slice| slice.0);
        let mut cut: Vec<(TensorId, u64)> = Vec::new();
        for own in slices.chunk_by(|a, b| a.0 == b.0) {
            let strided: Vec<Strided> = own.iter().map(|slice| slice.2.clone()).collect();
            let Some(&(stored, ..)) = own.first() else {
                continue;
            };
            let elements = graph.tensors[stored].elements();
            let Some(pieces) = elements.and_then(|all| Pieces::of(all, &strided)) else {
                continue;
            };
            for ((_, slice, _), named) in own.iter().zip(pieces.of_view) {
                self.named_pieces[*slice] = Some(named);
            }
            cut.extend(pieces.elements.into_iter().map(|size| (stored, size)));
        }
        if !cut.is_empty() {
            self.pieces = Adjacency::from_pairs(graph.tensors.len(), cut.iter().copied());
        }
    }

    /// Whether an op in place computes a value of all of its tensor.
    pub(crate) fn is_value(&self, op: OpId) -> bool {
        self.values.binary_search(&op).is_ok()
    }

    /// Whether an op computes a value of all of a tensor, of which it writes a part in place.
    fn reads_whole(&self, graph: &Graph, op: OpId) -> bool {
        graph.ops[op].writes_part() && self.is_value(op)
    }

    /// Bytes that an op writes, if its output leaves the kernel.
    pub(crate) fn written_size(&self, graph: &Graph, op: OpId) -> u64 {
        if self.is_value(op) {
            return graph.tensors[graph.output[op]].bytes().unwrap_or(0);
        }
        if !self.placed_in(op).is_empty() && writes_part(graph, op) {
            return part_size(graph, op);
        }
        let placed = self.placed_in(op).iter();
        let placed_bytes = placed.filter_map(|&(_, piece)| graph.tensors[piece].bytes());
        written_size(graph, op).saturating_sub(placed_bytes.sum())
    }

    /// The pieces that kernels write where this concatenation has them, or the tensor into a part
    /// of which this op writes, behind the op.
    fn placed_in(&self, concatenation: OpId) -> &[(OpId, TensorId)] {
        let from = self.placed.partition_point(|&(op, _)| op < concatenation);
        let to = self.placed.partition_point(|&(op, _)| op <= concatenation);
        self.placed.get(from..to).unwrap_or_default()
    }

    /// Whether a kernel writes this piece where the concatenation has it.
    pub(crate) fn is_placed(&self, concatenation: OpId, piece: TensorId) -> bool {
        self.placed.binary_search(&(concatenation, piece)).is_ok()
    }

    /// The second result that the kernel of this op writes with its own output.
    pub fn second_result(&self, graph: &Graph, op: OpId) -> Option<OpId> {
        graph
            .results
            .second(op)
            .filter(|&second| self.is_view[second])
    }

    /// The tensor that stands for all that show the same elements in memory: for equal views the
    /// first of them.
    pub(crate) fn shown(&self, tensor: TensorId) -> TensorId {
        if self.base[tensor] == tensor {
            tensor
        } else {
            self.equal[tensor]
        }
    }

    /// The part that an op takes of an input, which equal ops share. It is meaningful where the op
    /// reads a part.
    pub(crate) fn taken(&self, graph: &Graph, op: OpId) -> TensorId {
        self.equal[graph.output[op]]
    }

    /// For each tensor the one that stands for all tensors in its memory. `O(tensors)`.
    pub(crate) fn memory(&self, graph: &Graph) -> IdVec<TensorId, TensorId> {
        let memory = self.base.iter().map(|&base| {
            let shared = graph.tensors[base].in_memory_of;
            shared.map_or(base, |shared| self.base[shared])
        });
        memory.collect()
    }

    /// As [`Self::memory`], where pieces lie in the memory of their concatenation. `O(tensors)`.
    pub(crate) fn memory_of_whole(&self, graph: &Graph) -> IdVec<TensorId, TensorId> {
        let mut memory = self.memory(graph);
        let mut whole_of = HashMap::new();
        for &(concatenation, piece) in &self.placed {
            whole_of.insert(memory[piece], memory[graph.output[concatenation]]);
        }
        for memory in &mut memory {
            // The whole may be a piece of another one.
            while let Some(&whole) = whole_of.get(memory).filter(|&whole| whole != memory) {
                *memory = whole;
            }
        }
        memory
    }

    /// The tensors that `op` loads from memory in a kernel that computes and writes these ops.
    pub(crate) fn loaded<'a>(
        &'a self,
        graph: &'a Graph,
        op: OpId,
        is_computed: impl Fn(OpId) -> bool + 'a,
        is_written: impl Fn(OpId) -> bool,
    ) -> impl Iterator<Item = TensorId> + 'a {
        let needed = if computes_elements(graph, self, op, &is_computed, is_written) {
            usize::MAX
        } else {
            1
        };
        let inputs = graph.inputs[op].iter().copied().enumerate().take(needed);
        let inputs = inputs.filter(move |&(place, tensor)| {
            // By the bytes and not by the name: a view of what the kernel computes is on chip as
            // well.
            let producer = graph.tensors[self.base[tensor]].producer;
            let is_loaded = loads(graph, op, place) || self.reads_whole(graph, op);
            !self.is_view[op]
                && is_loaded
                && !producer.is_some_and(&is_computed)
                && (!self.is_placed(op, tensor) || adds_to_part(graph, op))
        });
        inputs.map(|(_, tensor)| tensor)
    }

    /// What `op`, which may compute a part of its output, reads of `tensor` from memory, and the
    /// source of its bytes.
    pub(crate) fn reading(
        &self,
        graph: &Graph,
        op: OpId,
        tensor: TensorId,
        part: Option<&ComputedPart>,
        externals: Externals,
    ) -> (Reading, SizeSource) {
        let mut size = self.read(graph, op, tensor, externals);
        if let Some(part) = part {
            size = part.read_of_operand(graph, tensor, size);
        }
        let stored = self.base[tensor];
        let known = &graph.tensors[stored];
        let is_sized =
            known.bytes().is_some() && (!known.is_external() || externals == Externals::Declared);
        let (own, is_known) = self.named_pieces(stored, tensor);
        let is_slice = is_slice(&graph.ops[op]) && graph.inputs[op].first() == Some(&tensor);
        let own_bytes = self.names[tensor].filter(|_| stored != tensor);
        let own_bytes = own_bytes
            .map(|names| names.bytes)
            .or(graph.tensors[tensor].bytes());
        let mut some = None;
        let elements = if size.source == SizeSource::Ignored || stored == tensor && !is_sized {
            Elements::Assumed(size.bytes)
        } else if is_known && size.part_of.is_none() && own_bytes == Some(size.bytes) {
            Elements::Known(own)
        } else if is_slice
            && part.is_none()
            && let (taken, true) = self.named_pieces(stored, graph.output[op])
        {
            Elements::Known(taken)
        } else {
            let taken = match part {
                Some(part) => part.taken_of(graph, tensor),
                None if size.part_of.is_some() => self.equal[graph.output[op]],
                None => self.shown(tensor),
            };
            some = Some([self.shown(tensor), taken]);
            Elements::Some {
                of: own,
                bytes: size.bytes,
            }
        };
        let reading = Reading {
            stored,
            elements,
            some,
            bytes: size.bytes,
        };
        (reading, size.source)
    }

    /// The pieces of a stored tensor that a view of it names, or that a slice takes, and whether it
    /// has all of their elements.
    fn named_pieces(&self, stored: TensorId, view: TensorId) -> (u64, bool) {
        let pieces = self.pieces.get(stored).map_or(1, |own| own.len().max(1));
        // A tensor has fewer pieces than a word has bits.
        let all = (1_u64 << pieces) - 1;
        if view == stored {
            return (all, true);
        }
        let Some(names) = self.names[view] else {
            return (all, false);
        };
        match self.named_pieces[names.known] {
            Some(pieces) => (pieces, names.is_known),
            None => (all, names.is_known && names.known == stored),
        }
    }

    /// The bytes of what a kernel reads of a stored tensor.
    pub(crate) fn bytes(&self, graph: &Graph, stored: TensorId, read: &Union) -> u64 {
        let known = &graph.tensors[stored];
        let pieces = self.pieces.get(stored).unwrap_or_default();
        read.bytes(|named| {
            let of_piece = pieces.iter().enumerate();
            let own = of_piece.filter(|&(piece, _)| named >> piece & 1 == 1);
            let own = own.map(|(_, elements)| elements).sum();
            let elements = match named {
                0 => Some(0),
                _ if pieces.is_empty() => known.elements(),
                _ => Some(own),
            };
            let size = known.bytes_per_element;
            let bytes = elements.and_then(|elements| size?.bytes_of(elements));
            // Nothing bounds what is read of a tensor of unknown size.
            bytes.or((named == 0).then_some(0)).unwrap_or(u64::MAX)
        })
    }

    /// What `op` reads of `tensor` from memory.
    pub fn read(
        &self,
        graph: &Graph,
        op: OpId,
        tensor: TensorId,
        externals: Externals,
    ) -> ReadSize {
        let base = &graph.tensors[self.base[tensor]];
        if base.is_external() && externals == Externals::KnownOnly {
            return ReadSize {
                bytes: 0,
                source: SizeSource::Ignored,
                part_of: None,
            };
        }
        let mut read = read_size(graph, op, tensor, externals);
        if self.reads_whole(graph, op) {
            (read.bytes, read.part_of) = (read.part_of.unwrap_or(read.bytes), None);
        } else if adds_to_part(graph, op) && self.is_placed(op, tensor) {
            read.part_of = read.part_of.or(Some(read.bytes));
            read.bytes = read.bytes.min(part_size(graph, op));
        }
        let names = self.names[tensor].filter(|_| self.base[tensor] != tensor);
        let at_most = |bytes: u64| names.map_or(bytes, |names| bytes.min(names.bytes));
        ReadSize {
            bytes: at_most(read.bytes),
            part_of: read.part_of.map(at_most),
            ..read
        }
    }
}

/// Whether an op takes a range of its input along a dimension.
fn is_slice(op: &Op) -> bool {
    let rule = op.function.map(|function| function.row().shape_rule);
    matches!(rule, Some(ShapeRule::Slice | ShapeRule::Split))
}

/// Whether an op gives its first input with some elements replaced, or added to.
fn writes_part(graph: &Graph, op: OpId) -> bool {
    graph.ops[op].function.is_some_and(Function::writes_part)
}

fn adds_to_part(graph: &Graph, op: OpId) -> bool {
    graph.ops[op].function.is_some_and(Function::adds_to_part)
}
