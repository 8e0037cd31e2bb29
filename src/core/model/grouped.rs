//! Products in which each row meets one of several matrices, as a token meets its expert.

use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use crate::model::op_type::OpType;

/// A grouped product: `matmul(x, w, k=K) : f16[M, N]` of `x : f16[M, K]` and `w : f16[E, K, N]`,
/// or `[E, N, K]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupedProduct {
    /// The matrices, of which each row meets one.
    pub matrices: TensorId,
    /// How many rows there are.
    pub rows: u64,
    /// How many matrices there are.
    pub count: u64,
}

impl GroupedProduct {
    /// The product of an op; `None` if it is no such product. A product without a stated K would
    /// multiply each row by all matrices, with a result for each.
    pub fn of(graph: &Graph, op: OpId) -> Option<Self> {
        let definition = &graph.ops[op];
        let is_matmul = definition.op_type == OpType::Matmul
            && matches!(definition.function, None | Some(Function::Matmul));
        let k = definition.k.filter(|_| is_matmul)?;
        let (&[left, matrices], &[rows, columns]) = (&graph.inputs[op], &definition.shape[..])
        else {
            return None;
        };
        let &[count, first, second] = graph.tensor_shape(matrices)? else {
            return None;
        };
        let is_grouped = *graph.tensor_shape(left)? == [rows, k]
            && ((first, second) == (k, columns) || (first, second) == (columns, k));
        is_grouped.then_some(Self {
            matrices,
            rows,
            count,
        })
    }

    /// The matrices that the product reads at most: each row may meet another.
    pub fn most_read(&self) -> u64 {
        self.rows.min(self.count)
    }

    /// The elements of these matrices.
    pub(crate) fn elements(&self, graph: &Graph) -> Option<u64> {
        let all = graph.tensors[self.matrices].elements()?;
        all.checked_div(self.count)?.checked_mul(self.most_read())
    }
}
