//! Attention as one kernel: another algorithm, which replaces the ops that it is found in.
//!
//! The standard ops write the N x N scores and read them again. The one kernel (Dao et al.,
//! `FlashAttention`, 2022; Dao, `FlashAttention-2`, 2023) loops over tiles of Q, K and V and keeps
//! a running maximum and sum for each row, so that the scores stay on chip.
//!
//! It applies if the softmax runs over the keys and the ops between softmax and V allow it to
//! rescale partial sums. Any elementwise op may precede the softmax; `scale`, `mul`, `div`,
//! `dropout`, `cast`, `mask` and `where` may follow it. `exp` of a probability, for example, needs
//! the finished row sum, and so a second pass.

mod bytes;
mod find;
mod online_softmax;
mod rewrite;
pub(crate) mod separate;
mod walk;

pub use crate::fusion::attention::bytes::{Growth, LoopOrder, Tiles};
pub use crate::fusion::attention::find::find;
pub(crate) use find::stated;
pub use online_softmax::{
    F16_OVERFLOWS_FROM, Running, SoftmaxMethod, SoftmaxPass, SoftmaxStep, naive_in_f16, softmax_of,
    softmax_steps,
};
pub(crate) use rewrite::{RewrittenGraph, rewrite};
pub use walk::{TileStep, WalkedBytes};

use crate::cost::work::matmul_k;
use crate::model::device::Device;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::model::op::element_count;
use crate::model::op_type::OpType;
use crate::model::work::Work;
use serde::Serialize;

/// Ops that one attention kernel replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attention {
    /// The ops in execution order: the matmul of the scores first, the matmul with V last.
    pub ops: Vec<OpId>,
    /// The sizes of what they compute.
    pub shape: AttentionShape,
}

impl Attention {
    /// The element type of the result; `None` where only its width is known.
    pub fn dtype(&self, graph: &Graph) -> Option<DType> {
        graph.ops[*self.ops.last()?].element_type()
    }
}

/// The sizes of an attention. In self-attention there are as many queries as keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AttentionShape {
    /// Heads of all sequences together.
    pub heads: u64,
    /// Heads that share one head of K and V; 1 without grouped queries.
    pub group: u64,
    /// Rows of Q, and of the result.
    pub queries: u64,
    /// Rows of K and of V.
    pub keys: u64,
    /// Columns of Q, K, V and the result.
    pub head_size: u64,
    /// How wide an element of Q and of the result is, in bytes.
    #[serde(skip)]
    pub bytes_per_element: u32,
    /// How wide an element of K and V is, in bytes. A cache may have a narrower type.
    #[serde(skip)]
    pub key_bytes_per_element: u32,
}

/// An attention whose V may have another width than Q and K, as in latent attention.
#[derive(Clone, Copy)]
pub(crate) struct ScheduledAttention {
    /// The shape, with the columns of Q and K as its head size.
    pub(crate) shape: AttentionShape,
    /// Columns of V and of the result.
    pub(crate) value_size: u64,
}

impl ScheduledAttention {
    /// From the matmul of the scores and the matmul with V. `None` if K is unknown or the second
    /// matmul does not contract over the keys.
    fn of_ops(graph: &Graph, scores: OpId, result: OpId) -> Option<Self> {
        let (scores_op, result_op) = (&graph.ops[scores], &graph.ops[result]);
        let ([batch @ .., queries, keys], [of_result @ .., value_size]) =
            (&scores_op.shape[..], &result_op.shape[..])
        else {
            return None;
        };
        let heads = element_count(batch)?;
        let own = |op: OpId| heads_of_right_operand(graph, op).unwrap_or(heads);
        let shape = AttentionShape {
            heads,
            // The larger count where K and V differ.
            group: (heads / own(scores).max(own(result)).max(1)).max(1),
            queries: *queries,
            keys: *keys,
            head_size: matmul_k(graph, scores)?,
            bytes_per_element: result_op.bytes_per_element.whole_bytes()?,
            key_bytes_per_element: key_bytes_per_element(graph, scores)?,
        };
        let fits = matmul_k(graph, result) == Some(*keys)
            && of_result.split_last() == Some((queries, batch));
        fits.then_some(Self {
            shape,
            value_size: *value_size,
        })
    }

    /// That of a call of `sdpa`.
    fn of_call(graph: &Graph, op: OpId) -> Option<Self> {
        let definition = &graph.ops[op];
        let [batch @ .., queries, value_size] = &definition.shape[..] else {
            return None;
        };
        let &[_, k, ..] = &graph.inputs[op] else {
            return None;
        };
        let [own @ .., keys, head_size] = graph.tensor_shape(k)? else {
            return None;
        };
        let heads = element_count(batch)?;
        let shape = AttentionShape {
            heads,
            group: (heads / element_count(own)?.max(1)).max(1),
            queries: *queries,
            keys: *keys,
            head_size: *head_size,
            bytes_per_element: definition.bytes_per_element.whole_bytes()?,
            key_bytes_per_element: key_bytes_per_element(graph, op)?,
        };
        Some(Self {
            shape,
            value_size: *value_size,
        })
    }

    /// That of a kernel with two matmuls, under any policy, or of a call of `sdpa`.
    pub(crate) fn of_kernel(graph: &Graph, ops: &[OpId]) -> Option<Self> {
        if let Some(op) = AttentionShape::call_among(graph, ops) {
            return Self::of_call(graph, op);
        }
        let is_product = |&op: &OpId| graph.ops[op].op_type == OpType::Matmul;
        let mut products = ops.iter().copied().filter(is_product);
        Self::of_ops(graph, products.next()?, products.next()?)
    }

    /// The shape if V is as wide as Q and K, which published counts need.
    fn even(self) -> Option<AttentionShape> {
        (self.shape.head_size == self.value_size).then_some(self.shape)
    }
}

impl AttentionShape {
    /// The shape of a kernel with two matmuls, under any policy, or of a call of `sdpa`. `None` if
    /// V is not as wide as Q and K.
    pub fn of_kernel(graph: &Graph, ops: &[OpId]) -> Option<Self> {
        ScheduledAttention::of_kernel(graph, ops)?.even()
    }

    /// The call of attention in a kernel, which can only have free views beside it.
    pub(crate) fn call_among(graph: &Graph, ops: &[OpId]) -> Option<OpId> {
        let mut calls = ops.iter().copied();
        calls.find(|&op| graph.ops[op].function == Some(Function::Sdpa))
    }

    /// FLOPs of the kernel beyond those of the ops that it replaces: for each tile of keys, each
    /// row of the result is scaled to the new maximum (`head_size` multiplications), and so is its
    /// running sum (subtraction, exp, multiplication).
    pub fn rescaling(&self, tiles: Tiles) -> Work {
        let rows = u128::from(self.heads) * u128::from(self.queries);
        let per_row = u128::from(self.head_size) + 3;
        Work {
            vector_flops: rows
                .saturating_mul(per_row)
                .saturating_mul(tiles.key_tiles.into()),
            ..Work::default()
        }
    }

    /// FLOPs of rescaling with the tiles that fit this device, as search and analysis count them.
    pub(crate) fn rescaling_on(&self, device: &Device) -> Work {
        self.rescaling(Tiles::new(self, device.on_chip_bytes()))
    }
}

/// The sizes and the element type of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedAttention {
    /// The sizes.
    pub shape: AttentionShape,
    /// The element type of the result; `None` where only its width is known.
    pub dtype: Option<DType>,
}

/// The first attention of a program, whether it is written as its ops or as a call.
/// `O(ops + reads)`.
pub fn first_attention(graph: &Graph) -> Option<TypedAttention> {
    if let Some(found) = find(graph).first() {
        return Some(TypedAttention {
            shape: found.shape,
            dtype: found.dtype(graph),
        });
    }
    graph.ops.ids().find_map(|op| {
        Some(TypedAttention {
            shape: AttentionShape::of_kernel(graph, &[op])?,
            dtype: graph.ops[op].element_type(),
        })
    })
}

/// Number of matrices in the right operand of a product, if its shape is known.
fn heads_of_right_operand(graph: &Graph, product: OpId) -> Option<u64> {
    let &operand = graph.inputs[product].get(1)?;
    let [heads @ .., _, _] = graph.tensor_shape(operand)? else {
        return None;
    };
    element_count(heads)
}

/// The width of K, the second operand of the scores and of a call, or that of the op's result where
/// K is not declared.
fn key_bytes_per_element(graph: &Graph, op: OpId) -> Option<u32> {
    let key = graph.inputs[op].get(1);
    let own = key.and_then(|&key| graph.tensors[key].bytes_per_element);
    own.unwrap_or(graph.ops[op].bytes_per_element).whole_bytes()
}
