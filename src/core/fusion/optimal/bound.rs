//! What the ops that have not run yet must cost at least, however they are grouped.
#![allow(
    clippy::indexing_slicing,
    reason = "places of ops are below the number of ops of the region"
)]

use crate::core::cost::roofline::times;
use crate::core::fusion::legality::check_set;
use crate::core::fusion::region::{Bits, Cost, Region, Set};
use crate::core::model::work::Work;

/// A consistent lower bound: running a kernel never lowers it by more than the kernel costs.
pub(super) struct Bound<'r, 'a> {
    region: &'r Region<'a>,
    ticks_per_s: f64,
    /// Ops whose outputs no legal kernel keeps on chip.
    written: Set,
    /// For each read of the region the readers that no legal kernel holds together with the maker.
    apart: Vec<Set>,
    /// For each op its arithmetic alone: on matrix units, on vector units.
    busy_s: Vec<(f64, f64)>,
}

impl<'r, 'a> Bound<'r, 'a> {
    pub(super) fn new(region: &'r Region<'a>, ticks_per_s: f64) -> Self {
        let apart_from: Vec<Set> = (0..region.ops.len())
            .map(|place| {
                let readers = Bits(region.needed_by[place]);
                readers
                    .filter(|&reader| !may_share(region, place, reader))
                    .fold(0, |apart, reader| apart | 1 << reader)
            })
            .collect();
        let written = (0..region.ops.len())
            .filter(|&place| region.leaving >> place & 1 == 1 || apart_from[place] != 0)
            .fold(0, |written, place| written | 1 << place);
        let apart = region
            .reads
            .iter()
            .map(|read| match Bits(read.base).next() {
                Some(base) => read.readers & apart_from[base],
                None => 0,
            });
        let device = &region.context.options.device;
        let busy_s = region.work.iter().map(|&work| {
            let alone = times(device, work, 0);
            (alone.matrix_s, alone.vector_s)
        });
        Self {
            apart: apart.collect(),
            busy_s: busy_s.collect(),
            region,
            ticks_per_s,
            written,
        }
    }

    /// The least that `left` costs once all other ops of the region have run.
    ///
    /// Each tensor that has to move moves once, all arithmetic has to be done, and each matmul is a launch.
    pub(super) fn of(&self, left: Set) -> Cost {
        let region = self.region;
        let device = &region.context.options.device;
        let launches = (left & region.matmuls)
            .count_ones()
            .max(u32::from(!region.is_free(left)));
        let bytes = self.bytes(left);
        let (matrix_s, vector_s) = Bits(left).fold((0.0, 0.0), |sum: (f64, f64), op| {
            (sum.0 + self.busy_s[op].0, sum.1 + self.busy_s[op].1)
        });
        let memory_s = times(device, Work::default(), bytes).memory_s;
        let busy_s = memory_s.max(matrix_s).max(vector_s);
        let time_s = busy_s + f64::from(launches) * device.launch_s.value;
        Cost::at_least(region.context, bytes, time_s, self.ticks_per_s, launches)
    }

    fn bytes(&self, left: Set) -> u64 {
        let region = self.region;
        let written: u64 = Bits(left & self.written)
            .map(|place| region.written_bytes[place])
            .sum();
        let mut counted = usize::MAX;
        let mut read = 0;
        for (entry, &apart) in region.reads.iter().zip(&self.apart) {
            // What is not made yet can stay on chip, but for readers that share no kernel with its maker.
            let readers = if entry.base & left == 0 {
                entry.readers
            } else {
                apart
            };
            if readers & left != 0 && entry.value != counted {
                counted = entry.value;
                read += entry.bytes;
            }
        }
        written + read
    }
}

/// Whether some legal kernel may hold both ops, of which the first comes before the second.
pub(super) fn may_share(region: &Region<'_>, first: usize, second: usize) -> bool {
    let both = region.closed(1 << first | 1 << second);
    match check_set(region, both) {
        Ok(()) => true,
        Err(reason) => !reason.is_lasting(),
    }
}
