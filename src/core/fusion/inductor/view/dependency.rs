//! The dependency that the scheduler compares: an index in the loops of a node, which are in an
//! order of the compiler's choice.
//!
//! Source: `MemoryDep` in `torch/_inductor/dependencies.py`, `pick_loop_order` in
//! `torch/_inductor/scheduler.py`.

use super::{Digit, View, moves};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// An index in ordered loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::fusion::inductor) struct Dependency {
    /// A hash of the index and of the loops down to the last one that moves it.
    pub(in crate::fusion::inductor) exact: u64,
    /// The same where neighbouring loops that count on are one loop.
    pub(in crate::fusion::inductor) merged: u64,
    /// How many loops there are down to the last one that moves the index.
    pub(in crate::fusion::inductor) loops: usize,
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Dependency {
    /// An index that is only known to equal itself.
    pub(in crate::fusion::inductor) fn opaque(index: u64, loops: usize) -> Self {
        Self {
            exact: index,
            merged: index,
            loops,
        }
    }

    /// An index that no digits describe, in loops nested in this order.
    pub(in crate::fusion::inductor) fn nested(self, order: &[usize]) -> Self {
        if order.is_sorted() {
            self
        } else {
            Self::opaque(hash((self.exact, order)), self.loops)
        }
    }

    /// The index in these loops, each with how far a step of it moves, beginning at 0.
    pub(in crate::fusion::inductor) fn of_loops(loops: &[(u64, u64)]) -> Self {
        let sizes: Vec<u64> = loops.iter().map(|&(size, _)| size).collect();
        let order: Vec<usize> = (0..loops.len()).collect();
        View::of_loops(loops.iter().copied()).dependency(&sizes, &order)
    }
}

impl View {
    /// How far a step of each dimension of a shape moves, beginning at the first element.
    pub(in crate::fusion::inductor) fn steps(&self, shape: &[u64]) -> Vec<u64> {
        let mut reach = 1_u64;
        let steps = shape.iter().rev().map(|&size| {
            let start = reach;
            reach = reach.saturating_mul(size);
            if size > 1 {
                self.at(start, 0).unwrap_or(0)
            } else {
                0
            }
        });
        let mut steps: Vec<u64> = steps.collect();
        steps.reverse();
        steps
    }

    /// The index in a loop over a shape whose dimensions are nested in this order.
    pub(in crate::fusion::inductor) fn dependency(
        &self,
        shape: &[u64],
        order: &[usize],
    ) -> Dependency {
        let Some(dimensions) = self.by_dimension(shape) else {
            let index = hash((self, shape, order));
            return Dependency::opaque(index, order.len());
        };
        let ordered = order.iter().filter_map(|&dimension| {
            let (size, digits) = (shape.get(dimension)?, dimensions.get(dimension)?);
            Some((*size, &digits[..]))
        });
        let mut ordered: Vec<(u64, &[Digit])> = ordered.collect();
        while ordered.pop_if(|(_, digits)| !moves(digits)).is_some() {}
        let digits: Vec<Digit> = ordered
            .iter()
            .flat_map(|&(_, digits)| digits)
            .copied()
            .collect();
        Dependency {
            exact: hash((&ordered, self.offset, &self.closed)),
            merged: hash((Self::of(digits).digits, self.offset, &self.closed)),
            loops: ordered.len(),
        }
    }
}

/// The order in which these dimensions are nested, the outermost first, by the steps of all indices
/// along each dimension and how often each index is used.
pub(in crate::fusion::inductor) fn loop_order(
    dimensions: &[usize],
    steps: &[(Vec<u64>, u32)],
) -> Vec<usize> {
    let step = |of: &[u64], dimension: usize| of.get(dimension).copied().unwrap_or(0);
    let is_inner = |a: usize, b: usize| {
        let first = |a: usize, b: usize| {
            let firsts = steps.iter().filter(|(of, _)| {
                let (a, b) = (step(of, a), step(of, b));
                b == 0 || a < b
            });
            firsts.fold(0_u32, |sum, &(_, loads)| sum.saturating_add(loads))
        };
        match first(a, b).cmp(&first(b, a)) {
            std::cmp::Ordering::Equal => a > b,
            order => order.is_gt(),
        }
    };
    // The comparison is no total order, so the way of sorting counts: by insertion, as for lists
    // of fewer than 64 items there.
    let mut order: Vec<usize> = Vec::with_capacity(dimensions.len());
    for &dimension in dimensions.iter().rev() {
        let place = order.partition_point(|&other| !is_inner(dimension, other));
        order.insert(place, dimension);
    }
    order.reverse();
    order
}
