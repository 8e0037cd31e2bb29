//! The graph as a policy sees it: attention that runs as one kernel is one op.

use crate::core::analysis::Analysis;
use crate::core::cost::traffic::Views;
use crate::core::fusion::attention;
use crate::core::fusion::attention::{Contracted, contract};
use crate::core::fusion::reason::Reason;
use crate::core::fusion::region::Setting;
use crate::core::model::graph::Graph;
use crate::core::model::ids::OpId;

/// What legality is asked about: ops of an attention kernel would be refused as the ops that it replaces.
pub(super) struct Seen {
    /// Where attention runs as one kernel.
    contracted: Option<Contracted>,
    views: Views,
}

impl Seen {
    /// What the option replaces is seen as one op. `O(ops + reads)`.
    pub(super) fn new(analysis: &Analysis) -> Self {
        let options = &analysis.options;
        let contracted = options
            .fusion
            .attention
            .then(|| attention::find(&analysis.graph))
            .and_then(|attentions| contract(&analysis.graph, &attentions, options));
        let graph = contracted.as_ref().map_or(&analysis.graph, |c| &c.graph);
        Self {
            views: Views::under(graph, analysis.options.conventions.reshape),
            contracted,
        }
    }

    pub(super) fn graph<'s>(&'s self, analysis: &'s Analysis) -> &'s Graph {
        match &self.contracted {
            Some(contracted) => &contracted.graph,
            None => &analysis.graph,
        }
    }

    pub(super) fn setting<'s>(&'s self, analysis: &'s Analysis) -> Setting<'s> {
        Setting::with_views(self.graph(analysis), &analysis.options, &self.views)
    }

    /// The op that stands for this one.
    pub(super) fn op(&self, op: OpId) -> OpId {
        let contracted = self.contracted.as_ref();
        let seen = contracted.and_then(|contracted| contracted.op_of.get(op).copied());
        seen.unwrap_or(op)
    }

    /// The ops that stand for these, ascending and each once.
    pub(super) fn ops(&self, ops: &[OpId]) -> Vec<OpId> {
        let mut seen: Vec<OpId> = ops.iter().map(|&op| self.op(op)).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    /// The op that one here stands for, the last one where it stands for several.
    pub(super) fn original_op(&self, op: OpId) -> OpId {
        let contracted = self.contracted.as_ref();
        contracted.map_or(op, |contracted| contracted.original(op))
    }

    /// The reason by ops of the analysis.
    pub(super) fn original(&self, reason: Reason) -> Reason {
        reason.map_ops(|op| self.original_op(op))
    }
}
