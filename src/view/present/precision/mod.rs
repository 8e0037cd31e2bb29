//! Where a program rounds, unfused and fused, and what that does to its numbers.

mod figures;

use self::figures::ExplanationOf;
use super::figure::Explanation;
use super::format::{format_count, format_digits, format_ratio, format_scientific};
use super::names::{counted, joined, listed};
use fuseline_codegen::interpret::{Error, Interpretation, NotRun, Run, Setup, Stored, TensorRuns};
use fuseline_core::notation::spelling::printable;
use fuseline_core::{DType, KernelId, OpType, Partition, TensorId};

/// A tensor that an op writes.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecisionRow {
    /// Its id, which identifies the row.
    pub tensor: TensorId,
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
    pub unfused_error: Explanation,
    /// Its relative error, fused.
    pub fused_error: Explanation,
    /// The largest differences, for a tip.
    pub largest: String,
    /// How many times smaller fusion makes the error.
    pub ratio: Explanation,
}

/// An element of a tensor in all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberRow {
    /// Its index, from 0.
    pub place: usize,
    /// Its exact value.
    pub exact: Explanation,
    /// Its value where each op is a kernel.
    pub unfused: Explanation,
    /// Its value in the fused kernel.
    pub fused: Explanation,
}

/// A row for each of the first `max_rows` tensors that have a value, in the order in which they are
/// written.
pub fn precision_rows(
    ran: &Interpretation,
    partition: &Partition,
    max_rows: usize,
) -> Vec<PrecisionRow> {
    let written = ran.graph.output.iter_enumerated();
    let rows = written.filter_map(|(op, &tensor)| {
        let runs = ran.tensors[tensor].as_ref()?;
        let kernel = *partition.kernel_of.get(op)?;
        let explanation = ExplanationOf { ran, tensor, runs };
        let most = |stored: &Stored| format_digits(stored.error.max_abs, 9);
        Some(PrecisionRow {
            tensor,
            name: printable(ran.graph.tensor_name(tensor)).into_owned(),
            kernel,
            dtype: runs.dtype.name(),
            unfused: place_text(runs, runs.unfused.is_stored),
            fused: fused_place_text(ran, tensor, runs),
            is_kept: !runs.fused.is_stored,
            unfused_error: explanation.error(Run::Unfused),
            fused_error: explanation.error(Run::Fused),
            largest: format!(
                "largest difference {} unfused, {} fused",
                most(&runs.unfused),
                most(&runs.fused)
            ),
            ratio: explanation.ratio(),
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
    match is_stored {
        true => format!("stored in {name}"),
        false if is_narrow(runs.dtype) => "kept in f32".to_owned(),
        false => format!("kept in {name}"),
    }
}

fn fused_place_text(ran: &Interpretation, tensor: TensorId, runs: &TensorRuns) -> String {
    let place = place_text(runs, runs.fused.is_stored);
    if is_rounded_operand(ran, tensor, runs) {
        format!("{place}, {} for the matmul", runs.dtype.name())
    } else {
        place
    }
}

/// Whether a kernel computes in a wider type than this one.
const fn is_narrow(dtype: DType) -> bool {
    dtype.is_float() && !matches!(dtype, DType::F64 | DType::F32)
}

/// Whether matrix units round a tensor that its kernel keeps in f32, because they take operands of
/// the tensor's type.
fn is_rounded_operand(ran: &Interpretation, tensor: TensorId, runs: &TensorRuns) -> bool {
    let mut readers = ran.graph.consumers[tensor].iter();
    let is_operand = readers.any(|&op| ran.graph.ops[op].op_type == OpType::Matmul);
    !runs.fused.is_stored && is_narrow(runs.dtype) && is_operand
}

fn error_text(runs: &TensorRuns, error: Error) -> String {
    match error.overflowed {
        0 => format_scientific(error.relative),
        overflowed => format!(
            "{} of {} overflow",
            format_count(overflowed),
            format_count(runs.elements)
        ),
    }
}

/// The words in place of a ratio of two errors that have no ratio.
const fn ratio_words(unfused: f64, fused: f64) -> Option<&'static str> {
    match (unfused, fused) {
        (0.0, 0.0) => Some("both exact"),
        (_, 0.0) => Some("exact when fused"),
        (a, b) if a.is_infinite() && b.is_infinite() => Some("both overflow"),
        (a, _) if a.is_infinite() => Some("no overflow when fused"),
        (_, b) if b.is_infinite() => Some("overflows when fused"),
        _ => None,
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
    let [before, after] = [unfused, fused].map(|error| format_scientific(error.relative));
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
                format!("{}× smaller when fused", times(a / b))
            } else if b >= 1.005 * a {
                format!("{}× larger when fused", times(b / a))
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
    format_ratio(ratio).trim_end_matches('×').to_owned()
}

/// Where rounding happens: for each of the first `max_kernels` fused kernels what it stores and
/// what it keeps.
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
            Some((tensor, runs, name))
        });
        let (stored, kept): (Vec<_>, Vec<_>) =
            tensors.partition(|(_, runs, _)| runs.fused.is_stored);
        let (operands, kept): (Vec<_>, Vec<_>) = (kept.into_iter())
            .partition(|&(tensor, runs, _)| is_rounded_operand(ran, tensor, runs));
        let rounded = |tensors: Vec<(TensorId, &TensorRuns, String)>| {
            let tensors = tensors.into_iter();
            let texts = tensors.map(|(_, runs, name)| format!("{name} to {}", runs.dtype.name()));
            texts.collect::<Vec<_>>()
        };
        let kept: Vec<String> = kept.into_iter().map(|(.., name)| name).collect();
        let sentences = [
            ("rounds ", rounded(stored), ""),
            ("keeps ", kept, " unrounded"),
            ("rounds ", rounded(operands), " for the matmul alone"),
        ];
        let clauses = sentences
            .into_iter()
            .filter(|(_, names, _)| !names.is_empty());
        let parts = clauses.map(|(before, names, after)| {
            let names = joined(names.iter(), [", ", " and "], NAMED);
            format!("{before}{names}{after}")
        });
        let verb = listed(parts.collect());
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
    let explanation = ExplanationOf { ran, tensor, runs };
    let all = runs
        .exact
        .iter()
        .zip(&runs.unfused.first)
        .zip(&runs.fused.first);
    let rows = all
        .enumerate()
        .map(|(place, ((&exact, &unfused), &fused))| NumberRow {
            place,
            exact: explanation.exact_element(place, exact),
            unfused: explanation.element(Run::Unfused, place, exact, unfused),
            fused: explanation.element(Run::Fused, place, exact, fused),
        });
    rows.collect()
}

/// What the run depends on: its sizes, and which ops have no value.
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
        "Computed{with} on normally distributed random numbers with seed {}. The error is the L2 norm of the difference from the f64 result, divided by the L2 norm of that result.",
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
            "{} without a value.",
            counted(count - 3, "more op")
        ));
    }
    notes
}

/// Why nothing is computed, in one sentence or two.
pub fn not_run_text(refused: &NotRun) -> String {
    match &*refused.hint {
        "" => format!("Not computed: {}.", refused.message),
        hint => format!("Not computed: {}. To correct it, {hint}.", refused.message),
    }
}
