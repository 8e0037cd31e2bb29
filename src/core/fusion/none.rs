//! Policy `none`: every op its own kernel.

use super::Partition;
use crate::core::graph::Graph;

/// One group for each op.
pub(in crate::core) fn partition(graph: &Graph) -> Partition {
    let count = graph.ops.len();
    Partition::of_ops((0..count).collect(), count)
}
