//! Row values: what a softmax or a norm computes once for each row, such as a maximum and a sum.
//!
//! A kernel that computes elements of such an op again reads its row values from the kernel of the
//! op, as the analysis counts it. No tensor of the graph holds them, so they have numbers behind
//! those of all tensors.

use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{OpId, TensorId};
use fuseline_core::model::op::{Op, element_count};

/// Most row values of an op ([`Function::row_values`]).
const MOST: usize = 2;

/// One of the row values of an op, as a kernel passes it to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowValue {
    /// The op whose rows have it.
    pub op: OpId,
    /// What it is, such as `largest of y`.
    pub name: String,
}

/// How many row values an op has.
pub(super) fn count(op: &Op) -> usize {
    op.function.map_or(0, Function::row_values)
}

/// The number under which kernels know one of the row values of an op.
pub(super) fn tensor(graph: &Graph, op: OpId, which: usize) -> TensorId {
    TensorId::new(graph.tensors.len() + MOST * op.index() + which)
}

/// The op and the index of the row value with this number; `None` for a tensor of the graph.
pub(super) fn of_tensor(graph: &Graph, tensor: TensorId) -> Option<(OpId, usize)> {
    let place = tensor.index().checked_sub(graph.tensors.len())?;
    Some((OpId::new(place / MOST), place % MOST))
}

/// The row value with this number; `None` for a tensor of the graph.
pub(super) fn row_value(graph: &Graph, tensor: TensorId) -> Option<RowValue> {
    let (op, which) = of_tensor(graph, tensor)?;
    let name = graph.tensor_name(graph.output[op]);
    let is_softmax = graph.ops[op].function.is_some_and(Function::is_softmax);
    let word = match (is_softmax, which) {
        (true, 0) => "largest",
        (true, _) | (false, 0) => "total",
        (false, _) => "second total",
    };
    Some(RowValue {
        op,
        name: format!("{word} of {name}"),
    })
}

/// The shape in which an op with an input of this shape has its rows, and the dimensions along a
/// row.
pub(super) fn rows(op: &Op, shape: &[u64]) -> Option<(Vec<u64>, Vec<usize>)> {
    let groups = op.indexing.as_ref().map_or(0, |own| own.groups);
    if groups > 0 {
        // The channels of a group are contiguous.
        let rows = shape.first()?.checked_mul(groups)?;
        let width = element_count(shape)?.checked_div(rows)?;
        return Some((vec![rows, width], vec![1]));
    }
    Some((shape.to_vec(), op.reduced_axes(shape.len())))
}
