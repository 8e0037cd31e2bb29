//! The graph as a policy sees it: attention that runs as one kernel is one op.

use crate::core::analysis::Analysis;
use crate::core::cost::traffic::Views;
use crate::core::fusion::attention;
use crate::core::fusion::attention::{RewrittenGraph, rewrite};
use crate::core::fusion::reason::Reason;
use crate::core::fusion::region::RegionContext;
use crate::core::model::graph::{Graph, OpId};

/// What legality is asked about: ops of an attention kernel would be refused as the ops that it replaces.
pub(super) struct PolicyGraph {
    /// Where attention runs as one kernel.
    rewritten: Option<RewrittenGraph>,
    views: Views,
}

impl PolicyGraph {
    /// What the option replaces is seen as one op. `O(ops + reads)`.
    pub(super) fn new(analysis: &Analysis) -> Self {
        let options = &analysis.options;
        let rewritten = options
            .fusion
            .attention
            .then(|| attention::find(&analysis.graph))
            .and_then(|attentions| rewrite(&analysis.graph, &attentions, options));
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

    /// The op that stands for this one.
    pub(super) fn op(&self, op: OpId) -> OpId {
        let rewritten = self.rewritten.as_ref();
        let here = rewritten.and_then(|rewritten| rewritten.op_of.get(op).copied());
        here.unwrap_or(op)
    }

    /// The ops that stand for these, ascending and each once.
    pub(super) fn ops(&self, ops: &[OpId]) -> Vec<OpId> {
        let mut here: Vec<OpId> = ops.iter().map(|&op| self.op(op)).collect();
        here.sort_unstable();
        here.dedup();
        here
    }

    /// The op that one here stands for, the last one where it stands for several.
    pub(super) fn original_op(&self, op: OpId) -> OpId {
        let rewritten = self.rewritten.as_ref();
        rewritten.map_or(op, |rewritten| rewritten.original(op))
    }

    /// The reason by ops of the analysis.
    pub(super) fn original(&self, reason: Reason) -> Reason {
        reason.map_ops(|op| self.original_op(op))
    }
}
