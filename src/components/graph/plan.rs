//! A change of the kernels that the visitor is about to make.

use fuseline_core::{KernelId, OpId};
use fuseline_view::present::manual::{Change, Proposal};

/// A change of the kernels that the visitor is about to make.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Plan {
    /// A merge, for which the visitor chooses a partner.
    Merge {
        /// The kernel that is merged.
        from: KernelId,
        /// The present partner.
        with: Option<KernelId>,
    },
    /// A cut before an op. A second key confirms it.
    Cut {
        /// The op.
        before: OpId,
        /// A producer of it in its kernel; without one there is nothing to cut.
        producer: Option<OpId>,
    },
}

impl Plan {
    /// The change, if it is chosen in full.
    pub(super) fn change(self) -> Option<Change> {
        match self {
            Self::Merge { from, with } => Some(Change::Merge(from, with?)),
            Self::Cut { before, producer } => Some(Change::Cut {
                producer: producer?,
                consumer: before,
            }),
        }
    }

    /// The text of the live region. `proposal` is the effect of the change, once it is known.
    pub(super) fn status(self, proposal: Option<&Proposal>) -> String {
        match (self, proposal) {
            (Self::Merge { from, with: None }, _) => format!(
                "Kernel {} looks for a partner: choose it with the arrow keys or Tab. Enter merges, Escape leaves.",
                from.number()
            ),
            (Self::Cut { producer: None, .. }, _) => {
                "Nothing comes before it in its kernel, so there is nothing to cut.".to_owned()
            }
            (_, None) => "The effect is still being computed.".to_owned(),
            (Self::Cut { .. }, Some(proposal)) if proposal.text.is_some() => {
                format!(
                    "{} Press x again to cut, Escape to leave it.",
                    proposal.words
                )
            }
            (_, Some(proposal)) => proposal.words.clone(),
        }
    }

    /// The kernels of a merge; none for a cut.
    pub(super) fn merged_kernels(self) -> Vec<KernelId> {
        match self {
            Self::Merge { from, with } => [Some(from), with].into_iter().flatten().collect(),
            Self::Cut { .. } => Vec::new(),
        }
    }

    /// The role of a kernel in a merge. `is_possible` tells whether the change is, once that is known.
    pub(super) fn role_of(
        self,
        kernel: KernelId,
        is_possible: impl FnOnce() -> Option<bool>,
    ) -> Option<MergeRole> {
        match self {
            Self::Merge { from, .. } if from == kernel => Some(MergeRole::Merging),
            Self::Merge { with, .. } if with == Some(kernel) => Some(match is_possible() {
                Some(false) => MergeRole::Refused,
                _ => MergeRole::Partner,
            }),
            _ => None,
        }
    }
}

/// The role of a kernel in a planned merge.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeRole {
    /// The kernel that is merged.
    Merging,
    /// The partner, unless the merge is not possible.
    Partner,
    /// The partner, if the merge is not possible.
    Refused,
}
