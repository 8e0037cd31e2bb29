//! A run on your GPU (WebGPU), in rows and sentences.

mod checks;

pub use self::checks::{CheckRow, check_rows, tolerance_note, verdict};

use crate::present::format::{
    format_amount, format_bandwidth, format_bytes, format_error, format_rate, format_ratio,
    format_seconds,
};
use crate::present::names::{counted, listed, op_names};
use crate::present::words::capitalized;
use fuseline_codegen::interpret::NotRun;
use fuseline_codegen::kernel_code::{LONGEST_SHARED_ROW, TILE};
use fuseline_codegen::your_gpu::{Failure, Outcome, WANTED_RUN_S, max_bytes};
use fuseline_core::model::device::DeviceProbe;
use fuseline_core::model::functions::Function;
use fuseline_core::model::op::{Op, element_count};
use fuseline_core::{Graph, KernelId, OpId, OpType};

/// The text of a cell where nothing was measured.
const NOTHING: &str = "–";
/// Kernels without a shader that are named in a sentence.
const NAMED_KERNELS: usize = 3;

/// The number of thread groups below which a large GPU has idle multiprocessors.
const FEW_GROUPS: u64 = 128;

/// Times of a fused kernel, or of all.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeRow {
    /// The kernel; `None` for the sum of all.
    pub kernel: Option<KernelId>,
    pub first_op: Option<OpId>,
    /// The names of its ops.
    pub name: String,
    /// Times of its ops as separate kernels.
    pub unfused: TimePair,
    /// Times of the fused kernel.
    pub fused: TimePair,
}

/// Predicted and measured, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimePair {
    /// By the model, from the rates of this GPU.
    pub predicted_s: f64,
    /// On this GPU.
    pub measured_s: f64,
}

impl TimePair {
    /// Predicted, measured, and the relative error of the prediction.
    pub fn texts(self) -> [String; 3] {
        let measured = if self.measured_s > 0.0 {
            format_seconds(self.measured_s)
        } else {
            NOTHING.to_owned()
        };
        let error = self.predicted_s / self.measured_s - 1.0;
        [
            format_seconds(self.predicted_s),
            measured,
            format_error(error),
        ]
    }
}

/// A row for each fused kernel, in their order. `O(ops)`.
pub fn time_rows(outcome: &Outcome) -> Vec<TimeRow> {
    let analysis = &outcome.predicted;
    let kernels = analysis.fused.kernels.iter_enumerated();
    kernels
        .map(|(id, kernel)| TimeRow {
            kernel: Some(id),
            first_op: kernel.ops.first().copied(),
            name: op_names(&analysis.graph, &kernel.ops),
            unfused: TimePair {
                predicted_s: analysis.comparisons[id].unfused_time_s,
                measured_s: outcome.unfused_kernel_s(id),
            },
            fused: TimePair {
                predicted_s: kernel.placement.time_s,
                measured_s: outcome.fused.kernel_s(id).unwrap_or(0.0),
            },
        })
        .collect()
}

/// The sum of the rows. Each kernel was timed alone and repeated, so its data was in the cache if
/// it fits there.
pub fn sum_row(outcome: &Outcome) -> TimeRow {
    let rows = time_rows(outcome);
    let measured_s = |of: fn(&TimeRow) -> TimePair| rows.iter().map(|row| of(row).measured_s).sum();
    let total = total_row(outcome);
    TimeRow {
        name: "sum of the rows".to_owned(),
        unfused: TimePair {
            measured_s: measured_s(|row| row.unfused),
            ..total.unfused
        },
        fused: TimePair {
            measured_s: measured_s(|row| row.fused),
            ..total.fused
        },
        ..total
    }
}

/// All kernels together, which were timed as one run.
pub fn total_row(outcome: &Outcome) -> TimeRow {
    let analysis = &outcome.predicted;
    TimeRow {
        kernel: None,
        first_op: None,
        name: "one run of all kernels".to_owned(),
        unfused: TimePair {
            predicted_s: analysis.unfused.time_s,
            measured_s: outcome.unfused.total_s,
        },
        fused: TimePair {
            predicted_s: analysis.fused.time_s,
            measured_s: outcome.fused.total_s,
        },
    }
}

/// Whether all results are right, and what fusion brings.
pub fn headline(outcome: &Outcome) -> Vec<String> {
    let mut explanation = verdict(&outcome.checks);
    let named = |ratio: Option<f64>| ratio.map_or_else(|| NOTHING.to_owned(), format_ratio);
    let from = format_seconds(outcome.unfused.total_s);
    let to = format_seconds(outcome.fused.total_s);
    explanation.push(format!(
        "Measured speedup by fusion: {}, from {from} to {to}. Predicted: {}.",
        named(outcome.speedup()),
        named(outcome.predicted_speedup())
    ));
    explanation
}

/// What was measured of the GPU itself.
pub fn rates_text(measured: &DeviceProbe) -> String {
    let exponentials = match measured.exp_per_s {
        Some(per_s) => format!("exponentials at {}", format_amount(per_s, "/s")),
        None => "exponentials too fast to measure".to_owned(),
    };
    let products = match measured.shader_product_flops_per_s {
        Some(per_s) => format!("matmuls in a shader at {}", format_rate(per_s)),
        None => "matmuls too fast to measure".to_owned(),
    };
    format!(
        "{}: copies at {}, f32 multiply-adds at {}, {products}, {exponentials}, {} per launch.",
        measured.name,
        format_bandwidth(measured.memory_bytes_per_s),
        format_rate(measured.vector_flops_per_s),
        format_seconds(measured.kernel_s)
    )
}

/// What WebGPU does not report, and what that means for the GPU as a device.
pub const NOT_MEASURED: &str = "A page cannot measure matrix units, caches or the memory size. As a device of this page, the GPU computes matmuls on its vector units, and its times are lower bounds of the roofline. The PyTorch script measures the rest.";

/// How it was run: sizes, types and clock.
pub fn notes(outcome: &Outcome) -> Vec<String> {
    let mut explanation = vec![
        "Predicted times are the roofline with the rates of this GPU. Matmuls and convolutions use the rate of a large square matmul in a shader, without matrix units.".to_owned(),
    ];
    explanation.extend(slower_note(&outcome.predicted.graph));
    explanation.extend(sizes_notes(outcome));
    explanation
        .push("All floats are f32 here, so an f16 tensor takes 4 bytes per element.".to_owned());
    explanation.push(if outcome.has_clock {
        "Times come from the GPU's own clock. Each launch repeats for 5 ms with warm caches, and the time is the median of 5 repetitions. Kernels with equal code are timed once.".to_owned()
    } else {
        "This GPU gives pages no clock, so times come from the page's own and include the way to the GPU and back. Each launch repeats for 50 ms. Kernels with equal code are timed once.".to_owned()
    });
    explanation
}

/// Which ops of the program take longer in this page's shaders than the roofline says: on an H100
/// two to eight times, for cumulative sums some hundred times. `O(ops)`.
fn slower_note(graph: &Graph) -> Option<String> {
    let has = |holds: fn(&Op) -> bool| graph.ops.iter().any(holds);
    let reductions = || {
        let ops = graph.ops.iter_enumerated();
        ops.filter(|(_, op)| op.op_type == OpType::Reduction)
    };
    let is_small_product = |op: &Op| {
        let elements = element_count(&op.shape);
        op.op_type == OpType::Matmul
            && elements.is_some_and(|elements| elements < FEW_GROUPS * TILE * TILE)
    };
    // How many rows, and the elements of one.
    let rows = || {
        let inputs = reductions().filter_map(|(op, _)| graph.inputs[op].first());
        inputs.filter_map(|&input| {
            let (&row, rows) = graph.tensor_shape(input)?.split_last()?;
            Some((element_count(rows)?, row))
        })
    };
    let causes = [
        (
            has(Op::is_convolution),
            "convolutions (they compute the index of each element that they read)",
        ),
        (
            has(|op| op.function == Some(Function::Cumsum)),
            "cumulative sums (each element adds up all elements before it)",
        ),
        (
            reductions().any(|(_, op)| op.axes != 0),
            "reductions along an axis other than the last (neighbouring threads read far apart)",
        ),
        (
            rows().any(|(_, row)| row > LONGEST_SHARED_ROW),
            "long rows (each pass reads them again)",
        ),
        (
            rows().any(|(rows, _)| rows < FEW_GROUPS),
            "few rows (each row has one workgroup)",
        ),
        (
            graph.ops.iter().any(is_small_product),
            "small matmuls (each 64 × 64 tile has one workgroup)",
        ),
    ];
    let causes = causes.into_iter().filter(|(is_there, _)| *is_there);
    let causes: Vec<String> = causes.map(|(_, cause)| cause.to_owned()).collect();
    (!causes.is_empty())
        .then(|| format!("Shaders are slower than predicted for {}.", listed(causes)))
}

/// At which sizes results were compared and times taken, and why not at the program's own.
fn sizes_notes(outcome: &Outcome) -> Vec<String> {
    let Outcome {
        own_sizes,
        timed_sizes,
        limits,
        ..
    } = outcome;
    let mut explanation = Vec::new();
    let pairs = own_sizes.iter().zip(timed_sizes);
    let reduced: Vec<String> = pairs
        .filter(|(own, timed)| own != timed)
        .map(|((name, own), (_, timed))| format!("{name} = {timed} instead of {own}"))
        .collect();
    if reduced.is_empty() {
        explanation.push("Timed at the program's own sizes.".to_owned());
    } else {
        explanation.push(format!(
            "Timed at {}, so that no tensor has more than {}, all tensors together have at most {}, and a run takes at most about {}. The sliders choose smaller sizes.",
            reduced.join(", "),
            format_bytes(limits.max_tensor_bytes()),
            format_bytes(max_bytes(limits)),
            format_seconds(WANTED_RUN_S)
        ));
    }
    if let Ok(checks) = &outcome.checks
        && checks.sizes != *timed_sizes
    {
        explanation.push(format!(
            "Checked at {}, which the interpreter computes quickly.",
            sizes(&checks.sizes)
        ));
    }
    explanation
}

fn sizes(sizes: &[(String, i64)]) -> String {
    let sizes: Vec<String> = sizes
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    sizes.join(", ")
}

/// What happened and what to do, in sentences.
pub fn failure_text(failure: &Failure) -> String {
    match failure {
            Failure::NoWebGpu => "This browser has no WebGPU, so it cannot run kernels on your GPU. Chrome, Edge and Safari 26 can.".to_owned(),
            Failure::NoAdapter => "WebGPU finds no GPU on this machine, or the browser does not let pages use it.".to_owned(),
            Failure::NoDevice(message) => format!("The GPU could not be opened: {}.", clause(message)),
            Failure::Lost(message) if message.is_empty() => "The connection to the GPU was lost. Run again to reconnect.".to_owned(),
            Failure::Lost(message) => format!("The connection to the GPU was lost: {}. Run again to reconnect.", clause(message)),
            Failure::OutOfMemory => "The tensors do not fit in the GPU's memory. Make sizes smaller, or close other programs that use the GPU.".to_owned(),
            Failure::Limit { what, limit, hint } => {
 format!("{}, and this GPU allows {limit}. {}.", capitalized(what), capitalized(hint))
}
            Failure::Kernel { name, message } => format!("The browser refuses {name}: {}.", clause(message)),
            Failure::NoShader(kernels) => {
                let named = kernels.iter().take(NAMED_KERNELS).cloned();
                let mut named: Vec<String> = named.collect();
            if let more @ 1.. = kernels.len().saturating_sub(NAMED_KERNELS) {
                named.push(format!("and {}", counted(more, "more kernel")));
            }
            let named = named.join("; ");
                format!("This GPU cannot run all kernels. {}.", capitalized(&named))
            }
            Failure::NoRate(why) => format!("The rates of this GPU could not be measured: {}. Run again while nothing else uses it.", clause(why)),
            Failure::TooLong { name, waited_s } => format!("{} took longer than {waited_s} s and was stopped. Make sizes smaller.", capitalized(name)),
            Failure::NotRun(NotRun { message, hint }) if hint.is_empty() => format!("Not run: {message}."),
            Failure::NotRun(NotRun { message, hint }) => format!("Not run: {message}; {hint}."),
            Failure::Stopped => "Stopped.".to_owned(),
            Failure::Other(message) => format!("The GPU could not run the program: {}.", clause(message)),
        }
}

/// A message of the browser inside a sentence: its first line, without a full stop.
fn clause(message: &str) -> &str {
    let first = message.trim().lines().next().unwrap_or_default();
    first.trim_end_matches('.')
}
