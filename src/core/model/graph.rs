//! The graph of ops: the producer and the consumers of each tensor.

use crate::model::adjacency::Adjacency;
use crate::model::dtype::DType;
use crate::model::element_size::ElementSize;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::{Op, TensorDecl, TensorRole, byte_count, element_count};
use crate::model::results::Results;
use crate::model::work::Work;
use hashbrown::HashSet;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;

/// A tensor of the graph. Its name and shape are [`Graph::tensor_name`] and
/// [`Graph::tensor_shape`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Size of one element, if known: for an undeclared tensor, where a reader fixes its size.
    pub bytes_per_element: Option<ElementSize>,
    /// Element type, if it is known and not only its width.
    pub dtype: Option<DType>,
    /// Input or weight, for an external tensor.
    pub role: TensorRole,
    /// The op that writes it; `None` for an external tensor.
    pub producer: Option<OpId>,
    /// If its op writes in place, the tensor whose memory it is in, seen through views and earlier
    /// writes.
    pub in_memory_of: Option<TensorId>,
    /// Whether an op overwrites all of its elements in place.
    pub is_overwritten: bool,
    /// Whether its op shows memory of which ops in place write a part, so that it is a view however
    /// reshapes count: a view through which they write, a view of their result, or a part that is
    /// [put back](crate::model::put_back).
    pub shows_written: bool,
    /// A copy of `product(shape)`, or the size that a reader fixes. Bytes are read often, and the
    /// shape is elsewhere in memory.
    elements: Option<u64>,
    /// Name and shape of an external tensor; for others the op has them.
    external: Option<Box<External>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct External {
    name: String,
    /// The declared shape, if there is one.
    shape: Option<Vec<u64>>,
    /// The size that a reader fixes for an undeclared tensor.
    fixed: Option<FixedSize>,
}

impl Tensor {
    /// No op of the graph produces it.
    pub fn is_external(&self) -> bool {
        self.producer.is_none()
    }

    /// An external tensor whose size is declared.
    pub(super) fn is_declared(&self) -> bool {
        let external = self.external.as_ref();
        external.is_some_and(|external| external.shape.is_some())
    }

    /// `product(shape)`; `None` for an undeclared external tensor whose size no reader fixes.
    pub fn elements(&self) -> Option<u64> {
        self.elements
    }

    /// Which reader fixes the size of an undeclared external tensor, if one does.
    pub fn fixed(&self) -> Option<&FixedSize> {
        self.external.as_ref()?.fixed.as_ref()
    }

    /// [`ElementSize::addressed_bytes`] of an element, if its size is known.
    pub(crate) fn addressed_bytes(&self) -> Option<u32> {
        self.bytes_per_element.map(ElementSize::addressed_bytes)
    }

    /// Produced or declared bytes, or those that a reader fixes; `None` for another undeclared
    /// external tensor.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes_per_element?.bytes_of(self.elements?)
    }
}

/// Most inputs of an op that are compared with each other.
const FEW_INPUTS: usize = 16;

/// A directed acyclic graph of ops, in execution order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Graph {
    /// In execution order: the given order when it is topological, else sorted stably.
    pub ops: IdVec<OpId, Op>,
    /// For each op its index in the list that the graph was built from.
    pub listed_at: IdVec<OpId, usize>,
    /// In order of first appearance over the ops (inputs before output).
    pub tensors: IdVec<TensorId, Tensor>,
    /// For each op the tensors that it reads, repeated if it names one twice.
    pub inputs: Adjacency<OpId, TensorId>,
    /// For each op the tensor that it writes.
    pub output: IdVec<OpId, TensorId>,
    /// For each tensor the ops that read it, each once, ascending.
    pub consumers: Adjacency<TensorId, OpId>,
    /// For each op the ops whose outputs it reads, each once, ascending.
    pub predecessors: Adjacency<OpId, OpId>,
    /// For each op the ops that read its output, each once, ascending.
    pub successors: Adjacency<OpId, OpId>,
    /// For each op in place the other ops that must run before it, because they read what it
    /// overwrites; ascending. Without an op in place there are no lists.
    pub waits_for: Adjacency<OpId, OpId>,
    /// For each op the ops in place that overwrite what it reads: [`Self::waits_for`], inverted.
    pub awaited_by: Adjacency<OpId, OpId>,
    /// Which ops are results of one operator.
    pub results: Results,
    /// Names of the ops of the program that are not in the graph, because their shapes are unknown.
    /// If there are any, all sums over the graph are lower bounds.
    pub unknown_ops: Vec<String>,
    /// Ops that each replace several ops of another graph, ascending.
    pub(crate) stand_ins: Vec<StandIn>,
}

/// Where the counted size of a tensor comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SizeSource {
    /// An op of the program writes it with this shape.
    Produced,
    /// Its declaration.
    Declared,
    /// The other shapes of the op allow only this size.
    Inferred,
    /// Assumed to be as large as its reader's output.
    Assumed,
    /// Counted as 0 bytes by convention.
    Ignored,
    /// A copy of an operand, which a library call reads instead.
    Copied,
}

/// The size of an undeclared tensor that one of its readers fixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedSize<O = OpId> {
    /// The op that reads it and leaves no other size.
    pub reader: O,
    /// Its shape; a matrix may be transposed.
    pub shape: Vec<u64>,
    /// Whether only the number of elements is fixed and not the shape, as for the input of a
    /// reshape.
    pub is_count: bool,
    /// [`SizeSource::Assumed`] where the reader keeps its input's shape, because by convention only
    /// matmuls and reshapes infer a size.
    pub source: SizeSource,
}

impl<O> FixedSize<O> {
    /// The shape; `None` where only the number of elements is known.
    pub(crate) fn operand_shape(&self) -> Option<&[u64]> {
        (!self.is_count).then_some(&self.shape)
    }
}

/// An op that replaces several ops. Its cost cannot be computed from its shapes, so it is stored
/// here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StandIn {
    pub(crate) op: OpId,
    /// The FLOPs of the replaced ops, and those that their fused kernel adds.
    pub(crate) work: Work,
    /// Tensors that the fused kernel reads, with bytes as counted for the largest reader.
    pub(crate) reads: Vec<(TensorId, u64, SizeSource)>,
    /// The replaced ops as separate kernels, where measured runs of their pattern decide.
    pub(crate) separate: Option<SeparateKernels>,
}

/// Ops that each run as a separate kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeparateKernels {
    /// Their pattern, as [`structure`](crate::fusion::structure::structure) writes it.
    pub(crate) structure: String,
    /// The work of each kernel, and its memory traffic in bytes.
    pub(crate) kernels: Vec<(Work, u64)>,
}

impl Graph {
    /// The stored cost of an op; `None` for ordinary ops. Only graphs with rewritten attention have
    /// any. Logarithmic in their number.
    pub(crate) fn stand_in(&self, op: OpId) -> Option<&StandIn> {
        let place = self.stand_ins.binary_search_by_key(&op, |s| s.op).ok()?;
        self.stand_ins.get(place)
    }

    /// The distinct tensors that an op reads, in order of first mention. Linear in its inputs.
    pub fn distinct_inputs(&self, op: OpId) -> impl Iterator<Item = TensorId> + '_ {
        let inputs = &self.inputs[op];
        // A few inputs are compared one by one, which is quicker than a set.
        let mut seen = (inputs.len() > FEW_INPUTS).then(|| {
            HashSet::<_, FxBuildHasher>::with_capacity_and_hasher(inputs.len(), FxBuildHasher)
        });
        let is_first = move |&(place, tensor): &(usize, &TensorId)| match &mut seen {
            Some(seen) => seen.insert(*tensor),
            None => !inputs.iter().take(place).any(|before| before == tensor),
        };
        let inputs = inputs.iter().enumerate();
        inputs.filter(is_first).map(|(_, &tensor)| tensor)
    }

    /// Whether the tensor is written however the ops are fused: no op consumes it, the program
    /// returns it, or it is the last value of an input or weight that the program overwrites. A
    /// tensor that an op of unknown shape consumes may stay on chip.
    pub fn is_final(&self, tensor: TensorId) -> bool {
        let producer = self.tensors[tensor].producer.map(|op| &self.ops[op]);
        let is_unread = producer.is_none_or(|op| op.unknown_reader.is_none());
        self.consumers[tensor].is_empty() && is_unread
            || producer.is_some_and(|op| op.is_output)
            || self.is_kept_by_caller(tensor)
    }

    /// Whether the tensor is the last value of an input or weight that an op overwrites.
    pub fn is_kept_by_caller(&self, tensor: TensorId) -> bool {
        !self.tensors[tensor].is_overwritten && self.is_in_memory_of_caller(tensor)
    }

    /// Whether an op in place puts the tensor in the memory of an input or weight.
    pub(crate) fn is_in_memory_of_caller(&self, tensor: TensorId) -> bool {
        let memory = self.tensors[tensor].in_memory_of;
        memory.is_some_and(|memory| self.tensors[memory].is_external())
    }

    /// The ops that must run before an op: those whose outputs it reads, and those that read what
    /// it overwrites.
    pub fn runs_after(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        let waits_for = self.waits_for[op].iter();
        self.predecessors[op].iter().chain(waits_for).copied()
    }

    /// The ops that must run after an op: those that read its output, and those that overwrite what
    /// it reads.
    pub fn runs_before(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        let awaited_by = self.awaited_by[op].iter();
        self.successors[op].iter().chain(awaited_by).copied()
    }

    /// Whether the tensor is certainly held until the program ends. One that an op of unknown shape
    /// reads may be freed after that op.
    pub(crate) fn is_held(&self, tensor: TensorId) -> bool {
        let producer = self.tensors[tensor].producer.map(|op| &self.ops[op]);
        self.is_final(tensor) && producer.is_none_or(|op| op.unknown_reader.is_none())
    }

    /// The name that a text gives a tensor: that of its op, or of its declaration.
    pub fn tensor_name(&self, tensor: TensorId) -> &str {
        name_of(&self.tensors[tensor], &self.ops)
    }

    /// The op's shape for a produced tensor, the declared shape, if any, for an external one.
    pub fn tensor_shape(&self, tensor: TensorId) -> Option<&[u64]> {
        shape_of(&self.tensors[tensor], &self.ops)
    }

    /// The shape of a tensor, or the one that a reader fixes, which for a matrix may be transposed.
    pub fn operand_shape(&self, tensor: TensorId) -> Option<&[u64]> {
        let fixed = || self.tensors[tensor].fixed()?.operand_shape();
        self.tensor_shape(tensor).or_else(fixed)
    }

    /// The op with this name. Linear in the ops.
    pub fn op_named(&self, name: &str) -> Option<OpId> {
        self.ops.ids().find(|&op| self.ops[op].name == name)
    }
}

/// A graph with names instead of ids, as plain objects for JavaScript and JSON.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct NamedGraph {
    /// For each produced tensor the op that writes it.
    pub producers: IndexMap<String, String>,
    /// For each tensor the ops that read it, in execution order; empty for a final tensor.
    pub consumers: IndexMap<String, Vec<String>>,
    /// For each op the ops whose outputs it reads, in execution order.
    pub predecessors: IndexMap<String, Vec<String>>,
    /// For each op the ops that read its output, in execution order.
    pub successors: IndexMap<String, Vec<String>>,
}

impl From<&Graph> for NamedGraph {
    fn from(graph: &Graph) -> Self {
        let names = |ops: &[OpId]| ops.iter().map(|&op| graph.ops[op].name.clone()).collect();
        let by_op = |lists: &Adjacency<OpId, OpId>| {
            let pairs = graph.ops.iter().zip(lists.iter());
            pairs
                .map(|(op, list)| (op.name.clone(), names(list)))
                .collect()
        };
        let tensors = graph.tensors.iter();
        Self {
            producers: graph
                .ops
                .iter()
                .map(|op| (op.output.clone(), op.name.clone()))
                .collect(),
            consumers: tensors
                .zip(graph.consumers.iter())
                .map(|(tensor, list)| (name_of(tensor, &graph.ops).to_owned(), names(list)))
                .collect(),
            predecessors: by_op(&graph.predecessors),
            successors: by_op(&graph.successors),
        }
    }
}

pub(super) fn name_of<'a>(tensor: &'a Tensor, ops: &'a IdVec<OpId, Op>) -> &'a str {
    match (tensor.producer, &tensor.external) {
        (Some(op), _) => &ops[op].output,
        (None, Some(external)) => &external.name,
        (None, None) => "",
    }
}

pub(super) fn shape_of<'a>(tensor: &'a Tensor, ops: &'a IdVec<OpId, Op>) -> Option<&'a [u64]> {
    match tensor.producer {
        Some(op) => Some(&ops[op].shape),
        None => tensor.external.as_ref()?.shape.as_deref(),
    }
}

impl Tensor {
    /// The tensor that an op writes.
    pub(super) fn produced(op: &Op, id: OpId) -> Self {
        Self {
            bytes_per_element: Some(op.bytes_per_element),
            dtype: op.element_type(),
            role: TensorRole::Input,
            producer: Some(id),
            in_memory_of: None,
            is_overwritten: false,
            shows_written: false,
            elements: element_count(&op.shape),
            external: None,
        }
    }

    /// An external tensor, with its declaration if there is one.
    pub(super) fn external(name: &str, declared: Option<&TensorDecl>) -> Self {
        Self {
            bytes_per_element: declared.map(|d| d.bytes_per_element),
            dtype: declared.and_then(TensorDecl::element_type),
            role: declared.map_or(TensorRole::Input, |d| d.role),
            producer: None,
            in_memory_of: None,
            is_overwritten: false,
            shows_written: false,
            elements: declared.and_then(|d| element_count(&d.shape)),
            external: Some(Box::new(External {
                name: name.to_owned(),
                shape: declared.map(|d| d.shape.clone()),
                fixed: None,
            })),
        }
    }

    /// Gives an undeclared external tensor the size that a reader fixes. Does nothing if its bytes
    /// exceed 2^63.
    pub(crate) fn fix(&mut self, size: FixedSize, bytes_per_element: ElementSize) {
        if byte_count(&size.shape, bytes_per_element).is_some()
            && let Some(external) = &mut self.external
        {
            self.bytes_per_element = Some(bytes_per_element);
            self.elements = element_count(&size.shape);
            external.fixed = Some(size);
        }
    }
}
