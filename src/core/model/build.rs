//! Builds a graph from a list of ops: looks names up, finds the edges, reports errors.

use crate::model::adjacency::Adjacency;
use crate::model::diagnostic::{Code, Diagnostic};
use crate::model::fixed_sizes::fixed_sizes;
use crate::model::graph::{Graph, Tensor, name_of, shape_of};
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::in_place::OpsInPlace;
use crate::model::names::Names;
use crate::model::op::{Op, TensorDecl};
use crate::model::options::Externals;
use crate::model::order::topological_order;
use crate::model::put_back::PutBacks;
use crate::model::results::Results;
use crate::model::sizes::{broadcast_operand_size, read_size};
use std::borrow::Cow;

/// Builds the graph of `ops`; `externals` gives the declared sizes of external tensors.
///
/// An owned list is not copied. An unsorted list is first sorted stably. `O(ops + reads)` for a
/// sorted list.
///
/// # Errors
/// Duplicate names and outputs, a cycle (named op by op), sizes of zero, and programs whose bytes
/// could exceed `2^63 - 1` if every kernel computed all ops again. Each diagnostic is about the op
/// that causes it.
///
/// ```
/// use fuseline_core::{build_graph, Op, OpId, OpType::*};
/// let ops = [
///     Op::new("matmul1", Matmul, &["x", "w"], "y1", &[1024, 4096], 2),
///     Op::new("relu", Elementwise, &["y1"], "y2", &[1024, 4096], 2),
/// ];
/// let graph = build_graph(&ops, &[])?;
/// let (matmul, relu) = (OpId::new(0), OpId::new(1));
/// assert_eq!(graph.successors[matmul], [relu]);
/// let y1 = graph.output[matmul];
/// assert_eq!(graph.tensors[y1].producer, Some(matmul));
/// assert_eq!(graph.consumers[y1], [relu]);
/// # Ok::<(), Vec<fuseline_core::Diagnostic>>(())
/// ```
pub fn build_graph<'a>(
    ops: impl Into<Cow<'a, [Op]>>,
    externals: &[TensorDecl],
) -> Result<Graph, Vec<Diagnostic>> {
    graph_of(ops.into().into_owned().into(), externals)
}

fn graph_of(ops: IdVec<OpId, Op>, externals: &[TensorDecl]) -> Result<Graph, Vec<Diagnostic>> {
    let reads = DefUse::of(&ops, externals)?;
    let waits_for = reads.waits_for(&ops);
    let waits_in_order = |(op, before): (OpId, &[OpId])| before.iter().all(|&other| other < op);
    let graph = if reads.is_in_order && waits_for.iter_enumerated().all(waits_in_order) {
        let listed_at = (0..ops.len()).collect();
        reads.graph(ops, listed_at, waits_for)
    } else {
        let order = reads
            .execution_order(&ops, &waits_for)
            .map_err(|d| vec![d])?;
        let sorted = order.iter().map(|&listed| ops[listed].clone()).collect();
        let reads = DefUse::of(&sorted, externals)?;
        let waits_for = reads.waits_for(&sorted);
        let listed_at = order.iter().map(|listed| listed.index()).collect();
        reads.graph(sorted, listed_at, waits_for)
    };
    check_total_bytes(&graph)?;
    Ok(graph)
}

/// The definitions and uses of tensors in a list of ops, each name looked up once.
///
/// One pass, because an op and the names that it has just read are still in a near cache. Separate
/// passes over a long list would wait for memory.
struct DefUse {
    /// In order of first appearance.
    tensors: IdVec<TensorId, Tensor>,
    inputs: Adjacency<OpId, TensorId>,
    output: IdVec<OpId, TensorId>,
    /// Every op follows the producers of its inputs.
    is_in_order: bool,
}

impl DefUse {
    /// # Errors
    /// Errors of single ops, found before edges are known.
    fn of(ops: &IdVec<OpId, Op>, externals: &[TensorDecl]) -> Result<Self, Vec<Diagnostic>> {
        // In reverse, so that the last of several declarations of a name counts.
        let mut declared = Names::with_capacity(externals.len());
        let declared_name = |place: usize| externals.get(place).map_or("", |t| t.name.as_str());
        for (place, tensor) in externals.iter().enumerate().rev() {
            declared.place(&tensor.name, place, &declared_name);
        }
        let mut problems = Vec::new();
        let mut names = Names::with_capacity(ops.len() + externals.len());
        let mut op_names = Names::with_capacity(ops.len());
        let mut tensors: IdVec<TensorId, Tensor> =
            IdVec::with_capacity(ops.len() + externals.len());
        let mut inputs = Adjacency::with_capacity(ops.len(), ops.len() * 2);
        let mut output = IdVec::with_capacity(ops.len());
        let mut is_in_order = true;
        for (id, op) in ops.iter_enumerated() {
            inputs.push(op.inputs.iter().map(|name| {
                let (tensor, is_new) = names.place(name, tensors.len(), &|t| {
                    name_of(&tensors[TensorId::new(t)], ops)
                });
                if is_new {
                    let place = declared.find(name, &declared_name);
                    tensors.push(Tensor::external(
                        name,
                        place.and_then(|place| externals.get(place)),
                    ));
                }
                TensorId::new(tensor)
            }));
            let (tensor, is_new) = names.place(&op.output, tensors.len(), &|t| {
                name_of(&tensors[TensorId::new(t)], ops)
            });
            let tensor = TensorId::new(tensor);
            output.push(tensor);
            if is_new {
                tensors.push(Tensor::produced(op, id));
            } else if let Some(first) = tensors[tensor].producer {
                problems.push(duplicate_output(op, &ops[first]).about(id.index()));
            } else {
                is_in_order = false;
                tensors[tensor] = Tensor::produced(op, id);
            }
            let name_of_op = |op: usize| ops[OpId::new(op)].name.as_str();
            if !op_names.place(&op.name, id.index(), &name_of_op).1 {
                problems.push(duplicate_name(op).about(id.index()));
            }
            if op.shape.contains(&0) || op.bytes_per_element.bits() == 0 {
                problems.push(size_of_zero(op).about(id.index()));
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

    /// For each op in place the ops that read what it overwrites.
    fn waits_for(&self, ops: &IdVec<OpId, Op>) -> Adjacency<OpId, OpId> {
        let in_place = OpsInPlace {
            op_of: &|op: OpId| ops.get(op),
            inputs: &self.inputs,
            output_of: &|op: OpId| self.output.get(op).copied(),
            tensors: self.tensors.len(),
        };
        in_place.waits_for()
    }

    /// An order in which the ops can run, or a cycle.
    fn execution_order(
        &self,
        ops: &IdVec<OpId, Op>,
        waits_for: &Adjacency<OpId, OpId>,
    ) -> Result<Vec<OpId>, Diagnostic> {
        let producers = |(op, reads): (OpId, &[TensorId])| {
            let producers = reads.iter().filter_map(|&t| self.tensors[t].producer);
            producers.chain(waits_for[op].iter().copied()).collect()
        };
        let predecessors: IdVec<OpId, Vec<OpId>> =
            self.inputs.iter_enumerated().map(producers).collect();
        topological_order(&predecessors).map_err(|cycle| {
            let path: Vec<&str> = cycle.iter().map(|&op| ops[op].name.as_str()).collect();
            Diagnostic {
                op: cycle.first().map(|op| op.index()),
                ..cycle_diagnostic(&path)
            }
        })
    }

    /// The graph of `ops`, which are in execution order.
    fn graph(
        self,
        ops: IdVec<OpId, Op>,
        listed_at: IdVec<OpId, usize>,
        waits_for: Adjacency<OpId, OpId>,
    ) -> Graph {
        let consumers = self.inputs.inverted(self.tensors.len());
        let mut successors = Adjacency::with_capacity(ops.len(), ops.len() * 2);
        for &tensor in &self.output {
            successors.push(consumers[tensor].iter().copied());
        }
        let mut tensors = self.tensors;
        fix_undeclared(&mut tensors, &ops, &self.inputs, &consumers);
        note_overwritten(&mut tensors, &ops, &self.inputs, &self.output);
        Graph {
            awaited_by: waits_for.inverted(ops.len()),
            waits_for,
            predecessors: successors.inverted(ops.len()),
            results: Results::of(&ops, &self.inputs),
            ops,
            listed_at,
            tensors,
            inputs: self.inputs,
            output: self.output,
            consumers,
            successors,
            unknown_ops: Vec::new(),
            stand_ins: Vec::new(),
        }
    }
}

/// Notes in whose memory ops in place write, what they overwrite, and what shows it. The ops are in
/// execution order.
fn note_overwritten(
    tensors: &mut IdVec<TensorId, Tensor>,
    ops: &IdVec<OpId, Op>,
    inputs: &Adjacency<OpId, TensorId>,
    outputs: &IdVec<OpId, TensorId>,
) {
    if !ops.iter().any(|op| op.in_place) {
        return;
    }
    let put_backs = PutBacks::of(&OpsInPlace {
        op_of: &|op: OpId| ops.get(op),
        inputs,
        output_of: &|op: OpId| outputs.get(op).copied(),
        tensors: tensors.len(),
    });
    let view = |tensor: &Tensor| tensor.producer.filter(|&op| ops[op].is_view());
    let mut bases: IdVec<TensorId, TensorId> = tensors.ids().collect();
    for (id, op) in ops.iter_enumerated() {
        let Some(&first) = inputs[id].first() else {
            continue;
        };
        let (base, output) = (bases[first], outputs[id]);
        if op.in_place {
            tensors[base].is_overwritten |= !op.writes_part() && base == first;
            tensors[output].in_memory_of = tensors[base].in_memory_of.or(Some(base));
            tensors[output].shows_written = put_backs.contains(id);
            let mut shown = first;
            while let Some(by) = view(&tensors[shown]).filter(|_| !tensors[shown].shows_written) {
                tensors[shown].shows_written = true;
                shown = inputs[by].first().copied().unwrap_or(shown);
            }
        } else if op.is_view() {
            bases[output] = base;
            let producer = tensors[base].producer;
            tensors[output].shows_written = producer.is_some_and(|by| ops[by].writes_part());
        }
    }
}

/// Gives undeclared tensors the sizes that their readers fix.
fn fix_undeclared(
    tensors: &mut IdVec<TensorId, Tensor>,
    ops: &IdVec<OpId, Op>,
    inputs: &Adjacency<OpId, TensorId>,
    consumers: &Adjacency<TensorId, OpId>,
) {
    let is_undeclared = |tensor: &Tensor| tensor.is_external() && !tensor.is_declared();
    if !tensors.iter().any(is_undeclared) {
        return;
    }
    let mut fixed = fixed_sizes(
        inputs,
        consumers,
        |op| ops.get(op),
        |tensor| shape_of(tensors.get(tensor)?, ops),
        |tensor| tensors.get(tensor).is_some_and(is_undeclared),
    );
    for (id, tensor) in tensors.ids().zip(tensors.iter_mut()) {
        if let Some(size) = fixed.remove(&id) {
            let width = ops[size.reader].bytes_per_element;
            tensor.fix(size, width);
        }
    }
}

fn duplicate_output(op: &Op, first: &Op) -> Diagnostic {
    let message = format!("`{}` already writes `{}`", first.name, op.output);
    Diagnostic::error(Code::DuplicateOutput, message).hint("give this output another name")
}

fn duplicate_name(op: &Op) -> Diagnostic {
    let message = format!("another op is already called `{}`", op.name);
    Diagnostic::error(Code::DuplicateOpName, message).hint("give this op another name")
}

fn size_of_zero(op: &Op) -> Diagnostic {
    let message = format!("`{}` has a size of zero", op.output);
    Diagnostic::error(Code::NonPositiveSize, message).hint("every size is at least 1")
}

/// The error for a cycle of ops with these names; each op feeds the next, the last one feeds the
/// first.
pub(crate) fn cycle_diagnostic(names: &[&str]) -> Diagnostic {
    const SHOWN: usize = 8;
    let mut path: Vec<&str> = names.iter().copied().take(SHOWN).collect();
    if names.len() > SHOWN {
        path.push("…");
    }
    path.extend(names.first());
    Diagnostic::error(
        Code::Cycle,
        format!("the ops form a cycle: {}", path.join(" → ")),
    )
    .hint(match names {
        [_] => "an op cannot read its own output: give the output another name",
        _ => "break the cycle: one of these ops must read another tensor",
    })
}

/// Checks the bytes of the whole program once, so that no later sum can overflow.
///
/// A kernel accesses each tensor once, so its traffic is at most the sum over all ops run one by
/// one. A policy that recomputes ops can give every kernel that much.
fn check_total_bytes(graph: &Graph) -> Result<(), Vec<Diagnostic>> {
    let about = |op: OpId, message: String| {
        vec![
            Diagnostic::error(Code::Overflow, message)
                .about(graph.listed_at[op])
                .hint("use smaller sizes"),
        ]
    };
    let passes = |bytes: u64| i64::try_from(bytes).is_err();
    let mut total: u64 = 0;
    let mut most = (0, OpId::new(0));
    for (op, &output) in graph.output.iter_enumerated() {
        let overflow = |what: &str| about(op, format!("the bytes of {what} exceed 2^63"));
        let of = |tensor: TensorId| overflow(&format!("`{}`", graph.tensor_name(tensor)));
        let written = graph.tensors[output].bytes().ok_or_else(|| of(output))?;
        let mut moved = Some(written);
        for &tensor in &graph.inputs[op] {
            let known = &graph.tensors[tensor];
            if known.bytes_per_element.is_some() && known.bytes().is_none() {
                return Err(of(tensor));
            }
            // Under the other conventions an external tensor may count as large as its reader's
            // output.
            let read = read_size(graph, op, tensor, Externals::Declared).bytes;
            moved = moved.and_then(|m| m.checked_add(read.max(written)));
            // A library may read a copy of a matmul's operand, which is written and read.
            let copy = broadcast_operand_size(graph, op, tensor).unwrap_or(0);
            moved = moved.and_then(|m| m.checked_add(copy.checked_mul(2)?));
        }
        most = most.max((moved.unwrap_or(u64::MAX), op));
        total = moved
            .and_then(|m| total.checked_add(m))
            .filter(|&total| !passes(total))
            .ok_or_else(|| overflow("the whole program"))?;
    }
    let kernels = graph.ops.len();
    let bound = total.checked_mul(kernels as u64);
    if bound.is_none_or(passes) {
        let message =
            format!("the bytes of {kernels} kernels exceed 2^63 if each kernel recomputes all ops");
        return Err(about(most.1, message));
    }
    Ok(())
}
