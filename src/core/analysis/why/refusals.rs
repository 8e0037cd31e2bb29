//! What a policy refused to fuse, by its final kernels.

use crate::core::analysis::Analysis;
use crate::core::fusion::decision::Decision;
use crate::core::fusion::reason::Reason;
use crate::core::fusion::record::Record;
use crate::core::model::ids::{KernelId, OpId};

/// Refusals of an analysis.
pub(super) struct Refusals {
    /// Sorted by kernels; refusals of the same two kernels in the order of the record.
    refused: Vec<Refused>,
    /// Places in `refused`, sorted by its ops.
    by_ops: Vec<usize>,
}

/// A policy's refusal of two ops.
struct Refused {
    /// Their kernels, the smaller number first.
    kernels: (KernelId, KernelId),
    /// The op by which the record identifies each of the two.
    ops: [OpId; 2],
    reason: Reason,
}

impl Refusals {
    /// Those among the decisions of the policy.
    pub(super) fn of(analysis: &Analysis, record: &Record) -> Self {
        let kernel_of = &analysis.partition.kernel_of;
        let mut refused = Vec::new();
        for decision in &record.decisions {
            if let Decision::Refused { ops, reason } = decision
                && let [first, second] = ops[..]
            {
                refused.push(Refused {
                    kernels: pair(kernel_of[first], kernel_of[second]),
                    ops: [first, second],
                    reason: reason.clone(),
                });
            }
        }
        refused.sort_by_key(|refused| refused.kernels);
        let ops = |place: &usize| refused.get(*place).map(|refused| refused.ops);
        let mut by_ops: Vec<usize> = (0..refused.len()).collect();
        by_ops.sort_by_key(ops);
        Self { refused, by_ops }
    }

    /// Refusals between two kernels, in the order of the record. Logarithmic in the refusals.
    fn between(&self, a: KernelId, b: KernelId) -> &[Refused] {
        let asked = pair(a, b);
        let from = self.refused.partition_point(|of| of.kernels < asked);
        let until = self.refused.partition_point(|of| of.kernels <= asked);
        self.refused.get(from..until).unwrap_or_default()
    }

    /// Whether any refusal is between two kernels.
    pub(super) fn has_any(&self, a: KernelId, b: KernelId) -> bool {
        !self.between(a, b).is_empty()
    }

    /// The last refusal between two kernels, for a policy that tries kernels again as they grow.
    pub(super) fn last(&self, a: KernelId, b: KernelId) -> Option<&Reason> {
        self.between(a, b).last().map(|refused| &refused.reason)
    }

    /// The refusal of this edge, for a policy that tries each edge once; otherwise the first between its kernels.
    pub(super) fn of_edge(&self, a: KernelId, b: KernelId, ops: [OpId; 2]) -> Option<&Reason> {
        let at = |place: &usize| self.refused.get(*place);
        let start = self
            .by_ops
            .partition_point(|place| at(place).is_some_and(|refused| refused.ops < ops));
        let refused = self.by_ops.get(start).and_then(at);
        let refused = refused.filter(|refused| refused.ops == ops);
        let first = || self.between(a, b).first();
        refused.or_else(first).map(|refused| &refused.reason)
    }
}

fn pair(a: KernelId, b: KernelId) -> (KernelId, KernelId) {
    (a.min(b), a.max(b))
}
