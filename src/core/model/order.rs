//! Stable topological order.

use crate::model::ids::{Id, IdVec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The nodes, each after its predecessors, ties by the smaller id.
///
/// `O((n + edges) log n)`. For a list that is sorted already, callers skip this and need no edges.
///
/// # Errors
/// A cycle: each node is a predecessor of the next one, and the last node of the first.
pub fn topological_order<I: Id>(predecessors: &IdVec<I, Vec<I>>) -> Result<Vec<I>, Vec<I>> {
    let (order, missing) = run(predecessors);
    if order.len() == predecessors.len() {
        Ok(order)
    } else {
        Err(cycle(predecessors, &missing))
    }
}

/// The nodes that are neither on a cycle nor depend on one, in the order of [`topological_order`].
pub fn runnable<I: Id>(predecessors: &IdVec<I, Vec<I>>) -> Vec<I> {
    run(predecessors).0
}

/// Takes nodes while any is ready. Gives their order, and for each node the number of predecessors
/// not yet taken.
fn run<I: Id>(predecessors: &IdVec<I, Vec<I>>) -> (Vec<I>, IdVec<I, usize>) {
    let count = predecessors.len();
    let mut missing: IdVec<I, usize> = predecessors.iter().map(Vec::len).collect();
    let mut successors = IdVec::from_elem(Vec::new(), count);
    for (node, before) in predecessors.iter_enumerated() {
        for &p in before {
            successors[p].push(node);
        }
    }
    let mut ready: BinaryHeap<Reverse<I>> = missing
        .iter_enumerated()
        .filter(|&(_, &missing)| missing == 0)
        .map(|(node, _)| Reverse(node))
        .collect();
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &next in &successors[node] {
            missing[next] -= 1;
            if missing[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    (order, missing)
}

/// A cycle among the nodes that were not taken. Each of them has a predecessor that was not taken,
/// so a walk backwards repeats a node.
fn cycle<I: Id>(predecessors: &IdVec<I, Vec<I>>, missing: &IdVec<I, usize>) -> Vec<I> {
    let mut seen_at = IdVec::from_elem(None, predecessors.len());
    let mut path = Vec::new();
    let mut next = missing.ids().find(|&node| missing[node] > 0);
    while let Some(node) = next
        && seen_at[node].is_none()
    {
        seen_at[node] = Some(path.len());
        path.push(node);
        let mut before = predecessors[node].iter().copied();
        next = before.find(|&p| missing[p] > 0);
    }
    let start = next.and_then(|node| seen_at[node]).unwrap_or(path.len());
    let mut cycle = path.split_off(start);
    cycle.reverse();
    let smallest = (cycle.iter().enumerate()).min_by_key(|&(_, node)| *node);
    let start = smallest.map_or(0, |(at, _)| at);
    cycle.rotate_left(start);
    cycle
}
