//! Horizontal fusion: ops of one kernel that only read the same tensor. In vertical fusion an op
//! reads what another op of the kernel writes.

use crate::model::graph::Graph;
use crate::model::ids::OpId;

/// Whether some ops of a kernel share no more than an input: going from producers to consumers and
/// back inside the kernel does not reach all of them. `ops` ascend. `O(reads * log ops)`.
pub fn fuses_horizontally(graph: &Graph, ops: &[OpId]) -> bool {
    let Some(&first) = ops.first() else {
        return false;
    };
    let mut is_reached = vec![false; ops.len()];
    let mut reached = 0;
    let mut open = vec![first];
    while let Some(op) = open.pop() {
        let Ok(place) = ops.binary_search(&op) else {
            continue;
        };
        let Some(is_new) = is_reached.get_mut(place).filter(|is_reached| !**is_reached) else {
            continue;
        };
        *is_new = true;
        reached += 1;
        open.extend(graph.predecessors[op].iter());
        open.extend(graph.successors[op].iter());
    }
    reached < ops.len()
}
