//! What identifies an access of a buffer: its elements, and the loops on which it depends.

use super::{Digit, View};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The elements of a buffer that are accessed, whatever the order of the loops. Equal accesses can
/// share a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::fusion::inductor) enum AccessedElements {
    /// A set of elements, by a hash.
    Of(u64),
    /// Through an index that is no sum of loop variables: a division, a gather, a border.
    Unknown,
}

/// The loops on which an access depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::fusion::inductor) struct Loops {
    pub(in crate::fusion::inductor) count: usize,
    /// A hash of their sizes and strides, in any order: only loops that move alike are brought into
    /// another order.
    moved: u64,
}

impl Loops {
    /// For each loop the digits by which it moves.
    pub(super) fn of(mut loops: Vec<Vec<Digit>>) -> Self {
        loops.sort_unstable();
        let mut hasher = FxHasher::default();
        loops.hash(&mut hasher);
        Self {
            count: loops.len(),
            moved: hasher.finish(),
        }
    }
}

impl AccessedElements {
    /// The access by an index that no digits describe, in loops of these sizes.
    pub(in crate::fusion::inductor) fn hidden(index: u64, shape: &[u64]) -> Self {
        let mut hasher = FxHasher::default();
        index.hash(&mut hasher);
        let sizes = shape.iter().filter(|&&size| size != 1);
        sizes.for_each(|size| size.hash(&mut hasher));
        Self::Of(hasher.finish())
    }

    /// This access; if it is unknown, that by an index which is divided in a loop over this shape.
    /// A division is an index, too, which equals the same division in the same loops, however
    /// those are cut that count on without one.
    pub(in crate::fusion::inductor) fn or_divided(self, view: &View, shape: &[u64]) -> Self {
        if self != Self::Unknown {
            return self;
        }
        let mut hasher = FxHasher::default();
        match view.merged_loops(shape) {
            Some(loops) => (loops, view.offset, &view.closed).hash(&mut hasher),
            None => (view, shape).hash(&mut hasher),
        }
        Self::Of(hasher.finish())
    }

    /// The access of a buffer that is read in this many pieces, each by another row of a loop.
    pub(in crate::fusion::inductor) fn in_pieces(self, pieces: u64) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Of(hash) => {
                let mut hasher = FxHasher::default();
                (hash, pieces).hash(&mut hasher);
                Self::Of(hasher.finish())
            }
        }
    }
}

impl AccessedElements {
    /// A number for the elements; 0 where no index says which.
    pub(in crate::fusion::inductor) const fn number(self) -> u64 {
        match self {
            Self::Of(hash) => hash,
            Self::Unknown => 0,
        }
    }
}
