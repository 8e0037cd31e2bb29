//! What the compiler refused, by the kernels that it ended with.

use crate::core::analysis::Analysis;
use crate::core::fusion::record::{Decision, Refusal, record};
use crate::core::model::ids::KernelId;

/// Refusals of an analysis.
pub(super) struct Refusals {
    /// Two kernels, the smaller number first, and why they stay apart; those of a pair in the order of the record.
    of_pair: Vec<((KernelId, KernelId), Refusal)>,
}

impl Refusals {
    /// Plans once more.
    pub(super) fn of(analysis: &Analysis) -> Self {
        let kernel_of = &analysis.partition.kernel_of;
        let decisions = record(&analysis.graph, &analysis.options).decisions;
        let mut of_pair = Vec::new();
        for decision in decisions {
            if let Decision::Refused { ops, refusal } = decision
                && let [first, second] = ops[..]
            {
                of_pair.push((pair(kernel_of[first], kernel_of[second]), refusal));
            }
        }
        of_pair.sort_by_key(|&(pair, _)| pair);
        Self { of_pair }
    }

    /// The last refusal of a pair: what kept apart the kernels as they ended. Logarithmic in the refusals.
    pub(super) fn last(&self, a: KernelId, b: KernelId) -> Option<&Refusal> {
        let asked = pair(a, b);
        let until = self.of_pair.partition_point(|&(of, _)| of <= asked);
        let (of, refusal) = self.of_pair.get(until.checked_sub(1)?)?;
        (*of == asked).then_some(refusal)
    }
}

fn pair(a: KernelId, b: KernelId) -> (KernelId, KernelId) {
    (a.min(b), a.max(b))
}
