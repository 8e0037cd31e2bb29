//! A program with the kernels that a policy had on its way, so that somebody can step through its decisions.

use super::analysis::{Analysis, analyze_plan};
use super::attention;
use super::fusion::{Partition, Plan};

/// The numbers of the program of `whole` with the kernels of an earlier step, as
/// [`Record::partition_after`](super::fusion::record::Record::partition_after) gives them. `O(ops + reads)`.
pub fn analysis_with(whole: &Analysis, partition: Partition) -> Analysis {
    let (graph, options) = (&whole.graph, &whole.options);
    let mut attentions = Vec::new();
    if options.fusion.attention {
        attentions = attention::find(graph);
        // Until the rewrite, which is one of the first decisions, the ops run one by one.
        attentions.retain(|attention| {
            let kernel = |op: &usize| partition.group_of.get(*op);
            let mut pairs = attention.ops.iter().zip(attention.ops.iter().skip(1));
            pairs.all(|(a, b)| kernel(a) == kernel(b))
        });
    }
    let plan = Plan {
        partition,
        attentions,
        certificate: None,
        refused: Vec::new(),
    };
    analyze_plan(graph.clone(), options, plan)
}
