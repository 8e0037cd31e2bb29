//! Union-find with path halving.

use crate::model::ids::{Id, IdVec};

/// Disjoint sets of the ids below a count. Finding and uniting are `O(log n)` amortized.
///
/// petgraph's `UnionFind` chooses the root itself; here the caller does, because callers keep data for each
/// root.
pub(super) struct DisjointSets<I: Id> {
    /// For each id another one of its set; itself for the root.
    parent: IdVec<I, I>,
}

impl<I: Id> DisjointSets<I> {
    /// The first `count` ids, each a set of its own.
    pub(super) fn new(count: usize) -> Self {
        Self {
            parent: (0..count).map(I::from_index).collect(),
        }
    }

    /// Adds the next id as a set of its own, and gives it.
    pub(super) fn push(&mut self) -> I {
        self.parent.push(self.parent.next_id())
    }

    /// The id that stands for the set of this one.
    pub(super) fn root(&mut self, mut member: I) -> I {
        while self.parent[member] != member {
            self.parent[member] = self.parent[self.parent[member]];
            member = self.parent[member];
        }
        member
    }

    /// For each id the root of its set.
    pub(super) fn roots(&mut self) -> IdVec<I, I> {
        let members = self.parent.ids();
        members.map(|member| self.root(member)).collect()
    }

    /// Unites two sets; the root is that of `kept`. Returns whether they were different sets.
    pub(super) fn unite(&mut self, kept: I, other: I) -> bool {
        let (kept, other) = (self.root(kept), self.root(other));
        self.parent[other] = kept;
        kept != other
    }
}

#[cfg(test)]
mod tests {
    use super::DisjointSets;
    use crate::OpId;
    use proptest::prelude::*;

    /// The roots of all members, as plain numbers.
    fn roots(sets: &mut DisjointSets<OpId>) -> Vec<usize> {
        sets.roots().iter().map(|root| root.index()).collect()
    }

    #[test]
    fn the_kept_root_stays() {
        let [a, b, c] = [0, 2, 3].map(OpId::new);
        let mut sets = DisjointSets::new(4);
        assert!(sets.unite(b, a));
        assert!(sets.unite(c, a));
        assert!(!sets.unite(a, b));
        assert_eq!(sets.push(), OpId::new(4));
        assert_eq!(roots(&mut sets), [3, 1, 3, 3, 4]);
    }

    proptest! {
        /// Against a list in which every member knows its set.
        #[test]
        fn sets_are_those_of_a_plain_list(pairs in proptest::collection::vec((0..20_usize, 0..20_usize), 0..40)) {
            let mut sets = DisjointSets::new(20);
            let mut plain: Vec<usize> = (0..20).collect();
            for (kept, other) in pairs {
                let (stays, goes) = (plain[kept], plain[other]);
                prop_assert_eq!(sets.unite(OpId::new(kept), OpId::new(other)), stays != goes);
                for set in plain.iter_mut().filter(|set| **set == goes) {
                    *set = stays;
                }
            }
            prop_assert_eq!(roots(&mut sets), plain);
        }
    }
}
