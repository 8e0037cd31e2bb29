//! Measured patterns inside whole programs: the speed-up of fusion where a model runs them, next to
//! the speed-up of their records.

use super::matching::Matching;
use super::surprises::is_near;
use fuseline_core::analysis::Analysis;
use fuseline_core::fusion::structure::structure;
use fuseline_core::model::calibration::{Calibrations, FusionCalibration};
use fuseline_core::model::ids::{IdVec, KernelId, OpId};
use std::collections::BTreeMap;

/// Most sets of kernels to examine for each last kernel: their number grows exponentially with the
/// kernels that feed one.
const MAX_SETS: usize = 200;

/// The analysis of a program, and its predicted kernels matched with measured ones.
type Ran<'a> = (&'a Analysis, &'a Matching);

/// A pattern as a whole program runs it, summed over all its occurrences.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternInProgram {
    /// The name of the pattern.
    pub fusion_pattern: String,
    /// How many occurrences in the program were compared.
    pub occurrences: usize,
    /// Time of its ops as kernels of their own, in seconds.
    pub unfused_s: f64,
    /// Time of the compiler's kernels.
    pub fused_s: f64,
    /// What these kernels would take by the speed-ups of the records that are nearest in work.
    pub fused_by_records_s: f64,
}

impl PatternInProgram {
    /// The speed-up of fusion in the program.
    pub fn speedup(&self) -> f64 {
        self.unfused_s / self.fused_s
    }

    /// The speed-up of fusion where the pattern was measured alone.
    pub fn speedup_of_records(&self) -> f64 {
        self.unfused_s / self.fused_by_records_s
    }
}

/// The patterns of a program that ran op by op (`eager`) and compiled, where the compiler made as
/// many kernels of them as in their records, from more kernels. Omits occurrences with an unmatched
/// kernel, or whose work is not near that of a record. `O(kernels * MAX_SETS)`.
pub fn patterns_in_program(
    eager: Ran<'_>,
    compiled: Ran<'_>,
    records: &Calibrations,
) -> Vec<PatternInProgram> {
    let (analysis, matching) = compiled;
    let mut is_taken = IdVec::from_elem(false, analysis.partition.kernels.len());
    let mut found: BTreeMap<String, PatternInProgram> = BTreeMap::new();
    let mut occurrences: Vec<Occurrence<'_>> = (analysis.partition.kernels.ids())
        .flat_map(|last| occurrences_ending_in(analysis, last, records))
        .collect();
    // The most ops first, so that a pattern inside a larger one is not counted again.
    occurrences.sort_by_key(|occurrence| std::cmp::Reverse(occurrence.record.num_operators));
    for occurrence in occurrences {
        if occurrence.kernels.iter().any(|&kernel| is_taken[kernel]) {
            continue;
        }
        let times = launched(analysis, &occurrence.kernels).map(|kernel| matching.time_s(kernel));
        let fused_s = sum(times);
        let ops_s = unfused_s(eager, &occurrence.ops);
        let (Some(fused_s), Some((ops_s, launches))) = (fused_s, ops_s) else {
            continue;
        };
        if launches <= occurrence.record.fused_kernels || fused_s <= 0.0 {
            continue;
        }
        for &kernel in &occurrence.kernels {
            is_taken[kernel] = true;
        }
        let name = &occurrence.record.fusion_pattern;
        let pattern = found
            .entry(name.clone())
            .or_insert_with(|| PatternInProgram {
                fusion_pattern: name.clone(),
                occurrences: 0,
                unfused_s: 0.0,
                fused_s: 0.0,
                fused_by_records_s: 0.0,
            });
        pattern.occurrences += 1;
        pattern.unfused_s += ops_s;
        pattern.fused_s += fused_s;
        pattern.fused_by_records_s += ops_s / occurrence.record.speedup_factor;
    }
    found.into_values().collect()
}

/// Kernels of the compiler that form a pattern.
struct Occurrence<'r> {
    kernels: Vec<KernelId>,
    ops: Vec<OpId>,
    record: &'r FusionCalibration,
}

/// Sets of kernels that end in this one, each of which feeds another one of them.
fn occurrences_ending_in<'r>(
    analysis: &Analysis,
    last: KernelId,
    records: &'r Calibrations,
) -> Vec<Occurrence<'r>> {
    let most_kernels = records.patterns.iter().map(|record| record.fused_kernels);
    let most_kernels = most_kernels.max().unwrap_or(0);
    let most_operators = records.most_operators();
    let mut occurrences = Vec::new();
    let mut sets = vec![vec![last]];
    for _ in 0..MAX_SETS {
        let Some(kernels) = sets.pop() else { break };
        let ops = ops_of(analysis, &kernels);
        let computing = ops.iter().filter(|&&op| !analysis.graph.ops[op].is_view());
        if computing.count() > most_operators {
            continue;
        }
        occurrences.extend(occurrence(analysis, &kernels, &ops, records));
        if launched(analysis, &kernels).count() < most_kernels {
            // Only producers before the set's earliest kernel, so that each set grows in one order.
            let earliest = kernels.iter().min().copied().unwrap_or(last);
            let before = producers(analysis, &ops).into_iter();
            let before = before.take_while(|&producer| producer < earliest);
            let larger = before.map(|producer| [&kernels[..], &[producer]].concat());
            sets.extend(larger.take(MAX_SETS));
        }
    }
    occurrences
}

fn occurrence<'r>(
    analysis: &Analysis,
    kernels: &[KernelId],
    ops: &[OpId],
    records: &'r Calibrations,
) -> Option<Occurrence<'r>> {
    let graph = &analysis.graph;
    let structure = structure(graph, ops.iter().copied(), |op| graph.ops[op].is_view());
    let flops = kernels.iter().map(|&kernel| {
        let kernel = analysis.fused.kernels.get(kernel)?;
        Some(kernel.work.flops() as f64)
    });
    let flops = sum(flops)?;
    let record = records.nearest(&structure, flops)?;
    let count = launched(analysis, kernels).count();
    let fits = record.fused_kernels == count && is_near(record.flops, flops);
    fits.then(|| Occurrence {
        kernels: kernels.to_vec(),
        ops: ops.to_vec(),
        record,
    })
}

/// The ops of these kernels in execution order.
fn ops_of(analysis: &Analysis, kernels: &[KernelId]) -> Vec<OpId> {
    let ops = kernels
        .iter()
        .filter_map(|&kernel| analysis.partition.kernels.get(kernel));
    let mut ops: Vec<OpId> = ops.flatten().copied().collect();
    ops.sort_unstable();
    ops
}

/// The other kernels that make what these ops read, ascending.
fn producers(analysis: &Analysis, ops: &[OpId]) -> Vec<KernelId> {
    let read = ops.iter().flat_map(|&op| &analysis.graph.predecessors[op]);
    let others = read.filter(|producer| !ops.contains(producer));
    let mut kernels: Vec<KernelId> = others.map(|&op| analysis.partition.kernel_of[op]).collect();
    kernels.sort_unstable();
    kernels.dedup();
    kernels
}

/// Time of ops as kernels of their own, and how many kernels ran; `None` if one was not found.
fn unfused_s((analysis, matching): Ran<'_>, ops: &[OpId]) -> Option<(f64, usize)> {
    let mut launches = 0;
    let times = ops.iter().filter_map(|&op| {
        let kernel = analysis.partition.kernel_of[op];
        if is_free(analysis, kernel) {
            return None;
        }
        launches += matching.launches(kernel).count();
        Some(matching.time_s(kernel))
    });
    Some((sum(times)?, launches))
}

/// The kernels that are launched: all but views.
fn launched<'a>(
    analysis: &'a Analysis,
    kernels: &'a [KernelId],
) -> impl Iterator<Item = KernelId> + 'a {
    (kernels.iter().copied()).filter(|&kernel| !is_free(analysis, kernel))
}

fn is_free(analysis: &Analysis, kernel: KernelId) -> bool {
    analysis
        .fused
        .kernels
        .get(kernel)
        .is_none_or(|kernel| kernel.is_free)
}

fn sum(numbers: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    numbers.sum()
}
