//! A lower bound on the cost of the ops that have not run yet, however they are grouped.

use crate::cost::roofline::Times;
use crate::fusion::legality::check_set;
use crate::fusion::region::{Bits, Clock, Cost, LocalOp, Region, Set};
use crate::model::ids::IdVec;

/// A consistent lower bound: running a kernel never lowers it by more than the kernel costs.
pub(super) struct Bound<'r, 'a> {
    region: &'r Region<'a>,
    clock: Clock,
    /// Ops whose outputs no legal kernel keeps on chip.
    written: Set,
    /// For each read of the region the readers that cannot share a legal kernel with the producer.
    unfusable: Vec<Set>,
}

impl<'r, 'a> Bound<'r, 'a> {
    pub(super) fn new(region: &'r Region<'a>, clock: Clock) -> Self {
        let unfusable_with: IdVec<LocalOp, Set> = (region.ops.ids())
            .map(|place| {
                let readers = Bits(region.needed_by[place]);
                readers
                    .filter(|&reader| !may_share(region, place, reader))
                    .fold(0, |unfusable, reader| unfusable | reader.bit())
            })
            .collect();
        let written = (region.ops.ids())
            .filter(|&place| region.leaving & place.bit() != 0 || unfusable_with[place] != 0)
            .fold(0, |written, place| written | place.bit());
        let unfusable = region
            .reads
            .iter()
            .map(|read| match Bits(read.base).next() {
                Some(base) => read.readers & unfusable_with[base],
                None => 0,
            });
        Self {
            unfusable: unfusable.collect(),
            region,
            clock,
            written,
        }
    }

    /// A lower bound on the cost of `left` after all other ops of the region have run.
    ///
    /// Each tensor that must go through memory counts once, all FLOPs count, and each matmul is a
    /// launch.
    pub(super) fn of(&self, left: Set) -> Cost {
        let region = self.region;
        // No legal kernel has two matmuls, so each of them is a launch of its own.
        let launches = (left & region.matmuls)
            .count_ones()
            .max(u32::from(!region.is_free(left)));
        let bytes = self.bytes(left);
        let alone = region.busy();
        let busy = Bits(left).fold(Times::default(), |sum, op| sum.and(alone[op]));
        Cost::at_least(region.context.options, self.clock, bytes, busy, launches)
    }

    fn bytes(&self, left: Set) -> u64 {
        let region = self.region;
        let written: u64 = Bits(left & self.written)
            .map(|place| region.written_bytes[place])
            .sum();
        let reads = region.reads.iter().zip(&self.unfusable);
        let remaining = reads.filter(|&(read, &unfusable)| {
            // A value that is not computed yet can stay on chip, except for readers that cannot
            // share a kernel with its producer.
            let readers = if read.base & left == 0 {
                read.readers
            } else {
                unfusable
            };
            readers & left != 0
        });
        written + region.context.bytes(remaining.map(|(read, _)| read))
    }
}

/// Whether a legal kernel can contain both ops; the first precedes the second.
pub(super) fn may_share(region: &Region<'_>, first: LocalOp, second: LocalOp) -> bool {
    // Every convex kernel with both ops contains this set, so a lasting reason against it is a
    // reason against all of them.
    let both = region.closed(first.bit() | second.bit());
    match check_set(region, both) {
        Ok(()) => true,
        Err(reason) => !reason.is_lasting(),
    }
}
