//! Measured runs of a pattern as evidence for a kernel: the objective *measured* of the search.

use crate::cost::roofline::place;
use crate::cost::work::op_work;
use crate::fusion::attention::separate;
use crate::fusion::evidence::{Evidence, Nearest};
use crate::fusion::region::{Bits, Clock, Region, RegionContext, Set};
use crate::fusion::structure::structure;
use crate::model::graph::SeparateKernels;
use crate::model::ids::OpId;

use std::borrow::Cow;

impl RegionContext<'_> {
    /// The separate kernels of an attention that is one op in this graph.
    pub(crate) fn separate(&self, op: OpId) -> Option<Cow<'_, SeparateKernels>> {
        match self.graph.stand_in(op) {
            Some(stand_in) => stand_in.separate.as_ref().map(Cow::Borrowed),
            None => separate::of_call(self.graph, op).map(Cow::Owned),
        }
    }

    /// The lower bounds of these kernels, in seconds.
    pub(crate) fn separate_s(&self, separate: &SeparateKernels) -> impl Iterator<Item = f64> {
        let bound_s = |&(work, bytes)| place(self.options, work, bytes, false).time_s;
        separate.kernels.iter().map(bound_s)
    }
}

impl Region<'_> {
    /// Whether measured runs can be evidence for a kernel of these ops: several ops, or attention
    /// as one op.
    pub(crate) fn is_pattern(&self, set: Set) -> bool {
        (set & !self.views).count_ones() > 1 || self.separate(set).is_some()
    }

    /// The separate kernels of an attention, where it is the only op of a kernel.
    fn separate(&self, set: Set) -> Option<Cow<'_, SeparateKernels>> {
        let mut places = Bits(set);
        let op = places.next().map(|place| self.ops[place])?;
        let is_lone = places.next().is_none();
        is_lone.then(|| self.context.separate(op)).flatten()
    }

    /// The evidence of measured runs on the device for a kernel of these ops.
    /// `O(ops * inputs + patterns)`.
    pub(crate) fn evidence(&self, set: Set) -> Evidence {
        let options = self.context.options;
        let Some(calibrations) = options.calibrations() else {
            return Evidence::Unmeasured;
        };
        let graph = self.context.graph;
        let is_view = |op: OpId| self.context.is_view(op);
        let ops = || Bits(set).map(|place| self.ops[place]);
        let record = if let Some(separate) = self.separate(set) {
            let flops = separate
                .kernels
                .iter()
                .map(|(work, _)| work.flops() as f64)
                .sum();
            calibrations.nearest(&separate.structure, flops)
        } else if ops().filter(|&op| !is_view(op)).count() > calibrations.most_operators() {
            None
        } else {
            let flops = ops().map(|op| op_work(graph, op).flops() as f64).sum();
            calibrations.nearest(&structure(graph, ops(), is_view), flops)
        };
        let Some(record) = record else {
            return Evidence::Unmeasured;
        };
        let nearest = Nearest {
            pattern: record.fusion_pattern.clone(),
            flops: record.flops,
            speedup: record.speedup_factor,
        };
        let threshold = f64::from(options.fusion.min_speedup_percent) / 100.0;
        match (nearest.speedup > threshold, record.is_one_kernel()) {
            (true, true) => Evidence::Fuses(nearest),
            (true, false) => Evidence::SeveralKernels(nearest),
            (false, _) => Evidence::Refuses(nearest),
        }
    }

    /// The time of a kernel of these ops as measured runs have it; `bound_ticks` is its lower
    /// bound, which nothing undercuts.
    ///
    /// A measured speed-up divides the bounds of the ops one by one. Ops that stay separate cost a
    /// tick more as one kernel.
    pub(crate) fn measured_ticks(&self, set: Set, bound_ticks: u64, clock: Clock) -> u64 {
        if !self.is_pattern(set) {
            return bound_ticks;
        }
        match self.evidence(set) {
            Evidence::Unmeasured | Evidence::SeveralKernels(_) => bound_ticks,
            Evidence::Fuses(nearest) => bound_ticks.max(Clock::divided(
                self.separate_ticks(set, clock),
                nearest.speedup,
            )),
            Evidence::Refuses(_) => {
                bound_ticks.max(self.separate_ticks(set, clock).saturating_add(1))
            }
        }
    }

    /// The bounds of these ops one by one.
    fn separate_ticks(&self, set: Set, clock: Clock) -> u64 {
        let sum = |ticks: &mut dyn Iterator<Item = u64>| ticks.fold(0, u64::saturating_add);
        match self.separate(set) {
            Some(separate) => sum(&mut self
                .context
                .separate_s(&separate)
                .map(|s| clock.ticks_of(s))),
            None => sum(&mut Bits(set).map(|place| {
                let op = place.bit();
                self.ticks(op, self.bytes(op), clock)
            })),
        }
    }
}
