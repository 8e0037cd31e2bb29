//! The reasons of [`Why`]: what the policy itself decided, else what makes one kernel illegal.

use super::Why;
use crate::analysis::Analysis;
use crate::analysis::why::detour::Detours;
use crate::analysis::why::operands::Operands;
use crate::analysis::why::policy_graph::PolicyGraph;
use crate::analysis::why::price::Price;
use crate::analysis::why::refusals::Refusals;
use crate::fusion::decision_trace::trace_decisions;
use crate::fusion::inductor::{call_reason, first_opaque, library_call};
use crate::fusion::legality::{check_counted, most_ops};
use crate::fusion::reason::Reason;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::op_type::OpType;
use crate::model::options::Policy;
use std::borrow::Cow;

impl Why<'_> {
    /// The reason that does not depend on which edge between two kernels is asked about. `None` if
    /// there is none, or if the policy has its own reason for the edge.
    ///
    /// A cycle of kernels comes first: it rules out the merge whatever the policy decided.
    pub(super) fn of_kernels(&self, a: KernelId, b: KernelId) -> Option<Reason> {
        if let Some(path) = self.path_around(a, b) {
            return Some(Reason::Cycle { path });
        }
        match self.analysis.options.policy {
            Policy::Inductor => Some(self.of_compiler(a, b)),
            Policy::Rules if self.refusals().has_any(a, b) => None,
            _ => self.illegal(a, b),
        }
    }

    pub(super) fn reason_of(
        &self,
        first: OpId,
        second: OpId,
        price: Price,
        of_kernels: Option<Reason>,
    ) -> Reason {
        let of_rules = match (self.analysis.options.policy, &of_kernels) {
            (_, Some(Reason::Cycle { .. })) => None,
            (Policy::Rules, _) => self.of_rules(first, second),
            _ => None,
        };
        let otherwise = || match self.analysis.options.policy {
            Policy::Optimal if !price.is_gain(self.analysis) => Reason::NotWorthIt,
            Policy::Manual => Reason::NotStated,
            _ => Reason::NotLookedAt,
        };
        let reason = of_rules.or(of_kernels);
        reason.map_or_else(otherwise, |reason| self.by_ends(reason, [first, second]))
    }

    /// The reason with what is at an end of the edge: its matmul instead of another one in its
    /// kernel, and attention only where no end is a library call by itself.
    fn by_ends(&self, reason: Reason, ends: [OpId; 2]) -> Reason {
        let Analysis {
            graph, partition, ..
        } = self.analysis;
        let is_matmul = |op: &OpId| graph.ops[*op].op_type == OpType::Matmul;
        let kernel = |op: OpId| partition.kernel_of[op];
        let matmuls = || ends.into_iter().filter(is_matmul);
        match reason {
            Reason::LibraryCall { .. } | Reason::FusedAttention { .. } => {
                let call = |op: OpId| self.library_calls()[kernel(op)].as_ref();
                let is_call = |op: &OpId| matches!(call(*op), Some(Reason::LibraryCall { .. }));
                let in_attention =
                    |op: &OpId| matches!(call(*op), Some(Reason::FusedAttention { .. }));
                let of_matmul = matmuls().find(is_call);
                let of_matmul = of_matmul.map(|matmul| Reason::LibraryCall { matmul });
                let of_attention = || ends.into_iter().find(in_attention);
                of_matmul
                    .or_else(|| of_attention().map(|op| Reason::FusedAttention { op }))
                    .unwrap_or(reason)
            }
            Reason::TwoMatmuls { .. }
            | Reason::MatmulAndReduction { .. }
            | Reason::MatmulStarts { .. } => reason.map_ops(|op| {
                let end = matmuls().find(|&end| is_matmul(&op) && kernel(end) == kernel(op));
                end.unwrap_or(op)
            }),
            other => other,
        }
    }

    fn refusals(&self) -> &Refusals<'_> {
        self.refusals.get_or_init(|| {
            let trace = trace_decisions(&self.analysis.graph, &self.analysis.options);
            Refusals::of(self.analysis, Cow::Owned(trace))
        })
    }

    fn policy_graph(&self) -> &PolicyGraph {
        (self.policy_graph).get_or_init(|| PolicyGraph::new(self.analysis))
    }

    /// Why the textbook rules kept two ops apart. For ops without a common edge it is the reason of
    /// an edge between their kernels; `None` if there is none.
    fn of_rules(&self, first: OpId, second: OpId) -> Option<Reason> {
        let kernel_of = &self.analysis.partition.kernel_of;
        let (a, b) = (kernel_of[first], kernel_of[second]);
        // In the graph of the rules attention is one op, and the trace names that op's last one.
        let decided =
            [first, second].map(|op| self.policy_graph().original_op(self.policy_graph().op(op)));
        self.refusals().of_edge(a, b, decided).cloned()
    }

    /// The compiler's own reason, which legality has no part in.
    fn of_compiler(&self, a: KernelId, b: KernelId) -> Reason {
        if let Some(reason) = self.refusals().last(a, b) {
            return reason.clone();
        }
        let calls = self.library_calls();
        let Analysis {
            graph, partition, ..
        } = self.analysis;
        let opaque = |kernel| first_opaque(graph, &partition.kernels[kernel]);
        // A library call is never fused, so the trace may hold no refusal of its pairs.
        match calls[a].as_ref().or(calls[b].as_ref()) {
            Some(reason) => reason.clone(),
            None => match opaque(a).or_else(|| opaque(b)) {
                Some(opaque) => Reason::Opaque { opaque },
                None => Reason::NotCompared,
            },
        }
    }

    fn library_calls(&self) -> &IdVec<KernelId, Option<Reason>> {
        self.library_calls.get_or_init(|| {
            let (analysis, kernels) = (self.analysis, self.analysis.partition.kernels.iter());
            let max_autotune = analysis.options.fusion.max_autotune;
            let graph = &analysis.graph;
            let reason = |ops: &[OpId]| {
                library_call(graph, ops, max_autotune).and_then(|_| call_reason(graph, ops))
            };
            kernels.map(reason).collect()
        })
    }

    /// Why two kernels may not be one.
    pub(super) fn forbidden(&self, a: KernelId, b: KernelId) -> Option<Reason> {
        self.illegal(a, b).or_else(|| {
            let path = self.path_around(a, b)?;
            Some(Reason::Cycle { path })
        })
    }

    /// The ops of a path from one kernel to the other through further ones, which must run between
    /// them.
    pub(super) fn path_around(&self, a: KernelId, b: KernelId) -> Option<Vec<OpId>> {
        let detours = self.detours.get_or_init(|| Detours::new(self.analysis));
        detours.path_around(a.min(b), a.max(b))
    }

    /// Why two kernels may not be one, whatever runs between them.
    fn illegal(&self, a: KernelId, b: KernelId) -> Option<Reason> {
        let (analysis, policy_graph) = (self.analysis, self.policy_graph());
        // Counted beforehand: two long kernels would else be visited for each edge between them,
        // only to find that they are too many ops.
        let operands = || Operands::new(analysis, policy_graph);
        let operands = self.operands.get_or_init(operands);
        let limit = most_ops(&analysis.options.fusion);
        if let Some(ops) = operands.ops(a, b).filter(|&ops| ops > limit) {
            return Some(Reason::TooManyOps { ops, limit });
        }
        let kernels = &analysis.partition.kernels;
        let ops = policy_graph.ops(&[&kernels[a], &kernels[b]].concat());
        let reads = operands.reads(policy_graph.graph(analysis), a, b);
        let checked = check_counted(&policy_graph.context(analysis), &ops, reads);
        checked.err().map(|reason| policy_graph.original(reason))
    }
}
