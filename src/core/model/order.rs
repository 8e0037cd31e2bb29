//! Stable topological order.
#![allow(
    clippy::indexing_slicing,
    reason = "nodes are dense indices below predecessors.len()"
)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The nodes `0..n`, each after its predecessors, ties by the smaller index.
///
/// `O((n + edges) log n)`. For a list that is sorted already, callers skip this and need no edges.
///
/// # Errors
/// A cycle: each node is a predecessor of the next one, the last node of the first.
pub(crate) fn topological_order(predecessors: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let count = predecessors.len();
    let (order, missing) = run(predecessors);
    if order.len() == count {
        Ok(order)
    } else {
        Err(cycle(predecessors, &missing))
    }
}

/// The nodes that neither are on a cycle nor depend on one, in the same order.
pub(crate) fn runnable(predecessors: &[Vec<usize>]) -> Vec<usize> {
    run(predecessors).0
}

/// Takes nodes while any is ready. Gives their order, and for each node the number of predecessors not yet
/// taken.
fn run(predecessors: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
    let count = predecessors.len();
    let mut missing = vec![0_usize; count];
    let mut successors = vec![Vec::new(); count];
    for (node, before) in predecessors.iter().enumerate() {
        missing[node] = before.len();
        for &p in before {
            successors[p].push(node);
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..count)
        .filter(|&n| missing[n] == 0)
        .map(Reverse)
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
fn cycle(predecessors: &[Vec<usize>], missing: &[usize]) -> Vec<usize> {
    let mut seen_at = vec![usize::MAX; predecessors.len()];
    let mut path = Vec::new();
    let mut node = missing.iter().position(|&m| m > 0).unwrap_or(0);
    while seen_at[node] == usize::MAX {
        seen_at[node] = path.len();
        path.push(node);
        let Some(&before) = predecessors[node].iter().find(|&&p| missing[p] > 0) else {
            break;
        };
        node = before;
    }
    let mut cycle = path.split_off(seen_at[node].min(path.len()));
    cycle.reverse();
    let smallest = (0..cycle.len()).min_by_key(|&i| cycle[i]).unwrap_or(0);
    cycle.rotate_left(smallest);
    cycle
}

#[cfg(test)]
mod tests {
    use crate::core::model::order::{runnable, topological_order};

    #[test]
    fn keeps_a_sorted_list_and_sorts_another_stably() {
        assert_eq!(
            topological_order(&[vec![], vec![0], vec![]]),
            Ok(vec![0, 1, 2])
        );
        assert_eq!(
            topological_order(&[vec![2], vec![], vec![]]),
            Ok(vec![1, 2, 0])
        );
    }

    #[test]
    fn names_the_cycle_and_not_what_depends_on_it() {
        // Edges 0 <- 1 <- 2 <- 1; node 3 is free.
        assert_eq!(
            topological_order(&[vec![1], vec![2], vec![1], vec![]]),
            Err(vec![1, 2])
        );
        assert_eq!(topological_order(&[vec![0]]), Err(vec![0]));
    }

    #[test]
    fn runs_what_depends_on_no_cycle() {
        // 0 is free, 1 <-> 2 is a cycle, 3 depends on it, 4 depends on 0.
        assert_eq!(
            runnable(&[vec![], vec![2], vec![1], vec![2], vec![0]]),
            [0, 4]
        );
    }
}
