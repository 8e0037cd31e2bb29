//! Counted sizes of tensors: declared, inferred or assumed, by the chosen convention.

use crate::core::model::graph::{Graph, SizeSource};
use crate::core::model::ids::{OpId, TensorId};
use crate::core::model::op::{Op, byte_count};
use crate::core::model::op_type::OpType;
use crate::core::model::options::Externals;

/// Bytes that `op` reads of `tensor`, and where that size comes from. Of a tensor that it indexes it reads as many elements as it
/// gives, at most all.
pub fn read_size(
    graph: &Graph,
    op: OpId,
    tensor: TensorId,
    externals: Externals,
) -> (u64, SizeSource) {
    let (bytes, source) = whole_size(graph, op, tensor, externals);
    let indexed = match graph.ops[op].function.as_deref() {
        Some("gather") => graph.inputs[op].first(),
        Some("embedding") => graph.inputs[op].get(1),
        _ => None,
    };
    let gathered = graph.tensors[graph.output[op]].bytes();
    match gathered.filter(|_| indexed == Some(&tensor)) {
        Some(gathered) => (bytes.min(gathered), source),
        None => (bytes, source),
    }
}

fn whole_size(
    graph: &Graph,
    op: OpId,
    tensor: TensorId,
    externals: Externals,
) -> (u64, SizeSource) {
    if let Some(stand_in) = graph.stand_in(op)
        && let Some(&(_, bytes, source)) = stand_in.reads.iter().find(|read| read.0 == tensor)
    {
        return (bytes, source);
    }
    let known = &graph.tensors[tensor];
    if let (false, Some(bytes)) = (known.is_external(), known.bytes()) {
        return (bytes, SizeSource::Produced);
    }
    let assumed = || graph.tensors[graph.output[op]].bytes().unwrap_or(0);
    match externals {
        Externals::KnownOnly => (0, SizeSource::Ignored),
        Externals::OutputShape => (assumed(), SizeSource::Assumed),
        Externals::Declared => known
            .bytes()
            .map(|bytes| (bytes, SizeSource::Declared))
            .or_else(|| {
                inferred_bytes(graph, op, tensor).map(|bytes| (bytes, SizeSource::Inferred))
            })
            .unwrap_or_else(|| (assumed(), SizeSource::Assumed)),
    }
}

/// The bytes of an undeclared input, if the op's other shapes allow only one size: a reshape keeps the number
/// of elements, and the operands of a matmul share K, which may also be stated.
fn inferred_bytes(graph: &Graph, op: OpId, tensor: TensorId) -> Option<u64> {
    byte_count(
        &inferred_shape(graph, op, tensor)?,
        graph.ops[op].bytes_per_element,
    )
}

/// The shape for [`SizeSource::Inferred`]; for a reshape that of the output, which has as many elements.
///
/// For a matmul the output must be a matrix, and K be stated or the other operand be a matrix, too. With batch dimensions the missing operand
/// could be shared or batched, so nothing is inferred.
pub fn inferred_shape(graph: &Graph, op: OpId, tensor: TensorId) -> Option<Vec<u64>> {
    let shape_of = |t: TensorId| graph.tensor_shape(t);
    inferred_operand(&graph.ops[op], &graph.inputs[op], tensor, shape_of)
}

/// The same for an op outside a graph; tensors have any ids.
pub(crate) fn inferred_operand<'a, T: Copy + PartialEq>(
    definition: &Op,
    inputs: &[T],
    tensor: T,
    shape_of: impl Fn(T) -> Option<&'a [u64]>,
) -> Option<Vec<u64>> {
    match (definition.op_type, definition.function.as_deref(), inputs) {
        (OpType::Reshape, None | Some("reshape" | "transpose"), &[_]) => {
            Some(definition.shape.clone())
        }
        (OpType::Matmul, None | Some("matmul"), &[a, b]) if a != b => {
            let (missing_left, other) = if a == tensor { (true, b) } else { (false, a) };
            let &[rows, columns] = &definition.shape[..] else {
                return None;
            };
            if let Some(k) = definition.k {
                return Some(if missing_left {
                    vec![rows, k]
                } else {
                    vec![k, columns]
                });
            }
            let &[d0, d1] = shape_of(other)? else {
                return None;
            };
            // One dimension of the known operand is one of the output, the other one is K.
            let (kept, free) = if missing_left {
                (columns, rows)
            } else {
                (rows, columns)
            };
            let k = match (d0 == kept, d1 == kept) {
                (true, _) => d1,
                (_, true) => d0,
                _ => return None,
            };
            Some(if missing_left {
                vec![free, k]
            } else {
                vec![k, free]
            })
        }
        (OpType::Matmul, Some("linear"), &[x, weight, ..]) => {
            let (&features, rows) = definition.shape.split_last()?;
            if tensor == weight {
                Some(vec![features, *shape_of(x)?.last()?])
            } else if tensor == x {
                let mut shape = rows.to_vec();
                shape.push(*shape_of(weight)?.last()?);
                Some(shape)
            } else {
                Some(vec![features])
            }
        }
        _ => None,
    }
}
