//! Makes the record of each fused pattern from measured rows.

use crate::profile::{MeasuredRun, Profile};
use fuseline_core::analysis::measured::{MeasuredRow, Measurements, Variant};
use fuseline_core::analysis::{Analysis, Execution, analyze_program};
use fuseline_core::cost::traffic::kernel_traffic;
use fuseline_core::fusion::region::Set;
use fuseline_core::fusion::structure::structure;
use fuseline_core::model::bound::Bound;
use fuseline_core::model::calibration::{Calibrations, FusionCalibration};
use fuseline_core::model::device::Device;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::model::graph::Tensor;
use fuseline_core::model::ids::{IdVec, KernelId, OpId};
use fuseline_core::model::partition::Partition;
use fuseline_core::model::program::Program;
use std::collections::BTreeMap;

/// Times that a program can take, in µs: a nanosecond to a day.
const PLAUSIBLE_US: std::ops::Range<f64> = 1e-3..1e11;

/// Most ops of a pattern: the search for an optimum tries no larger kernel.
pub const MAX_PATTERN_OPS: usize = Set::BITS as usize;

/// A measured file with its programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub measurements: Measurements,
    /// The op lists of its patterns, by name.
    pub programs: Vec<(String, Program)>,
    /// The GPU, where the file has its rates or the table of devices knows it.
    pub device: Option<Device>,
}

impl Measured {
    /// A file of patterns with their op lists, by name.
    pub fn of_patterns(measurements: Measurements, programs: Vec<(String, Program)>) -> Self {
        Self {
            device: measurements.listed_device().cloned(),
            measurements,
            programs,
        }
    }

    /// The runs that the script of a program saved, as one pattern of this name at the sizes of the
    /// program. `O(kernels)`.
    pub fn of_script(profile: &Profile, pattern: &str, program: Program) -> Self {
        let row = |run: &MeasuredRun| {
            Some(MeasuredRow {
                time_cold_us: None,
                pattern: pattern.to_owned(),
                size: program.params.iter().map(|param| param.value).collect(),
                variant: run.variant.as_deref()?.parse().ok()?,
                time_us: run.time_s? * 1e6,
                kernels: (run.kernels.iter())
                    .map(|kernel| kernel.name.to_string())
                    .collect(),
                dram_read_bytes: None,
            })
        };
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self {
            measurements: Measurements {
                device: text(&profile.device),
                torch: text(&profile.torch),
                note: String::new(),
                rows: profile.runs.iter().filter_map(row).collect(),
            },
            device: profile.measured_device(),
            programs: vec![(pattern.to_owned(), program)],
        }
    }
}

/// The records of patterns, and the speed-ups that the device model predicts for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibrated {
    pub records: Calibrations,
    /// For each record the predicted speed-up. `None` on a device without measured rates, and where
    /// a library fused: no policy predicts its calls.
    pub predicted_speedups: Vec<Option<f64>>,
    /// Patterns without a record by name, each with the reason.
    pub skipped: Vec<(String, NoRecord)>,
}

/// Why there is no record of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRecord {
    /// Its op list cannot be analysed.
    Unreadable,
    /// It has no eager run, or no other run of as few kernels at the same size.
    Unpaired,
    /// It has this many ops, which are more than [`MAX_PATTERN_OPS`].
    TooLarge(usize),
    /// Its kernels have no memory traffic.
    Empty,
}

/// A measured row whose op list is known.
struct Run<'a> {
    row: &'a MeasuredRow,
    program: Program,
    analysis: Analysis,
    structure: String,
    /// Bytes of each external tensor, ascending. They distinguish sizes where op lists lack params.
    external_bytes: Vec<Option<u64>>,
}

impl<'a> Run<'a> {
    /// The run of a row; `None` if its program has errors.
    fn of(row: &'a MeasuredRow, program: &Program, device: &Device) -> Option<Self> {
        let options = row.options(device);
        let program = row.sized(program);
        let outcome = analyze_program(&program, &options);
        if has_errors(&outcome.diagnostics) {
            return None;
        }
        let analysis = outcome.analysis?;
        let ops = analysis.graph.ops.ids();
        let structure = structure(&analysis.graph, ops, |op| analysis.graph.ops[op].is_view());
        let external = (analysis.graph.tensors.iter()).filter(|tensor| tensor.is_external());
        let mut external_bytes: Vec<_> = external.map(Tensor::bytes).collect();
        external_bytes.sort_unstable();
        Some(Self {
            row,
            program,
            analysis,
            structure,
            external_bytes,
        })
    }

    fn launches(&self) -> usize {
        self.row.kernels.len()
    }

    fn is_pattern_of(&self, other: &Self) -> bool {
        self.structure == other.structure
            && self.row.size == other.row.size
            && self.external_bytes == other.external_bytes
    }
}

/// The records of all patterns that ran fused and op by op at the same size. Rows whose op lists
/// have the same [`structure`] are one pattern: attention as four ops and as one call of a library.
///
/// The unfused run is the eager one with the most kernels. The fused run is, of all others, the one
/// with the fewest kernels; a tie goes to the fastest. `O(rows^2)`.
pub fn calibrate(files: &[Measured], device: &Device) -> Calibrated {
    let mut runs = Vec::new();
    let mut skipped = Vec::new();
    for file in files {
        let rows = file.measurements.rows.iter();
        for row in rows.filter(|row| PLAUSIBLE_US.contains(&row.time_us)) {
            let program = file.programs.iter().find(|(name, _)| *name == row.pattern);
            match program.and_then(|(_, program)| Run::of(row, program, device)) {
                Some(run) => runs.push(run),
                None => skipped.push((row.pattern.clone(), NoRecord::Unreadable)),
            }
        }
    }
    let mut patterns = Vec::new();
    for (at, first) in runs.iter().enumerate() {
        let is_first = !(runs.iter().take(at)).any(|other| other.is_pattern_of(first));
        if is_first {
            let same = || runs.iter().filter(|other| other.is_pattern_of(first));
            match record_of(same) {
                Ok(record) => patterns.push(record),
                Err(reason) => skipped.push((first.row.pattern.clone(), reason)),
            }
        }
    }
    patterns.sort_by(|(a, _): &(FusionCalibration, Option<f64>), (b, _)| {
        let name = a.fusion_pattern.cmp(&b.fusion_pattern);
        name.then(a.flops.total_cmp(&b.flops))
    });
    skipped.dedup();
    let file = files.first().map(|file| &file.measurements);
    let (patterns, predicted_speedups) = patterns.into_iter().unzip();
    Calibrated {
        records: Calibrations {
            device: file.map_or_else(String::new, |file| file.device.clone()),
            torch: file.map_or_else(String::new, |file| file.torch.clone()),
            patterns,
        },
        predicted_speedups,
        skipped,
    }
}

/// The record of one pattern at one size, and its predicted speed-up.
fn record_of<'r, 'a: 'r, I>(
    runs: impl Fn() -> I,
) -> Result<(FusionCalibration, Option<f64>), NoRecord>
where
    I: Iterator<Item = &'r Run<'a>>,
{
    let unfused = runs()
        .filter(|run| run.row.variant == Variant::Eager)
        .max_by_key(|run| run.launches())
        .ok_or(NoRecord::Unpaired)?;
    let fused = runs()
        .filter(|run| !std::ptr::eq(*run, unfused) && run.launches() <= unfused.launches())
        .min_by(|a, b| {
            let launches = a.launches().cmp(&b.launches());
            launches.then(a.row.time_us.total_cmp(&b.row.time_us))
        })
        .ok_or(NoRecord::Unpaired)?;
    let graph = &unfused.analysis.graph;
    let computing = graph.ops.iter().filter(|op| !op.is_view()).count();
    if computing > MAX_PATTERN_OPS {
        return Err(NoRecord::TooLarge(computing));
    }
    let flops = (unfused.analysis.unfused.kernels.iter())
        .map(|kernel| kernel.work.flops() as f64)
        .sum::<f64>();
    let unfused_bytes = unfused.analysis.unfused.traffic.total;
    let fused_bytes = fused_bytes(fused);
    if unfused_bytes == 0 || fused_bytes == 0 {
        return Err(NoRecord::Empty);
    }
    let gflops = |row: &MeasuredRow| flops / row.time_us / 1e3;
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
    let predicted_speedup = || {
        let [unfused, fused] = [unfused, fused].map(|run| run.analysis.predicted.as_ref());
        Some(unfused?.unfused_s / fused?.fused_s)
    };
    let is_of_library = fused.row.variant == Variant::Eager;
    let predicted = (!is_of_library).then(predicted_speedup).flatten();
    Ok((record, predicted))
}

/// Compulsory traffic of the kernels that ran: of one kernel with all ops, or of the kernels that
/// the policy predicts.
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

/// The bottleneck that limits the largest share of the time.
fn bottleneck(execution: &Execution) -> Bound {
    let mut times_s: BTreeMap<Bound, f64> = BTreeMap::new();
    for kernel in execution.kernels.iter().filter(|kernel| !kernel.is_free) {
        *times_s.entry(kernel.placement.bound).or_default() += kernel.placement.time_s;
    }
    let longest = times_s.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    longest.map_or(Bound::Unknown, |(bound, _)| bound)
}
