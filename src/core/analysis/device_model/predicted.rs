//! The times that a program is predicted to take on a device with measured rates.

use crate::analysis::device_model::range::outside_of_sum;
use crate::analysis::device_model::{
    AccessedBytes, CacheStart, DeviceModel, Hits, KernelOrigin, ModeledKernel, Outside, RatedWork,
};
use crate::analysis::execution::{Execution, Kernel};
use crate::fusion::inductor::is_one_call;
use crate::model::bound::Bound;
use crate::model::device::RatesFrom;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::op_type::OpType;
use crate::model::options::{Options, Policy};
use crate::model::partition::Partition;
use smallvec::SmallVec;

/// Predicted times of a program before and after fusion. They are warm: the program runs
/// repeatedly, so a kernel finds in the shared cache what fits there and was accessed lately,
/// inputs and weights included. [`cold_time`](super::cold_time) has the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// Where the rates come from.
    pub rates_from: RatesFrom,
    /// One library kernel for each op.
    pub unfused_s: f64,
    /// The fused kernels.
    pub fused_s: f64,
    /// How `unfused_s` is outside the measured sizes, if it is.
    pub unfused_outside: Option<Outside>,
    /// How `fused_s` is outside the measured sizes, if it is.
    pub fused_outside: Option<Outside>,
    /// The unfused program takes at least `unfused_s`: some arithmetic is missing from it, or
    /// counts at peak rates.
    pub unfused_is_at_least: bool,
    /// The fused program takes at least `fused_s`, likewise.
    pub fused_is_at_least: bool,
    /// Fused kernels with a matmul that no library call computes with its epilogue.
    pub generated_matmuls: usize,
    /// The speed of the slowest of them: the time of its matmul as a library call over that of its
    /// kernel. 1 without one.
    pub slowest_generated: f64,
    /// For each kernel of the unfused program its time.
    pub unfused_kernels: IdVec<KernelId, KernelTime>,
    /// For each fused kernel its time.
    pub kernels: IdVec<KernelId, PredictedTimes>,
}

/// Times of one fused kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedTimes {
    /// By the device model, in seconds.
    pub time_s: f64,
    /// The time of its ops, each as a library kernel.
    pub unfused_s: f64,
    /// The op that takes longest as a library kernel.
    pub slowest_op: Option<OpId>,
    /// The work that takes longest at measured rates; `None` where the launch does.
    pub longest: Option<RatedWork>,
    /// How `time_s` is outside the measured sizes, if it is.
    pub outside: Option<Outside>,
    /// How `unfused_s` is outside the measured sizes, if it is.
    pub unfused_outside: Option<Outside>,
    /// Its ops alone take at least `unfused_s`: some arithmetic is missing, or counts at peak
    /// rates.
    pub unfused_is_at_least: bool,
}

impl Predicted {
    /// `None` on a device without measured rates, and where the arithmetic of no op was
    /// measured. `O(ops + reads)`.
    pub(crate) fn new(
        graph: &Graph,
        unfused: &Execution,
        (fused, partition): (&Execution, &Partition),
        options: &Options,
    ) -> Option<Self> {
        let model = DeviceModel::new(graph, options)?;
        let calibration = model.calibration.as_ref()?;
        let ops = times(&model, KernelOrigin::Library, unfused, None)?;
        // Each program has its own hits: unfused, more bytes lie between two accesses to a tensor.
        let kernels = times(&model, KernelOrigin::of(options), fused, Some(partition))?;
        // Nothing but bytes would be predicted, which lower bounds already say. Of the ops, so that
        // all policies have predicted times or none has.
        if !ops.is_empty() && !ops.iter().any(KernelTime::has_rate) {
            return None;
        }
        let is_at_least = |times: &Times| times.iter().any(KernelTime::is_at_least);
        let sum_s = |times: &Times| times.iter().map(|time| time.time_s).sum();
        let of_sum = |times: &mut dyn Iterator<Item = KernelTime>| {
            outside_of_sum(times.map(|time| (time.time_s, time.outside)))
        };
        let generated = fused
            .kernels
            .iter()
            .zip(&kernels)
            .filter_map(|(kernel, time)| {
                let matmul = generated_matmul(graph, options.policy, kernel)?;
                Some(ops[KernelId::of_lone_op(matmul)].time_s / time.time_s)
            });
        let generated: Vec<f64> = generated.collect();
        Some(Self {
            generated_matmuls: generated.len(),
            slowest_generated: generated.into_iter().fold(1.0, f64::min),
            rates_from: calibration.rates_from.clone(),
            unfused_s: sum_s(&ops),
            fused_s: sum_s(&kernels),
            unfused_is_at_least: is_at_least(&ops),
            fused_is_at_least: is_at_least(&kernels),
            unfused_outside: of_sum(&mut ops.iter().copied()),
            fused_outside: of_sum(&mut kernels.iter().copied()),
            kernels: (kernels.iter().zip(&fused.kernels))
                .map(|(&time, kernel)| {
                    let alone = || kernel.ops.iter().map(|&op| ops[KernelId::of_lone_op(op)]);
                    let time_of = |op: OpId| ops[KernelId::of_lone_op(op)].time_s;
                    let slowest = |&a: &OpId, &b: &OpId| time_of(a).total_cmp(&time_of(b));
                    PredictedTimes {
                        time_s: time.time_s,
                        slowest_op: kernel.ops.iter().copied().max_by(slowest),
                        unfused_s: alone().map(|time| time.time_s).sum(),
                        longest: time.longest,
                        outside: time.outside,
                        unfused_outside: of_sum(&mut alone()),
                        unfused_is_at_least: alone().any(|time| time.is_at_least()),
                    }
                })
                .collect(),
            unfused_kernels: ops,
        })
    }

    /// Unfused time over fused time; 1 when nothing runs.
    pub fn speedup(&self) -> f64 {
        if self.fused_s > 0.0 {
            self.unfused_s / self.fused_s
        } else {
            1.0
        }
    }
}

/// The matmul of a kernel that no library call computes; `None` where one does, and in attention,
/// which has two.
pub fn generated_matmul(graph: &Graph, policy: Policy, kernel: &Kernel) -> Option<OpId> {
    let is_matmul = |op: &OpId| graph.ops[*op].op_type == OpType::Matmul;
    let mut matmuls = kernel.ops.iter().copied().filter(is_matmul);
    let only = matmuls.next().filter(|_| matmuls.next().is_none());
    only.filter(|&matmul| !is_library_call(graph, policy, &kernel.ops, matmul))
}

/// Whether a library call computes these ops, of which one is this matmul.
pub(super) fn is_library_call(graph: &Graph, policy: Policy, ops: &[OpId], matmul: OpId) -> bool {
    // In the compiler's kernels the call writes its result where the concatenation has it.
    let is_place =
        |op: OpId| policy == Policy::Inductor && graph.ops[op].function == Some(Function::Concat);
    let computed: SmallVec<[OpId; 4]> = ops.iter().copied().filter(|&op| !is_place(op)).collect();
    is_one_call(graph, &computed, matmul)
}

/// The predicted time of a kernel, with its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelTime {
    /// The time in seconds.
    pub time_s: f64,
    longest: Option<RatedWork>,
    outside: Option<Outside>,
}

impl KernelTime {
    /// Whether the kernel takes at least this time.
    fn is_at_least(&self) -> bool {
        self.outside.is_some_and(Outside::is_at_least)
    }

    /// Whether the arithmetic that the kernel is known to do was measured.
    const fn has_rate(&self) -> bool {
        !matches!(self.outside, Some(Outside::LeftOut | Outside::AtPeak(_)))
    }

    /// The bottleneck at measured rates, where these show it: see [`RatedWork::bound`].
    pub fn bound(&self) -> Option<Bound> {
        bound_of(self.longest)
    }
}

impl PredictedTimes {
    /// The bottleneck at measured rates, where these show it: see [`RatedWork::bound`].
    pub fn bound(&self) -> Option<Bound> {
        bound_of(self.longest)
    }
}

fn bound_of(longest: Option<RatedWork>) -> Option<Bound> {
    longest.map_or(Some(Bound::Launch), RatedWork::bound)
}

type Times = IdVec<KernelId, KernelTime>;

fn times(
    model: &DeviceModel<'_>,
    code: KernelOrigin,
    execution: &Execution,
    partition: Option<&Partition>,
) -> Option<Times> {
    let hits = model.hits(execution, CacheStart::Warm)?;
    let kernels = execution.kernels.iter_enumerated();
    kernels
        .map(|(id, kernel)| {
            let launch = launch(kernel, id, &hits, partition);
            let breakdown = model.breakdown(code, launch)?;
            Some(KernelTime {
                time_s: breakdown.time_s(),
                longest: breakdown.longest(),
                outside: model.outside(code, launch),
            })
        })
        .collect()
}

/// A kernel of a partition; without one, of the unfused program, which computes nothing twice.
pub(super) fn launch<'a>(
    kernel: &'a Kernel,
    id: KernelId,
    hits: &Hits,
    partition: Option<&'a Partition>,
) -> ModeledKernel<'a> {
    ModeledKernel {
        ops: &kernel.ops,
        recomputed: partition.map_or(&[], |partition| &partition.recomputed[id]),
        reductions: &kernel.reductions,
        in_part: &kernel.traffic.in_part,
        work: kernel.work,
        is_free: kernel.is_free,
        is_split: partition.is_some_and(|partition| partition.splits_some(&kernel.reductions)),
        further_launches: partition.map_or(0, |partition| partition.further_launches_of(id)),
        read: AccessedBytes::all(&kernel.traffic.reads, &hits.reads[id]),
        written: AccessedBytes::all(&kernel.traffic.writes, &hits.writes[id]),
    }
}
