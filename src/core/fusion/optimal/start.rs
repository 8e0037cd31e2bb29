//! Where the search starts: kernels that another policy found, as far as they are legal.
#![allow(
    clippy::indexing_slicing,
    reason = "op ids are dense indices of the graph, places of the region"
)]

use super::search::Found;
use crate::core::fusion::pieces::{is_kernel, take_apart};
use crate::core::fusion::region::{Bits, Region, Set};

/// The kernels of a partition inside the region; one that is not legal falls apart into legal pieces.
pub(super) fn from_partition(region: &Region<'_>, group_of: &[usize], ticks_per_s: f64) -> Found {
    let mut kernels = Vec::new();
    let mut left = region.all();
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        let group = group_of[region.ops[first]];
        let together = Bits(left)
            .filter(|&place| group_of[region.ops[place]] == group)
            .fold(0, |set, place| set | 1 << place);
        left &= !together;
        if is_kernel(region, together) {
            kernels.push(together);
        } else {
            take_apart(region, together, &mut kernels);
        }
    }
    let (kernels, stuck) = in_order(region, kernels);
    let singles = Bits(stuck).map(|place| 1 << place);
    let kernels: Vec<Set> = kernels.into_iter().chain(singles).collect();
    Found::of(region, kernels, ticks_per_s)
}

/// The kernels in an order in which they can run, and the ops of those that need each other.
pub(super) fn in_order(region: &Region<'_>, mut kernels: Vec<Set>) -> (Vec<Set>, Set) {
    let mut ordered = Vec::with_capacity(kernels.len());
    let mut done = 0;
    loop {
        let waiting = kernels.len();
        kernels.retain(|&set| {
            let needs = Bits(set).fold(0, |needs, place| needs | region.prev[place]) & !set;
            let can_run = needs & !done == 0;
            if can_run {
                done |= set;
                ordered.push(set);
            }
            !can_run
        });
        if kernels.len() == waiting {
            let stuck = kernels.iter().fold(0, |stuck, set| stuck | set);
            return (ordered, stuck);
        }
    }
}
