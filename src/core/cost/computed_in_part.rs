//! Ops of which a kernel computes only the elements that it needs.
//!
//! What a kernel computes again, it computes where its readers ask for it: of a `log_softmax` whose
//! one reader in the kernel is a `gather`, one element for each index. So it computes what it alone
//! computes and does not write, where [`Partition::computes_where_read`] says so. A reduction along
//! rows is not computed again: its statistics come from the kernel that has them.
//!
//! [`Partition::computes_where_read`]: crate::model::partition::Partition::computes_where_read

use crate::cost::runs::runs;
use crate::cost::views::Views;
use crate::model::functions::{Function, ShapeRule};
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::Op;
use crate::model::op_type::OpType;
use crate::model::options::Externals;
use crate::model::sizes::{ReadSize, read_size};
use crate::model::work::Work;
use smallvec::SmallVec;

/// An op of which a kernel computes some elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedPart {
    /// The op.
    pub op: OpId,
    /// Its elements that the kernel computes, fewer than all.
    pub elements: u64,
    /// All elements of its output.
    pub of: u64,
    /// For each dimension of its output the number of indices, at most, that these elements have.
    along: SmallVec<[u64; 4]>,
    /// The part that asks for these elements, if it is one: ops of one shape that it asks for
    /// compute the same elements.
    asked_by: Option<TensorId>,
}

impl ComputedPart {
    /// What is computed of an op, if that is among `parts`.
    pub fn of_op(parts: &[Self], op: OpId) -> Option<&Self> {
        parts.iter().find(|part| part.op == op)
    }

    /// The share of an amount that belongs to all elements, rounded up.
    pub fn share_of(&self, amount: u128) -> u128 {
        let product = amount.saturating_mul(self.elements.into());
        product.div_ceil(u128::from(self.of.max(1)))
    }

    /// The name of what these elements need of an operand, which other ops may share.
    pub(crate) fn taken_of(&self, graph: &Graph, operand: TensorId) -> TensorId {
        let op = &graph.ops[self.op];
        let is_same = graph.tensor_shape(operand) == Some(&op.shape[..]);
        let asked_by = self.asked_by.filter(|_| is_same && is_pointwise(op));
        asked_by.unwrap_or(graph.output[self.op])
    }

    /// What these elements need of an operand, of which all elements need `read`.
    pub(crate) fn read_of_operand(
        &self,
        graph: &Graph,
        operand: TensorId,
        read: ReadSize,
    ) -> ReadSize {
        let known = &graph.tensors[operand];
        let bytes = if known.elements() == Some(self.of) {
            u64::try_from(self.share_of(read.bytes.into())).ok()
        } else if graph.ops[self.op].op_type == OpType::Elementwise
            || read.part_of.is_some()
            || only_moves(&graph.ops[self.op])
        {
            let elements = self.elements_met(graph, operand);
            known
                .bytes_per_element
                .and_then(|size| size.bytes_of(elements))
        } else {
            None
        };
        match bytes {
            Some(bytes) if bytes < read.bytes => ReadSize {
                bytes,
                part_of: read.part_of.or(Some(read.bytes)),
                ..read
            },
            _ => read,
        }
    }

    /// The elements of an operand, at most, that these elements meet: each meets one. An index of a
    /// broadcast operand belongs to one of the output, or to a group of them.
    fn elements_met(&self, graph: &Graph, operand: TensorId) -> u64 {
        let op = &graph.ops[self.op];
        let shape = graph.tensor_shape(operand).unwrap_or_default();
        let function = op.function.filter(|_| shape.len() <= op.shape.len());
        let aligns = |(&size, &of): (&u64, &u64)| match function {
            Some(Function::Dequantize) => size > 0 && of.is_multiple_of(size),
            Some(function) if function.row().shape_rule == ShapeRule::PerChannel => false,
            Some(_) => size == 1 || size == of,
            None => false,
        };
        if !shape.iter().rev().zip(op.shape.iter().rev()).all(aligns) {
            return self.elements;
        }
        let met = shape.iter().rev().zip(self.along.iter().rev());
        let met = met.map(|(&size, &along)| size.min(along));
        met.fold(1, u64::saturating_mul).min(self.elements)
    }

    /// The work on these elements.
    #[must_use]
    pub fn work_of(&self, all: Work) -> Work {
        Work {
            matrix_flops: self.share_of(all.matrix_flops),
            vector_flops: self.share_of(all.vector_flops),
            vector_f64_flops: self.share_of(all.vector_f64_flops),
            ..all
        }
    }
}

/// Whether each element of an op is computed on its own, so that a kernel that needs some of them
/// need not compute the others.
pub(crate) fn is_by_element(op: &Op) -> bool {
    !op.in_place && matches!(op.op_type, OpType::Elementwise | OpType::Reshape)
}

fn is_pointwise(op: &Op) -> bool {
    op.op_type == OpType::Elementwise
}

/// Whether an op only moves elements, so that each of its own needs one of an operand at most.
fn only_moves(op: &Op) -> bool {
    let computes = |function: Function| function.row().flops_per_element > 0;
    op.op_type == OpType::Reshape && !op.function.is_some_and(computes)
}

/// What a kernel computes in part of the ops that it computes for itself alone: `inlined`, which
/// ascend; `is_own` says of any other op whether the kernel computes it. Linear in these ops and in
/// their readers.
pub(crate) fn computed_in_part(
    graph: &Graph,
    views: &Views,
    inlined: &[OpId],
    is_own: impl Fn(OpId) -> bool,
) -> Vec<ComputedPart> {
    let mut parts: Vec<ComputedPart> = Vec::new();
    // From the end, so that the readers of an op are known before it.
    for &op in inlined.iter().rev() {
        let output = graph.output[op];
        let Some(all) = graph.tensors[output].elements() else {
            continue;
        };
        let is_inlined = |reader: OpId| inlined.binary_search(&reader).is_ok();
        let readers = graph.successors[op].iter().copied();
        let mut readers = readers
            .filter(|&reader| is_inlined(reader) || is_own(reader))
            .peekable();
        // What no op in the kernel reads is a part of a reduction that was split.
        if readers.peek().is_none() {
            continue;
        }
        let mut asked = ComputedPart {
            op,
            elements: 0,
            of: all,
            along: SmallVec::new(),
            asked_by: None,
        };
        let mut taken: SmallVec<[TensorId; 4]> = SmallVec::new();
        for reader in readers {
            let own = ComputedPart::of_op(&parts, reader);
            // Equal parts need the same elements, and so do the ops that one part asks for.
            let part = match own {
                Some(own) => own.taken_of(graph, output),
                None => views.taken(graph, reader),
            };
            if taken.contains(&part) {
                continue;
            }
            taken.push(part);
            let by_element = match graph.ops[reader].op_type {
                OpType::Elementwise | OpType::Reshape => true,
                OpType::Reduction => is_inlined(reader),
                OpType::Matmul | OpType::Opaque => views.is_value(reader),
            };
            asked.add(graph, reader, own, by_element);
        }
        if asked.elements < all {
            asked.asked_by = taken.first().copied().filter(|_| taken.len() == 1);
            parts.push(asked);
        }
    }
    // A view computes nothing, but hands on what its readers ask for.
    parts.retain(|part| !views.is_view[part.op]);
    parts.reverse();
    parts
}

impl ComputedPart {
    /// Adds what a reader needs, which computes `part` of its own elements. `by_element`: one of
    /// its elements needs one of an operand of its shape.
    fn add(&mut self, graph: &Graph, reader: OpId, part: Option<&Self>, by_element: bool) {
        let tensor = graph.output[self.op];
        let (shape, to) = (&graph.ops[self.op].shape[..], &graph.ops[reader].shape[..]);
        let along = part.map_or(to, |part| &part.along);
        let own = part.map(|part| part.elements);
        let own = own.or(graph.tensors[graph.output[reader]].elements());
        let own = own.unwrap_or(self.of).min(self.of);
        let definition = &graph.ops[reader];
        let is_same = graph.tensors[graph.output[reader]].elements() == Some(self.of);
        let (elements, along) = if only_moves(definition) {
            // The elements of an index have the dimensions of no other tensor.
            let read = read_size(graph, reader, tensor, Externals::Declared);
            let is_source = is_same || read.part_of.is_some();
            let taken = || taken_along(definition, shape, along);
            (own, is_source.then(taken).flatten())
        } else if by_element && is_same {
            (own, (shape == to).then(|| SmallVec::from_slice(along)))
        } else {
            (self.of, None)
        };
        let along = along.unwrap_or_else(|| SmallVec::from_slice(shape));
        self.elements = self.elements.saturating_add(elements);
        self.along.resize(shape.len(), 0);
        for ((sum, own), &size) in self.along.iter_mut().zip(along).zip(shape) {
            *sum = sum.saturating_add(own).min(size);
        }
    }
}

/// For each dimension of a tensor the number of indices, at most, that a reader takes a part of it
/// by; `along` are those of its output. `None` where any may be.
fn taken_along(reader: &Op, shape: &[u64], along: &[u64]) -> Option<SmallVec<[u64; 4]>> {
    let all = along.iter().copied().fold(1, u64::saturating_mul);
    match reader.function?.row().shape_rule {
        ShapeRule::Slice | ShapeRule::Split => Some(SmallVec::from_slice(along)),
        ShapeRule::Transpose => {
            let mut taken = SmallVec::from_slice(along);
            for (&from, &own) in reader.indexing.as_ref()?.perm.iter().zip(along) {
                *taken.get_mut(from)? = own;
            }
            Some(taken)
        }
        ShapeRule::Gather => {
            let mut taken = SmallVec::from_slice(along);
            *taken.get_mut(reader.indexing.as_ref()?.axis)? = all;
            Some(taken)
        }
        // A row for each index.
        ShapeRule::Embedding => {
            let (&width, indices) = along.split_last()?;
            let rows = indices.iter().copied().fold(1, u64::saturating_mul);
            (shape.len() == 2).then(|| SmallVec::from_slice(&[rows, width]))
        }
        // An index of a run of dimensions has one index along each of them.
        ShapeRule::Reshape => {
            let mut taken = SmallVec::from_slice(shape);
            for [from, to] in runs(shape, &reader.shape)? {
                let asked = along.get(to)?.iter().copied();
                let asked = asked.fold(1, u64::saturating_mul);
                for size in taken.get_mut(from)? {
                    *size = asked.min(*size);
                }
            }
            Some(taken)
        }
        _ => (shape == &reader.shape[..]).then(|| SmallVec::from_slice(along)),
    }
}
