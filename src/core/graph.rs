//! Ops to a graph: who produces and who consumes each tensor.
#![allow(
    clippy::indexing_slicing,
    reason = "ids are dense indices that build_graph hands out"
)]

use super::count;
use super::diagnostic::{Code, Diagnostic};
use super::dtype::DType;
use super::op::{Op, TensorDecl, TensorRole, byte_count};
use super::order::topological_order;
use super::traffic::{Externals, read_size};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Index of an op in [`Graph::ops`].
pub type OpId = usize;
/// Index of a tensor in [`Graph::tensors`].
pub type TensorId = usize;

/// A tensor of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Produced: its op's shape. External: its declared shape, if any.
    #[serde(serialize_with = "count::serialize_some")]
    pub shape: Option<Vec<u64>>,
    /// Bytes of one element, where known.
    pub bytes_per_element: Option<u32>,
    /// Element type where more is known than its width.
    pub dtype: Option<DType>,
    /// What it is for, when it is external.
    pub role: TensorRole,
    /// The op that writes it; `None` for an external tensor.
    pub producer: Option<OpId>,
    /// The ops that read it, each once, ascending; empty for a final tensor.
    pub consumers: Vec<OpId>,
}

impl Tensor {
    /// No op of the graph produces it.
    pub fn is_external(&self) -> bool {
        self.producer.is_none()
    }

    /// No op of the graph consumes it.
    pub fn is_final(&self) -> bool {
        self.consumers.is_empty()
    }

    /// Produced or declared bytes; `None` for an undeclared external tensor.
    pub fn bytes(&self) -> Option<u64> {
        byte_count(self.shape.as_ref()?, self.bytes_per_element?)
    }
}

/// A directed acyclic graph of ops, in execution order.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Graph {
    /// In execution order: the given order when it is topological, else sorted stably.
    pub ops: Vec<Op>,
    /// For each op its index in the list that was given.
    pub listed_at: Vec<usize>,
    /// In order of first appearance over the ops (inputs before output).
    pub tensors: Vec<Tensor>,
    /// For each op the tensors that it reads, as often as it names them.
    pub inputs: Vec<Vec<TensorId>>,
    /// For each op the tensor that it writes.
    pub output: Vec<TensorId>,
    /// For each op the ops whose outputs it reads, each once, ascending.
    pub predecessors: Vec<Vec<OpId>>,
    /// For each op the ops that read its output, each once, ascending.
    pub successors: Vec<Vec<OpId>>,
}

impl Graph {
    /// The distinct tensors that an op reads, in order of first mention.
    pub fn distinct_inputs(&self, op: OpId) -> impl Iterator<Item = TensorId> + '_ {
        let inputs = &self.inputs[op];
        inputs
            .iter()
            .enumerate()
            .filter(|&(place, tensor)| !inputs[..place].contains(tensor))
            .map(|(_, &tensor)| tensor)
    }

    /// The tensor of this name. Linear in the tensors.
    pub fn tensor_named(&self, name: &str) -> Option<TensorId> {
        self.tensors.iter().position(|t| t.name == name)
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
    pub producers: BTreeMap<String, String>,
    /// For each tensor the ops that read it, in execution order; empty for a final tensor.
    pub consumers: BTreeMap<String, Vec<String>>,
    /// For each op the ops whose outputs it reads, in execution order.
    pub predecessors: BTreeMap<String, Vec<String>>,
    /// For each op the ops that read its output, in execution order.
    pub successors: BTreeMap<String, Vec<String>>,
}

impl From<&Graph> for NamedGraph {
    fn from(graph: &Graph) -> Self {
        let names = |ops: &[OpId]| ops.iter().map(|&op| graph.ops[op].name.clone()).collect();
        let by_op = |lists: &[Vec<OpId>]| {
            let pairs = graph.ops.iter().zip(lists);
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
                .map(|t| (t.name.clone(), names(&t.consumers)))
                .collect(),
            predecessors: by_op(&graph.predecessors),
            successors: by_op(&graph.successors),
        }
    }
}

/// Builds the graph of `ops`; `externals` gives the declared sizes of external tensors.
///
/// An unsorted list is sorted stably first. Takes `O(ops + reads)` time when the list is sorted.
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
/// assert_eq!(graph.successors, [vec![1], vec![]]);
/// let y1 = &graph.tensors[graph.output[0]];
/// assert_eq!((y1.producer, &y1.consumers[..]), (Some(0), &[1][..]));
/// # Ok::<(), Vec<fuseline::core::Diagnostic>>(())
/// ```
pub fn build_graph(ops: &[Op], externals: &[TensorDecl]) -> Result<Graph, Vec<Diagnostic>> {
    let problems = list_problems(ops);
    if !problems.is_empty() {
        return Err(problems);
    }
    let order = sorted(ops).map_err(|d| vec![d])?;

    let declared: HashMap<&str, &TensorDecl> =
        externals.iter().map(|t| (t.name.as_str(), t)).collect();
    let mut ids: HashMap<&str, TensorId> = HashMap::with_capacity(ops.len() * 2);
    let mut graph = Graph {
        listed_at: order.clone(),
        ..Graph::default()
    };
    for (id, &listed) in order.iter().enumerate() {
        let op = &ops[listed];
        let mut reads = Vec::with_capacity(op.inputs.len());
        for name in &op.inputs {
            let tensor = *ids.entry(name).or_insert_with(|| {
                graph
                    .tensors
                    .push(external_tensor(name, declared.get(name.as_str()).copied()));
                graph.tensors.len() - 1
            });
            let consumers = &mut graph.tensors[tensor].consumers;
            if consumers.last() != Some(&id) {
                consumers.push(id);
            }
            reads.push(tensor);
        }
        ids.insert(&op.output, graph.tensors.len());
        graph.output.push(graph.tensors.len());
        graph.tensors.push(Tensor {
            name: op.output.clone(),
            shape: Some(op.shape.clone()),
            bytes_per_element: Some(op.bytes_per_element),
            dtype: op.element_type(),
            role: TensorRole::Input,
            producer: Some(id),
            consumers: Vec::new(),
        });
        graph.inputs.push(reads);
        graph.ops.push(op.clone());
    }
    graph.predecessors = (0..graph.ops.len())
        .map(|op| {
            let mut producers: Vec<OpId> = graph.inputs[op]
                .iter()
                .filter_map(|&t| graph.tensors[t].producer)
                .collect();
            producers.sort_unstable();
            producers.dedup();
            producers
        })
        .collect();
    graph.successors = graph
        .output
        .iter()
        .map(|&t| graph.tensors[t].consumers.clone())
        .collect();
    check_total_bytes(&graph)?;
    Ok(graph)
}

fn external_tensor(name: &str, declared: Option<&TensorDecl>) -> Tensor {
    Tensor {
        name: name.to_owned(),
        shape: declared.map(|d| d.shape.clone()),
        bytes_per_element: declared.map(|d| d.bytes_per_element),
        dtype: declared.and_then(TensorDecl::element_type),
        role: declared.map_or(TensorRole::Input, |d| d.role),
        producer: None,
        consumers: Vec::new(),
    }
}

/// What is wrong with single ops of the list, before any edge is looked at.
fn list_problems(ops: &[Op]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut producer: HashMap<&str, &str> = HashMap::with_capacity(ops.len());
    let mut named: HashMap<&str, usize> = HashMap::with_capacity(ops.len());
    for (index, op) in ops.iter().enumerate() {
        if let Some(first) = producer.insert(&op.output, &op.name) {
            problems.push(
                Diagnostic::error(
                    Code::DuplicateOutput,
                    format!("`{}` is already written by `{first}`", op.output),
                )
                .about(index)
                .hint("give this output a name of its own"),
            );
        }
        if named.insert(&op.name, index).is_some() {
            problems.push(
                Diagnostic::error(
                    Code::DuplicateOpName,
                    format!("another op is already called `{}`", op.name),
                )
                .about(index)
                .hint("give this op a name of its own"),
            );
        }
        if op.shape.contains(&0) || op.bytes_per_element == 0 {
            problems.push(
                Diagnostic::error(
                    Code::NonPositiveSize,
                    format!("`{}` has a size of zero", op.output),
                )
                .about(index)
                .hint("every size is at least 1"),
            );
        }
    }
    problems
}

/// The order in which the ops can run, or the cycle that forbids any.
fn sorted(ops: &[Op]) -> Result<Vec<usize>, Diagnostic> {
    let producer: HashMap<&str, usize> = ops
        .iter()
        .enumerate()
        .map(|(index, op)| (op.output.as_str(), index))
        .collect();
    let predecessors: Vec<Vec<usize>> = ops
        .iter()
        .map(|op| {
            op.inputs
                .iter()
                .filter_map(|name| producer.get(name.as_str()).copied())
                .collect()
        })
        .collect();
    topological_order(&predecessors).map_err(|cycle| {
        let names: Vec<&str> = cycle
            .iter()
            .map(|&index| ops[index].name.as_str())
            .collect();
        cycle_diagnostic(&names).about(cycle[0])
    })
}

/// The error for a cycle through the ops of these names; each op feeds the next, the last the first.
pub(super) fn cycle_diagnostic(names: &[&str]) -> Diagnostic {
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
    for (op, definition) in graph.ops.iter().enumerate() {
        let overflow = |what: &str| {
            vec![
                Diagnostic::error(Code::Overflow, format!("the bytes of {what} pass 2^63"))
                    .about(graph.listed_at[op])
                    .hint("use smaller sizes"),
            ]
        };
        let written = byte_count(&definition.shape, definition.bytes_per_element)
            .ok_or_else(|| overflow(&format!("`{}`", definition.output)))?;
        let mut moved = Some(written);
        for &tensor in &graph.inputs[op] {
            let known = &graph.tensors[tensor];
            if known.shape.is_some() && known.bytes().is_none() {
                return Err(overflow(&format!("`{}`", known.name)));
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
