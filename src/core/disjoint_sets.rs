//! Sets of numbers that only grow together: union-find with path halving.
#![allow(
    clippy::indexing_slicing,
    reason = "parents and members are numbers below parent.len()"
)]

/// Disjoint sets of the numbers from 0 on. Finding and uniting are `O(log n)` amortized.
///
/// petgraph's `UnionFind` chooses itself which root stays; here the caller does, who keeps data beside it.
pub(super) struct DisjointSets {
    /// For each number another one of its set; itself for the root.
    parent: Vec<usize>,
}

impl DisjointSets {
    /// The numbers below `count`, each a set of its own.
    pub(super) fn new(count: usize) -> Self {
        Self {
            parent: (0..count).collect(),
        }
    }

    /// Adds the next number as a set of its own, and gives it.
    pub(super) fn push(&mut self) -> usize {
        let next = self.parent.len();
        self.parent.push(next);
        next
    }

    /// How many numbers there are.
    pub(super) const fn len(&self) -> usize {
        self.parent.len()
    }

    /// The number that stands for the set of this one.
    pub(super) fn root(&mut self, mut member: usize) -> usize {
        while self.parent[member] != member {
            self.parent[member] = self.parent[self.parent[member]];
            member = self.parent[member];
        }
        member
    }

    /// For each number the root of its set.
    pub(super) fn roots(&mut self) -> Vec<usize> {
        (0..self.len()).map(|member| self.root(member)).collect()
    }

    /// Makes the sets of both one whose root is that of `kept`; whether they were two.
    pub(super) fn unite(&mut self, kept: usize, other: usize) -> bool {
        let (kept, other) = (self.root(kept), self.root(other));
        self.parent[other] = kept;
        kept != other
    }
}

#[cfg(test)]
mod tests {
    use super::DisjointSets;
    use proptest::prelude::*;

    #[test]
    fn the_kept_root_stays() {
        let mut sets = DisjointSets::new(4);
        assert!(sets.unite(2, 0));
        assert!(sets.unite(3, 0));
        assert!(!sets.unite(0, 2));
        assert_eq!(sets.push(), 4);
        assert_eq!(sets.roots(), [3, 1, 3, 3, 4]);
    }

    proptest! {
        /// Against a list in which every member knows its set.
        #[test]
        fn sets_are_those_of_a_plain_list(pairs in proptest::collection::vec((0..20_usize, 0..20_usize), 0..40)) {
            let mut sets = DisjointSets::new(20);
            let mut plain: Vec<usize> = (0..20).collect();
            for (kept, other) in pairs {
                let (stays, goes) = (plain[kept], plain[other]);
                prop_assert_eq!(sets.unite(kept, other), stays != goes);
                for set in plain.iter_mut().filter(|set| **set == goes) {
                    *set = stays;
                }
            }
            prop_assert_eq!(sets.roots(), plain);
        }
    }
}
