//! Stable topological order.

use crate::model::ids::{Id, IdVec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The nodes, each after its predecessors, ties by the smaller id.
///
/// `O((n + edges) log n)`. For a list that is sorted already, callers skip this and need no edges.
///
/// # Errors
/// A cycle: each node is a predecessor of the next one, the last node of the first.
pub(crate) fn topological_order<I: Id>(predecessors: &IdVec<I, Vec<I>>) -> Result<Vec<I>, Vec<I>> {
    let (order, missing) = run(predecessors);
    if order.len() == predecessors.len() {
        Ok(order)
    } else {
        Err(cycle(predecessors, &missing))
    }
}

/// The nodes that neither are on a cycle nor depend on one, in the same order.
pub(crate) fn runnable<I: Id>(predecessors: &IdVec<I, Vec<I>>) -> Vec<I> {
    run(predecessors).0
}

/// Takes nodes while any is ready. Gives their order, and for each node the number of predecessors not yet
/// taken.
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

/// A cycle among the nodes that were not taken. Each has such a predecessor, so a walk backwards repeats a
/// node.
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

#[cfg(test)]
mod tests {
    use crate::model::ids::{IdVec, OpId};
    use crate::model::order::{runnable, topological_order};

    fn ops(ids: &[usize]) -> Vec<OpId> {
        ids.iter().map(|&id| OpId::new(id)).collect()
    }

    fn predecessors(lists: &[&[usize]]) -> IdVec<OpId, Vec<OpId>> {
        lists.iter().map(|list| ops(list)).collect()
    }

    #[test]
    fn keeps_a_sorted_list_and_sorts_another_stably() {
        let sorted = predecessors(&[&[], &[0], &[]]);
        assert_eq!(topological_order(&sorted), Ok(ops(&[0, 1, 2])));
        let unsorted = predecessors(&[&[2], &[], &[]]);
        assert_eq!(topological_order(&unsorted), Ok(ops(&[1, 2, 0])));
    }

    #[test]
    fn names_the_cycle_and_not_what_depends_on_it() {
        // Edges 0 <- 1 <- 2 <- 1; node 3 is free.
        let cyclic = predecessors(&[&[1], &[2], &[1], &[]]);
        assert_eq!(topological_order(&cyclic), Err(ops(&[1, 2])));
        let itself = predecessors(&[&[0]]);
        assert_eq!(topological_order(&itself), Err(ops(&[0])));
    }

    #[test]
    fn runs_what_depends_on_no_cycle() {
        // 0 is free, 1 <-> 2 is a cycle, 3 depends on it, 4 depends on 0.
        let some = predecessors(&[&[], &[2], &[1], &[2], &[0]]);
        assert_eq!(runnable(&some), ops(&[0, 4]));
    }
}
