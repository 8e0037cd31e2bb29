//! Which kernel that ran is which predicted kernel: by order, by names, and by how long they take
//! and what they move.
//!
//! A kernel's name tells operations ([`operations`]), in part or not at all, and a compiler may
//! order kernels otherwise or launch more of them. So both lists are paired in order where names
//! allow it ([`align`]); what is left over is then paired by names alone, and what still is left
//! over stays without a partner and is said to be.

mod align;
mod neighbours;
pub mod operations;

pub use neighbours::{Neighbours, SHORT_LAUNCHES, short_neighbours};

use self::align::align;
use self::operations::{MATRIX, Named, Operations, REDUCTIONS, Shape, of_function, of_name};
use crate::profile::{MeasuredKernel, MeasuredRun};
use fuseline_core::analysis::device_model::cold_time;
use fuseline_core::analysis::measured::Variant;
use fuseline_core::analysis::{Analysis, Kernel};
use fuseline_core::model::ids::{IdVec, KernelId, OpId};
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::options::Policy;
use std::collections::HashMap;

/// Kernels on each side that are paired without regard to their order.
const MAX_LEFT_OVER: usize = 1_000;

/// How a measured kernel found its predicted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// In the order of both lists.
    InOrder,
    /// By its name; it runs earlier or later than predicted.
    ByName,
    /// It helps the kernel beside it, which a library launches with it.
    Helper,
}

/// The predicted kernel of a measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The predicted kernel.
    pub kernel: KernelId,
    /// How it was found.
    pub how: How,
}

/// A measured run beside the predicted kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Matching {
    /// The kernels of one call: the last one, if the run has several.
    pub run: MeasuredRun,
    /// Calls that the run has, as its names repeat.
    pub calls: usize,
    /// Which bytes are compared: reads where they were counted.
    pub counted: Counted,
    /// For each predicted kernel its time in seconds: with a cold cache where the run's kernels had
    /// one, else warm.
    pub predicted_s: IdVec<KernelId, f64>,
    /// For each kernel of `run` the predicted one.
    pub of_measured: Vec<Option<Match>>,
    /// For each predicted kernel the indexes in `run` of those that ran for it, ascending.
    pub of_kernel: IdVec<KernelId, Vec<usize>>,
}

impl Matching {
    /// Predicted kernels that are launched and have no measured one.
    pub fn missing<'a>(&'a self, analysis: &'a Analysis) -> impl Iterator<Item = KernelId> + 'a {
        let kernels = analysis.fused.kernels.iter_enumerated();
        let missing =
            kernels.filter(|(id, kernel)| !kernel.is_free && self.of_kernel[*id].is_empty());
        missing.map(|(id, _)| id)
    }

    /// Predicted kernels that something ran for.
    pub fn found(&self) -> impl Iterator<Item = KernelId> + '_ {
        let launches = self.of_kernel.iter_enumerated();
        let found = launches.filter(|(_, ran)| !ran.is_empty());
        found.map(|(kernel, _)| kernel)
    }

    /// What ran for predicted kernels, in order.
    pub fn launches_found(&self) -> impl Iterator<Item = &MeasuredKernel> {
        let kernels = self.run.kernels.iter().zip(&self.of_measured);
        kernels.filter_map(|(ran, found)| found.as_ref().map(|_| ran))
    }

    /// Whether each kernel that ran is predicted, and each predicted one ran.
    pub fn is_complete(&self, analysis: &Analysis) -> bool {
        self.of_measured.iter().all(Option::is_some) && self.missing(analysis).next().is_none()
    }

    /// Measured time of a predicted kernel, all launches together.
    pub fn time_s(&self, kernel: KernelId) -> Option<f64> {
        let mut launches = self.launches(kernel).peekable();
        launches.peek()?;
        Some(launches.map(|launch| launch.time_s).sum())
    }

    /// Measured bytes of a predicted kernel; `None` if one of its launches was not counted.
    pub fn bytes(&self, kernel: KernelId, counted: Counted) -> Option<u64> {
        counted.sum(self.launches(kernel))
    }

    /// What ran for a predicted kernel.
    pub fn launches(&self, kernel: KernelId) -> impl Iterator<Item = &MeasuredKernel> {
        let at = self.of_kernel.get(kernel).map_or(&[][..], Vec::as_slice);
        at.iter().filter_map(|&at| self.run.kernels.get(at))
    }
}

/// Bytes that go through DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    /// Those read. What a kernel writes may stay in the cache until long after its end, so reads
    /// tell more.
    Read,
    /// Those read and written.
    Moved,
}

impl Counted {
    /// Of a kernel that ran.
    pub const fn measured(self, kernel: &MeasuredKernel) -> Option<u64> {
        match self {
            Self::Read => kernel.read_bytes,
            Self::Moved => kernel.moved_bytes,
        }
    }

    /// Of a predicted kernel: its compulsory traffic.
    pub fn predicted(self, kernel: &Kernel) -> u64 {
        match self {
            Self::Read => kernel.bytes_read,
            Self::Moved => kernel.bytes(),
        }
    }

    /// Of several kernels that ran; `None` if there is none, or one was not counted.
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

/// What each kernel takes by the prediction that is like the measurement; lower bounds are of cold
/// caches anyway.
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

/// A predicted launch.
struct Launch {
    id: KernelId,
    operations: Operations,
    shape: Shape,
    time_s: f64,
    /// As they are compared.
    bytes: u64,
}

struct Measured<'a> {
    kernel: &'a MeasuredKernel,
    named: Named,
    bytes: Option<u64>,
}

/// The launches that an analysis predicts, in order: a kernel with further launches stands several
/// times in a row.
fn launches(
    analysis: &Analysis,
    counted: Counted,
    predicted_s: &IdVec<KernelId, f64>,
) -> Vec<Launch> {
    let kernels = analysis.fused.kernels.iter_enumerated();
    let launched = kernels.filter(|(_, kernel)| !kernel.is_free);
    let each = launched.flat_map(|(id, kernel)| {
        let (operations, shape) = computed(analysis, kernel);
        let further = analysis.partition.further_launches_of(id);
        let time_s = predicted_s[id];
        (0..=further).map(move |_| Launch {
            id,
            operations,
            shape,
            time_s,
            bytes: counted.predicted(kernel),
        })
    });
    each.collect()
}

/// What a kernel computes. Attention is no matmul: its kernel is named after it.
fn computed(analysis: &Analysis, kernel: &Kernel) -> (Operations, Shape) {
    let ops = || kernel.ops.iter().map(|&op: &OpId| &analysis.graph.ops[op]);
    let of_ops = ops().filter_map(|op| op.function).map(of_function);
    let operations = of_ops.fold(Operations::NONE, |all, of_op| all | of_op);
    let matmuls = ops().filter(|op| op.op_type == OpType::Matmul).count();
    if operations.has(operations::ATTENTION) || matmuls >= 2 && operations.has(operations::SOFTMAX)
    {
        return (operations::ATTENTION, Shape::Matrix);
    }
    let shape = if matmuls > 0 {
        Shape::Matrix
    } else if ops().any(|op| op.op_type == OpType::Reduction) || operations.has(REDUCTIONS) {
        Shape::Rows
    } else {
        Shape::Elementwise
    };
    (operations, shape)
}

impl Launch {
    /// How well a measured kernel fits; `None` if it cannot be this one. A name that fits well
    /// counts more than any other sign.
    fn score(&self, measured: &Measured<'_>) -> Option<f64> {
        let Named {
            operations,
            shape,
            helps,
        } = measured.named;
        if !helps.is_empty() {
            return None;
        }
        let is_matrix = self.shape == Shape::Matrix;
        let by_name = if operations.is_empty() || self.operations.is_empty() {
            let fits = match shape {
                Shape::Unknown => 0.2,
                _ if shape == self.shape => 0.6,
                _ => return None,
            };
            if is_matrix && shape == Shape::Unknown {
                0.1
            } else {
                fits
            }
        } else {
            if is_matrix != (shape == Shape::Matrix || operations.has(MATRIX)) {
                return None;
            }
            let exact = self.operations.likeness(operations);
            let spelled_out = self
                .operations
                .spelled_out()
                .likeness(operations.spelled_out());
            if exact == 0.0 && spelled_out == 0.0 {
                return None;
            }
            0.5 + exact + spelled_out + if shape == self.shape { 0.3 } else { 0.0 }
        };
        let bytes = measured
            .bytes
            .map_or(0.0, |bytes| nearness(bytes as f64, self.bytes as f64));
        Some(by_name + 0.3 * nearness(measured.kernel.time_s, self.time_s) + 0.4 * bytes)
    }
}

/// 1 for equal numbers, 0.5 for one that is three times the other.
fn nearness(a: f64, b: f64) -> f64 {
    let factor = (a / b).ln().abs();
    if factor.is_finite() {
        1.0 / (1.0 + factor)
    } else {
        0.0
    }
}

/// Pairs by name what the order left over, each with the best of those that are free.
fn pair_left_over(
    expected: &[Launch],
    measured: &[Measured<'_>],
    is_taken: &mut [bool],
    of_measured: &mut [Option<Match>],
) {
    /// Less than this is no sign that two kernels are the same.
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
        let scored = rows.iter().enumerate().filter_map(|(place, &row)| {
            let score = expected[row].score(&measured[column])?;
            (score >= LEAST).then_some((score, place))
        });
        // The first of the best.
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        if let Some((_, place)) = best {
            let row = rows.remove(place);
            is_taken[row] = true;
            of_measured[column] = Some(Match {
                kernel: expected[row].id,
                how: How::ByName,
            });
        }
    }
}

/// Gives a helper to the kernel before it, else to the one behind it, if that is one that it helps.
fn join_helpers(measured: &[Measured<'_>], analysis: &Analysis, of_measured: &mut [Option<Match>]) {
    let computes = |kernel: KernelId| computed(analysis, &analysis.fused.kernels[kernel]).0;
    for at in 0..measured.len() {
        let helps = measured[at].named.helps;
        if of_measured[at].is_some() || helps.is_empty() {
            continue;
        }
        let helped =
            |found: &Option<Match>| found.filter(|found| computes(found.kernel).has(helps));
        let before = of_measured[..at].last().and_then(helped);
        let behind = || {
            // Images and filters are padded one by one.
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

/// The kernels of the last call, and how many calls there are: a run without a name may hold
/// several, whose names repeat. Among the lengths at which they do, it is the one nearest to
/// `expected`. `O(kernels)`.
fn one_call(run: &MeasuredRun, expected: usize) -> (MeasuredRun, usize) {
    let kernels = &run.kernels;
    let count = kernels.len();
    let period = period(run);
    let distance = |length: usize| (length as f64 / expected.max(1) as f64).ln().abs();
    let lengths = (1..=count / period.max(1))
        .map(|calls| calls * period)
        .filter(|length| run.is_cut || count.is_multiple_of(*length));
    let nearest = lengths.min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    let length = nearest.filter(|_| run.variant.is_none()).unwrap_or(count);
    let mut call = run.clone();
    call.kernels.drain(..count - length);
    call.start_at_zero();
    (call, count.checked_div(length).unwrap_or(1))
}

/// The smallest length at which the names repeat; all of them if they do not. A run that is cut may
/// start in the middle of a call.
fn period(run: &MeasuredRun) -> usize {
    let kernels = &run.kernels;
    // For each prefix the longest border, as Knuth, Morris and Pratt search.
    let mut borders = vec![0_usize; kernels.len()];
    for at in 1..kernels.len() {
        let mut border = borders[at - 1];
        while border > 0 && kernels[border].name != kernels[at].name {
            border = borders[border - 1];
        }
        borders[at] = border + usize::from(kernels[border].name == kernels[at].name);
    }
    let count = kernels.len();
    let period = count - borders.last().copied().unwrap_or(0);
    let repeats = if run.is_cut {
        period * 2 <= count
    } else {
        period > 0 && count.is_multiple_of(period)
    };
    if repeats { period } else { count }
}
