//! The order in which the compiler lowers ops: each right before the first op that reads it.
//!
//! Source: `reorder_for_locality` in `torch/_inductor/fx_passes/post_grad.py`.

use super::facts::keeps_shape;
use super::partial::partial_of;
use super::reduced::is_variance;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, define_ids};

define_ids! {
    /// A step of lowering, by its position in the list of ops.
    struct StepId;
}

/// What is lowered next.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// The row values of a norm whose elements are lowered later.
    RowValues(OpId),
    /// The op, or the elements of such a norm.
    Op(OpId),
}

impl Step {
    pub(super) const fn op(self) -> OpId {
        let (Self::RowValues(op) | Self::Op(op)) = self;
        op
    }

    /// The ops that it reads, each once.
    fn producers(self, graph: &Graph) -> Vec<OpId> {
        let inputs = graph.inputs[self.op()].iter();
        let count = match self {
            Self::RowValues(_) => 1,
            Self::Op(_) => inputs.len(),
        };
        let mut producers = Vec::with_capacity(count);
        let producers_of_inputs = inputs
            .take(count)
            .filter_map(|&t| graph.tensors[t].producer);
        for producer in producers_of_inputs.chain(partial_of(graph, self.op())) {
            if !producers.contains(&producer) {
                producers.push(producer);
            }
        }
        producers
    }
}

/// Whether the row values of a norm are lowered where the norm stands: mean and variance are one op
/// with two results in the compiler, which does not move such an op. Computed weights of the norm
/// must exist first, so then it is one step here.
pub(super) fn has_fixed_row_values(graph: &Graph, op: OpId) -> bool {
    let mut weights = graph.inputs[op].iter().skip(1);
    is_variance(&graph.ops[op])
        && keeps_shape(graph, op)
        && weights.all(|&tensor| graph.tensors[tensor].is_external())
}

/// Whether the op copies a new value into an input of the program, and nothing reads it there: the
/// compiler makes a program without writes in place and copies at its end.
fn is_written_last(graph: &Graph, op: OpId) -> bool {
    let definition = &graph.ops[op];
    let first = graph.inputs[op].first();
    definition.replaces_first()
        && graph.consumers[graph.output[op]].is_empty()
        && first.is_some_and(|&tensor| graph.tensors[tensor].is_external())
}

/// All steps, each after those that it reads. `O(ops + reads)`.
pub(super) fn lowering_order(graph: &Graph) -> Vec<Step> {
    let mut order = Order::of_list(graph);
    if graph.ops.iter().any(|op| op.in_place) {
        // What a write in place must wait for is known by the order of the list.
        let mut steps = order.steps();
        steps.sort_by_key(|step| is_written_last(graph, step.op()));
        return steps;
    }
    // For each op the steps that read it and were not visited yet.
    let mut unseen: IdVec<OpId, usize> = IdVec::from_elem(0, graph.ops.len());
    for step in &order.list {
        for producer in step.producers(graph) {
            unseen[producer] += 1;
        }
    }
    // The caller reads the results last, in the order of the list.
    for op in graph.ops.ids() {
        if graph.is_final(graph.output[op]) && unseen[op] == 0 {
            order.move_before(op, None);
        }
    }
    let mut next = order.last;
    while let Some(at) = next {
        for producer in order.list[at].producers(graph) {
            unseen[producer] -= 1;
            if unseen[producer] == 0 {
                order.move_before(producer, Some(at));
            }
        }
        next = order.before[at];
    }
    order.steps()
}

/// For each op the position of its first step in the order of lowering.
pub(super) fn positions(graph: &Graph, order: &[Step]) -> IdVec<OpId, usize> {
    let mut position = IdVec::from_elem(0, graph.ops.len());
    for (at, step) in order.iter().enumerate().rev() {
        position[step.op()] = at;
    }
    position
}

/// A list of steps in which ops can be moved.
struct Order {
    list: IdVec<StepId, Step>,
    step_of: IdVec<OpId, StepId>,
    before: IdVec<StepId, Option<StepId>>,
    after: IdVec<StepId, Option<StepId>>,
    last: Option<StepId>,
}

impl Order {
    fn of_list(graph: &Graph) -> Self {
        let mut order = Self {
            list: IdVec::with_capacity(graph.ops.len()),
            step_of: IdVec::with_capacity(graph.ops.len()),
            before: IdVec::new(),
            after: IdVec::new(),
            last: None,
        };
        for op in graph.ops.ids() {
            if has_fixed_row_values(graph, op) {
                order.list.push(Step::RowValues(op));
            }
            order.step_of.push(order.list.next_id());
            order.list.push(Step::Op(op));
        }
        for step in order.list.ids() {
            order.before.push(order.last);
            order.after.push(None);
            order.link(order.last, Some(step));
            order.last = Some(step);
        }
        order
    }

    /// Moves an op right before a step, or to the end.
    fn move_before(&mut self, op: OpId, reader: Option<StepId>) {
        let step = self.step_of[op];
        self.link(self.before[step], self.after[step]);
        let before = reader.map_or(self.last, |reader| self.before[reader]);
        self.link(before, Some(step));
        self.link(Some(step), reader);
    }

    fn link(&mut self, before: Option<StepId>, after: Option<StepId>) {
        if let Some(before) = before {
            self.after[before] = after;
        }
        match after {
            Some(after) => self.before[after] = before,
            None => self.last = before,
        }
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::with_capacity(self.list.len());
        let mut next = self.last;
        while let Some(step) = next {
            steps.push(self.list[step]);
            next = self.before[step];
        }
        steps.reverse();
        steps
    }
}
