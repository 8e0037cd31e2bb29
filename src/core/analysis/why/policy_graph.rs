//! The graph that a policy plans on: attention that runs as one kernel is one op.

use crate::analysis::Analysis;
use crate::cost::views::Views;
use crate::fusion::attention::{RewrittenGraph, find, rewrite};
use crate::fusion::reason::Reason;
use crate::fusion::region::RegionContext;
use crate::model::graph::Graph;
use crate::model::ids::OpId;

/// The graph that legality is checked on. The ops of an attention kernel would be illegal as one
/// kernel.
pub(super) struct PolicyGraph {
    /// Set if attention runs as one kernel.
    rewritten: Option<RewrittenGraph>,
    views: Views,
}

impl PolicyGraph {
    /// `O(ops + reads)`.
    pub(super) fn new(analysis: &Analysis) -> Self {
        let options = &analysis.options;
        let mut attentions = find(&analysis.graph);
        if !options.fuses_attention() {
            // The policy has chosen to run these as one kernel each.
            attentions.retain(|attention| {
                let kernels = attention
                    .ops
                    .iter()
                    .map(|&op| analysis.partition.kernel_of[op]);
                let mut kernels = kernels.collect::<Vec<_>>();
                // One distinct kernel remains if all are equal, whatever the order, so no sort is
                // needed.
                kernels.dedup();
                kernels.len() == 1
            });
        }
        let rewritten = rewrite(&analysis.graph, &attentions, options);
        let graph = rewritten
            .as_ref()
            .map_or(&analysis.graph, |rewritten| &rewritten.graph);
        Self {
            views: Views::under(graph, analysis.options.conventions.reshape),
            rewritten,
        }
    }

    pub(super) fn graph<'s>(&'s self, analysis: &'s Analysis) -> &'s Graph {
        match &self.rewritten {
            Some(rewritten) => &rewritten.graph,
            None => &analysis.graph,
        }
    }

    pub(super) fn context<'s>(&'s self, analysis: &'s Analysis) -> RegionContext<'s> {
        RegionContext::with_views(self.graph(analysis), &analysis.options, &self.views)
    }

    /// The op of the policy graph for one of the analysis.
    pub(super) fn op(&self, op: OpId) -> OpId {
        let rewritten = self.rewritten.as_ref();
        rewritten.map_or(op, |rewritten| rewritten.op_of[op])
    }

    /// The ops of the policy graph for these, ascending and each once.
    pub(super) fn ops(&self, ops: &[OpId]) -> Vec<OpId> {
        let mut here: Vec<OpId> = ops.iter().map(|&op| self.op(op)).collect();
        here.sort_unstable();
        here.dedup();
        here
    }

    /// The op of the analysis for one of the policy graph; the last one if there are several.
    pub(super) fn original_op(&self, op: OpId) -> OpId {
        let rewritten = self.rewritten.as_ref();
        rewritten.map_or(op, |rewritten| rewritten.original(op))
    }

    /// The reason with ops of the analysis.
    pub(super) fn original(&self, reason: Reason) -> Reason {
        reason.map_ops(|op| self.original_op(op))
    }
}
