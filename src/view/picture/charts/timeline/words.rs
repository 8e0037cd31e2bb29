//! The words of the memory timeline.

use super::bars::{Bar, BarKind, Bars};
use super::columns::{ColumnKind, TimelineColumn};
use crate::picture::charts::Charted;
use crate::picture::charts::labels::{kernel_heading, short_op_names};
use crate::picture::charts::scene::Label;
use crate::present::format::{format_bytes, format_percent};
use crate::present::memory::peak_text;
use crate::present::names::lone_number;
use crate::present::names::{counted, short_name};
use crate::present::quantity::{Quantity, Run, Values};
use fuseline_core::{Analysis, Execution, IdVec, KernelId, TensorId};

/// Smaller shares of the memory are not worth words.
const LEAST_PERCENT: f64 = 0.1;
/// Characters of the name of a tensor, at most.
const NAME_CHARS: usize = 28;

/// The claim of the picture, as its title: `Peak 604 MB, 0.7 % of GPU memory`; a plain name for a
/// program without kernels.
pub fn claim(analysis: &Analysis, is_fused: bool) -> String {
    let run = Run::shown(is_fused);
    let execution = run.execution(analysis);
    match execution.peak_memory.kernel {
        Some(_) => {
            let peak = Values::new(analysis).total(Quantity::PeakMemory, run);
            let memory = &analysis.options.device.hardware.memory_bytes;
            let percent = (memory.as_ref())
                .map(|memory| execution.peak_memory.bytes as f64 / memory.value * 100.0)
                .filter(|percent| *percent >= LEAST_PERCENT);
            match percent {
                Some(percent) => {
                    format!("Peak {peak}, {} of GPU memory", format_percent(percent))
                }
                None => format!("Peak memory {peak}"),
            }
        }
        None => "Memory timeline".to_owned(),
    }
}

/// The name of the running kernel: `kernel 3`, or `softmax` where each op is a kernel.
fn run_name(analysis: &Analysis, kernel: KernelId, is_fused: bool) -> String {
    if is_fused {
        return format!("kernel {}", kernel.number());
    }
    let ops = analysis.unfused.kernels.get(kernel).map(|of| &of.ops[..]);
    short_op_names(analysis, ops.unwrap_or_default())
}

/// The whole picture in sentences.
pub(super) fn description(analysis: &Analysis, bars: &Bars, is_fused: bool) -> String {
    let peak = |name: &str, run| {
        let needed = peak_text(analysis, run);
        format!("{name}: at most {needed} in use.")
    };
    let tensors = counted(bars.tensor_count, "tensor");
    let ops = analysis.graph.ops.ids();
    let on_chip = ops.filter_map(|op| analysis.kept_on_chip(op)).count();
    let stay = if is_fused && on_chip > 0 {
        format!(" {tensors} in DRAM, {on_chip} on chip.")
    } else {
        format!(" {tensors} in DRAM.")
    };
    format!(
        "{} {}{stay}",
        peak("Unfused", Run::Unfused),
        peak("Fused", Run::Fused)
    )
}

/// The words at the peak, the longest first: `peak 604 MB`.
pub(super) fn peak_words(analysis: &Analysis, run: Run) -> Vec<String> {
    let execution = run.execution(analysis);
    let needed = Values::new(analysis).total(Quantity::PeakMemory, run);
    let memory = &analysis.options.device.hardware.memory_bytes;
    let is_too_much =
        (memory.as_ref()).is_some_and(|memory| execution.peak_memory.bytes as f64 > memory.value);
    let verdict = is_too_much.then(|| format!("peak {needed}, does not fit"));
    let shorter = [format!("peak {needed}"), needed];
    verdict.into_iter().chain(shorter).collect()
}

/// The texts for a box, the longest first.
pub(super) fn box_words(
    charted: Charted<'_>,
    execution: &Execution,
    column: &TimelineColumn,
) -> Vec<String> {
    match column.kind {
        ColumnKind::Kernel(kernel) => {
            let ops = execution.kernels.as_slice().get(column.kernels.start);
            let number = if charted.is_fused {
                kernel.number().to_string()
            } else {
                let op = ops.and_then(|of| of.ops.first());
                op.map_or_else(String::new, |&op| lone_number(charted.analysis, op))
            };
            let ops = ops.map(|of| short_op_names(charted.analysis, &of.ops));
            let long = ops.map(|ops| format!("{number}: {ops}"));
            long.into_iter().chain([number]).collect()
        }
        ColumnKind::Kernels => Vec::new(),
        ColumnKind::Iterations(Some(count)) => vec![format!("+{count}"), "…".to_owned()],
        ColumnKind::Iterations(None) => vec!["…".to_owned()],
    }
}

pub(super) fn box_label(
    charted: Charted<'_>,
    execution: &Execution,
    column: &TimelineColumn,
    live: &IdVec<KernelId, u64>,
) -> Label {
    let Charted {
        analysis, is_fused, ..
    } = charted;
    let kernels = execution.kernels.as_slice().get(column.kernels.clone());
    let kernels = kernels.unwrap_or_default();
    let [read, written] = [
        kernels.iter().map(|of| of.bytes_read).sum(),
        kernels.iter().map(|of| of.bytes_written).sum(),
    ]
    .map(|bytes: u64| format_bytes(bytes));
    let heading = match column.kind {
        ColumnKind::Kernel(kernel) if is_fused => kernel_heading(analysis, kernel),
        ColumnKind::Kernel(kernel) => {
            let op = short_op_names(analysis, kernels.first().map_or(&[][..], |of| &of.ops));
            format!("kernel {}: {op}, unfused", kernel.number())
        }
        ColumnKind::Kernels => {
            let (first, last) = (column.kernels.start + 1, column.kernels.end);
            if is_fused {
                format!("kernels {first} to {last}")
            } else {
                counted(kernels.len(), "op")
            }
        }
        ColumnKind::Iterations(Some(count)) => counted(count, "more equal iteration"),
        ColumnKind::Iterations(None) => "more equal iterations".to_owned(),
    };
    let mut facts = vec![("reads", read), ("writes", written)];
    let on_chip = on_chip_bytes(charted, column.kind);
    if on_chip > 0 {
        facts.push(("keeps on chip", format_bytes(on_chip)));
    }
    let live = live.get(column.fullest).copied().unwrap_or_default();
    let what = if kernels.len() > 1 {
        "live memory, at most"
    } else {
        "live memory"
    };
    facts.push((what, format_bytes(live)));
    Label::new(heading, facts)
}

/// Bytes of tensors that a fused kernel keeps.
fn on_chip_bytes(charted: Charted<'_>, kind: ColumnKind) -> u64 {
    let ColumnKind::Kernel(kernel) = kind else {
        return 0;
    };
    let kept = on_chip(charted, kernel);
    kept.filter_map(|(_, tensor)| charted.analysis.tensors.get(tensor))
        .map(|of| of.bytes)
        .sum()
}

/// The tensors that a fused kernel keeps on chip, with the index of the op that computes each; none
/// where ops are shown unfused.
pub(super) fn on_chip(
    charted: Charted<'_>,
    kernel: KernelId,
) -> impl Iterator<Item = (usize, TensorId)> {
    let analysis = charted.analysis;
    let fused = analysis.fused.kernels.get(kernel);
    let ops = fused.filter(|_| charted.is_fused).map(|of| &of.ops[..]);
    let ops = ops.unwrap_or_default().iter().enumerate();
    ops.filter_map(|(place, &op)| Some((place, analysis.kept_on_chip(op)?)))
}

/// The name of a tensor as it stands on its bar.
pub(super) fn tensor_name(analysis: &Analysis, tensor: TensorId) -> String {
    short_name(analysis.graph.tensor_name(tensor), NAME_CHARS)
}

pub(super) fn bar_label(charted: Charted<'_>, bar: &Bar) -> Label {
    let Charted {
        analysis, is_fused, ..
    } = charted;
    let name = tensor_name(analysis, bar.first.tensor);
    let heading = match bar.count {
        1 => name,
        2 => format!("{name}, and an equal one"),
        count => format!("{name}, and {} equal ones", count - 1),
    };
    let run = |kernel| run_name(analysis, kernel, is_fused);
    let mut facts = vec![("", format_bytes(bar.bytes))];
    match bar.kind {
        BarKind::Weight => facts.push(("held throughout", "as a weight".to_owned())),
        BarKind::Input => facts.push(("held throughout", "as an input".to_owned())),
        BarKind::Written(_) => {
            facts.push(("written by", run(bar.first.first)));
            let graph = &analysis.graph;
            facts.push(if graph.is_final(bar.first.tensor) {
                ("held", "to the end, as a result".to_owned())
            } else {
                ("in DRAM until", run(bar.first.last))
            });
        }
    }
    Label::new(heading, facts)
}

pub(super) fn on_chip_label(analysis: &Analysis, tensor: TensorId, kernel: KernelId) -> Label {
    let bytes = analysis.tensors.get(tensor).map_or(0, |of| of.bytes);
    let facts = vec![
        ("", format_bytes(bytes)),
        ("stays on chip in", format!("kernel {}", kernel.number())),
    ];
    Label::new(tensor_name(analysis, tensor), facts)
}

/// The label of an arrow.
pub(super) fn flow_label(
    charted: Charted<'_>,
    column: &TimelineColumn,
    bar: &Bar,
    is_write: bool,
    bytes: u64,
) -> Label {
    let analysis = charted.analysis;
    let runs = match column.kind {
        ColumnKind::Kernel(_) => run_name(analysis, column.fullest, charted.is_fused),
        _ => "several kernels".to_owned(),
    };
    let does = match (is_write, column.kind) {
        (false, ColumnKind::Kernel(_)) => "reads",
        (false, _) => "read",
        (true, ColumnKind::Kernel(_)) => "writes",
        (true, _) => "write",
    };
    let name = tensor_name(analysis, bar.first.tensor);
    Label::new(
        format!("{runs} {does} {name}"),
        vec![("", format_bytes(bytes))],
    )
}
