//! The fusions that a policy refused, by its final kernels.

use crate::analysis::Analysis;
use crate::fusion::decision::Decision;
use crate::fusion::decision_trace::DecisionTrace;
use crate::fusion::reason::Reason;
use crate::model::ids::{KernelId, OpId};
use std::borrow::Cow;
use std::cell::OnceCell;

/// Refusals of an analysis. The compiler's trace can hold a million.
pub(super) struct Refusals<'a> {
    trace: Cow<'a, DecisionTrace>,
    /// The kernels of each, the smaller number first, and its place in the trace. Sorted.
    by_kernels: Vec<((KernelId, KernelId), usize)>,
    /// The ops by which the trace identifies the two kernels of each, and its place. Sorted; made
    /// when first needed.
    by_ops: OnceCell<Vec<([OpId; 2], usize)>>,
}

impl<'a> Refusals<'a> {
    /// The refusals among the decisions of the policy.
    pub(super) fn of(analysis: &Analysis, trace: Cow<'a, DecisionTrace>) -> Self {
        let kernel_of = &analysis.partition.kernel_of;
        let refused = refused(&trace);
        let mut by_kernels: Vec<_> = refused
            .map(|([first, second], place)| (pair(kernel_of[first], kernel_of[second]), place))
            .collect();
        // Equal pairs stay in the order of the trace, because its index sorts last.
        by_kernels.sort_unstable();
        Self {
            trace,
            by_kernels,
            by_ops: OnceCell::new(),
        }
    }

    /// Refusals between two kernels, in the order of the trace. Logarithmic in the refusals.
    fn between(&self, a: KernelId, b: KernelId) -> &[((KernelId, KernelId), usize)] {
        let asked = pair(a, b);
        let from = self.by_kernels.partition_point(|of| of.0 < asked);
        let until = self.by_kernels.partition_point(|of| of.0 <= asked);
        self.by_kernels.get(from..until).unwrap_or_default()
    }

    /// Whether any refusal is between two kernels.
    pub(super) fn has_any(&self, a: KernelId, b: KernelId) -> bool {
        !self.between(a, b).is_empty()
    }

    /// The last refusal between two kernels, for a policy that tries kernels again as they grow.
    pub(super) fn last(&self, a: KernelId, b: KernelId) -> Option<&Reason> {
        let &(_, place) = self.between(a, b).last()?;
        self.reason(place)
    }

    /// The refusal of this edge, for a policy that tries each edge once; otherwise the first
    /// between its kernels.
    pub(super) fn of_edge(&self, a: KernelId, b: KernelId, ops: [OpId; 2]) -> Option<&Reason> {
        let by_ops = self.by_ops.get_or_init(|| {
            let mut by_ops: Vec<_> = refused(&self.trace).collect();
            by_ops.sort_unstable();
            by_ops
        });
        let start = by_ops.partition_point(|refused| refused.0 < ops);
        let refused = by_ops.get(start).filter(|refused| refused.0 == ops);
        let first = || self.between(a, b).first().map(|&(_, place)| place);
        let place = refused.map(|&(_, place)| place).or_else(first)?;
        self.reason(place)
    }

    fn reason(&self, place: usize) -> Option<&Reason> {
        match self.trace.decisions.get(place) {
            Some(Decision::Refused { reason, .. }) => Some(reason),
            _ => None,
        }
    }
}

/// The two ops of each refusal, and its place in the trace.
fn refused(trace: &DecisionTrace) -> impl Iterator<Item = ([OpId; 2], usize)> {
    let decisions = trace.decisions.iter().enumerate();
    decisions.filter_map(|(place, decision)| match decision {
        Decision::Refused { ops, .. } => Some(((&ops[..]).try_into().ok()?, place)),
        _ => None,
    })
}

fn pair(a: KernelId, b: KernelId) -> (KernelId, KernelId) {
    (a.min(b), a.max(b))
}
