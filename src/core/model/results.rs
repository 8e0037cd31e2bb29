//! Ops that are results of one operator.
//!
//! `topk` of PyTorch gives the largest values and their indices, and one kernel writes both. In the
//! notation each of them is an op. Two such ops of one tensor with equal attributes are one call.
//! The first op stands for the call: the second one reads and computes nothing more.

use crate::model::adjacency::Adjacency;
use crate::model::functions::Function;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::Op;
use crate::model::op_type::OpType;
use std::collections::HashMap;

/// An operator of PyTorch by the functions of its results, in its order.
///
/// `var_mean` and `aminmax` are not here: programs that take a mean and a variance, or both
/// extremes, mostly call an operator for each.
const OPERATORS: &[[Function; 2]] = &[
    [Function::Topk, Function::TopkIndices],
    [Function::Sort, Function::Argsort],
    [Function::Max, Function::Argmax],
    [Function::Min, Function::Argmin],
];

/// Most calls on one tensor that an op is compared with, which keeps the time linear. Behind more,
/// it counts as another call.
const MOST_COMPARED: usize = 32;

impl Function {
    /// The results of the operator that gives this one with another one, in its order.
    pub fn results_of_operator(self) -> Option<[Self; 2]> {
        let mut operators = OPERATORS.iter();
        operators.find(|results| results.contains(&self)).copied()
    }
}

/// The ops of a graph that are results of one operator.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Results {
    /// For each second result the op that stands for its call, by ascending second result.
    first_of: Vec<(OpId, OpId)>,
    /// The same pairs the other way round, by ascending first result.
    second_of: Vec<(OpId, OpId)>,
}

impl Results {
    /// `O(ops)`.
    pub(super) fn of(ops: &IdVec<OpId, Op>, inputs: &Adjacency<OpId, TensorId>) -> Self {
        // For each operator and the tensor that it reads the calls of which one result is known.
        let mut open: HashMap<([Function; 2], TensorId), Vec<OpId>> = HashMap::new();
        let mut first_of = Vec::new();
        for (op, definition) in ops.iter_enumerated() {
            let operator = definition.function.and_then(Function::results_of_operator);
            let (Some(operator), &[tensor]) = (operator, &inputs[op]) else {
                continue;
            };
            let calls = open.entry((operator, tensor)).or_default();
            let is_other = |&&first: &&OpId| is_other_result(&ops[first], definition);
            let recent = calls.iter().rev().take(MOST_COMPARED);
            if let Some(&first) = recent.clone().find(is_other) {
                calls.retain(|&call| call != first);
                first_of.push((op, first));
            } else {
                calls.push(op);
            }
        }
        let mut second_of: Vec<_> = first_of.iter().map(|&(op, first)| (first, op)).collect();
        second_of.sort_unstable();
        Self {
            first_of,
            second_of,
        }
    }

    /// The op that stands for the call of which this op is the second result.
    pub fn first(&self, op: OpId) -> Option<OpId> {
        partner(&self.first_of, op)
    }

    /// The second result of the call that this op stands for.
    pub fn second(&self, op: OpId) -> Option<OpId> {
        partner(&self.second_of, op)
    }

    /// Each second result with the op that stands for its call, by ascending second result.
    pub fn pairs(&self) -> impl Iterator<Item = (OpId, OpId)> + '_ {
        self.first_of.iter().copied()
    }
}

fn partner(pairs: &[(OpId, OpId)], op: OpId) -> Option<OpId> {
    let place = pairs.binary_search_by_key(&op, |&(own, _)| own).ok()?;
    pairs.get(place).map(|&(_, partner)| partner)
}

/// Whether two ops on one tensor, of functions of one operator, are results of one call.
fn is_other_result(first: &Op, second: &Op) -> bool {
    let is_along_one_axis = first.axes.count_ones() <= 1;
    // Without indexing, as in a list of ops, nobody knows along which axis a library sorts.
    let is_known = first.op_type != OpType::Opaque || first.indexing.is_some();
    first.function != second.function
        && first.shape == second.shape
        && first.axes == second.axes
        && first.indexing == second.indexing
        && is_along_one_axis
        && is_known
}
