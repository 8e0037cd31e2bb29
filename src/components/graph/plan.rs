//! A change of the kernels that the visitor is about to make.

use fuseline_core::{KernelId, OpId};
use fuseline_view::picture::dag::focus::FocusTarget;
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
    /// A merge of two ops in the unfused view. It starts from the unfused kernels, which are shown
    /// once it is made.
    MergeUnfused {
        /// The op that is dragged.
        from: OpId,
        /// The op below the pointer.
        with: Option<OpId>,
    },
    /// A cut before an op. A second key confirms it.
    Cut {
        before: OpId,
        /// A producer of it in its kernel; without one there is nothing to cut.
        producer: Option<OpId>,
    },
}

/// A merge of ops that the unfused view shows, until the graph has the boxes of the unfused
/// kernels.
#[derive(Clone, Copy)]
pub(super) struct AwaitedMerge {
    pub(super) from: OpId,
    /// The partner; `None` while the visitor chooses it by keys.
    pub(super) with: Option<OpId>,
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
            Self::MergeUnfused { .. } => None,
        }
    }

    /// The text of the live region. `proposal` is the effect of the change, once it is known.
    pub(super) fn status(self, proposal: Option<&Proposal>) -> String {
        match (self, proposal) {
            (Self::Merge { from, with: None }, _) => format!(
                "Kernel {} looks for a partner: choose it with the arrow keys or Tab. Enter merges, Escape leaves.",
                from.number()
            ),
            (Self::MergeUnfused { with: None, .. }, _) => {
                "Drop it on another operation to merge both by hand.".to_owned()
            }
            (Self::MergeUnfused { .. }, _) => {
                "Drop it here to merge both by hand. All other operations stay unfused.".to_owned()
            }
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

    /// What is merged, and its present partner; neither for a cut.
    pub(super) fn merged(self) -> [Option<FocusTarget>; 2] {
        match self {
            Self::Merge { from, with } => [Some(from), with].map(|id| id.map(FocusTarget::Kernel)),
            Self::MergeUnfused { from, with } => {
                [Some(from), with].map(|id| id.map(FocusTarget::Op))
            }
            Self::Cut { .. } => [None; 2],
        }
    }

    /// The role of a kernel or an op in a merge. `is_possible` says whether the merge is possible,
    /// once that is known.
    pub(super) fn role_of(
        self,
        target: FocusTarget,
        is_possible: impl FnOnce() -> Option<bool>,
    ) -> Option<MergeRole> {
        let [from, with] = self.merged();
        if from == Some(target) {
            Some(MergeRole::Merging)
        } else if with == Some(target) {
            Some(match is_possible() {
                Some(false) => MergeRole::Refused,
                _ => MergeRole::Partner,
            })
        } else {
            None
        }
    }
}

/// The role of a kernel or an op in a planned merge.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeRole {
    Merging,
    /// The partner, unless the merge is not possible.
    Partner,
    /// The partner, if the merge is not possible.
    Refused,
}
