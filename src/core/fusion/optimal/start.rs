//! The start of the search: kernels of other policies, as far as they are legal.

use super::search::FoundKernels;
use crate::fusion::decision::Log;
use crate::fusion::pieces::{is_kernel, split_into_pieces};
use crate::fusion::region::{Bits, Clock, LocalOp, Region, RegionContext, Set};
use crate::fusion::{inductor, manual, rules};
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::partition::Partition;

/// The partitions of other policies, from which the search for the optimum starts.
pub(super) fn partitions_of_policies(context: &RegionContext<'_>) -> [Partition; 3] {
    let mut unread = Log::default();
    [
        rules::partition(context.graph, &mut unread),
        inductor::partition(context.graph, context.options, &mut unread),
        manual::partition(context, &mut unread).0,
    ]
}

/// The kernels of a partition inside the region; an illegal one is split into legal pieces.
pub(super) fn from_partition(
    region: &Region<'_>,
    kernel_of: &IdVec<OpId, KernelId>,
    clock: Clock,
) -> FoundKernels {
    let kernel = |place: LocalOp| kernel_of[region.ops[place]];
    let mut kernels = Vec::new();
    let mut left = region.all();
    while let Some(first) = Bits(left).next() {
        let kernel_ops = Bits(left)
            .filter(|&place| kernel(place) == kernel(first))
            .fold(0, |set, place| set | place.bit());
        left &= !kernel_ops;
        if is_kernel(region, kernel_ops) {
            kernels.push(kernel_ops);
        } else {
            split_into_pieces(region, kernel_ops, &mut kernels);
        }
    }
    // Convex kernels can depend on each other. Those that do, and those that wait for them, become
    // single ops, which ascend in execution order.
    let (kernels, stuck) = in_order(region, kernels);
    let singles = Bits(stuck).map(LocalOp::bit);
    let kernels: Vec<Set> = kernels.into_iter().chain(singles).collect();
    FoundKernels::of(region, kernels, clock)
}

/// The kernels in an order in which they can run, and the ops of those that form a cycle.
pub(super) fn in_order(region: &Region<'_>, mut kernels: Vec<Set>) -> (Vec<Set>, Set) {
    let mut ordered = Vec::with_capacity(kernels.len());
    let mut done = 0;
    loop {
        let waiting = kernels.len();
        kernels.retain(|&set| {
            let can_run = region.needs(set) & !done == 0;
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
