//! The graph as a policy sees it: attention that runs as one kernel is one op.

use crate::core::analysis::Analysis;
use crate::core::attention::{self, Contracted, contract};
use crate::core::fusion::Policy;
use crate::core::fusion::inductor::flash_kernels;
use crate::core::fusion::legality::Reason;
use crate::core::fusion::region::Setting;
use crate::core::graph::{Graph, OpId};
use crate::core::traffic::Views;

/// What legality is asked about: ops of an attention kernel would be refused as the ops that it replaces.
pub(super) struct Seen {
    /// Where attention runs as one kernel.
    contracted: Option<Contracted>,
    views: Views,
}

impl Seen {
    /// As the policy of the analysis sees it. `O(ops + reads)`.
    pub(super) fn by_policy(analysis: &Analysis) -> Self {
        let mut kernels = attentions(analysis);
        if analysis.options.policy == Policy::Inductor {
            add_flash(&analysis.graph, &mut kernels);
        }
        Self::new(analysis, &kernels)
    }

    /// As whoever states kernels by hand sees it: what the compiler replaces on its own is not theirs.
    pub(super) fn by_hand(analysis: &Analysis) -> Self {
        Self::new(analysis, &attentions(analysis))
    }

    fn new(analysis: &Analysis, kernels: &[Vec<OpId>]) -> Self {
        let kernels: Vec<&[OpId]> = kernels.iter().map(|ops| &ops[..]).collect();
        let contracted = contract(&analysis.graph, &kernels);
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
    pub(super) fn original(&self, mut reason: Reason) -> Reason {
        reason.for_each_op(&mut |op| *op = self.original_op(*op));
        reason
    }
}

/// What the option replaces.
fn attentions(analysis: &Analysis) -> Vec<Vec<OpId>> {
    if !analysis.options.fusion.attention {
        return Vec::new();
    }
    let found = attention::find(&analysis.graph);
    found.into_iter().map(|attention| attention.ops).collect()
}

/// What the compiler replaces of the rest.
fn add_flash(graph: &Graph, kernels: &mut Vec<Vec<OpId>>) {
    let mut is_taken = vec![false; graph.ops.len()];
    for &op in kernels.iter().flatten() {
        is_taken[op] = true;
    }
    let mut flash: Vec<Vec<OpId>> = vec![Vec::new(); graph.ops.len()];
    for (op, last) in flash_kernels(graph).into_iter().enumerate() {
        if let Some(last) = last {
            flash[last].push(op);
        }
    }
    flash.retain(|ops| !ops.is_empty() && !ops.iter().any(|&op| is_taken[op]));
    kernels.append(&mut flash);
}
