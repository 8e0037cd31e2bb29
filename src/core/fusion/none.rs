//! Policy `none`: every op its own kernel.

use super::Partition;
use crate::core::model::graph::Graph;

/// One group for each op.
pub(crate) fn partition(graph: &Graph) -> Partition {
    let count = graph.ops.len();
    Partition::of_ops((0..count).collect(), count)
}
