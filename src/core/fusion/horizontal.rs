//! Vertical and horizontal fusion: a kernel joins ops that read what others of it write, or
//! siblings that only read the same.

use crate::model::graph::Graph;
use crate::model::ids::OpId;

/// Whether ops of one kernel, ascending, are joined only because they read the same tensor: going
/// from producers to consumers and back inside the kernel does not reach all of them.
/// `O(reads * log ops)`.
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
