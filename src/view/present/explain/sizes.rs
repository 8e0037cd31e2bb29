//! The size that a tensor counts with: its factors, where they come from, and why.

use crate::present::format::{format_bytes, format_exact};
use fuseline_core::analysis::Analysis;
use fuseline_core::cost::traffic::Access;
use fuseline_core::model::element_size::ElementSize;
use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::{FixedSize, Graph, SizeSource};
use fuseline_core::model::grouped::GroupedProduct;
use fuseline_core::model::ids::{OpId, TensorId};
use fuseline_core::model::op::element_count;
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::options::Externals;
use fuseline_core::model::sizes::{broadcast_operand_shape, inferred_shape};

/// The size that one reader fixes for all readers, unless the convention counts each read as large
/// as the output of its op.
fn fixed_size(analysis: &Analysis, tensor: TensorId) -> Option<&FixedSize> {
    let counts_outputs = analysis.options.conventions.externals == Externals::OutputShape;
    let fixed = analysis.graph.tensors[tensor].fixed();
    fixed.filter(|_| !counts_outputs)
}

/// The shape and the bytes of one element behind the bytes that `op` reads or writes of one tensor;
/// `None` where they count nothing.
pub(in crate::present) fn size_factors(
    analysis: &Analysis,
    op: OpId,
    access: Access,
) -> Option<(Vec<u64>, ElementSize)> {
    let graph = &analysis.graph;
    let tensor = &graph.tensors[access.tensor];
    let reader = &graph.ops[op];
    let size = |of_tensor: Option<ElementSize>| of_tensor.unwrap_or(reader.bytes_per_element);
    match access.source {
        SizeSource::Ignored => None,
        SizeSource::Copied => Some((
            broadcast_operand_shape(graph, op, access.tensor)?,
            size(tensor.bytes_per_element),
        )),
        SizeSource::Produced | SizeSource::Declared => {
            let mut shape = graph
                .tensor_shape(access.tensor)
                .unwrap_or_default()
                .to_vec();
            if let (Some(grouped), Some(matrices)) =
                (chosen_matrices(graph, op, access.tensor), shape.first_mut())
            {
                *matrices = grouped.most_read();
            }
            Some((shape, size(tensor.bytes_per_element)))
        }
        SizeSource::Inferred | SizeSource::Assumed => {
            let fixed = fixed_size(analysis, access.tensor);
            let inferred = || {
                let inferred = inferred_shape(graph, op, access.tensor);
                inferred.unwrap_or_else(|| reader.shape.clone())
            };
            Some((
                fixed.map_or_else(inferred, |fixed| fixed.shape.clone()),
                size(fixed.and(tensor.bytes_per_element)),
            ))
        }
    }
}

/// The factors behind the bytes that `op` reads or writes of one tensor.
pub(super) fn size_text(analysis: &Analysis, op: OpId, access: Access) -> String {
    let Some((shape, size)) = size_factors(analysis, op, access) else {
        return "counted as 0 bytes".to_owned();
    };
    let mut factors: Vec<String> = shape.iter().map(|&d| format_exact(u128::from(d))).collect();
    factors.push(format!("{} B", size.bytes()));
    factors.join(" × ")
}

/// The factors behind the bytes of a tensor that an op reads or writes as a separate kernel:
/// `2,048 × 4,096 × 2 B`. `None` where it does neither.
pub fn access_text(analysis: &Analysis, op: OpId, tensor: TensorId) -> Option<String> {
    let traffic = &analysis.unfused.of_lone_op(op).traffic;
    let mut accesses = traffic.reads.iter().chain(&traffic.writes);
    let access = accesses.find(|access| access.tensor == tensor)?;
    Some(size_text(analysis, op, *access))
}

/// The source in a word or two.
pub const fn source_text(source: SizeSource) -> &'static str {
    match source {
        SizeSource::Produced => "output of an op",
        SizeSource::Declared => "declared",
        SizeSource::Inferred => "inferred",
        SizeSource::Assumed => "assumed",
        SizeSource::Ignored => "not counted",
        SizeSource::Copied => "copy of an operand",
    }
}

/// The bytes of a tensor that an op of a kernel needs, if that is only a part, with the op; `None`
/// where a reader in the kernel needs all.
///
/// A slice or a split takes a part, and so does a matmul with a stated K of packed operands.
pub fn part_read(graph: &Graph, ops: &[OpId], tensor: TensorId) -> Option<(OpId, u64)> {
    let all_bytes = graph.tensors[tensor].bytes()?;
    let size = graph.tensors[tensor].bytes_per_element?;
    let readers = ops.iter().filter(|&&op| graph.inputs[op].contains(&tensor));
    let mut most = None;
    for &op in readers {
        let definition = &graph.ops[op];
        let elements = match (definition.op_type, definition.function) {
            (OpType::Reshape, Some(Function::Slice | Function::Split)) => {
                element_count(&definition.shape)
            }
            (OpType::Matmul, _) => packed_elements(graph, op, tensor),
            _ => None,
        };
        let bytes = size.bytes_of(elements?)?;
        if bytes >= all_bytes {
            return None;
        }
        most = most.max(Some((bytes, op)));
    }
    most.map(|(bytes, op)| (op, bytes))
}

/// The grouped product that reads some matrices of a tensor; `None` where it may read all.
fn chosen_matrices(graph: &Graph, op: OpId, tensor: TensorId) -> Option<GroupedProduct> {
    let grouped = GroupedProduct::of(graph, op).filter(|own| own.matrices == tensor);
    grouped.filter(|own| own.rows < own.count)
}

/// That grouped products read at most some of the matrices of a tensor, as a part of a sentence;
/// `None` where none does.
pub(in crate::present) fn chosen_reason(
    graph: &Graph,
    ops: &[OpId],
    tensor: TensorId,
) -> Option<String> {
    let mut chosen = ops
        .iter()
        .filter_map(|&op| Some((op, chosen_matrices(graph, op, tensor)?)));
    let (op, grouped) = chosen.next()?;
    Some(format!(
        "at most {} of {} matrices: each row of {} meets one",
        format_exact(u128::from(grouped.most_read())),
        format_exact(u128::from(grouped.count)),
        graph.ops[op].name,
    ))
}

/// Elements that a matmul with a stated K takes of an operand that may hold more.
fn packed_elements(graph: &Graph, op: OpId, tensor: TensorId) -> Option<u64> {
    let definition = &graph.ops[op];
    let k = definition
        .k
        .filter(|_| GroupedProduct::of(graph, op).is_none())?;
    let [outer @ .., rows, columns] = &definition.shape[..] else {
        return None;
    };
    let outer = element_count(outer)?;
    let side = |place: usize, length: u64| {
        // A matmul with one operand multiplies two parts of it.
        let is_read = (graph.inputs[op].get(place)).or(graph.inputs[op].first()) == Some(&tensor);
        let elements = outer.checked_mul(length)?.checked_mul(k)?;
        Some(if is_read { elements } else { 0 })
    };
    side(0, *rows)?.checked_add(side(1, *columns)?)
}

/// Why a tensor has its counted size, in a sentence; `ops` are those of the kernel that counts it.
pub fn source_reason(
    analysis: &Analysis,
    ops: &[OpId],
    tensor: TensorId,
    source: SizeSource,
) -> String {
    let graph = &analysis.graph;
    let of_size = size_reason(analysis, tensor, source);
    match chosen_reason(graph, ops, tensor).or_else(|| whole_reason(graph, ops, tensor)) {
        Some(part) => format!("{of_size}; {part}"),
        None => of_size,
    }
}

/// Why a tensor counts whole although these ops need a part of it; `None` where they need all.
pub fn whole_reason(graph: &Graph, ops: &[OpId], tensor: TensorId) -> Option<String> {
    let (op, bytes) = part_read(graph, ops, tensor)?;
    Some(format!(
        "counts in full although {} needs only {} of it: a kernel reads each tensor once in full",
        graph.ops[op].name,
        format_bytes(bytes)
    ))
}

fn size_reason(analysis: &Analysis, tensor: TensorId, source: SizeSource) -> String {
    let graph = &analysis.graph;
    let fixed = fixed_size(analysis, tensor);
    let reader = fixed.map(|fixed| fixed.reader);
    let reader = reader
        .or(graph.consumers[tensor].first().copied())
        .map_or("its reader", |op| graph.ops[op].name.as_str());
    match source {
        SizeSource::Produced => "the shape of the op that computes it".to_owned(),
        SizeSource::Declared => "its declaration in the text".to_owned(),
        SizeSource::Inferred => format!("the only size that fits the other shapes of {reader}"),
        SizeSource::Assumed => {
            let why = match fixed {
                Some(_) => ", which keeps the shape of its input",
                None => "",
            };
            format!(
                "assumed size, because there is no declaration: as large as the output of {reader}{why}"
            )
        }
        SizeSource::Ignored => "the counting convention gives external tensors 0 bytes".to_owned(),
        SizeSource::Copied => {
            "a copy for the library, with the batch dimensions of the product".to_owned()
        }
    }
}
