//! Counted sizes of tensors: declared, inferred or assumed, by the chosen convention.

use crate::model::functions::Function;
use crate::model::graph::{Graph, SizeSource};
use crate::model::grouped::GroupedProduct;
use crate::model::ids::{OpId, TensorId};
use crate::model::op::{Op, byte_count, element_count};
use crate::model::op_type::OpType;
use crate::model::options::Externals;

/// Bytes that `op` writes. In place, one that replaces elements of a tensor writes these alone.
pub fn written_size(graph: &Graph, op: OpId) -> u64 {
    if graph.ops[op].writes_part() {
        part_size(graph, op)
    } else {
        graph.tensors[graph.output[op]].bytes().unwrap_or(0)
    }
}

/// Bytes of the elements of its first input that `op` replaces, or adds to; of all where nothing
/// says which.
pub fn part_size(graph: &Graph, op: OpId) -> u64 {
    let whole = graph.tensors[graph.output[op]].bytes().unwrap_or(0);
    let part = part_elements(graph, op);
    part.and_then(|part| graph.ops[op].bytes_per_element.bytes_of(part))
        .map_or(whole, |part| part.min(whole))
}

/// How many elements of its first input an op replaces, or adds to, where an index or a range says;
/// `None` for other ops.
pub fn part_elements(graph: &Graph, op: OpId) -> Option<u64> {
    let definition = &graph.ops[op];
    let function = definition.function.filter(|f| f.writes_part())?;
    let (&source, before) = graph.inputs[op].split_last()?;
    if function != Function::IndexPut {
        return graph.tensors[source].elements();
    }
    // A single value may be written at all indices, so the indices say how many elements there are.
    let indices = before.get(1..)?;
    let behind = element_count(definition.shape.get(indices.len()..)?)?;
    let shapes = indices.iter().map(|&index| graph.tensor_shape(index));
    let shapes: Vec<&[u64]> = shapes.collect::<Option<_>>()?;
    // The indices are broadcast to each other: along each dimension, from the last, the largest.
    let rank = shapes.iter().map(|shape| shape.len()).max()?;
    let common = (0..rank).map(|from_end| {
        let sizes = shapes
            .iter()
            .filter_map(|shape| shape.iter().rev().nth(from_end));
        sizes.copied().max().unwrap_or(1)
    });
    element_count(&common.collect::<Vec<_>>())?.checked_mul(behind)
}

/// The shape of a matmul's operand with its batch dimensions broadcast to those of the product:
/// that of a copy. `None` for other ops, and where the operand's shape is unknown.
pub fn broadcast_operand_shape(graph: &Graph, op: OpId, tensor: TensorId) -> Option<Vec<u64>> {
    let definition = &graph.ops[op];
    let is_product = definition.op_type == OpType::Matmul && !definition.is_convolution();
    let (_, matrix) =
        (graph.tensor_shape(tensor).filter(|_| is_product))?.split_last_chunk::<2>()?;
    let (batch, _) = definition.shape.split_last_chunk::<2>()?;
    Some([batch, matrix].concat())
}

/// The bytes of a copy with [`broadcast_operand_shape`].
pub fn broadcast_operand_size(graph: &Graph, op: OpId, tensor: TensorId) -> Option<u64> {
    let width = graph.tensors[tensor].bytes_per_element?;
    byte_count(&broadcast_operand_shape(graph, op, tensor)?, width)
}

/// Whether `op` loads its input at this place. An op that writes over its first input in place does
/// not load it.
pub fn loads(graph: &Graph, op: OpId, place: usize) -> bool {
    place > 0 || !graph.ops[op].ignores_first()
}

/// What an op reads of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadSize {
    /// Bytes that it reads.
    pub bytes: u64,
    /// Source of that figure.
    pub source: SizeSource,
    /// The bytes of the whole tensor, if the op reads only some of its elements.
    pub part_of: Option<u64>,
}

/// What `op` reads of `tensor`. An op that takes a range of a tensor, or indexes it, reads as many
/// elements as it outputs, but at most all. One that adds to elements in place reads these. A
/// grouped product reads one matrix for each row, but at most all.
pub fn read_size(graph: &Graph, op: OpId, tensor: TensorId, externals: Externals) -> ReadSize {
    use Function::{Embedding, Gather, Index, Rearrange, Slice, Split};
    let (whole, source) = whole_size(graph, op, tensor, externals);
    let definition = &graph.ops[op];
    let place = match definition.function {
        Some(Gather | Index | Rearrange | Slice | Split) => Some(0),
        Some(Embedding) => Some(1),
        _ => definition.writes_part().then_some(0),
    };
    // The output of an op in place is the whole tensor, of which it writes a part.
    let taken = if definition.writes_part() {
        Some(written_size(graph, op))
    } else {
        graph.tensors[graph.output[op]].bytes()
    };
    let is_taken = place.and_then(|place| graph.inputs[op].get(place)) == Some(&tensor);
    let taken = taken.filter(|_| is_taken).or_else(|| {
        let grouped = GroupedProduct::of(graph, op).filter(|own| own.matrices == tensor)?;
        let size = graph.tensors[tensor].bytes_per_element?;
        size.bytes_of(grouped.elements(graph)?)
    });
    let known = graph.tensors[tensor].bytes();
    match taken {
        Some(taken) if taken < whole => ReadSize {
            bytes: taken,
            source,
            // Where a convention assumes a size, readers do not know what the others read.
            part_of: known.filter(|&bytes| bytes == whole),
        },
        _ => ReadSize {
            bytes: whole,
            source,
            part_of: None,
        },
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
