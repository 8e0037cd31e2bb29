//! Counted sizes of tensors: declared, inferred or assumed, by the chosen convention.

use crate::model::functions::Function;
use crate::model::graph::{Graph, SizeSource};
use crate::model::ids::{OpId, TensorId};
use crate::model::op::{Op, byte_count};
use crate::model::op_type::OpType;
use crate::model::options::Externals;

/// Bytes that `op` reads of `tensor`, and the source of that size. An op that indexes a tensor
/// reads as many elements as it outputs, but at most all.
pub fn read_size(
    graph: &Graph,
    op: OpId,
    tensor: TensorId,
    externals: Externals,
) -> (u64, SizeSource) {
    let (bytes, source) = whole_size(graph, op, tensor, externals);
    let indexed = match graph.ops[op].function {
        Some(Function::Gather | Function::Index | Function::Rearrange) => graph.inputs[op].first(),
        Some(Function::Embedding) => graph.inputs[op].get(1),
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
            .map(|bytes| {
                let fixed = known.fixed();
                let source = fixed.map_or(SizeSource::Declared, |fixed| fixed.source);
                (bytes, source)
            })
            .or_else(|| {
                inferred_bytes(graph, op, tensor).map(|bytes| (bytes, SizeSource::Inferred))
            })
            .unwrap_or_else(|| (assumed(), SizeSource::Assumed)),
    }
}

/// The bytes of an undeclared input whose size no reader fixes for the others.
fn inferred_bytes(graph: &Graph, op: OpId, tensor: TensorId) -> Option<u64> {
    byte_count(
        &inferred_shape(graph, op, tensor)?,
        graph.ops[op].bytes_per_element,
    )
}

/// The shape for [`SizeSource::Inferred`]: the one that a reader fixes, else the part that a matmul
/// with a stated K takes of an operand that may hold more.
pub fn inferred_shape(graph: &Graph, op: OpId, tensor: TensorId) -> Option<Vec<u64>> {
    if let Some(fixed) = graph.tensors[tensor].fixed() {
        return (fixed.source == SizeSource::Inferred).then(|| fixed.shape.clone());
    }
    let shape_of = |t: TensorId| graph.operand_shape(t);
    inferred_operand(&graph.ops[op], &graph.inputs[op], tensor, shape_of)
}

/// The only shape of an input that fits the other shapes of its reader.
///
/// A reshape keeps the number of elements, and its own shape is given. The operands of a matmul
/// share K, which may also be stated. `T` is any id of a tensor.
///
/// The output of the matmul must be a matrix, and K must be stated or the other operand must be a
/// matrix, too. With batch dimensions the missing operand could be shared or batched, so nothing is
/// inferred.
pub(crate) fn inferred_operand<'a, T: Copy + PartialEq>(
    definition: &Op,
    inputs: &[T],
    tensor: T,
    shape_of: impl Fn(T) -> Option<&'a [u64]>,
) -> Option<Vec<u64>> {
    match (definition.op_type, definition.function, inputs) {
        (OpType::Reshape, None | Some(Function::Reshape | Function::Transpose), &[_]) => {
            Some(definition.shape.clone())
        }
        (OpType::Matmul, None | Some(Function::Matmul), &[a, b]) if a != b => {
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
            let (kept, free) = if missing_left {
                (columns, rows)
            } else {
                (rows, columns)
            };
            let k = other_side(d0, d1, kept)?;
            Some(if missing_left {
                vec![free, k]
            } else {
                vec![k, free]
            })
        }
        (OpType::Matmul, Some(Function::Linear), &[x, weight, ..]) => {
            let (&features, rows) = definition.shape.split_last()?;
            if tensor == weight {
                let k = match (shape_of(x)?, rows) {
                    (&[d0, d1], &[row]) => other_side(d0, d1, row)?,
                    (shape, _) => *shape.last()?,
                };
                Some(vec![features, k])
            } else if tensor == x {
                let &[d0, d1] = shape_of(weight)? else {
                    return None;
                };
                let mut shape = rows.to_vec();
                shape.push(other_side(d0, d1, features)?);
                Some(shape)
            } else {
                Some(vec![features])
            }
        }
        _ => None,
    }
}

/// K from a matrix operand, transposed or not: one side is kept in the output, and the other is K.
fn other_side(d0: u64, d1: u64, kept: u64) -> Option<u64> {
    match (d0 == kept, d1 == kept) {
        (true, _) => Some(d1),
        (_, true) => Some(d0),
        _ => None,
    }
}
