//! Whether kernels can be put in an order. Convex groups are not enough: two can need each other.
#![allow(
    clippy::indexing_slicing,
    reason = "op and group ids are dense indices of this graph"
)]

use crate::core::model::graph::{Graph, OpId};
use crate::core::model::order::topological_order;
use crate::core::model::partition::Partition;

/// The partition with these groups in an order in which they can run, ties by the first op.
///
/// `group_of` gives each op a group below the number of ops; numbers need not be dense.
/// `O((ops + reads) log ops)`.
///
/// # Errors
/// A way round kernels that need each other: ops of which each feeds the next or shares its kernel, back to
/// the kernel of the first.
pub(crate) fn in_order(graph: &Graph, group_of: &[usize]) -> Result<Partition, Vec<OpId>> {
    let mut dense = vec![usize::MAX; group_of.len()];
    let mut groups = 0;
    for &group in group_of {
        if dense[group] == usize::MAX {
            dense[group] = groups;
            groups += 1;
        }
    }
    let group_of: Vec<usize> = group_of.iter().map(|&group| dense[group]).collect();
    let mut needs = vec![Vec::new(); groups];
    for (op, &group) in group_of.iter().enumerate() {
        for &producer in &graph.predecessors[op] {
            if group_of[producer] != group {
                needs[group].push(group_of[producer]);
            }
        }
    }
    let order = topological_order(&needs).map_err(|cycle| path(graph, &group_of, &cycle))?;
    let mut place = vec![0; groups];
    for (at, &group) in order.iter().enumerate() {
        place[group] = at;
    }
    let group_of = group_of.iter().map(|&group| place[group]).collect();
    Ok(Partition::of_ops(group_of, groups))
}

/// The ops by which each group of a cycle feeds the next.
fn path(graph: &Graph, group_of: &[usize], cycle: &[usize]) -> Vec<OpId> {
    let mut path = Vec::new();
    for (at, &group) in cycle.iter().enumerate() {
        let next = cycle[(at + 1) % cycle.len()];
        let edge = (0..group_of.len())
            .filter(|&op| group_of[op] == next)
            .find_map(|consumer| {
                let mut producers = graph.predecessors[consumer].iter();
                let producer = producers.find(|&&producer| group_of[producer] == group)?;
                Some((*producer, consumer))
            });
        if let Some((producer, consumer)) = edge {
            if path.last() != Some(&producer) {
                path.push(producer);
            }
            path.push(consumer);
        }
    }
    path
}
