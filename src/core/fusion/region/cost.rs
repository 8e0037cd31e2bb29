//! Bytes, time and cost of a kernel of some ops of a region.

use super::{Bits, LocalOp, Region, RegionContext, RegionRead, Set};
use crate::cost::roofline::Times;
use crate::cost::work::op_work;
use crate::fusion::inductor::is_one_call;
use crate::model::device::{Device, Measured};
use crate::model::ids::IdVec;
use crate::model::options::{Objective, Options};

/// The cost of a kernel, in integers, so that sums do not round. Compared in the order of its
/// fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost {
    /// The cost that the objective minimizes: bytes, or time in ticks of a [`Clock`].
    pub(crate) bytes_or_ticks: u64,
    /// The other one of the two: with equal bytes the smaller time is better, with equal time the
    /// fewer bytes. Beside bytes the time includes what a generated matmul loses against the
    /// library at measured rates: the better one is also predicted faster.
    pub(crate) ticks_or_bytes: u64,
    /// Breaks further ties: first the number of kernels (upper 32 bits), then the ops in kernels
    /// with a matmul, because light ops are better placed in a memory-bound kernel.
    pub(crate) ties: u64,
}

impl Cost {
    /// A cost by the objective of the options.
    fn of(options: &Options, bytes: u64, ticks: u64, ties: u64) -> Self {
        let (bytes_or_ticks, ticks_or_bytes) = match options.fusion.objective {
            Objective::Bytes => (bytes, ticks),
            Objective::Time | Objective::Measured => (ticks, bytes),
        };
        Self {
            bytes_or_ticks,
            ticks_or_bytes,
            ties,
        }
    }

    /// A lower bound for at least this many kernels that read and write these bytes in sum and
    /// compute for `busy`. No field of it is above that field of their cost.
    pub(crate) fn at_least(
        options: &Options,
        clock: Clock,
        bytes: u64,
        busy: Times,
        kernels: u32,
    ) -> Self {
        // The longest unit of all ops takes no longer than the longest units of their kernels in
        // sum. As in the time of a kernel, launches do not overlap with it.
        let launches = clock.launch_ticks.saturating_mul(kernels.into());
        let ticks =
            (clock.memory_ticks(bytes).max(clock.ticks_below(busy))).saturating_add(launches);
        Self::of(options, bytes, ticks, u64::from(kernels) << 32)
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            bytes_or_ticks: self.bytes_or_ticks.saturating_add(other.bytes_or_ticks),
            ticks_or_bytes: self.ticks_or_bytes.saturating_add(other.ticks_or_bytes),
            ties: self.ties.saturating_add(other.ties),
        }
    }
}

/// The time that a matmul loses where a compiler generates its kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Generated {
    delay_s: f64,
    /// The ops that the library's call can include, one at a time.
    joins: Set,
}

/// Measures the time of kernels in integers. Bytes and launches take whole ticks, so memory-bound
/// kernels take equally long in sum if their memory traffic is equal in sum.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Ticks of a second.
    pub ticks_per_s: f64,
    /// The binary logarithm of the ticks for each byte.
    byte_shift: i32,
    launch_ticks: u64,
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the casts saturate, and times are not negative"
)]
impl Clock {
    /// The finest clock on which `longest_s` takes at most a quarter of a `u64`.
    pub fn new(device: &Device, longest_s: f64) -> Self {
        let bytes_per_s = device.memory_bytes_per_s.value;
        let bytes = (longest_s * bytes_per_s).max(1.0);
        // A power of two turns bytes to ticks by a shift, which rounds only above 2^62 bytes, so
        // that equal bytes are equal ticks, in sums, too.
        let byte_shift = (62.0 - bytes.log2()).floor() as i32;
        let ticks_per_s = bytes_per_s * f64::from(byte_shift).exp2();
        Self {
            ticks_per_s,
            byte_shift,
            launch_ticks: (device.launch_s.value * ticks_per_s).ceil() as u64,
        }
    }

    fn memory_ticks(self, bytes: u64) -> u64 {
        let shift = self.byte_shift.unsigned_abs();
        if self.byte_shift < 0 {
            // Rounded up: the ceilings of parts add up to at least the ceiling of their sum, as a
            // lower bound needs.
            let ticks = bytes.checked_shr(shift).unwrap_or(0);
            ticks + u64::from(bytes.trailing_zeros() < shift && bytes > 0)
        } else {
            bytes.saturating_mul(1_u64.checked_shl(shift).unwrap_or(u64::MAX))
        }
    }

    /// Rounded up, so that no sum is below a bound.
    fn ticks_above(self, busy: Times) -> u64 {
        let exact = busy.longest_s() * self.ticks_per_s;
        let below = exact as u64;
        below.saturating_add(u64::from((below as f64) < exact))
    }

    /// A time over a ratio, rounded up.
    pub(crate) fn divided(ticks: u64, ratio: f64) -> u64 {
        (ticks as f64 / ratio).ceil() as u64
    }

    /// Ticks of a time, rounded up.
    pub(crate) fn ticks_of(self, time_s: f64) -> u64 {
        (time_s * self.ticks_per_s).ceil() as u64
    }

    /// Rounded down by a little more than the rounding error of sums.
    fn ticks_below(self, busy: Times) -> u64 {
        const BELOW: f64 = 1.0 - 1e-12;
        (busy.longest_s() * BELOW * self.ticks_per_s) as u64
    }
}

impl Region<'_> {
    /// Bytes that a kernel of these ops reads. What the kernel computes itself it does not load.
    fn read_bytes(&self, set: Set) -> u64 {
        let is_read = |read: &&RegionRead| read.readers & set != 0 && read.base & set == 0;
        self.context.bytes(self.reads.iter().filter(is_read))
    }

    /// Whether the output of an op leaves a kernel of these ops.
    pub(crate) fn is_written(&self, place: LocalOp, set: Set) -> bool {
        self.leaving & place.bit() != 0 || self.needed_by[place] & !set != 0
    }

    /// Memory traffic of a kernel of these ops.
    ///
    /// Counts like `TrafficCount::of_kernel`, but from the tables of the region: with that function
    /// the hard graphs of `tests/bench/core.rs` take 209 ms instead of 87, and 48 blocks of GPT-2
    /// take 4.1 ms instead of 3.5. `tests/model/region.rs` checks that both agree.
    pub fn bytes(&self, set: Set) -> u64 {
        let written: u64 = Bits(set)
            .filter(|&place| self.is_written(place, set))
            .map(|place| self.written_bytes[place])
            .sum();
        self.read_bytes(set) + written
    }

    /// Time of a kernel of these ops, whose memory traffic is `bytes`.
    pub fn ticks(&self, set: Set, bytes: u64, clock: Clock) -> u64 {
        let alone = self.busy();
        let busy = Bits(set).fold(Times::default(), |sum, op| sum.and(alone[op]));
        let launch_ticks = if self.is_free(set) {
            0
        } else {
            clock.launch_ticks
        };
        let ticks = clock.memory_ticks(bytes).max(clock.ticks_above(busy));
        ticks.saturating_add(launch_ticks)
    }

    /// Whether these are only free views and second results, so that nothing is launched.
    pub(crate) fn is_free(&self, set: Set) -> bool {
        set & !(self.views | self.results) == 0
    }

    /// The cost of a kernel of these ops.
    pub(crate) fn cost(&self, set: Set, clock: Clock) -> Cost {
        let beside_matmul = if set & self.matmuls == 0 {
            0
        } else {
            set.count_ones() - 1
        };
        let ties = u64::from(!self.is_free(set)) << 32 | u64::from(beside_matmul);
        let bytes = self.bytes(set);
        let ticks = self.ticks(set, bytes, clock);
        let ticks = match self.context.options.fusion.objective {
            // Only where bytes decide first. As the objective, time must stay the lower bound.
            Objective::Bytes => ticks.saturating_add(self.generated_ticks(set, clock)),
            Objective::Time => ticks,
            Objective::Measured => self.measured_ticks(set, ticks, clock),
        };
        Cost::of(self.context.options, bytes, ticks, ties)
    }

    /// Ticks that the matmul of a kernel loses where a compiler generates it; 0 where it is a
    /// library call.
    fn generated_ticks(&self, set: Set, clock: Clock) -> u64 {
        let others = set & !self.views & !self.matmuls;
        let Some(matmul) = Bits(set & self.matmuls).next().filter(|_| others != 0) else {
            return 0;
        };
        let Generated { delay_s, joins } = self.generated()[matmul];
        // The library's call takes one op beside the matmul; with two, a compiler generates the
        // kernel.
        let is_one_call = others.is_power_of_two() && others & joins != 0;
        if is_one_call {
            0
        } else {
            clock.ticks_of(delay_s)
        }
    }

    fn generated(&self) -> &IdVec<LocalOp, Generated> {
        self.generated.get_or_init(|| {
            let graph = self.context.graph;
            let generated = self.ops.iter_enumerated().map(|(place, &op)| {
                let is_one_call = |with: LocalOp| is_one_call(graph, &[op, self.ops[with]], op);
                // The epilogues of a convolution come from its library.
                if self.matmuls & place.bit() == 0 || graph.ops[op].is_convolution() {
                    return Generated::default();
                }
                Generated {
                    delay_s: op_work(graph, op).matrix_flops as f64 * self.context.delay_s(),
                    // The call adds to the product itself, so only a reader of it can join.
                    joins: Bits(self.next[place])
                        .filter(|&reader| is_one_call(reader))
                        .fold(0, |all, reader| all | reader.bit()),
                }
            });
            generated.collect()
        })
    }
}

impl RegionContext<'_> {
    /// How much longer a FLOP of a generated matmul takes than one of the library's; 0 on devices
    /// without measured rates.
    fn delay_s(&self) -> f64 {
        *self.generated_delay_s.get_or_init(|| {
            let calibration = self.options.device.calibration();
            calibration.map_or(0.0, |of| {
                let Measured {
                    generated_matmul_share: share,
                    matrix_f16_flops_per_s: per_s,
                    ..
                } = of.rates;
                (1.0 / share - 1.0) / per_s
            })
        })
    }
}
