//! The analysis of one step of a replay, so that a visitor can step through the decisions of a
//! policy.

use crate::analysis::{Analysis, analyze_plan};
use crate::fusion::Plan;
use crate::model::partition::Partition;

/// The analysis of the program of `whole` with the kernels of an earlier step, as
/// [`partition_after`](crate::fusion::decision_trace::DecisionTrace::partition_after)
/// gives them. `O(ops + reads)`.
pub fn analysis_with(whole: &Analysis, partition: Partition) -> Analysis {
    let (graph, options) = (&whole.graph, &whole.options);
    let plan = Plan {
        partition,
        ..Plan::default()
    };
    analyze_plan(graph.clone(), options, plan)
}
