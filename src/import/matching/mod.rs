//! Matches measured kernels with predicted kernels by order, names, times and memory traffic.
//!
//! A kernel's name may state all, some or none of its operations ([`operations`]), and a compiler
//! may order kernels differently or launch more of them. So both lists are first aligned in order
//! where names allow it ([`align`]). The kernels left over are then paired by names alone. The page
//! reports the rest as unmatched.

mod align;
mod calls;
mod launch;
mod neighbours;
pub mod operations;

pub use neighbours::{Neighbours, SHORT_LAUNCHES, short_neighbours};

use self::align::align;
use self::calls::one_call;
use self::launch::{Launch, Measured, computed, launches};
use self::operations::{Named, of_name};
use crate::profile::{MeasuredKernel, MeasuredRun};
use fuseline_core::analysis::device_model::cold_time;
use fuseline_core::analysis::measured::Variant;
use fuseline_core::analysis::{Analysis, Kernel};
use fuseline_core::model::ids::{IdVec, KernelId};
use fuseline_core::model::options::Policy;
use std::collections::HashMap;

/// Most kernels on each side that are paired without regard to their order.
const MAX_LEFT_OVER: usize = 1_000;

/// How a measured kernel was matched with a predicted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// In the order of both lists.
    InOrder,
    /// By its name; it runs earlier or later than predicted.
    ByName,
    /// As a helper, which a library launches beside the kernel of an operation.
    Helper,
}

/// The predicted kernel of a measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub kernel: KernelId,
    pub how: How,
}

/// A measured run matched with the predicted kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Matching {
    /// The kernels of one call: the last one, if the run has several.
    pub run: MeasuredRun,
    /// Number of calls in the run, from the repetition of its kernel names.
    pub calls: usize,
    /// Which bytes are compared: reads where they were counted.
    pub counted: Counted,
    /// For each predicted kernel its time in seconds: with a cold cache where the run's kernels had
    /// one, else warm.
    pub predicted_s: IdVec<KernelId, f64>,
    /// For each kernel of `run` the predicted one.
    pub of_measured: Vec<Option<Match>>,
    /// For each predicted kernel the indexes of its measured kernels in `run`, ascending.
    pub of_kernel: IdVec<KernelId, Vec<usize>>,
}

impl Matching {
    /// Predicted kernels that are launched but have no measured kernel.
    pub fn missing<'a>(&'a self, analysis: &'a Analysis) -> impl Iterator<Item = KernelId> + 'a {
        let kernels = analysis.fused.kernels.iter_enumerated();
        let missing =
            kernels.filter(|(id, kernel)| !kernel.is_free && self.of_kernel[*id].is_empty());
        missing.map(|(id, _)| id)
    }

    /// Predicted kernels that have a measured kernel.
    pub fn found(&self) -> impl Iterator<Item = KernelId> + '_ {
        let launches = self.of_kernel.iter_enumerated();
        let found = launches.filter(|(_, ran)| !ran.is_empty());
        found.map(|(kernel, _)| kernel)
    }

    /// Measured kernels with a predicted one, in order.
    pub fn launches_found(&self) -> impl Iterator<Item = &MeasuredKernel> {
        let kernels = self.run.kernels.iter().zip(&self.of_measured);
        kernels.filter_map(|(ran, found)| found.as_ref().map(|_| ran))
    }

    /// Whether each kernel that ran is predicted, and each predicted one ran.
    pub fn is_complete(&self, analysis: &Analysis) -> bool {
        self.of_measured.iter().all(Option::is_some) && self.missing(analysis).next().is_none()
    }

    /// Measured time of a predicted kernel, summed over its launches.
    pub fn time_s(&self, kernel: KernelId) -> Option<f64> {
        let mut launches = self.launches(kernel).peekable();
        launches.peek()?;
        Some(launches.map(|launch| launch.time_s).sum())
    }

    /// Measured bytes of a predicted kernel; `None` if one of its launches was not counted.
    pub fn bytes(&self, kernel: KernelId, counted: Counted) -> Option<u64> {
        counted.sum(self.launches(kernel))
    }

    /// The measured kernels of a predicted one.
    pub fn launches(&self, kernel: KernelId) -> impl Iterator<Item = &MeasuredKernel> {
        let at = self.of_kernel.get(kernel).map_or(&[][..], Vec::as_slice);
        at.iter().filter_map(|&at| self.run.kernels.get(at))
    }
}

/// Which DRAM bytes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    /// Bytes read. What a kernel writes may stay in the cache until long after its end, so reads
    /// are the better sign.
    Read,
    /// Bytes read and written.
    Moved,
}

impl Counted {
    /// The counted bytes of a kernel that ran.
    pub const fn measured(self, kernel: &MeasuredKernel) -> Option<u64> {
        match self {
            Self::Read => kernel.read_bytes,
            Self::Moved => kernel.moved_bytes,
        }
    }

    /// The compulsory traffic of a predicted kernel.
    pub fn predicted(self, kernel: &Kernel) -> u64 {
        match self {
            Self::Read => kernel.bytes_read,
            Self::Moved => kernel.bytes(),
        }
    }

    /// The counted bytes of several kernels that ran; `None` if there is none, or one was not
    /// counted.
    pub fn sum<'a>(self, kernels: impl Iterator<Item = &'a MeasuredKernel>) -> Option<u64> {
        let add = |sum: u64, bytes: Option<u64>| Some(sum.saturating_add(bytes?));
        let mut kernels = kernels.map(|kernel| self.measured(kernel)).peekable();
        kernels.peek()?;
        kernels.try_fold(0, add)
    }
}

/// Policy under which the kernels of a variant are predicted, and whether matmuls are tuned; `None`
/// for a name that neither the script nor the measured files give.
pub fn policy_of_variant(variant: &str) -> Option<(Policy, bool)> {
    let variant: Variant = variant.parse().ok()?;
    Some((variant.policy(), variant.is_tuned()))
}

/// Pairs the kernels of a run with the fused kernels of an analysis. `O(predicted * measured)` for
/// up to four million pairs, then near linear in both.
pub fn match_kernels(analysis: &Analysis, run: &MeasuredRun) -> Matching {
    let counted = counted(run);
    let predicted_s = predicted_times(analysis, run);
    let expected = launches(analysis, counted, &predicted_s);
    let (run, calls) = one_call(run, expected.len());
    let mut names: HashMap<&str, Named> = HashMap::new();
    let measured: Vec<Measured<'_>> = run
        .kernels
        .iter()
        .map(|kernel| Measured {
            kernel,
            named: *names
                .entry(&kernel.name)
                .or_insert_with(|| of_name(&kernel.name)),
            bytes: counted.measured(kernel),
        })
        .collect();
    let score = |row: usize, column: usize| expected.get(row)?.score(measured.get(column)?);
    let mut of_measured: Vec<Option<Match>> = vec![None; measured.len()];
    let mut is_taken = vec![false; expected.len()];
    for (row, column) in align(expected.len(), measured.len(), score) {
        of_measured[column] = Some(Match {
            kernel: expected[row].id,
            how: How::InOrder,
        });
        is_taken[row] = true;
    }
    pair_left_over(&expected, &measured, &mut is_taken, &mut of_measured);
    join_helpers(&measured, analysis, &mut of_measured);
    let mut of_kernel = IdVec::from_elem(Vec::new(), analysis.fused.kernels.len());
    for (at, found) in of_measured.iter().enumerate() {
        if let Some(found) = found {
            of_kernel[found.kernel].push(at);
        }
    }
    Matching {
        run,
        calls,
        counted,
        predicted_s,
        of_measured,
        of_kernel,
    }
}

/// The predicted time of each kernel, with a cold cache where the run had one. Lower bounds assume
/// cold caches anyway.
fn predicted_times(analysis: &Analysis, run: &MeasuredRun) -> IdVec<KernelId, f64> {
    let kernels = analysis.fused.kernels.ids();
    kernels
        .map(|kernel| {
            let cold = run.is_cold.then(|| cold_time(analysis, kernel)).flatten();
            cold.or_else(|| analysis.kernel_time_s(kernel))
                .unwrap_or(0.0)
        })
        .collect()
}

fn counted(run: &MeasuredRun) -> Counted {
    let has_reads = run.kernels.iter().any(|kernel| kernel.read_bytes.is_some());
    if has_reads {
        Counted::Read
    } else {
        Counted::Moved
    }
}

/// Pairs by name the kernels that the alignment left over, each with the best free partner.
fn pair_left_over(
    expected: &[Launch],
    measured: &[Measured<'_>],
    is_taken: &mut [bool],
    of_measured: &mut [Option<Match>],
) {
    /// A lower score does not show that two kernels are the same.
    const LEAST: f64 = 1.5;
    let columns: Vec<usize> = (0..measured.len())
        .filter(|&column| of_measured[column].is_none())
        .take(MAX_LEFT_OVER)
        .collect();
    let mut rows: Vec<usize> = (0..expected.len())
        .filter(|&row| !is_taken[row])
        .take(MAX_LEFT_OVER)
        .collect();
    for column in columns {
        let scored = rows.iter().enumerate().filter_map(|(index, &row)| {
            let score = expected[row].score(&measured[column])?;
            (score >= LEAST).then_some((score, index))
        });
        // Of equal scores, the first wins.
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        if let Some((_, index)) = best {
            let row = rows.remove(index);
            is_taken[row] = true;
            of_measured[column] = Some(Match {
                kernel: expected[row].id,
                how: How::ByName,
            });
        }
    }
}

/// Matches each helper with the kernel before it, or else after it, if it helps that kernel.
fn join_helpers(measured: &[Measured<'_>], analysis: &Analysis, of_measured: &mut [Option<Match>]) {
    let computes = |kernel: KernelId| computed(analysis, kernel).0;
    for at in 0..measured.len() {
        let helps = measured[at].named.helps;
        if of_measured[at].is_some() || helps.is_empty() {
            continue;
        }
        let helped =
            |found: &Option<Match>| found.filter(|found| computes(found.kernel).has(helps));
        let before = of_measured[..at].last().and_then(helped);
        let behind = || {
            // Several helpers may precede one kernel: a library pads image and filter separately.
            let others =
                (at + 1..measured.len()).find(|&next| measured[next].named.helps.is_empty());
            others.and_then(|next| helped(&of_measured[next]))
        };
        if let Some(beside) = before.or_else(behind) {
            of_measured[at] = Some(Match {
                kernel: beside.kernel,
                how: How::Helper,
            });
        }
    }
}
