//! Policy `none`: every op its own kernel.

use super::Partition;
use crate::core::graph::Graph;

/// One group for each op.
pub(super) fn partition(graph: &Graph) -> Partition {
    let count = graph.ops.len();
    Partition::new((0..count).map(|op| vec![op]).collect(), count)
}
