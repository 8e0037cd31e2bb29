//! From measured rows to the record of each fused pattern.

use crate::core::analysis::measured::{Measurements, Row, Variant};
use crate::core::analysis::{Analysis, Execution, analyze_program};
use crate::core::cost::traffic::kernel_traffic;
use crate::core::fusion::structure::structure;
use crate::core::model::bound::Bound;
use crate::core::model::calibration::{Calibrations, FusionCalibration};
use crate::core::model::device::Device;
use crate::core::model::ids::{IdVec, KernelId, OpId};
use crate::core::model::partition::Partition;
use crate::core::model::program::Program;
use std::collections::BTreeMap;

/// Times that a program can take, in µs: a nanosecond to a day.
const PLAUSIBLE_US: std::ops::Range<f64> = 1e-3..1e11;

/// Records, and what is expected of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibrated {
    /// The records.
    pub records: Calibrations,
    /// For each the speed-up that the device model expects. `None` on a device without measured rates, and where a library fused:
    /// no policy predicts its calls.
    pub expected_speedups: Vec<Option<f64>>,
}

/// A measured row whose op list is known.
struct Run<'a> {
    row: &'a Row,
    program: Program,
    analysis: Analysis,
    structure: String,
}

impl<'a> Run<'a> {
    /// `None` if it cannot be analysed, or its time is none of a kernel.
    fn of(row: &'a Row, program: &Program, device: &Device) -> Option<Self> {
        if !PLAUSIBLE_US.contains(&row.time_us) {
            return None;
        }
        let options = row.options(device);
        let program = row.sized(program);
        let analysis = analyze_program(&program, &options).analysis?;
        let ops = analysis.graph.ops.ids();
        let structure = structure(&analysis.graph, ops, |op| analysis.graph.ops[op].is_view());
        Some(Self {
            row,
            program,
            analysis,
            structure,
        })
    }

    fn launches(&self) -> usize {
        self.row.kernels.len()
    }

    fn is_pattern_of(&self, other: &Self) -> bool {
        self.structure == other.structure && self.row.size == other.row.size
    }
}

/// The records of all patterns that ran fused and op by op at the same size; `programs` are op lists by the name of their pattern.
/// Rows whose op lists have the same [`structure`] are one pattern: attention as four ops and as one call of a library.
///
/// The unfused run is the eager one with the most kernels. The fused run is of the others the one with the fewest, and
/// of these the quickest. `O(rows^2)`.
pub fn calibrate(
    files: &[Measurements],
    programs: &[(String, Program)],
    device: &Device,
) -> Calibrated {
    let rows = files.iter().flat_map(|file| &file.rows);
    let runs: Vec<Run<'_>> = rows
        .filter_map(|row| {
            let (_, program) = programs.iter().find(|(name, _)| *name == row.pattern)?;
            Run::of(row, program, device)
        })
        .collect();
    let mut patterns = Vec::new();
    for (at, first) in runs.iter().enumerate() {
        let is_first = !(runs.iter().take(at)).any(|other| other.is_pattern_of(first));
        if is_first {
            let same = || runs.iter().filter(|other| other.is_pattern_of(first));
            patterns.extend(record_of(same));
        }
    }
    patterns.sort_by(|(a, _): &(FusionCalibration, Option<f64>), (b, _)| {
        let name = a.fusion_pattern.cmp(&b.fusion_pattern);
        name.then(a.flops.total_cmp(&b.flops))
    });
    let file = files.first();
    let (patterns, expected_speedups) = patterns.into_iter().unzip();
    Calibrated {
        records: Calibrations {
            device: file.map_or_else(String::new, |file| file.device.clone()),
            torch: file.map_or_else(String::new, |file| file.torch.clone()),
            patterns,
        },
        expected_speedups,
    }
}

/// The record of one pattern at one size and the speed-up that is expected of it; `None` unless it ran both ways and moves something.
fn record_of<'r, 'a: 'r, I>(runs: impl Fn() -> I) -> Option<(FusionCalibration, Option<f64>)>
where
    I: Iterator<Item = &'r Run<'a>>,
{
    let unfused = runs()
        .filter(|run| run.row.variant == Variant::Eager)
        .max_by_key(|run| run.launches())?;
    let fused = runs()
        .filter(|run| !std::ptr::eq(*run, unfused) && run.launches() <= unfused.launches())
        .min_by(|a, b| {
            let launches = a.launches().cmp(&b.launches());
            launches.then(a.row.time_us.total_cmp(&b.row.time_us))
        })?;
    let graph = &unfused.analysis.graph;
    let flops = (unfused.analysis.unfused.kernels.iter())
        .map(|kernel| kernel.work.flops() as f64)
        .sum::<f64>();
    let unfused_bytes = unfused.analysis.unfused.traffic.total;
    let fused_bytes = fused_bytes(fused);
    if unfused_bytes == 0 || fused_bytes == 0 {
        return None;
    }
    let gflops = |row: &Row| flops / row.time_us / 1e3;
    let (unfused_gflops, fused_gflops) = (gflops(unfused.row), gflops(fused.row));
    let params = &unfused.program.params;
    let record = FusionCalibration {
        fusion_pattern: unfused.row.pattern.clone(),
        operators: (graph.ops.iter())
            .map(|op| op.operator().to_owned())
            .collect(),
        num_operators: graph.ops.len(),
        structure: unfused.structure.clone(),
        input_shape: first_input_shape(&unfused.analysis),
        extra_params: (params.iter())
            .map(|param| (param.name.text.clone(), param.value))
            .collect(),
        flops,
        unfused_latency_ms: unfused.row.time_us / 1e3,
        unfused_memory_bytes: unfused_bytes,
        unfused_gflops,
        unfused_kernels: unfused.launches(),
        fused_latency_ms: fused.row.time_us / 1e3,
        fused_memory_bytes: fused_bytes,
        fused_gflops,
        fused_kernels: fused.launches(),
        fused_by: fused.row.variant.name().to_owned(),
        speedup_factor: unfused.row.time_us / fused.row.time_us,
        memory_reduction: 1.0 - fused_bytes as f64 / unfused_bytes as f64,
        efficiency_improvement: unfused.row.time_us / fused.row.time_us - 1.0,
        bottleneck_unfused: bottleneck(&unfused.analysis.unfused),
        bottleneck_fused: bottleneck(&fused.analysis.fused),
        arithmetic_intensity_unfused_flop_per_byte: flops / unfused_bytes as f64,
        arithmetic_intensity_fused_flop_per_byte: flops / fused_bytes as f64,
    };
    let expected_speedup = || {
        let [unfused, fused] = [unfused, fused].map(|run| run.analysis.expected.as_ref());
        Some(unfused?.unfused_s / fused?.fused_s)
    };
    let is_of_library = fused.row.variant == Variant::Eager;
    let expected = (!is_of_library).then(expected_speedup).flatten();
    Some((record, expected))
}

/// Compulsory traffic of the kernels that ran: of all ops as one, or of those that the policy predicts.
fn fused_bytes(run: &Run<'_>) -> u64 {
    let graph = &run.analysis.graph;
    if run.launches() > 1 {
        return run.analysis.fused.traffic.total;
    }
    let kernel_of: IdVec<OpId, KernelId> = graph.ops.ids().map(|_| KernelId::new(0)).collect();
    let partition = Partition::of_ops(kernel_of, 1);
    let traffic = kernel_traffic(graph, &partition, run.analysis.options.conventions);
    traffic.map(|kernel| kernel.total()).sum()
}

fn first_input_shape(analysis: &Analysis) -> Vec<u64> {
    let graph = &analysis.graph;
    let mut external = (graph.tensors.iter_enumerated()).filter(|(_, t)| t.is_external());
    let shape = external.find_map(|(tensor, _)| graph.tensor_shape(tensor));
    shape.map(<[u64]>::to_vec).unwrap_or_default()
}

/// What bounds the most time.
fn bottleneck(execution: &Execution) -> Bound {
    let mut times_s: BTreeMap<Bound, f64> = BTreeMap::new();
    for kernel in execution.kernels.iter().filter(|kernel| !kernel.is_free) {
        *times_s.entry(kernel.placement.bound).or_default() += kernel.placement.time_s;
    }
    let longest = times_s.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    longest.map_or(Bound::Unknown, |(bound, _)| bound)
}
