//! Bytes, time and cost of a kernel of some ops of a region.

use super::{Bits, LocalOp, Region, RegionContext, Set};
use crate::core::cost::roofline::place;
use crate::core::model::options::Objective;
use crate::core::model::work::Work;

/// The cost of a kernel, in integers, so that sums do not round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost {
    /// By the objective: bytes, or time in ticks (the unfused program takes `2^62`).
    pub(crate) bytes_or_ticks: u64,
    /// Breaks ties: first the number of kernels (upper 32 bits), then the ops in kernels with a matmul, because
    /// light ops are better placed in a kernel that is bound by memory.
    pub(crate) ties: u64,
}

impl Cost {
    /// A lower bound for kernels that move these bytes and take this time. A time is rounded down by a little
    /// more than the rounding error of sums.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and times are not negative"
    )]
    pub(crate) fn at_least(
        context: &RegionContext<'_>,
        bytes: u64,
        time_s: f64,
        ticks_per_s: f64,
        kernels: u32,
    ) -> Self {
        const BELOW: f64 = 1.0 - 1e-12;
        Self {
            bytes_or_ticks: match context.options.fusion.objective {
                Objective::Bytes => bytes,
                Objective::Time => (time_s * BELOW * ticks_per_s) as u64,
            },
            ties: u64::from(kernels) << 32,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            bytes_or_ticks: self.bytes_or_ticks.saturating_add(other.bytes_or_ticks),
            ties: self.ties.saturating_add(other.ties),
        }
    }
}

impl Region<'_> {
    /// Bytes that a kernel of these ops reads. A value counts once, as large as its largest reader counts it.
    fn read_bytes(&self, set: Set) -> u64 {
        let mut counted = None;
        let mut bytes = 0;
        for read in &self.reads {
            if read.readers & set != 0 && counted != Some(read.value) && read.base & set == 0 {
                counted = Some(read.value);
                bytes += read.bytes;
            }
        }
        bytes
    }

    /// Whether the output of an op leaves a kernel of these ops.
    pub(crate) fn is_written(&self, place: LocalOp, set: Set) -> bool {
        self.leaving & place.bit() != 0 || self.needed_by[place] & !set != 0
    }

    /// Bytes that a kernel of these ops moves.
    ///
    /// Counts like [`TrafficCount::of_kernel`](crate::core::cost::traffic::TrafficCount::of_kernel), but from
    /// the tables of the region: with that function the hard graphs of `tests/bench/core.rs` take 209 ms
    /// instead of 87, and 48 blocks of GPT-2 take 4.1 ms instead of 3.5. A test below checks that both agree.
    pub(crate) fn bytes(&self, set: Set) -> u64 {
        let written: u64 = Bits(set)
            .filter(|&place| self.is_written(place, set))
            .map(|place| self.written_bytes[place])
            .sum();
        self.read_bytes(set) + written
    }

    /// Predicted time of a kernel of these ops.
    pub(crate) fn time_s(&self, set: Set) -> f64 {
        let work = Bits(set).fold(Work::default(), |sum, op| sum.and(self.work[op]));
        place(
            self.context.options,
            work,
            self.bytes(set),
            self.is_free(set),
        )
        .time_s
    }

    /// Whether these are only free views, so that nothing is launched.
    pub(crate) fn is_free(&self, set: Set) -> bool {
        set & !self.views == 0
    }

    /// The cost of a kernel of these ops. A time is rounded up to ticks, so that no sum is below a bound.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and times are not negative"
    )]
    pub(crate) fn cost(&self, set: Set, ticks_per_s: f64) -> Cost {
        let beside_matmul = if set & self.matmuls == 0 {
            0
        } else {
            set.count_ones() - 1
        };
        Cost {
            bytes_or_ticks: match self.context.options.fusion.objective {
                Objective::Bytes => self.bytes(set),
                Objective::Time => (self.time_s(set) * ticks_per_s).ceil() as u64,
            },
            ties: u64::from(!self.is_free(set)) << 32 | u64::from(beside_matmul),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::core::cost::roofline::place;
    use crate::core::cost::traffic::kernel_traffic;
    use crate::core::cost::work::{op_work, work_of_ops};
    use crate::core::examples::EXAMPLES;
    use crate::core::fusion::region::{Region, RegionContext};
    use crate::core::model::options::{Conventions, Externals, MAX_OPS, Options, ReshapeCost};
    use crate::core::model::partition::Partition;
    use crate::core::{KernelId, OpId, analyze_program, notation};
    use strum::VariantArray;

    /// The tables of a region give what [`kernel_traffic`] counts for the same ops.
    #[test]
    fn sets_of_a_region_cost_what_kernels_of_their_ops_cost() {
        let mut random = 1_u64;
        for example in EXAMPLES {
            for (externals, reshape) in Externals::VARIANTS.iter().flat_map(|&externals| {
                ReshapeCost::VARIANTS
                    .iter()
                    .map(move |&reshape| (externals, reshape))
            }) {
                let options = Options {
                    conventions: Conventions {
                        externals,
                        reshape,
                        ..Conventions::default()
                    },
                    ..Options::default()
                };
                let program = notation::parse(example.text).program;
                let analysis = analyze_program(&program, &options).analysis;
                let graph = analysis.unwrap_or_else(|| unreachable!()).graph;
                let context = RegionContext::new(&graph, &options);
                let ops: Vec<OpId> = graph.ops.ids().take(MAX_OPS).collect();
                let region = Region::of(&context, &ops);
                for _ in 0..200 {
                    // Sets of a quarter of the ops and larger ones.
                    random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    let set = (random ^ random >> 31) & (random.rotate_left(23)) & region.all();
                    let ops = region.ops_of(set);
                    let kernel_of = |op: OpId| KernelId::new(usize::from(!ops.contains(&op)));
                    let kernels = graph.ops.ids().map(kernel_of).collect();
                    let kernels = Partition::of_ops(kernels, 2);
                    let mut traffic = kernel_traffic(&graph, &kernels, options.conventions);
                    let bytes = traffic.next().map_or(0, |kernel| kernel.total());
                    assert_eq!(region.bytes(set), bytes, "{} {set:b}", example.id);
                    let work = work_of_ops(ops.iter(), |op| op_work(&graph, op));
                    let is_free = ops.iter().all(|&op| context.is_view(op));
                    let time_s = place(&options, work, bytes, is_free).time_s;
                    assert!((region.time_s(set) - time_s).abs() <= 1e-12 * time_s);
                }
            }
        }
    }
}
