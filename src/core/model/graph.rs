//! Ops to a graph: who produces and who consumes each tensor.
#![allow(
    clippy::indexing_slicing,
    reason = "ids are dense indices that build_graph hands out"
)]

use crate::core::cost::sizes::{Externals, SizeSource, read_size};
use crate::core::cost::work::Work;
use crate::core::model::diagnostic::{Code, Diagnostic};
use crate::core::model::dtype::DType;
use crate::core::model::lists::Lists;
use crate::core::model::names::Names;
use crate::core::model::op::{Op, TensorDecl, TensorRole, element_count};
use crate::core::model::order::topological_order;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Index of an op in [`Graph::ops`].
pub type OpId = usize;
/// Index of a tensor in [`Graph::tensors`].
pub type TensorId = usize;

/// A tensor of the graph. Its name and shape are [`Graph::tensor_name`] and [`Graph::tensor_shape`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Bytes of one element, where known.
    pub bytes_per_element: Option<u32>,
    /// Element type where more is known than its width.
    pub dtype: Option<DType>,
    /// What it is for, when it is external.
    pub role: TensorRole,
    /// The op that writes it; `None` for an external tensor.
    pub producer: Option<OpId>,
    /// Kept here, for the shape lies elsewhere in memory: bytes are asked for at every read.
    elements: Option<u64>,
    /// What is said of an external one; of others their op says it.
    external: Option<Box<External>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct External {
    name: String,
    /// As declared, if it is.
    shape: Option<Vec<u64>>,
}

impl Tensor {
    /// No op of the graph produces it.
    pub fn is_external(&self) -> bool {
        self.producer.is_none()
    }

    /// `product(shape)`; `None` for an undeclared external tensor.
    pub fn elements(&self) -> Option<u64> {
        self.elements
    }

    /// Produced or declared bytes; `None` for an undeclared external tensor.
    pub fn bytes(&self) -> Option<u64> {
        self.elements?
            .checked_mul(self.bytes_per_element?.into())
            .filter(|&n| i64::try_from(n).is_ok())
    }
}

/// A directed acyclic graph of ops, in execution order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Graph {
    /// In execution order: the given order when it is topological, else sorted stably.
    pub ops: Vec<Op>,
    /// For each op its index in the list that was given.
    pub listed_at: Vec<usize>,
    /// In order of first appearance over the ops (inputs before output).
    pub tensors: Vec<Tensor>,
    /// For each op the tensors that it reads, as often as it names them.
    pub inputs: Lists,
    /// For each op the tensor that it writes.
    pub output: Vec<TensorId>,
    /// For each tensor the ops that read it, each once, ascending; empty for a final tensor.
    pub consumers: Lists,
    /// For each op the ops whose outputs it reads, each once, ascending.
    pub predecessors: Lists,
    /// For each op the ops that read its output, each once, ascending.
    pub successors: Lists,
    /// Ops that stand for several of another graph, ascending.
    pub(crate) stand_ins: Vec<StandIn>,
}

/// An op in the place of several: what shapes say of it is not what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StandIn {
    pub(crate) op: OpId,
    /// What the ops compute, and what their one kernel computes beyond them.
    pub(crate) work: Work,
    /// What their one kernel reads of each tensor, as the largest reader among them counts it.
    pub(crate) reads: Vec<(TensorId, u64, SizeSource)>,
}

impl Graph {
    /// What this op stands for; `None` for all ops but those of a contracted graph. Logarithmic in their number.
    pub(crate) fn stand_in(&self, op: OpId) -> Option<&StandIn> {
        let place = self.stand_ins.binary_search_by_key(&op, |s| s.op).ok()?;
        self.stand_ins.get(place)
    }

    /// The distinct tensors that an op reads, in order of first mention.
    pub fn distinct_inputs(&self, op: OpId) -> impl Iterator<Item = TensorId> + '_ {
        let inputs = &self.inputs[op];
        inputs
            .iter()
            .enumerate()
            .filter(|&(place, tensor)| !inputs[..place].contains(tensor))
            .map(|(_, &tensor)| tensor)
    }

    /// No op consumes the tensor: a result of the program.
    pub fn is_final(&self, tensor: TensorId) -> bool {
        self.consumers[tensor].is_empty()
    }

    /// The name of a tensor.
    pub fn tensor_name(&self, tensor: TensorId) -> &str {
        name_of(&self.tensors[tensor], &self.ops)
    }

    /// Produced: its op's shape. External: its declared shape, if any.
    pub fn tensor_shape(&self, tensor: TensorId) -> Option<&[u64]> {
        let tensor = &self.tensors[tensor];
        match tensor.producer {
            Some(op) => Some(&self.ops[op].shape),
            None => tensor.external.as_ref()?.shape.as_deref(),
        }
    }

    /// The tensor of this name. Linear in the tensors.
    pub fn tensor_named(&self, name: &str) -> Option<TensorId> {
        (0..self.tensors.len()).find(|&tensor| self.tensor_name(tensor) == name)
    }

    /// The op of this name. Linear in the ops.
    pub fn op_named(&self, name: &str) -> Option<OpId> {
        self.ops.iter().position(|o| o.name == name)
    }
}

/// A graph by names instead of ids, as plain objects for JavaScript and JSON.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct NamedGraph {
    /// For each produced tensor the op that writes it.
    pub producers: ByName<String>,
    /// For each tensor the ops that read it, in execution order; empty for a final tensor.
    pub consumers: ByName<Vec<String>>,
    /// For each op the ops whose outputs it reads, in execution order.
    pub predecessors: ByName<Vec<String>>,
    /// For each op the ops that read its output, in execution order.
    pub successors: ByName<Vec<String>>,
}

/// Values by unique names, in the order of the graph; an object for JavaScript and JSON.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ByName<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<T> FromIterator<(String, T)> for ByName<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl From<&Graph> for NamedGraph {
    fn from(graph: &Graph) -> Self {
        let names = |ops: &[OpId]| ops.iter().map(|&op| graph.ops[op].name.clone()).collect();
        let by_op = |lists: &Lists| {
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

/// Builds the graph of `ops`; `externals` gives the declared sizes of external tensors.
///
/// A list that is given away is not copied. An unsorted one is sorted stably first. Takes `O(ops + reads)` time when the list is sorted.
///
/// # Errors
/// Every duplicate name or output, a cycle (named op by op), a size of zero, and a program whose
/// bytes pass `2^63 - 1`, each about the op that it concerns.
///
/// ```
/// use fuseline::core::{build_graph, Op, OpType::*};
/// let ops = [
///     Op::new("matmul1", Matmul, &["x", "w"], "y1", &[1024, 4096], 2),
///     Op::new("relu", Elementwise, &["y1"], "y2", &[1024, 4096], 2),
/// ];
/// let graph = build_graph(&ops, &[])?;
/// assert_eq!(graph.successors[0], [1]);
/// let y1 = graph.output[0];
/// assert_eq!(graph.tensors[y1].producer, Some(0));
/// assert_eq!(graph.consumers[y1], [1]);
/// # Ok::<(), Vec<fuseline::core::Diagnostic>>(())
/// ```
pub fn build_graph<'a>(
    ops: impl Into<Cow<'a, [Op]>>,
    externals: &[TensorDecl],
) -> Result<Graph, Vec<Diagnostic>> {
    graph_of(ops.into().into_owned(), externals)
}

fn graph_of(ops: Vec<Op>, externals: &[TensorDecl]) -> Result<Graph, Vec<Diagnostic>> {
    let reads = Reads::of(&ops, externals)?;
    let graph = if reads.is_in_order {
        let listed_at = (0..ops.len()).collect();
        reads.graph(ops, listed_at)
    } else {
        let order = reads.execution_order(&ops).map_err(|d| vec![d])?;
        let sorted: Vec<Op> = order.iter().map(|&listed| ops[listed].clone()).collect();
        let reads = Reads::of(&sorted, externals)?;
        reads.graph(sorted, order)
    };
    check_total_bytes(&graph)?;
    Ok(graph)
}

/// What each op of a list reads and writes, every name looked up once.
///
/// All in one pass, while an op and what it has just read are in a near cache: in a long list the look-ups
/// would otherwise wait for memory.
struct Reads {
    /// In order of first appearance.
    tensors: Vec<Tensor>,
    inputs: Lists,
    output: Vec<TensorId>,
    /// No op reads what a later one writes.
    is_in_order: bool,
}

impl Reads {
    /// # Errors
    /// What is wrong with single ops, before any edge is looked at.
    fn of(ops: &[Op], externals: &[TensorDecl]) -> Result<Self, Vec<Diagnostic>> {
        // From the end: of two declarations of one name the last counts.
        let mut declared = Names::with_capacity(externals.len());
        let declared_name = |place: usize| externals[place].name.as_str();
        for (place, tensor) in externals.iter().enumerate().rev() {
            declared.place(&tensor.name, place, &declared_name);
        }
        let mut problems = Vec::new();
        let mut names = Names::with_capacity(ops.len() + externals.len());
        let mut op_names = Names::with_capacity(ops.len());
        let mut tensors: Vec<Tensor> = Vec::with_capacity(ops.len() + externals.len());
        let mut inputs = Lists::with_capacity(ops.len(), ops.len() * 2);
        let mut output = Vec::with_capacity(ops.len());
        let mut is_in_order = true;
        for (index, op) in ops.iter().enumerate() {
            inputs.push(op.inputs.iter().map(|name| {
                let (tensor, is_new) =
                    names.place(name, tensors.len(), &|t| name_of(&tensors[t], ops));
                if is_new {
                    let place = declared.find(name, &declared_name);
                    tensors.push(external(name, place.map(|place| &externals[place])));
                }
                tensor
            }));
            let (tensor, is_new) =
                names.place(&op.output, tensors.len(), &|t| name_of(&tensors[t], ops));
            output.push(tensor);
            if is_new {
                tensors.push(produced(op, index));
            } else if let Some(first) = tensors[tensor].producer {
                problems.push(duplicate_output(op, &ops[first]).about(index));
            } else {
                is_in_order = false;
                tensors[tensor] = produced(op, index);
            }
            if !op_names.place(&op.name, index, &|op| &ops[op].name).1 {
                problems.push(duplicate_name(op).about(index));
            }
            if op.shape.contains(&0) || op.bytes_per_element == 0 {
                problems.push(size_of_zero(op).about(index));
            }
        }
        if problems.is_empty() {
            Ok(Self {
                tensors,
                inputs,
                output,
                is_in_order,
            })
        } else {
            Err(problems)
        }
    }

    /// The order in which the ops can run, or the cycle that forbids any.
    fn execution_order(&self, ops: &[Op]) -> Result<Vec<usize>, Diagnostic> {
        let producers = |reads: &[TensorId]| {
            reads
                .iter()
                .filter_map(|&t| self.tensors[t].producer)
                .collect()
        };
        let predecessors: Vec<Vec<usize>> = self.inputs.iter().map(producers).collect();
        topological_order(&predecessors).map_err(|cycle| {
            let path: Vec<&str> = cycle
                .iter()
                .map(|&index| ops[index].name.as_str())
                .collect();
            cycle_diagnostic(&path).about(cycle[0])
        })
    }

    /// The graph of these ops, which are in order.
    fn graph(self, ops: Vec<Op>, listed_at: Vec<usize>) -> Graph {
        let consumers = self.inputs.inverted(self.tensors.len());
        let mut successors = Lists::with_capacity(ops.len(), ops.len() * 2);
        for &tensor in &self.output {
            successors.push(consumers[tensor].iter().copied());
        }
        Graph {
            predecessors: successors.inverted(ops.len()),
            ops,
            listed_at,
            tensors: self.tensors,
            inputs: self.inputs,
            output: self.output,
            consumers,
            successors,
            stand_ins: Vec::new(),
        }
    }
}

fn name_of<'a>(tensor: &'a Tensor, ops: &'a [Op]) -> &'a str {
    match (tensor.producer, &tensor.external) {
        (Some(op), _) => &ops[op].output,
        (None, Some(external)) => &external.name,
        (None, None) => "",
    }
}

fn produced(op: &Op, id: OpId) -> Tensor {
    Tensor {
        bytes_per_element: Some(op.bytes_per_element),
        dtype: op.element_type(),
        role: TensorRole::Input,
        producer: Some(id),
        elements: element_count(&op.shape),
        external: None,
    }
}

fn external(name: &str, declared: Option<&TensorDecl>) -> Tensor {
    Tensor {
        bytes_per_element: declared.map(|d| d.bytes_per_element),
        dtype: declared.and_then(TensorDecl::element_type),
        role: declared.map_or(TensorRole::Input, |d| d.role),
        producer: None,
        elements: declared.and_then(|d| element_count(&d.shape)),
        external: Some(Box::new(External {
            name: name.to_owned(),
            shape: declared.map(|d| d.shape.clone()),
        })),
    }
}

fn duplicate_output(op: &Op, first: &Op) -> Diagnostic {
    let message = format!("`{}` is already written by `{}`", op.output, first.name);
    Diagnostic::error(Code::DuplicateOutput, message).hint("give this output a name of its own")
}

fn duplicate_name(op: &Op) -> Diagnostic {
    let message = format!("another op is already called `{}`", op.name);
    Diagnostic::error(Code::DuplicateOpName, message).hint("give this op a name of its own")
}

fn size_of_zero(op: &Op) -> Diagnostic {
    let message = format!("`{}` has a size of zero", op.output);
    Diagnostic::error(Code::NonPositiveSize, message).hint("every size is at least 1")
}

/// The error for a cycle through the ops of these names; each op feeds the next, the last the first.
pub(crate) fn cycle_diagnostic(names: &[&str]) -> Diagnostic {
    const SHOWN: usize = 8;
    let mut path: Vec<&str> = names.iter().copied().take(SHOWN).collect();
    if names.len() > SHOWN {
        path.push("…");
    }
    path.extend(names.first());
    Diagnostic::error(
        Code::Cycle,
        format!("the ops need each other in a circle: {}", path.join(" → ")),
    )
    .hint("break the circle: one of these ops must read another tensor")
}

/// One check here spares every sum of bytes downstream its own.
fn check_total_bytes(graph: &Graph) -> Result<(), Vec<Diagnostic>> {
    let mut total: u64 = 0;
    for (op, &output) in graph.output.iter().enumerate() {
        let overflow = |what: &str| {
            vec![
                Diagnostic::error(Code::Overflow, format!("the bytes of {what} pass 2^63"))
                    .about(graph.listed_at[op])
                    .hint("use smaller sizes"),
            ]
        };
        let of = |tensor: TensorId| overflow(&format!("`{}`", graph.tensor_name(tensor)));
        let written = graph.tensors[output].bytes().ok_or_else(|| of(output))?;
        let mut moved = Some(written);
        for &tensor in &graph.inputs[op] {
            let known = &graph.tensors[tensor];
            if known.bytes_per_element.is_some() && known.bytes().is_none() {
                return Err(of(tensor));
            }
            // Another convention may count an external tensor as large as its reader's output.
            let (read, _) = read_size(graph, op, tensor, Externals::Declared);
            moved = moved.and_then(|m| m.checked_add(read.max(written)));
        }
        total = moved
            .and_then(|m| total.checked_add(m))
            .filter(|&t| i64::try_from(t).is_ok())
            .ok_or_else(|| overflow("the whole program"))?;
    }
    Ok(())
}
