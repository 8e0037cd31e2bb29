//! What a policy refused to fuse, by the kernels that it ended with.
#![allow(
    clippy::indexing_slicing,
    reason = "op and kernel ids are dense indices of one analysis"
)]

use crate::core::analysis::Analysis;
use crate::core::fusion::decision::Decision;
use crate::core::fusion::reason::Reason;
use crate::core::fusion::record::record;
use crate::core::model::graph::OpId;

/// Refusals of an analysis.
pub(super) struct Refusals {
    /// By the kernels of both ops, those of two kernels in the order of the record.
    refused: Vec<Refused>,
}

/// A policy's refusal of two ops.
struct Refused {
    /// Their kernels, the smaller number first.
    kernels: (usize, usize),
    /// The op by which the record names each of the two.
    ops: [OpId; 2],
    reason: Reason,
}

impl Refusals {
    /// Plans once more.
    pub(super) fn of(analysis: &Analysis) -> Self {
        let kernel_of = &analysis.partition.group_of;
        let decisions = record(&analysis.graph, &analysis.options).decisions;
        let mut refused = Vec::new();
        for decision in decisions {
            if let Decision::Refused { ops, reason } = decision
                && let [first, second] = ops[..]
            {
                refused.push(Refused {
                    kernels: pair(kernel_of[first], kernel_of[second]),
                    ops: [first, second],
                    reason,
                });
            }
        }
        refused.sort_by_key(|refused| refused.kernels);
        Self { refused }
    }

    /// Refusals between two kernels, in the order of the record. Logarithmic in the refusals.
    fn between(&self, a: usize, b: usize) -> &[Refused] {
        let asked = pair(a, b);
        let from = self.refused.partition_point(|of| of.kernels < asked);
        let until = self.refused.partition_point(|of| of.kernels <= asked);
        &self.refused[from..until]
    }

    /// The last refusal between two kernels: what kept them apart as they ended, where a policy tries kernels again as
    /// they grow.
    pub(super) fn last(&self, a: usize, b: usize) -> Option<&Reason> {
        self.between(a, b).last().map(|refused| &refused.reason)
    }

    /// The refusal of two ops that feed each other, where a policy tries each edge once; else the first between their
    /// kernels.
    pub(super) fn of_edge(&self, a: usize, b: usize, ops: [OpId; 2]) -> Option<&Reason> {
        let between = self.between(a, b);
        let refused = between.iter().find(|refused| refused.ops == ops);
        refused.or(between.first()).map(|refused| &refused.reason)
    }
}

fn pair(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}
