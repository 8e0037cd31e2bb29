//! Splits an illegal group into legal pieces.

use super::legality::check_set;
use super::region::{Bits, Region, Set};
use crate::model::ids::{IdVec, KernelId, OpId};

/// Whether the set is legal, and convex in the region.
pub(super) fn is_kernel(region: &Region<'_>, set: Set) -> bool {
    region.closed(set) == set && check_set(region, set).is_ok()
}

/// Appends the pieces of a set: in execution order, each op joins the latest piece that stays a
/// kernel with it.
pub(super) fn split_into_pieces(region: &Region<'_>, set: Set, pieces: &mut Vec<Set>) {
    let first = pieces.len();
    for place in Bits(set) {
        let bit = place.bit();
        let takes = |piece: &&mut Set| is_kernel(region, **piece | bit);
        let own = pieces.get_mut(first..).unwrap_or(&mut []);
        match own.iter_mut().rev().find(takes) {
            Some(piece) => *piece |= bit,
            None => pieces.push(bit),
        }
    }
}

/// Makes these ops one kernel, identified by the first of them.
pub(super) fn join(kernel_of: &mut IdVec<OpId, KernelId>, ops: &[OpId]) {
    if let Some(&first) = ops.first() {
        for &op in ops {
            kernel_of[op] = KernelId::of_lone_op(first);
        }
    }
}
