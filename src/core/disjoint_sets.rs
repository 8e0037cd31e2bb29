//! Union-find with path halving.

use crate::model::ids::{Id, IdVec};

/// Disjoint sets of the ids below a count. Finding and uniting are `O(log n)` amortized.
///
/// petgraph's `UnionFind` chooses the root itself; here the caller does, because callers keep data
/// for each root.
pub struct DisjointSets<I: Id> {
    /// For each id another one of its set; itself for the root.
    parent: IdVec<I, I>,
}

impl<I: Id> DisjointSets<I> {
    /// The first `count` ids, each a set of its own.
    pub fn new(count: usize) -> Self {
        Self {
            parent: (0..count).map(I::from_index).collect(),
        }
    }

    /// Adds the next id as a set of its own, and gives it.
    pub fn push(&mut self) -> I {
        self.parent.push(self.parent.next_id())
    }

    /// The id that stands for the set of this one.
    pub fn root(&mut self, mut member: I) -> I {
        while self.parent[member] != member {
            self.parent[member] = self.parent[self.parent[member]];
            member = self.parent[member];
        }
        member
    }

    /// For each id a member that stands for its set, the same for all of the set.
    pub fn roots(&mut self) -> IdVec<I, I> {
        let members = self.parent.ids();
        members.map(|member| self.root(member)).collect()
    }

    /// Unites two sets; the root is that of `kept`. Returns whether they were different sets.
    pub fn unite(&mut self, kept: I, other: I) -> bool {
        let (kept, other) = (self.root(kept), self.root(other));
        self.parent[other] = kept;
        kept != other
    }
}
