//! The ops that attention as one op stands for, each as a separate kernel. Measured runs of the
//! pattern give the speedup over these kernels.

use crate::cost::traffic::TrafficCount;
use crate::cost::work::{FLOPS_OF_A_SCORE, op_work};
use crate::fusion::attention::AttentionShape;
use crate::fusion::structure::structure;
use crate::model::functions::Function;
use crate::model::graph::{Graph, SeparateKernels};
use crate::model::ids::OpId;
use crate::model::work::Work;

/// The separate kernels of ops that one op replaces. `O(ops^2 * inputs)`.
pub(super) fn of_ops(graph: &Graph, ops: &[OpId], count: &mut TrafficCount<'_>) -> SeparateKernels {
    let structure = structure(graph, ops.iter().copied(), |op| count.is_view(op));
    let mut kernels = Vec::with_capacity(ops.len());
    for &op in ops {
        if !count.is_view(op) {
            let alone =
                count.of_kernel([op].into_iter(), Vec::new(), |other| other == op, |_| true);
            kernels.push((op_work(graph, op), alone.total()));
        }
    }
    SeparateKernels { structure, kernels }
}

/// The separate kernels of a call of `sdpa` without a mask: a product, a scale, a softmax and a
/// product. `None` for any other op, and where the shapes are not known. `O(1)`.
pub(crate) fn of_call(graph: &Graph, op: OpId) -> Option<SeparateKernels> {
    const STRUCTURE: &str = "matmul(x,x) scale(0) softmax(1) matmul(2,x)";
    let is_call = graph.ops[op].function == Some(Function::Sdpa);
    if !is_call || graph.inputs[op].len() > 3 {
        return None;
    }
    let shape = AttentionShape::of_kernel(graph, &[op])?;
    let all = op_work(graph, op);
    // V is as wide as K, or there would be no shape: both products have equal FLOPs.
    let product = Work {
        matrix_flops: all.matrix_flops / 2,
        matrix_dtype: all.matrix_dtype,
        ..Work::default()
    };
    let scores = all.vector_flops / u128::from(FLOPS_OF_A_SCORE);
    let of_scores = |flops: u128| Work {
        vector_flops: scores * flops,
        vector_f64_flops: if all.vector_f64_flops > 0 {
            scores * flops
        } else {
            0
        },
        ..Work::default()
    };
    let bytes = |rows: u64, columns: u64, heads: u64, width: u32| {
        let elements = rows.saturating_mul(columns).saturating_mul(heads);
        elements.saturating_mul(width.into())
    };
    let (width, of_key) = (shape.bytes_per_element, shape.key_bytes_per_element);
    let kv_heads = shape.heads / shape.group.max(1);
    let of_q = bytes(shape.queries, shape.head_size, shape.heads, width);
    let of_k = bytes(shape.keys, shape.head_size, kv_heads, of_key);
    let matrix = bytes(shape.queries, shape.keys, shape.heads, width);
    // The product with V reads the scores and V and writes the result, which are as large as what
    // the first one reads and writes.
    let around_product = of_q.saturating_add(of_k).saturating_add(matrix);
    let over_scores = matrix.saturating_mul(2);
    Some(SeparateKernels {
        structure: STRUCTURE.to_owned(),
        kernels: vec![
            (product, around_product),
            (of_scores(1), over_scores),
            (of_scores(u128::from(FLOPS_OF_A_SCORE) - 1), over_scores),
            (product, around_product),
        ],
    })
}
