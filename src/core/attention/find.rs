//! Attention in a graph: matmul, elementwise ops, softmax, elementwise ops, matmul.

use super::{Attention, AttentionShape};
use crate::core::graph::{Graph, OpId, TensorId};
use crate::core::op::OpType;

/// Every attention of the graph, in execution order; no op belongs to two. `O(ops + reads)`.
///
/// The ops between the two matmuls run in a row: each result on the way is read by the next op alone, so it need not
/// exist. Softmax may be one op or taken apart into max, subtraction, exp, sum and division. An elementwise op may
/// read further tensors, such as a mask, as long as its result is as large as the scores.
pub fn find(graph: &Graph) -> Vec<Attention> {
    let mut found: Vec<Attention> = Vec::new();
    // The last matmul of one attention is never the first of another.
    let mut is_taken = vec![false; graph.ops.len()];
    for scores in 0..graph.ops.len() {
        if is_taken.get(scores) == Some(&false)
            && let Some(attention) = attention_at(graph, scores)
        {
            for &op in &attention.ops {
                if let Some(taken) = is_taken.get_mut(op) {
                    *taken = true;
                }
            }
            found.push(attention);
        }
    }
    found
}

fn attention_at(graph: &Graph, scores: OpId) -> Option<Attention> {
    if !is_matmul(graph, scores) {
        return None;
    }
    let shape = &graph.ops.get(scores)?.shape;
    let mut chain = Chain {
        graph,
        shape,
        ops: vec![scores],
    };
    chain.skip_elementwise()?;
    chain.softmax()?;
    chain.skip_elementwise()?;
    let probabilities = *graph.output.get(chain.last()?)?;
    let result = chain.only_consumer()?;
    // The probabilities are the left operand, and V is not computed from them.
    let is_left = graph.inputs.get(result)?.first() == Some(&probabilities);
    if !is_matmul(graph, result) || !is_left || graph.distinct_inputs(result).count() < 2 {
        return None;
    }
    chain.ops.push(result);
    Some(Attention {
        shape: AttentionShape::of_ops(graph, scores, result)?,
        ops: chain.ops,
    })
}

/// A product of two matrices: a convolution or a linear layer is none.
fn is_matmul(graph: &Graph, op: OpId) -> bool {
    graph.ops.get(op).is_some_and(|op| {
        op.op_type == OpType::Matmul && matches!(op.function.as_deref(), None | Some("matmul"))
    })
}

struct Chain<'a> {
    graph: &'a Graph,
    shape: &'a [u64],
    ops: Vec<OpId>,
}

impl Chain<'_> {
    fn last(&self) -> Option<OpId> {
        self.ops.last().copied()
    }

    fn consumers(&self, op: OpId) -> Option<&[OpId]> {
        self.graph.successors.get(op)
    }

    fn only_consumer(&self) -> Option<OpId> {
        match self.consumers(self.last()?)? {
            &[consumer] => Some(consumer),
            _ => None,
        }
    }

    fn is(&self, op: OpId, op_type: OpType, function: &str) -> bool {
        self.graph
            .ops
            .get(op)
            .is_some_and(|op| op.op_type == op_type && op.function.as_deref() == Some(function))
    }

    /// Takes the elementwise ops that stand in a row behind the last op.
    fn skip_elementwise(&mut self) -> Option<()> {
        while let Some(next) = self.only_consumer() {
            let op = self.graph.ops.get(next)?;
            if op.op_type != OpType::Elementwise || op.shape != self.shape {
                break;
            }
            self.ops.push(next);
        }
        Some(())
    }

    fn softmax(&mut self) -> Option<()> {
        if let Some(next) = self.only_consumer() {
            let is_softmax = self.is(next, OpType::Reduction, "softmax");
            return is_softmax.then(|| self.ops.push(next));
        }
        let values = *self.graph.output.get(self.last()?)?;
        let (top, shifted) = self.branch(OpType::Reduction, "max", "sub", values)?;
        let &[exp] = self.consumers(shifted)? else {
            return None;
        };
        if !self.is(exp, OpType::Elementwise, "exp") {
            return None;
        }
        self.ops.extend([top, shifted, exp]);
        let powers = *self.graph.output.get(exp)?;
        let (total, quotient) = self.branch(OpType::Reduction, "sum", "div", powers)?;
        self.ops.extend([total, quotient]);
        Some(())
    }

    /// The last op's result goes into a reduction and into an op that reads both, the result first.
    fn branch(
        &self,
        op_type: OpType,
        reduction: &str,
        combination: &str,
        values: TensorId,
    ) -> Option<(OpId, OpId)> {
        let &[reduced, combined] = self.consumers(self.graph.tensors.get(values)?.producer?)?
        else {
            return None;
        };
        let fits = self.is(reduced, op_type, reduction)
            && self.is(combined, OpType::Elementwise, combination)
            && self.consumers(reduced)? == [combined]
            && self.graph.inputs.get(combined)? == [values, *self.graph.output.get(reduced)?];
        fits.then_some((reduced, combined))
    }
}
