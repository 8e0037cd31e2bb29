//! Policy `none`: every op its own kernel.

use crate::core::model::graph::Graph;
use crate::core::model::partition::Partition;

/// One group for each op.
pub(crate) fn partition(graph: &Graph) -> Partition {
    let count = graph.ops.len();
    Partition::of_ops((0..count).collect(), count)
}
