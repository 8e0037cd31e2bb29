//! Which element of each tensor belongs to the loop variables of a kernel.
//!
//! A kernel loops over the elements of its product, or of its rows. A later op that moves elements
//! changes their index, and the kernel writes each element to its new position.

use crate::kernel_code::define::Definitions;
use crate::kernel_code::expression::{ExprId, Expressions};
use crate::kernel_code::index::IndexId;
use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{OpId, TensorId};
use fuseline_core::model::op::{Op, element_count};
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::operand_parts::{Heads, heads_between};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// For tensors of a kernel the element that belongs to the kernel's variables.
pub(super) type ElementIndices = HashMap<TensorId, ElementIndex, FxBuildHasher>;

/// The index of an element.
#[derive(Clone)]
pub(super) struct ElementIndex {
    pub(super) at: Vec<IndexId>,
    /// The condition under which the element exists: an element that a slice cuts off does not.
    pub(super) only_if: Option<ExprId>,
}

/// Follows the indices through these ops, ascending.
pub(super) fn follow(
    definitions: &mut Definitions<'_>,
    ops: &[OpId],
    indices: &mut ElementIndices,
) {
    let graph = definitions.graph;
    for &op in ops {
        let output = graph.output[op];
        if indices.contains_key(&output) {
            continue;
        }
        let definition = &graph.ops[op];
        let known = graph.inputs[op].iter().find_map(|input| {
            let index = indices.get(input)?;
            Some((definitions.type_of(*input).ok()?.0, index.clone()))
        });
        let Some((shape, index)) = known else {
            continue;
        };
        let moved = match definition.op_type {
            OpType::Reshape => moved(definitions, graph, op, &shape, &index),
            OpType::Elementwise | OpType::Reduction if shape == definition.shape => Some(index),
            _ => None,
        };
        if let Some(index) = moved {
            indices.insert(output, index);
        }
    }
}

/// The index to which an op moves an element, for slices without a step, splits, and other orders
/// of the same elements; `None` for other ops.
fn moved(
    definitions: &mut Definitions<'_>,
    graph: &Graph,
    op: OpId,
    shape: &[u64],
    ElementIndex { at, only_if }: &ElementIndex,
) -> Option<ElementIndex> {
    let definition = &graph.ops[op];
    if graph.inputs[op].len() != 1 {
        return None;
    }
    let expressions = &mut definitions.expressions;
    if let Some(Function::Slice | Function::Split) = definition.function {
        let indexing = definition.indexing.as_ref().filter(|own| own.step <= 1)?;
        let mut at = at.clone();
        let own = at.get_mut(indexing.axis)?;
        *own = expressions.shifted(*own, -i64::try_from(indexing.start).ok()?);
        let size = *definition.shape.get(indexing.axis)?;
        let only_if = match expressions.inside(*own, size) {
            Some(inside) => Some(expressions.both(*only_if, inside)),
            None => *only_if,
        };
        return Some(ElementIndex { at, only_if });
    }
    if element_count(shape) != element_count(&definition.shape) {
        return None;
    }
    let at = renumbered(expressions, definition, shape, at)?;
    Some(ElementIndex {
        at,
        only_if: *only_if,
    })
}

/// The index of the same element in another shape or order.
fn renumbered(
    expressions: &mut Expressions,
    definition: &Op,
    shape: &[u64],
    at: &[IndexId],
) -> Option<Vec<IndexId>> {
    let mut kept = || {
        let place = expressions.ravel(shape, at);
        expressions.unravel(&definition.shape, place)
    };
    match definition.function.unwrap_or(Function::Reshape) {
        Function::Reshape | Function::Bitcast | Function::Contiguous => Some(kept()),
        Function::Transpose => {
            let perm = &definition.indexing.as_ref()?.perm;
            perm.iter().map(|&old| at.get(old).copied()).collect()
        }
        Function::Rearrange => match heads_between(shape, &definition.shape)? {
            (Heads::Split, heads) => expressions.split_heads(at, heads, *definition.shape.last()?),
            (Heads::Joined, heads) => expressions.joined_heads(at, heads, *shape.last()?),
        },
        _ => None,
    }
}
