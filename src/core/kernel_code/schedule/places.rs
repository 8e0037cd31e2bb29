//! Where the tensors of a kernel stand in the order in which it goes over elements.
//!
//! A kernel goes over the elements of its product, or of its rows. What ops behind it move is written where it moves to.

use crate::core::kernel_code::define::Definitions;
use crate::core::kernel_code::index::IndexId;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{OpId, TensorId};
use crate::core::model::op::element_count;
use crate::core::model::op_type::OpType;
use crate::core::model::operand_parts::{Heads, heads_between};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// For tensors of a kernel the index of the element that belongs to the kernel's variables.
pub(super) type Places = HashMap<TensorId, Vec<IndexId>, FxBuildHasher>;

/// Follows the places through these ops, ascending.
pub(super) fn follow(definitions: &mut Definitions<'_>, ops: &[OpId], places: &mut Places) {
    let graph = definitions.graph;
    for &op in ops {
        let output = graph.output[op];
        if places.contains_key(&output) {
            continue;
        }
        let definition = &graph.ops[op];
        let known = graph.inputs[op].iter().find_map(|input| {
            let at = places.get(input)?;
            let shape = definitions.type_of(*input).ok()?.0;
            let same = element_count(&shape) == element_count(&definition.shape);
            same.then(|| (shape, at.clone()))
        });
        let Some((shape, at)) = known else { continue };
        let moved = match definition.op_type {
            OpType::Reshape => moved(definitions, graph, op, &shape, &at),
            OpType::Elementwise | OpType::Reduction if shape == definition.shape => Some(at),
            _ => None,
        };
        if let Some(at) = moved {
            places.insert(output, at);
        }
    }
}

/// Where an op that loses no element puts one; `None` for the others.
fn moved(
    definitions: &mut Definitions<'_>,
    graph: &Graph,
    op: OpId,
    shape: &[u64],
    at: &[IndexId],
) -> Option<Vec<IndexId>> {
    let definition = &graph.ops[op];
    if graph.inputs[op].len() != 1 {
        return None;
    }
    let expressions = &mut definitions.expressions;
    let mut kept = || {
        let place = expressions.ravel(shape, at);
        expressions.unravel(&definition.shape, place)
    };
    match definition.function.as_deref().unwrap_or("reshape") {
        "reshape" | "contiguous" => Some(kept()),
        "transpose" => {
            let perm = &definition.indexing.as_ref()?.perm;
            perm.iter().map(|&old| at.get(old).copied()).collect()
        }
        "rearrange" => match (heads_between(shape, &definition.shape), at) {
            (None, _) => Some(kept()),
            (Some(Heads::Split), [batch @ .., row, column]) => {
                let &d = definition.shape.last()?;
                let head = expressions.quotient(*column, d);
                let column = expressions.remainder(*column, d);
                Some([batch, &[head, *row, column]].concat())
            }
            (Some(Heads::Joined), [batch @ .., head, row, column]) => {
                let &d = shape.last()?;
                let first = expressions.times(*head, d);
                let column = expressions.plus(first, *column, 1);
                Some([batch, &[*row, column]].concat())
            }
            _ => None,
        },
        _ => None,
    }
}
