//! Finds attention in a graph: matmul, elementwise ops, softmax, elementwise ops, matmul.

use crate::fusion::attention::{Attention, ScheduledAttention};
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::Op;
use crate::model::op_type::OpType;

/// Every attention of the graph, in execution order; no op belongs to two. `O(ops + reads)`.
///
/// The ops between the two matmuls form a chain: each result is read by the next op alone, so no
/// other op needs it, and it is no result of the program. Softmax is one op, or max, subtraction,
/// exp, sum and division; it runs over the keys, the last axis of the scores. An elementwise op may
/// read further tensors, such as a mask, if its result has the shape of the scores. After the
/// softmax, only ops that commute with the rescaling of online softmax may follow: see [`super`].
pub fn find(graph: &Graph) -> Vec<Attention> {
    let mut found: Vec<Attention> = Vec::new();
    // The last matmul of one attention is never the first of another.
    let mut is_taken = IdVec::from_elem(false, graph.ops.len());
    for scores in graph.ops.ids() {
        if !is_taken[scores]
            && let Some(attention) = attention_at(graph, scores)
        {
            for &op in &attention.ops {
                is_taken[op] = true;
            }
            found.push(attention);
        }
    }
    found
}

/// The attentions of which one kernel mark states all ops. `O(ops + reads)`.
pub(crate) fn stated(graph: &Graph) -> Vec<Attention> {
    let is_stated = |attention: &Attention| {
        let mut marks = attention.ops.iter().map(|&op| graph.ops[op].mark());
        let first = marks.next().flatten();
        first.is_some() && marks.all(|mark| mark == first)
    };
    let mut attentions = if graph.ops.iter().any(|op| op.kernel.is_some()) {
        find(graph)
    } else {
        Vec::new()
    };
    attentions.retain(is_stated);
    attentions
}

fn attention_at(graph: &Graph, scores: OpId) -> Option<Attention> {
    if !is_matmul(graph, scores) {
        return None;
    }
    let shape = &graph.ops[scores].shape;
    let mut chain = Chain {
        graph,
        shape,
        ops: vec![scores],
    };
    chain.skip_elementwise(false)?;
    chain.softmax()?;
    chain.skip_elementwise(true)?;
    let probabilities = graph.output[chain.last()?];
    let result = chain.only_consumer()?;
    // The probabilities are the left operand, V is not computed from them, and the product runs
    // over the keys.
    let is_left = graph.inputs[result].first() == Some(&probabilities);
    let definition = &graph.ops[result];
    if !is_matmul(graph, result)
        || definition.is_across_rows
        || !is_left
        || graph.distinct_inputs(result).count() < 2
    {
        return None;
    }
    // What is between the two products stays on chip, so none of it may be a result of the program.
    if chain.ops.iter().any(|&op| graph.ops[op].is_needed_beyond()) {
        return None;
    }
    chain.ops.push(result);
    Some(Attention {
        shape: ScheduledAttention::of_ops(graph, scores, result)?.even()?,
        ops: chain.ops,
    })
}

/// Whether the op is a plain matmul; a convolution or a linear layer is not.
fn is_matmul(graph: &Graph, op: OpId) -> bool {
    let op = &graph.ops[op];
    op.op_type == OpType::Matmul && matches!(op.function, None | Some(Function::Matmul))
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

    fn only_consumer(&self) -> Option<OpId> {
        match &self.graph.successors[self.last()?] {
            &[consumer] => Some(consumer),
            _ => None,
        }
    }

    fn is(&self, op: OpId, op_type: OpType, function: Function) -> bool {
        let op = &self.graph.ops[op];
        op.op_type == op_type && op.function == Some(function)
    }

    /// Appends the elementwise ops that follow in a chain; after the softmax, only those that
    /// commute with rescaling.
    fn skip_elementwise(&mut self, is_behind_softmax: bool) -> Option<()> {
        while let Some(next) = self.only_consumer() {
            let op = &self.graph.ops[next];
            let fits = op.op_type == OpType::Elementwise && op.shape == self.shape;
            if !fits || is_behind_softmax && !self.keeps_rescaling(op, next)? {
                break;
            }
            self.ops.push(next);
        }
        Some(())
    }

    /// Whether `op`, which reads the probabilities, commutes with the rescaling of online softmax:
    /// a later tile of keys with a larger maximum scales the partial sums.
    ///
    /// It must scale the probabilities by another value or select some of them, and read them once.
    /// `exp` of a probability needs the finished row sum, and so a second pass over the keys.
    fn keeps_rescaling(&self, op: &Op, id: OpId) -> Option<bool> {
        let probabilities = &self.graph.output[self.last()?];
        let inputs = &self.graph.inputs[id];
        let is_at = |place: usize| inputs.get(place) == Some(probabilities);
        let is_read_once = inputs.iter().filter(|&t| t == probabilities).count() == 1;
        Some(
            is_read_once
                && match op.function {
                    Some(
                        Function::Scale
                        | Function::Dropout
                        | Function::Cast
                        | Function::Mask
                        | Function::Div,
                    ) => is_at(0),
                    Some(Function::Mul) => true,
                    // The first operand of `where` is its condition, which would need finished
                    // probabilities.
                    Some(Function::Where) => !is_at(0),
                    _ => false,
                },
        )
    }

    /// The shape of one value for each row of the scores.
    fn of_rows(&self) -> Option<Vec<u64>> {
        let (_, outer) = self.shape.split_last()?;
        Some([outer, &[1]].concat())
    }

    fn softmax(&mut self) -> Option<()> {
        // Written out, the scores have two readers, maximum and subtraction. One reader must be
        // softmax itself.
        if let Some(next) = self.only_consumer() {
            let is_softmax = self.is(next, OpType::Reduction, Function::Softmax)
                && !self.graph.ops[next].is_across_rows;
            return is_softmax.then(|| self.ops.push(next));
        }
        let values = self.graph.output[self.last()?];
        let (top, shifted) =
            self.branch(OpType::Reduction, Function::Max, Function::Sub, values)?;
        let &[exp] = &self.graph.successors[shifted] else {
            return None;
        };
        if !self.is(exp, OpType::Elementwise, Function::Exp) {
            return None;
        }
        self.ops.extend([top, shifted, exp]);
        let powers = self.graph.output[exp];
        let (total, quotient) =
            self.branch(OpType::Reduction, Function::Sum, Function::Div, powers)?;
        self.ops.extend([total, quotient]);
        Some(())
    }

    /// A reduction of `values` and the op that combines `values` with its result, if only these two
    /// read `values`.
    fn branch(
        &self,
        op_type: OpType,
        reduction: Function,
        combination: Function,
        values: TensorId,
    ) -> Option<(OpId, OpId)> {
        let graph = self.graph;
        // Ascending, so the reduction comes first: the other op reads its result.
        let &[reduced, combined] = &graph.successors[graph.tensors[values].producer?] else {
            return None;
        };
        let fits = self.is(reduced, op_type, reduction)
            && self.is(combined, OpType::Elementwise, combination)
            && graph.ops[reduced].shape == self.of_rows()?
            && graph.ops[combined].shape == self.shape
            && graph.successors[reduced] == [combined]
            && graph.inputs[combined] == [values, graph.output[reduced]];
        fits.then_some((reduced, combined))
    }
}
