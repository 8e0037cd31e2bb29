//! Ops in place that the compiler computes as values: it makes a program without writes in place,
//! and writes in place again only where that is safe.
//!
//! Source: `canonicalize_view_scatter_ops` in `torch/_inductor/fx_passes/reinplace.py`.

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
}

impl AsValues {
    /// `O(ops + reads)`.
    pub(super) fn of(graph: &Graph) -> Self {
        if !graph.ops.iter().any(|op| op.in_place) {
            return Self::default();
        }
        let mut is_value = IdVec::from_elem(false, graph.ops.len());
        let put_backs = PutBacks::of_graph(graph);
        for op in graph.ops.ids() {
            // What writes into a part is computed where another op puts the part back.
            for &write in put_backs.writes(op) {
                is_value[write] = match graph.ops[write].function {
                    Some(Function::SliceScatter) => composed(graph, op) == Some(write),
                    Some(function) => !function.writes_part(),
                    None => true,
                };
            }
        }
        Self { is_value }
    }

    /// Whether an op in place only computes what another op writes.
    pub(super) fn contains(&self, op: OpId) -> bool {
        self.is_value.get(op) == Some(&true)
    }

    /// Whether a tensor is written however the ops are fused.
    pub(super) fn is_result(&self, graph: &Graph, tensor: TensorId) -> bool {
        let producer = graph.tensors[tensor].producer;
        match producer.filter(|&op| self.contains(op)) {
            Some(op) => graph.consumers[tensor].is_empty() || graph.ops[op].is_output,
            None => graph.is_final(tensor),
        }
    }

    /// The write into a part of a part that a write into a part puts back: the compiler writes what
    /// both write by one op.
    pub(super) fn composed(&self, graph: &Graph, op: OpId) -> Option<OpId> {
        composed(graph, op).filter(|&write| self.contains(write))
    }
}

/// The write whose result another one writes into a larger part, through no view that moves it.
fn composed(graph: &Graph, op: OpId) -> Option<OpId> {
    let &source = graph.inputs[op].last()?;
    let view = graph.tensors[source].producer?;
    let base = viewed_base(graph, view);
    let write = graph.tensors[base].producer?;
    let sized = |tensor: TensorId| -> Option<Vec<u64>> {
        let shape = graph.tensor_shape(tensor)?.iter();
        Some(shape.copied().filter(|&size| size != 1).collect())
    };
    let is_scatter = |op: OpId| graph.ops[op].function == Some(Function::SliceScatter);
    (is_scatter(op) && is_scatter(write) && sized(source) == sized(base)).then_some(write)
}
