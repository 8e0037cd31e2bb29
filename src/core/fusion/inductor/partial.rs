//! A maximum or minimum of a whole tensor whose rows are reduced, too: the compiler reduces the row
//! values again.
//!
//! Source: `register_partial_reduction_pattern` in `torch/_inductor/fx_passes/post_grad.py`.

use super::lower::Lowering;
use super::node::BufferId;
use super::reduce::ROW_VALUE_BYTES;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::OpId;

/// Fewest elements of a tensor whose rows the compiler reduces first.
const FEWEST: u64 = 4096;

/// The reduction of rows from which an op gets the value of the whole tensor: one that keeps its
/// dimensions. The last of them gives the first value.
pub(super) fn partial_of(graph: &Graph, whole: OpId) -> Option<OpId> {
    let function = graph.ops[whole].function?;
    let &input = graph.inputs[whole].first()?;
    let rank = graph.tensor_shape(input)?.len();
    if !matches!(function, Function::Max | Function::Min)
        || !graph.ops[whole].shape.is_empty()
        || graph.tensors[input].elements()? < FEWEST
    {
        return None;
    }
    let of_rank = |rank: usize| {
        let readers = graph.consumers[input].iter().copied();
        readers.filter(move |&op| {
            let reader = &graph.ops[op];
            reader.function == Some(function)
                && reader.shape.len() == rank
                && graph.inputs[op].first() == Some(&input)
        })
    };
    let place = of_rank(0).position(|op| op == whole)?;
    let partials: Vec<OpId> = of_rank(rank).collect();
    partials.into_iter().rev().nth(place)
}

impl Lowering<'_> {
    /// Adds the nodes that reduce the row values of an earlier reduction to the value of the whole
    /// tensor, unless each reader computes the row values. The op is in the kernel of the rows.
    pub(super) fn reduce_partial(&mut self, op: OpId) -> bool {
        let graph = self.graph;
        let Some(partial) = partial_of(graph, op).filter(|&partial| self.is_lowered[partial])
        else {
            return false;
        };
        let values = graph.output[partial];
        let buffer = BufferId::of_tensor(values);
        let mut nodes = self.nodes.iter_mut().rev();
        let node = nodes.find(|node| node.ops.contains(&partial));
        let (Some(node), Some(rows)) = (node, graph.tensors[values].elements()) else {
            return false;
        };
        if !self.values[values].ops.is_empty() {
            return false;
        }
        node.ops.push(op);
        let output = BufferId::of_tensor(graph.output[op]);
        let pieces = self.pieces_of(1, rows, true).max(1);
        if pieces == 1 {
            self.combine(buffer, (1, 1, rows), output);
        } else {
            let halves = self.new_buffer(ROW_VALUE_BYTES);
            self.combine(buffer, (1, pieces, rows.div_ceil(pieces)), halves);
            self.combine(halves, (1, 1, pieces), output);
        }
        true
    }
}
