//! Ops in place that the compiler computes as values: it makes a program without writes in place,
//! copies the last value of each input that is overwritten back at the end, and writes in place
//! again only where nothing else needs the memory before.
//!
//! Source: `canonicalize_view_scatter_ops`, `should_reinplace_scatter` and `can_inplace` in
//! `torch/_inductor/fx_passes/reinplace.py`.

use super::store::copies_first;
use crate::fusion::views::viewed_base;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::put_back::PutBacks;

/// Which ops in place write nothing themselves.
#[derive(Default)]
pub(super) struct AsValues {
    /// Empty without an op in place.
    is_value: IdVec<OpId, bool>,
    /// Those that compute a value of all of their tensor, ascending.
    pub(super) of_whole: Vec<OpId>,
    /// The ops whose results are copied into inputs of the program at its end, ascending.
    pub(super) copied_back: Vec<OpId>,
    /// Writes through a view that run on a copy of it, ascending.
    on_copy: Vec<OpId>,
    /// Those of them whose copy an op of the program puts back in place.
    put_back: Vec<OpId>,
}

impl AsValues {
    /// `O(ops + reads)`.
    pub(super) fn of(graph: &Graph) -> Self {
        if !graph.ops.iter().any(|op| op.in_place) {
            return Self::default();
        }
        let writes = Writes::of(graph);
        let mut is_value = IdVec::from_elem(false, graph.ops.len());
        // Whether the compiler makes the op into one that overwrites memory of the caller.
        let mut is_in_memory = is_value.clone();
        let (mut of_whole, mut copied_back, mut on_copy) = (Vec::new(), Vec::new(), Vec::new());
        let in_place = graph.ops.iter_enumerated().filter(|(_, op)| op.in_place);
        for (op, definition) in in_place {
            let Some(&target) = graph.inputs[op].first() else {
                continue;
            };
            let memory = graph.tensors[graph.output[op]].in_memory_of;
            let is_of_caller = graph.is_in_memory_of_caller(graph.output[op]);
            let is_slice = definition.function == Some(Function::SliceScatter);
            let is_store = definition.writes_part() && !is_slice;
            let is_last = !writes.goes_on[op];
            let size = |tensor: TensorId| graph.tensors[tensor].elements();
            // A part that nothing puts back is in the memory of the whole.
            let is_part = is_last && memory.map(size) != Some(size(graph.output[op]));
            is_value[op] = !(is_store || is_of_caller && is_part)
                && if is_slice {
                    !is_last || !graph.tensors[target].is_external()
                } else {
                    !is_last || !is_of_caller || !graph.successors[op].is_empty()
                };
            let before = written_before(graph, op).filter(|_| is_store);
            let copies = is_of_caller && copies_first(definition);
            let is_put_back = writes.put_back_by[op].is_some();
            let is_on_copy = is_store && (is_view_of_caller(graph, op) || is_put_back || copies);
            on_copy.extend(is_on_copy.then_some(op));
            is_in_memory[op] = !is_value[op]
                && !is_on_copy
                && !before
                    .is_some_and(|before| graph.ops[before].in_place && !is_in_memory[before]);
            if is_of_caller && is_last && !is_part && !is_in_memory[op] {
                copied_back.push(op);
            }
        }
        let mut is_whole = is_value.clone();
        for op in graph.ops.ids().rev().filter(|&op| is_value[op]) {
            // What is put back where it is computed is written there.
            is_whole[op] = writes.put_back_by[op].is_none_or(|put_back| is_whole[put_back]);
            if is_whole[op] {
                of_whole.push(op);
            }
        }
        of_whole.reverse();
        let is_put_back = |&op: &OpId| {
            let put_back = writes.put_back_by[op];
            put_back.is_some_and(|put_back| !is_value[put_back])
        };
        let put_back = on_copy.iter().copied().filter(is_put_back).collect();
        Self {
            is_value,
            of_whole,
            copied_back,
            on_copy,
            put_back,
        }
    }

    /// Whether an op overwrites its first input.
    pub(super) fn is_in_place(&self, graph: &Graph, op: OpId) -> bool {
        graph.ops[op].in_place && !self.contains(op) && !self.is_on_copy(op)
    }

    /// Whether an op in place only computes what another op writes.
    pub(super) fn contains(&self, op: OpId) -> bool {
        self.is_value.get(op) == Some(&true)
    }

    /// Whether a write through a view runs on a copy of the view.
    pub(super) fn is_on_copy(&self, op: OpId) -> bool {
        self.on_copy.binary_search(&op).is_ok()
    }

    /// Whether an op of the program puts back, in place, the copy on which a write runs.
    pub(super) fn is_put_back(&self, op: OpId) -> bool {
        self.put_back.binary_search(&op).is_ok()
    }

    /// Whether a tensor is written however the ops are fused.
    pub(super) fn is_result(&self, graph: &Graph, tensor: TensorId) -> bool {
        let is_value = |op: OpId| self.contains(op) && graph.is_in_memory_of_caller(tensor);
        graph.is_final(tensor) && !graph.tensors[tensor].producer.is_some_and(is_value)
    }

    /// The write into a part of a part that a write into a part puts back: the compiler writes what
    /// both write by one op.
    pub(super) fn composed(&self, graph: &Graph, op: OpId) -> Option<OpId> {
        composed(graph, op).filter(|&write| self.contains(write))
    }
}

/// Whether a write goes through a view of what the caller gives: only tensors that are no views are
/// overwritten.
fn is_view_of_caller(graph: &Graph, op: OpId) -> bool {
    let target = graph.inputs[op].first();
    let view = target.and_then(|&target| graph.tensors[target].producer);
    view.filter(|&view| graph.ops[view].is_view())
        .is_some_and(|view| {
            // PyTorch's own index has a place for each dimension, also `[page, :, slot]`, where the
            // notation turns the tensor first.
            let is_index = graph.ops[op].function == Some(Function::IndexPut)
                && graph.ops[view].function == Some(Function::Transpose);
            !is_index && graph.tensors[viewed_base(graph, graph.output[view])].is_external()
        })
}

/// How ops in place follow each other.
struct Writes {
    /// Whether another op writes into the result of an op, or puts it back.
    goes_on: IdVec<OpId, bool>,
    /// The op that puts back what an op writes.
    put_back_by: IdVec<OpId, Option<OpId>>,
}

impl Writes {
    fn of(graph: &Graph) -> Self {
        let mut writes = Self {
            goes_on: IdVec::from_elem(false, graph.ops.len()),
            put_back_by: IdVec::from_elem(None, graph.ops.len()),
        };
        let put_backs = PutBacks::of_graph(graph);
        for (op, definition) in graph.ops.iter_enumerated() {
            for &write in put_backs.writes(op) {
                writes.goes_on[write] = true;
                writes.put_back_by[write] = Some(op);
            }
            if let Some(before) = written_before(graph, op).filter(|_| definition.in_place) {
                writes.goes_on[before] = true;
            }
        }
        writes
    }
}

/// The op whose result an op changes, perhaps through views.
fn written_before(graph: &Graph, op: OpId) -> Option<OpId> {
    let &target = graph.inputs[op].first()?;
    graph.tensors[viewed_base(graph, target)].producer
}

/// The write whose result another one writes into a larger part, through no view that moves it.
fn composed(graph: &Graph, op: OpId) -> Option<OpId> {
    let &source = graph.inputs[op].last()?;
    let base = viewed_base(graph, source);
    let write = graph.tensors[base].producer?;
    let sized = |tensor: TensorId| -> Option<Vec<u64>> {
        let shape = graph.tensor_shape(tensor)?.iter();
        Some(shape.copied().filter(|&size| size != 1).collect())
    };
    let is_scatter = |op: OpId| graph.ops[op].function == Some(Function::SliceScatter);
    let is_both = is_scatter(op) && is_scatter(write) && graph.ops[write].in_place;
    (is_both && sized(source) == sized(base)).then_some(write)
}
