//! A change of the kernels that the visitor is about to make.

use crate::core::{KernelId, OpId};
use crate::present::manual::Proposal;

/// A change of the kernels that the visitor is about to make.
#[derive(Clone)]
pub(super) enum Plan {
    /// A merge, for which the visitor chooses a partner.
    Merge {
        /// The kernel that is merged.
        from: KernelId,
        /// The present partner, and the effect of the merge.
        with: Option<(KernelId, Proposal)>,
    },
    /// A cut before this op, with its effect. A second key confirms it.
    Cut(OpId, Proposal),
}

impl Plan {
    /// The text of the live region.
    pub(super) fn status(&self) -> String {
        match self {
            Self::Merge { from, with: None } => format!(
                "Kernel {} looks for a partner: choose it with the arrow keys or Tab. Enter merges, Escape leaves.",
                from.number()
            ),
            Self::Cut(_, proposal) if proposal.text.is_some() => {
                format!(
                    "{} Press x again to cut, Escape to leave it.",
                    proposal.words
                )
            }
            Self::Merge {
                with: Some((_, proposal)),
                ..
            }
            | Self::Cut(_, proposal) => proposal.words.clone(),
        }
    }

    /// The kernels of a merge; none for a cut.
    pub(super) fn merged_kernels(&self) -> Vec<KernelId> {
        match self {
            Self::Merge { from, with } => {
                let partner = with.as_ref().map(|(kernel, _)| *kernel);
                [Some(*from), partner].into_iter().flatten().collect()
            }
            Self::Cut(..) => Vec::new(),
        }
    }

    /// The role of a kernel in a merge.
    pub(super) fn role_of(&self, kernel: KernelId) -> Option<MergeRole> {
        match self {
            Self::Merge { from, .. } if *from == kernel => Some(MergeRole::Merging),
            Self::Merge {
                with: Some((partner, proposal)),
                ..
            } if *partner == kernel => Some(if proposal.text.is_some() {
                MergeRole::Partner
            } else {
                MergeRole::Refused
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
    /// The partner, if the merge is possible.
    Partner,
    /// The partner, if the merge is not possible.
    Refused,
}
