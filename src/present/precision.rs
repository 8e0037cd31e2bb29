//! Where a program rounds, unfused and fused, and what that does to its numbers.

use super::format::{format_count, format_ratio};
use super::names::{counted, joined};
use crate::core::interpret::{Error, Interpretation, NotRun, Run, Setup, TensorRuns};
use crate::core::notation::spelling::printable;
use crate::core::{DType, KernelId, Partition, TensorId};

/// A tensor that an op writes.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecisionRow {
    /// Its id, which identifies the row.
    pub tensor: TensorId,
    /// Its name.
    pub name: String,
    /// The fused kernel that computes it.
    pub kernel: KernelId,
    /// Its element type.
    pub dtype: &'static str,
    /// What becomes of it where each op is a kernel: `stored in f16`.
    pub unfused: String,
    /// What becomes of it in the fused kernel.
    pub fused: String,
    /// Whether the fused kernel keeps it in wider registers.
    pub is_kept: bool,
    /// Its relative error, unfused.
    pub unfused_error: String,
    /// Its relative error, fused.
    pub fused_error: String,
    /// The largest differences, for a tip.
    pub largest: String,
    /// How many times smaller fusion makes the error.
    pub ratio: String,
}

/// An element of a tensor in all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberRow {
    /// Its place, from 0.
    pub place: usize,
    /// Its exact value.
    pub exact: String,
    /// Its value where each op is a kernel.
    pub unfused: String,
    /// Its value in the fused kernel.
    pub fused: String,
}

/// A row for each of the first `max_rows` tensors that have a value, in the order in which they are written.
pub fn precision_rows(
    ran: &Interpretation,
    partition: &Partition,
    max_rows: usize,
) -> Vec<PrecisionRow> {
    let written = ran.graph.output.iter_enumerated();
    let rows = written.filter_map(|(op, &tensor)| {
        let runs = ran.tensors[tensor].as_ref()?;
        let kernel = *partition.kernel_of.get(op)?;
        let (unfused, fused) = (runs.unfused.error, runs.fused.error);
        Some(PrecisionRow {
            tensor,
            name: printable(ran.graph.tensor_name(tensor)).into_owned(),
            kernel,
            dtype: runs.dtype.name(),
            unfused: place_text(runs, runs.unfused.is_stored),
            fused: place_text(runs, runs.fused.is_stored),
            is_kept: !runs.fused.is_stored,
            unfused_error: error_text(runs, unfused),
            fused_error: error_text(runs, fused),
            largest: format!(
                "largest difference {} unfused, {} fused",
                number_text(unfused.max_abs),
                number_text(fused.max_abs)
            ),
            ratio: ratio_text(unfused, fused),
        })
    });
    rows.take(max_rows).collect()
}

/// Number of tensors that have a row.
pub fn precision_row_count(ran: &Interpretation) -> usize {
    let written = ran.graph.output.iter();
    written
        .filter(|&&tensor| ran.tensors[tensor].is_some())
        .count()
}

fn place_text(runs: &TensorRuns, is_stored: bool) -> String {
    let name = runs.dtype.name();
    match (is_stored, runs.dtype) {
        (true, _) => format!("stored in {name}"),
        (false, DType::F16 | DType::Bf16 | DType::F8) => "kept in f32".to_owned(),
        (false, _) => format!("kept in {name}"),
    }
}

fn error_text(runs: &TensorRuns, error: Error) -> String {
    match error.overflowed {
        0 => scientific(error.relative),
        overflowed => format!(
            "{} of {} overflow",
            format_count(overflowed),
            format_count(runs.elements)
        ),
    }
}

fn ratio_text(unfused: Error, fused: Error) -> String {
    match (unfused.relative, fused.relative) {
        (0.0, 0.0) => "both exact".to_owned(),
        (_, 0.0) => "exact when fused".to_owned(),
        (a, b) if a.is_infinite() && b.is_infinite() => "both overflow".to_owned(),
        (a, _) if a.is_infinite() => "no overflow when fused".to_owned(),
        (_, b) if b.is_infinite() => "overflows when fused".to_owned(),
        (a, b) => format_ratio(a / b),
    }
}

/// What fusion does to the error of the result, in a sentence.
pub fn precision_sentence(ran: &Interpretation) -> String {
    let Some(result) = ran.result() else {
        return "No result of the program has a value.".to_owned();
    };
    let name = printable(ran.graph.tensor_name(result));
    let [Some(unfused), Some(fused)] =
        [Run::Unfused, Run::Fused].map(|run| ran.error_of(result, run))
    else {
        return format!("`{name}` has no value.");
    };
    let [before, after] = [unfused, fused].map(|error| scientific(error.relative));
    match (unfused.relative, fused.relative) {
        (0.0, 0.0) => format!("The result `{name}` is exact, unfused and fused."),
        (a, b) if a.is_infinite() && b.is_infinite() => {
            format!("The result `{name}` overflows, unfused and fused.")
        }
        (a, _) if a.is_infinite() => format!(
            "The result `{name}` overflows when each op stores its output. Fused, its error is {after}."
        ),
        (_, b) if b.is_infinite() => {
            format!("The result `{name}` overflows when fused. Unfused, its error is {before}.")
        }
        (_, 0.0) => {
            format!("The error of the result `{name}` is {before} unfused; fused, it is exact.")
        }
        (a, b) => {
            let change = if a >= 1.005 * b {
                format!("{} times smaller when fused", times(a / b))
            } else if b >= 1.005 * a {
                format!("{} times larger when fused", times(b / a))
            } else {
                "the same when fused".to_owned()
            };
            format!(
                "The error of the result `{name}` is {change}: {before} unfused, {after} fused."
            )
        }
    }
}

fn times(ratio: f64) -> String {
    format_ratio(ratio).trim_end_matches('x').to_owned()
}

/// Where rounding happens: for each of the first `max_kernels` fused kernels what it stores and what it keeps.
pub fn roundings(ran: &Interpretation, partition: &Partition, max_kernels: usize) -> Vec<String> {
    let kernels = partition.kernels.iter_enumerated().take(max_kernels);
    let sentences = kernels.filter_map(|(kernel, ops)| {
        let tensors = ops.iter().filter_map(|&op| {
            let tensor = *ran.graph.output.get(op)?;
            let runs = ran.tensors[tensor].as_ref()?;
            let name = format!(
                "`{}`",
                printable(ran.graph.tensor_name(tensor)).replace('`', "")
            );
            Some((runs, name))
        });
        let (stored, kept): (Vec<_>, Vec<_>) = tensors.partition(|(runs, _)| runs.fused.is_stored);
        let stored: Vec<String> = (stored.iter())
            .map(|(runs, name)| format!("{name} to {}", runs.dtype.name()))
            .collect();
        let kept: Vec<&String> = kept.iter().map(|(_, name)| name).collect();
        let mut parts = Vec::new();
        if !stored.is_empty() {
            parts.push(format!(
                "rounds {}",
                joined(stored.iter(), [", ", " and "], NAMED)
            ));
        }
        if !kept.is_empty() {
            parts.push(format!(
                "keeps {} unrounded",
                joined(kept.iter(), [", ", " and "], NAMED)
            ));
        }
        let verb = parts.join(" and ");
        (!verb.is_empty()).then(|| format!("Kernel {} {verb}.", kernel.number()))
    });
    sentences.collect()
}

/// Most tensors that a sentence names.
const NAMED: usize = 12;

/// The first elements of a tensor.
pub fn number_rows(ran: &Interpretation, tensor: TensorId) -> Vec<NumberRow> {
    let Some(Some(runs)) = ran.tensors.get(tensor) else {
        return Vec::new();
    };
    let all = runs
        .exact
        .iter()
        .zip(&runs.unfused.first)
        .zip(&runs.fused.first);
    let rows = all
        .enumerate()
        .map(|(place, ((&exact, &unfused), &fused))| NumberRow {
            place,
            exact: number_text(exact),
            unfused: number_text(unfused),
            fused: number_text(fused),
        });
    rows.collect()
}

/// What the run stands on: its sizes, and which ops have no value.
pub fn run_notes(ran: &Interpretation, setup: &Setup) -> Vec<String> {
    let mut notes = Vec::new();
    let sizes = ran
        .sizes
        .iter()
        .map(|(name, value)| format!("`{}` = {value}", printable(name).replace('`', "")));
    let sizes: Vec<String> = sizes.collect();
    let with = if sizes.is_empty() {
        String::new()
    } else {
        format!(" with {}", joined(sizes.iter(), [", ", " and "], NAMED))
    };
    notes.push(format!(
        "Computed{with} on normal random numbers of seed {}; error is the length of the difference from f64 over the length of the tensor.",
        setup.seed
    ));
    let count = ran.refused.len();
    for refused in ran.refused.iter().take(3) {
        let name = ran.graph.ops.get(refused.op).map_or("", |op| &op.name);
        notes.push(format!(
            "`{}` has no value: {}.",
            printable(name).replace('`', ""),
            refused.reason
        ));
    }
    if count > 3 {
        notes.push(format!(
            "And {} without a value.",
            counted(count - 3, "more op")
        ));
    }
    notes
}

/// Why nothing is computed, in one sentence or two.
pub fn not_run_text(refused: &NotRun) -> String {
    match &*refused.hint {
        "" => format!("Not computed: {}.", refused.message),
        hint => format!("Not computed: {}. To mend it, {hint}.", refused.message),
    }
}

/// A small number with its power of ten: `4.88e-4`.
fn scientific(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value.is_infinite() => "∞".to_owned(),
        value => format!("{value:.2e}").replace('-', "−"),
    }
}

/// A number with the nine digits that tell all f32 apart: `0.0999755859`.
fn number_text(value: f64) -> String {
    const DIGITS: i32 = 9;
    if value.is_nan() {
        return "not a number".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    let text = match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-4..1e9).contains(&size) => {
            #[allow(clippy::cast_possible_truncation, reason = "from -4 to 9")]
            let before_point = size.log10().floor() as i32 + 1;
            let places = usize::try_from(DIGITS - before_point).unwrap_or(0);
            let text = format!("{value:.places$}");
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
        _ => format!("{value:.8e}"),
    };
    text.replace('-', "−")
}
