//! Orders kernels so that they can run. Convex kernels are not enough: two of them can depend on each other.
#![allow(
    clippy::indexing_slicing,
    reason = "op and group ids are dense indices of this graph"
)]

use crate::core::model::graph::{Graph, OpId};
use crate::core::model::order::topological_order;
use crate::core::model::partition::Partition;

impl Partition {
    /// The partition with these groups as kernels, numbered as in pictures. `None` if they form a cycle, or if
    /// a group number is not below the number of ops. `O((ops + reads) log ops)`.
    pub fn in_order(graph: &Graph, group_of: &[usize]) -> Option<Self> {
        let is_dense = group_of.iter().all(|&group| group < group_of.len());
        (is_dense && group_of.len() == graph.ops.len())
            .then(|| in_order(graph, group_of).ok())
            .flatten()
    }
}

/// The partition with these groups as kernels in an order in which they can run, ties by the first op.
///
/// `group_of` gives each op a group below the number of ops; the numbers need not be dense.
/// `O((ops + reads) log ops)`.
///
/// # Errors
/// A cycle, as a path of ops: each op feeds the next one or is in the same group, and the last one is in the
/// group of the first.
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

/// The ops by which each group of a cycle feeds the next one.
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
