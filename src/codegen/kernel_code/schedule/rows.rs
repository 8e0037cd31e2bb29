//! A group of threads for each row, whose reductions follow each other.

use super::element_indices::{ElementIndex, ElementIndices, follow};
use super::stages::Stages;
use super::{Output, Scheduled, reduces_rows};
use crate::kernel_code::define::Definitions;
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::row_values;
use fuseline_core::model::functions::Function;
use fuseline_core::model::ids::{OpId, TensorId};
use fuseline_core::model::op::element_count;
use fuseline_core::model::op_type::OpType;

/// The division of a shape into rows: the elements of a row differ only in these dimensions.
struct Domain {
    shape: Vec<u64>,
    reduced: Vec<usize>,
}

/// The schedule; `None` for a kernel without reductions, and for one whose elements are not all in
/// the same rows.
///
/// # Errors
/// Why an op has no definition.
pub(super) fn schedule(
    mut definitions: Definitions<'_>,
    ops: &[OpId],
    written: &[TensorId],
) -> Result<Option<Scheduled>, CodegenError> {
    let Some((anchor, tensor)) = anchor(&definitions, ops) else {
        return Ok(None);
    };
    let Some(domain) = domain(&definitions, anchor, tensor) else {
        return Ok(None);
    };
    let is_reduced = |place: usize| domain.reduced.contains(&place);
    let sizes = |is_along: bool| {
        let places = (0..domain.shape.len()).filter(|&place| is_reduced(place) == is_along);
        places
            .map(|place| domain.shape[place])
            .collect::<Vec<u64>>()
    };
    let (kept, reduced) = (sizes(false), sizes(true));
    let (Some(rows), Some(columns)) = (element_count(&kept), element_count(&reduced)) else {
        return Ok(None);
    };
    let expressions = &mut definitions.expressions;
    let row = expressions.variable("row", rows);
    let column = expressions.variable("column", columns);
    let [of_row, of_column] = [row, column].map(|variable| expressions.place(variable));
    let mut outer = expressions.unravel(&kept, of_row).into_iter();
    let mut inner = expressions.unravel(&reduced, of_column).into_iter();
    let none = expressions.constant(0);
    let at: Vec<_> = (0..domain.shape.len())
        .map(|place| {
            let own = if is_reduced(place) {
                inner.next()
            } else {
                outer.next()
            };
            own.unwrap_or(none)
        })
        .collect();
    let linear = expressions.ravel(&domain.shape, &at);
    let mut indices = ElementIndices::default();
    if let Some(shape) = known_shape(&definitions, tensor) {
        let at = definitions.expressions.unravel(&shape, linear);
        indices.insert(tensor, ElementIndex { at, only_if: None });
    }
    follow(&mut definitions, ops, &mut indices);
    let mut outputs = Vec::with_capacity(written.len());
    for &tensor in written {
        let shape = definitions.type_of(tensor)?.0;
        let elements = element_count(&shape);
        let (at, only_if) = match indices.get(&tensor) {
            Some(index) => (index.at.clone(), index.only_if),
            None if elements == rows.checked_mul(columns) => {
                (definitions.expressions.unravel(&shape, linear), None)
            }
            None if elements == Some(rows) => {
                (definitions.expressions.unravel(&shape, of_row), None)
            }
            None => return Ok(None),
        };
        outputs.push(Output {
            tensor,
            place: definitions.expressions.ravel(&shape, &at),
            value: definitions.value(tensor, &at, only_if)?,
            only_if,
        });
    }
    Ok(Stages::new(definitions.expressions, row, column).scheduled(outputs))
}

/// The op whose rows the kernel goes over, and the tensor that has them: the last product after a
/// reduction, as in attention, or else the widest reduction.
fn anchor(definitions: &Definitions<'_>, ops: &[OpId]) -> Option<(OpId, TensorId)> {
    let graph = definitions.graph;
    let is_rows =
        |op: OpId| reduces_rows(&graph.ops[op]) || graph.ops[op].function == Some(Function::Sdpa);
    let first = ops.iter().copied().find(|&op| is_rows(op))?;
    let mut behind = ops.iter().rev().copied();
    let product = behind.find(|&op| graph.ops[op].op_type == OpType::Matmul && op > first);
    if let Some(product) = product {
        return Some((product, graph.output[product]));
    }
    if !reduces_rows(&graph.ops[first]) {
        return Some((first, graph.output[first]));
    }
    let width = |&op: &OpId| {
        let &x = graph.inputs[op].first()?;
        let out = element_count(&graph.ops[op].shape)?;
        Some((element_count(&known_shape(definitions, x)?)?, out))
    };
    let reductions = ops
        .iter()
        .copied()
        .filter(|&op| reduces_rows(&graph.ops[op]));
    let widest = reductions.max_by_key(|op| width(op).map_or(0, |(all, _)| all))?;
    Some((widest, *graph.inputs[widest].first()?))
}

fn known_shape(definitions: &Definitions<'_>, tensor: TensorId) -> Option<Vec<u64>> {
    Some(definitions.type_of(tensor).ok()?.0)
}

fn domain(definitions: &Definitions<'_>, anchor: OpId, tensor: TensorId) -> Option<Domain> {
    let op = &definitions.graph.ops[anchor];
    let shape = known_shape(definitions, tensor)?;
    let last = shape.len().checked_sub(1)?;
    if !reduces_rows(op) {
        return Some(Domain {
            shape,
            reduced: vec![last],
        });
    }
    let (shape, reduced) = row_values::rows(op, &shape)?;
    (reduced.iter().all(|&axis| axis <= last)).then_some(Domain { shape, reduced })
}
