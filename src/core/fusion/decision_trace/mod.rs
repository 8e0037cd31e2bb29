//! The decisions of a policy, in order, so that a visitor can step through them.
//!
//! Replaying all decisions gives the partition of the policy. Each earlier step gives a partition
//! that can run, too.

mod replay;
use crate::cost::views::Views;
pub use crate::fusion::decision::Decision;
use crate::fusion::decision::{Log, NodeId, PlacedNode};
use crate::fusion::plan::plan_noting;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId};
use crate::model::options::Options;
use crate::model::partition::Partition;

/// The decisions that led a policy to its partition.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DecisionTrace {
    /// In the order in which they were made.
    pub decisions: Vec<Decision>,
    /// The final kernels; those of earlier steps are numbered by them and by those of the nodes.
    last: Partition,
    /// The nodes that the compiler's decisions name.
    nodes: IdVec<NodeId, PlacedNode>,
    /// Which ops are free views or second results of an operator, for which alone nothing runs.
    is_view: IdVec<OpId, bool>,
}

/// Plans again and traces every decision. Takes as long as [`super::plan()`].
pub fn trace_decisions(graph: &Graph, options: &Options) -> DecisionTrace {
    let mut log = Log::listening();
    let plan = plan_noting(graph, options, &mut log);
    let notes = log.into_notes();
    let reshape = options.conventions.reshape;
    let mut is_view = Views::under(graph, reshape).is_view;
    for &op in &plan.partition.copied_views {
        is_view[op] = false;
    }
    for &op in &plan.partition.results {
        is_view[op] = true;
    }
    DecisionTrace {
        decisions: notes.decisions,
        nodes: notes.nodes,
        last: plan.partition,
        is_view,
    }
}
