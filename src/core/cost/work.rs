//! FLOPs of each op, on matrix or vector units.

use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::{Units, UnknownOperator, element_count};
use crate::model::op_type::OpType;
use crate::model::work::Work;

/// FLOPs of one op: a matmul `2 * output elements * K`, an elementwise function its count for each
/// output element, a reduction its count for each element of its first input, a reshape that
/// computes its count for each output element, attention what [`scores`] says, an operator that is
/// not known what the program states, on the units that it states. A function that is not in the
/// table counts 1. The second result of an operator counts with the first.
pub fn op_work(graph: &Graph, op: OpId) -> Work {
    // An op of a rewritten graph stands for several, whose work its own attributes do not tell.
    if let Some(stand_in) = graph.stand_in(op) {
        return stand_in.work;
    }
    if graph.results.first(op).is_some() {
        return Work::default();
    }
    let definition = &graph.ops[op];
    let function = definition.function;
    let per_element = u128::from(function.map_or(1, |f| f.row().flops_per_element));
    let output_elements = u128::from(graph.tensors[graph.output[op]].elements().unwrap_or(0));
    let input_elements = || {
        let place = function.map_or(0, Function::counted_input);
        let counted = graph.inputs[op].get(place);
        let elements = counted.and_then(|&t| graph.tensors[t].elements());
        elements.map_or(output_elements, u128::from)
    };
    match definition.op_type {
        OpType::Matmul => {
            let k = matmul_k(graph, op);
            Work {
                // A multiplication and an addition for each term.
                matrix_flops: k.map_or(0, |k| 2 * output_elements * u128::from(k)),
                matrix_dtype: matrix_dtype(graph, op),
                is_convolution: definition.is_convolution(),
                is_unknown: k.is_none(),
                ..Work::default()
            }
        }
        OpType::Elementwise => vector(graph, op, per_element * output_elements),
        OpType::Reduction => vector(graph, op, per_element * input_elements()),
        OpType::Opaque if definition.function == Some(Function::Sdpa) => attention(graph, op),
        OpType::Opaque => match &definition.unknown {
            Some(unknown) => unknown_work(graph, op, unknown),
            None if function.is_none() => Work::default(),
            None => vector(graph, op, per_element * input_elements()),
        },
        OpType::Reshape if function.is_some() => vector(graph, op, per_element * output_elements),
        OpType::Reshape => Work::default(),
    }
}

/// What the program states of an operator. FLOPs whose units it does not state have no time.
fn unknown_work(graph: &Graph, op: OpId, unknown: &UnknownOperator) -> Work {
    match (unknown.flops, unknown.units) {
        (Some(0), _) => Work::default(),
        (Some(flops), Some(Units::Matrix)) => Work {
            matrix_flops: flops.into(),
            matrix_dtype: matrix_dtype(graph, op),
            ..Work::default()
        },
        (Some(flops), Some(Units::Vector)) => vector(graph, op, flops.into()),
        (flops, _) => Work {
            opaque_flops: Some(flops.unwrap_or(0).into()),
            is_unknown: flops.is_none(),
            ..Work::default()
        },
    }
}

/// The work of ops in one kernel, given that of each.
pub fn work_of_ops<'o>(
    ops: impl Iterator<Item = &'o OpId>,
    work_of: impl Fn(OpId) -> Work,
) -> Work {
    ops.fold(Work::default(), |sum, &op| sum.and(work_of(op)))
}

/// Vector FLOPs of attention for each score: its scale, and five of the softmax.
pub const FLOPS_OF_A_SCORE: u64 = 6;

/// Queries times keys of all heads of a call of attention, and the FLOPs of one score in both
/// products: `2 * (D + E)` for head sizes D of Q and K and E of V. `None` if the shapes are
/// unknown. A causal call counts all scores, as PyTorch does.
pub fn scores(graph: &Graph, op: OpId) -> Option<(u64, u64)> {
    let [batch @ .., width] = &graph.ops[op].shape[..] else {
        return None;
    };
    let &[q, k, ..] = &graph.inputs[op] else {
        return None;
    };
    let &head_size = graph.tensor_shape(q)?.last()?;
    let &[.., keys, _] = graph.tensor_shape(k)? else {
        return None;
    };
    let scores = element_count(batch)?.checked_mul(keys)?;
    Some((scores, head_size.checked_add(*width)?.checked_mul(2)?))
}

fn attention(graph: &Graph, op: OpId) -> Work {
    let Some((scores, each)) = scores(graph, op) else {
        return Work {
            is_unknown: true,
            matrix_dtype: matrix_dtype(graph, op),
            ..Work::default()
        };
    };
    // A fourth input is the mask, one FLOP for each score.
    let of_score = FLOPS_OF_A_SCORE + u64::from(graph.inputs[op].len() > 3);
    let hidden = hidden_scores(graph, op, scores);
    Work {
        matrix_flops: u128::from(scores) * u128::from(each),
        hidden_flops: [hidden * u128::from(each), hidden * u128::from(of_score)],
        matrix_dtype: matrix_dtype(graph, op),
        ..vector(graph, op, u128::from(scores) * u128::from(of_score))
    }
}

/// The scores, of all `scores` of a call of attention, that a causal mask hides: query `i` meets
/// the keys up to `i`.
fn hidden_scores(graph: &Graph, op: OpId, scores: u64) -> u128 {
    let rows = |shape: Option<&[u64]>| shape.and_then(|shape| shape.iter().rev().nth(1).copied());
    let keys = graph.inputs[op].get(1).map(|&k| graph.tensor_shape(k));
    let sizes = rows(Some(&graph.ops[op].shape)).zip(rows(keys.flatten()));
    let Some((queries, keys)) = sizes.filter(|_| graph.ops[op].is_causal) else {
        return 0;
    };
    let [queries, keys, scores] = [queries, keys, scores].map(u128::from);
    let heads = scores / (queries * keys).max(1);
    // Query `i` leaves `keys - 1 - i` keys out, as long as there are some.
    let partly = queries.min(keys);
    heads * (partly * keys.saturating_sub(1) - partly * partly.saturating_sub(1) / 2)
}

fn vector(graph: &Graph, op: OpId, vector_flops: u128) -> Work {
    let is_f64 = |dtype: Option<DType>| dtype == Some(DType::F64);
    let mut inputs = graph.inputs[op].iter();
    let is_f64 =
        is_f64(graph.ops[op].element_type()) || inputs.any(|&t| is_f64(graph.tensors[t].dtype));
    Work {
        vector_flops,
        vector_f64_flops: if is_f64 { vector_flops } else { 0 },
        ..Work::default()
    }
}

/// The type that the matrix units multiply: that of the operands as far as they are known, because
/// an output may be accumulated or stored in another type.
fn matrix_dtype(graph: &Graph, op: OpId) -> Option<DType> {
    let operands = graph.inputs[op].iter().take(2);
    let known = operands.filter_map(|&t| graph.tensors[t].dtype);
    known
        .reduce(DType::of_product)
        .or(graph.ops[op].element_type())
}

/// Contraction length K: stated by the op, else from the operands.
///
/// An operand of shape `[.., p, q]` whose side `p` or `q` is a side of the output gives the other
/// one as K. Both operands must agree where both are known, unless one of them packs more than the
/// op reads.
pub fn matmul_k(graph: &Graph, op: OpId) -> Option<u64> {
    let definition = &graph.ops[op];
    if definition.k.is_some() {
        return definition.k;
    }
    if definition.is_convolution() {
        return None;
    }
    let &[a, b, ..] = &graph.inputs[op] else {
        return None;
    };
    let shape_of = |t: TensorId| graph.operand_shape(t);
    k_of_shapes(&definition.shape, shape_of(a), shape_of(b))
}

/// Contraction length K from the shapes of the output and of both operands, as far as they are
/// known.
pub(crate) fn k_of_shapes(output: &[u64], a: Option<&[u64]>, b: Option<&[u64]>) -> Option<u64> {
    let &[.., rows, columns] = output else {
        return None;
    };
    let last_two = |shape: Option<&[u64]>| match shape {
        Some(&[.., p, q]) => Some((p, q)),
        _ => None,
    };
    let candidates = |operand: Option<(u64, u64)>, kept: u64| -> Option<Vec<u64>> {
        let (p, q) = operand?;
        let mut ks = Vec::new();
        if p == kept {
            ks.push(q);
        }
        // A square operand gives the same K either way.
        if q == kept && p != q {
            ks.push(p);
        }
        Some(ks)
    };
    match (
        candidates(last_two(a), rows),
        candidates(last_two(b), columns),
    ) {
        (Some(left), Some(right)) => left
            .iter()
            .copied()
            .find(|k| right.contains(k))
            .or_else(|| packed_k(&left, last_two(b)))
            .or_else(|| packed_k(&right, last_two(a))),
        // The plain layouts come first: rows lead the left operand, columns end the right one.
        (Some(left), None) => left.first().copied(),
        (None, Some(right)) => right.last().copied(),
        (None, None) => None,
    }
}

/// If one operand packs more than the op reads (Q, K and V side by side), the other one alone
/// determines K, provided that K is a side of the packed one too.
fn packed_k(candidates: &[u64], packed: Option<(u64, u64)>) -> Option<u64> {
    let (p, q) = packed?;
    candidates.iter().copied().find(|&k| k == p || k == q)
}
