//! What a kernel of some ops of a region moves, takes and costs.

use super::{Bits, LocalOp, Region, Set, Setting};
use crate::core::cost::roofline::place;
use crate::core::model::options::Objective;
use crate::core::model::work::Work;

/// What a kernel costs, so that costs add up without rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::core::fusion) struct Cost {
    /// Bytes, or time in parts of the unfused program's.
    pub(in crate::core::fusion) main: u64,
    /// Decides among equals: first the number of kernels, then the ops that run beside a matmul, for light
    /// work is better off in a kernel that waits for memory.
    pub(in crate::core::fusion) ties: u64,
}

impl Cost {
    /// A bound for kernels that move these bytes and take this time: rounded down, and a little below, so that
    /// a rounding error of sums does not lift it above the truth.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and times are not negative"
    )]
    pub(in crate::core::fusion) fn at_least(
        setting: &Setting<'_>,
        bytes: u64,
        time_s: f64,
        ticks_per_s: f64,
        kernels: u32,
    ) -> Self {
        const BELOW: f64 = 1.0 - 1e-12;
        Self {
            main: match setting.options.fusion.objective {
                Objective::Bytes => bytes,
                Objective::Time => (time_s * BELOW * ticks_per_s) as u64,
            },
            ties: u64::from(kernels) << 32,
        }
    }

    pub(in crate::core::fusion) fn plus(self, other: Self) -> Self {
        Self {
            main: self.main.saturating_add(other.main),
            ties: self.ties.saturating_add(other.ties),
        }
    }
}

impl Region<'_> {
    /// Bytes that these ops read together of values whose bytes no op of `made` makes; a value counts once, as
    /// large as its largest reader takes it.
    pub(in crate::core::fusion) fn read_bytes(&self, set: Set, made: Set) -> u64 {
        let mut counted = None;
        let mut bytes = 0;
        for read in &self.reads {
            if read.readers & set != 0 && counted != Some(read.value) && read.base & made == 0 {
                counted = Some(read.value);
                bytes += read.bytes;
            }
        }
        bytes
    }

    /// Whether the output of an op leaves a kernel of these ops.
    pub(in crate::core::fusion) fn is_written(&self, place: LocalOp, set: Set) -> bool {
        self.leaving & place.bit() != 0 || self.needed_by[place] & !set != 0
    }

    /// Bytes that a kernel of these ops moves, by the contract.
    pub(in crate::core::fusion) fn bytes(&self, set: Set) -> u64 {
        let written: u64 = Bits(set)
            .filter(|&place| self.is_written(place, set))
            .map(|place| self.written_bytes[place])
            .sum();
        self.read_bytes(set, set) + written
    }

    /// Predicted time of a kernel of these ops.
    pub(in crate::core::fusion) fn time_s(&self, set: Set) -> f64 {
        let work = Bits(set).fold(Work::default(), |sum, op| sum.and(self.work[op]));
        let device = &self.setting.options.device;
        place(device, work, self.bytes(set), self.is_free(set)).time_s
    }

    /// Views only: nobody launches it.
    pub(in crate::core::fusion) fn is_free(&self, set: Set) -> bool {
        set & !self.views == 0
    }

    /// What a kernel of these ops costs; `ticks_per_s` are the units of time, rounded up so that no sum falls
    /// below a bound.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and times are not negative"
    )]
    pub(in crate::core::fusion) fn cost(&self, set: Set, ticks_per_s: f64) -> Cost {
        let beside_matmul = if set & self.matmuls == 0 {
            0
        } else {
            set.count_ones() - 1
        };
        Cost {
            main: match self.setting.options.fusion.objective {
                Objective::Bytes => self.bytes(set),
                Objective::Time => (self.time_s(set) * ticks_per_s).ceil() as u64,
            },
            ties: u64::from(!self.is_free(set)) << 32 | u64::from(beside_matmul),
        }
    }
}
