//! The parts of a drawing that depend on bytes: widths of edges, texts of size labels and pills,
//! names for screen readers.

mod op;

use super::dag_layout::{Edge, EdgeEnd, Pill, PillKind};
use super::metrics::{BOLD, PILL_WIDTHS, SMALL_FONT_PX, fit_name, fit_text, text_width};
use super::repeats::{Repeat, Repeats};
use crate::present::format::format_count;
use crate::present::format::{format_bytes, format_exact, format_percent};
use crate::present::names::{joined, short_name};
use fuseline_core::analysis::Execution;
use fuseline_core::{Analysis, IdVec, KernelId, OpId, SizeSource, TensorId};
pub use op::OpLook;
use std::sync::Arc;

/// Width of a size label beyond that of its text.
const SIZE_LABEL_PADDING: f64 = 12.0;
/// A name that is cut to fewer characters says nothing.
const LEAST_NAME_CHARS: usize = 3;
/// Characters of a name in texts for screen readers and in tooltips.
const SPOKEN_NAME_CHARS: usize = 120;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EdgeLook {
    /// How the tensor comes to its reader.
    pub way: Way,
    /// Width of the line of a DRAM edge.
    pub width_px: f64,
}

/// How a tensor comes to the op that reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// It stays on chip.
    #[default]
    OnChip,
    /// Through DRAM.
    Dram,
    /// The reader is a free view: it indexes the bytes and reads none.
    View,
}

impl Way {
    /// The CSS classes of an edge.
    pub const fn class(self) -> &'static str {
        match self {
            Self::OnChip => "dag-edge",
            Self::Dram => "dag-edge is-dram",
            Self::View => "dag-edge is-view",
        }
    }
}

/// The label on the edge of a tensor that an op produces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeLabelLook {
    /// The tensor goes through DRAM.
    pub is_dram: bool,
    /// The name of a tensor on chip; else bytes, behind a name that the box does not tell, and the
    /// number of readers when several kernels read the tensor. Empty where only views follow, after
    /// which the bytes stand.
    pub text: String,
    pub width_px: f64,
}

impl SizeLabelLook {
    /// The middle of the size on the line, or the start of the name beside it.
    pub fn text_x(&self, line_x: f64) -> f64 {
        if self.is_dram { line_x } else { line_x + 8.0 }
    }
}

/// The tag of a repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatLook {
    /// Number of iterations, as shown in the tag.
    pub count: String,
    /// Memory traffic of all iterations.
    pub bytes: String,
    /// Its name for screen readers.
    pub name: String,
}

/// Width of a DRAM edge. It grows with the square root of the bytes up to the `most` of any tensor,
/// so that tensors of 16 MB and of 256 MB are told apart at a glance.
pub fn edge_width_px(bytes: u64, most: u64) -> f64 {
    const LEAST_PX: f64 = 1.5;
    let share = (bytes as f64 / most.max(1) as f64).clamp(0.0, 1.0);
    LEAST_PX + (widest_edge_px(most) - LEAST_PX) * share.sqrt()
}

/// Width of the widest edge: 3 px up to 10 kB and one more for each power of ten, so that a program
/// of small tensors is not all thick lines. At most 8 px, less than the distance of two lines.
pub fn widest_edge_px(most: u64) -> f64 {
    let powers = (most.max(1) as f64).log10() - 4.0;
    3.0 + powers.clamp(0.0, 5.0)
}

/// Bytes of the largest tensor that goes through memory op by op, whose edge is the widest; fused
/// and unfused alike.
fn widest_edge_bytes(analysis: &Analysis) -> u64 {
    most_bytes(analysis, &analysis.unfused)
}

/// Bytes of the largest tensor that goes through memory in a view, and the width of its edge.
/// `None` where none does.
pub fn widest_edge(analysis: &Analysis, is_fused: bool) -> Option<(u64, f64)> {
    let shown = if is_fused {
        &analysis.fused
    } else {
        &analysis.unfused
    };
    let bytes = most_bytes(analysis, shown);
    (bytes > 0).then(|| (bytes, edge_width_px(bytes, widest_edge_bytes(analysis))))
}

fn most_bytes(analysis: &Analysis, execution: &Execution) -> u64 {
    let kernels = execution.kernels.iter().map(|run| &run.traffic);
    let tensors = kernels.flat_map(|traffic| {
        let reads = traffic.reads.iter().map(|read| read.tensor);
        reads.chain(traffic.writes.iter().map(|write| write.tensor))
    });
    let bytes = tensors.map(|tensor| analysis.tensors[tensor].bytes);
    bytes.max().unwrap_or(0)
}

/// The look of each part of a layout. It is computed when it is asked for, so parts out of sight
/// cost nothing.
pub struct Looks {
    analysis: Arc<Analysis>,
    is_fused: bool,
    /// Kernel and tensor of each read, sorted, with the first op of the kernel that names the
    /// tensor, if one does.
    reads: Vec<(KernelId, TensorId, Option<OpId>)>,
    widest_edge_bytes: u64,
    /// How many kernels read each tensor.
    readers: IdVec<TensorId, usize>,
    /// Whether a kernel writes each tensor.
    is_written: IdVec<TensorId, bool>,
}

impl Looks {
    /// The looks for the fused kernels, or for one kernel for each op. `O(ops + reads log reads)`.
    pub fn new(analysis: Arc<Analysis>, is_fused: bool) -> Self {
        let mut reads = Vec::new();
        let mut readers = IdVec::from_elem(0, analysis.graph.tensors.len());
        let mut is_written = IdVec::from_elem(false, analysis.graph.tensors.len());
        let execution = if is_fused {
            &analysis.fused
        } else {
            &analysis.unfused
        };
        for (kernel, run) in execution.kernels.iter_enumerated() {
            for read in &run.traffic.reads {
                let names = |op: &&OpId| analysis.graph.inputs[**op].contains(&read.tensor);
                reads.push((kernel, read.tensor, run.ops.iter().find(names).copied()));
                readers[read.tensor] += 1;
            }
            for write in &run.traffic.writes {
                is_written[write.tensor] = true;
            }
        }
        // For the binary search of `is_read_for`, which is asked for every edge.
        reads.sort_unstable();
        Self {
            widest_edge_bytes: widest_edge_bytes(&analysis),
            analysis,
            is_fused,
            reads,
            readers,
            is_written,
        }
    }

    /// Whether the kernel of an op reads a tensor from memory for this op. A later op of the kernel
    /// finds the tensor on chip: the kernel reads it once, however many of its ops use it.
    fn is_read_for(&self, op: OpId, tensor: TensorId) -> bool {
        let kernel = if self.is_fused {
            self.analysis.partition.kernel_of[op]
        } else {
            KernelId::of_lone_op(op)
        };
        let key = |&(kernel, tensor, _): &(KernelId, TensorId, _)| (kernel, tensor);
        let at = (self.reads).binary_search_by_key(&(kernel, tensor), key);
        let read = at.ok().and_then(|at| self.reads.get(at));
        read.is_some_and(|(.., first)| first.is_none_or(|first| first == op))
    }

    fn is_through_memory(&self, tensor: TensorId) -> bool {
        self.is_written[tensor] || self.readers[tensor] > 0
    }

    /// Whether all that reads the output of an op are free views.
    fn is_only_viewed(&self, op: OpId) -> bool {
        let graph = &self.analysis.graph;
        let readers = &graph.successors[op];
        !readers.is_empty()
            && !graph.is_final(graph.output[op])
            && readers
                .iter()
                .all(|&reader| self.analysis.is_free_view(reader))
    }

    /// The name of a fused kernel's panel for screen readers.
    pub fn panel_name(&self, kernel: KernelId) -> String {
        let ops = &self.analysis.partition.kernels[kernel];
        let names = ops
            .iter()
            .map(|&op| spoken(&self.analysis.graph.ops[op].name));
        let names = joined(names, [", ", " and "], 4);
        let run = &self.analysis.fused.kernels[kernel];
        let before = self.analysis.comparisons[kernel].unfused_bytes;
        let saved = if before > run.bytes() {
            let part = (before - run.bytes()) as f64 / before as f64 * 100.0;
            format!(", {} less than unfused", format_percent(part))
        } else {
            String::new()
        };
        format!(
            "kernel {} of {}: {names}, {} through memory{saved}",
            kernel.number(),
            self.analysis.partition.kernels.len(),
            format_bytes(run.bytes()),
        )
    }

    /// An edge of the layout.
    pub fn edge(&self, edge: &Edge) -> EdgeLook {
        let way = match edge.to {
            EdgeEnd::Op(op) if self.analysis.is_free_view(op) => Way::View,
            EdgeEnd::Op(op) if self.is_read_for(op, edge.tensor) => Way::Dram,
            EdgeEnd::Pill(_) if self.is_written[edge.tensor] => Way::Dram,
            EdgeEnd::Op(_) | EdgeEnd::Pill(_) => Way::OnChip,
        };
        EdgeLook {
            way,
            width_px: edge_width_px(self.bytes(edge.tensor), self.widest_edge_bytes),
        }
    }

    /// The size label below an op, at most this wide. It names the tensor, where the op's box does
    /// not.
    pub fn size_label(&self, op: OpId, most_width: f64) -> SizeLabelLook {
        const FONT_PX: f64 = BOLD * SMALL_FONT_PX;
        let tensor = self.analysis.graph.output[op];
        if self.is_only_viewed(op) {
            return SizeLabelLook::default();
        }
        let room = most_width - SIZE_LABEL_PADDING;
        let mut size = format_bytes(self.bytes(tensor));
        if self.readers[tensor] > 1 {
            size = format!("{} × {size}", self.readers[tensor]);
        }
        let size = fit_text(&size, room, FONT_PX);
        let name = self.analysis.graph.tensor_name(tensor);
        if !self.is_through_memory(tensor) {
            // It stands beside the dotted line.
            return SizeLabelLook {
                text: fit_name(name, most_width / 2.0 - SIZE_LABEL_PADDING, SMALL_FONT_PX),
                ..SizeLabelLook::default()
            };
        }
        let rest = room - text_width(&format!(" {size}"), FONT_PX);
        let fitted = fit_name(name, rest, FONT_PX);
        let is_told = name != self.analysis.graph.ops[op].name
            && (fitted == name || fitted.chars().count() > LEAST_NAME_CHARS);
        let text = if is_told {
            format!("{fitted} {size}")
        } else {
            size
        };
        let width = text_width(&text, FONT_PX) + SIZE_LABEL_PADDING;
        SizeLabelLook {
            is_dram: true,
            width_px: width.round(),
            text,
        }
    }

    /// The tooltip of a size label that says a size ([`SizeLabelLook::is_dram`]).
    pub fn size_label_title(&self, op: OpId) -> String {
        self.title(self.analysis.graph.output[op])
    }

    /// The tag of a repeat. Linear in its kernels.
    pub fn repeat(&self, run: &Repeat) -> RepeatLook {
        let kernels = run.all().map(KernelId::new);
        let bytes: u64 = if self.is_fused {
            kernels
                .map(|kernel| self.analysis.fused.kernels[kernel].bytes())
                .sum()
        } else {
            let comparisons = kernels.map(|kernel| &self.analysis.comparisons[kernel]);
            comparisons.map(|comparison| comparison.unfused_bytes).sum()
        };
        let bytes = format_bytes(bytes);
        let [iterations, kernels] =
            [run.iterations, run.kernels * run.iterations].map(format_count);
        RepeatLook {
            count: format!("× {iterations}"),
            name: format!(
                "{iterations} equal iterations, each reading the output of the one before: {kernels} kernels, {bytes} of memory traffic in total. Unfold them"
            ),
            bytes,
        }
    }

    /// The bytes of a pill, with a tilde when they are assumed, cut to the pill.
    pub fn pill_text(&self, pill: &Pill) -> String {
        let text = self.pill_size(pill);
        fit_text(&text, PILL_WIDTHS.1 - 8.0, SMALL_FONT_PX)
    }

    /// The tooltip of a pill.
    pub fn pill_title(&self, pill: &Pill) -> String {
        let kind = match pill.kind {
            PillKind::Input => "input",
            PillKind::Weight => "weight",
            PillKind::Output => "result",
        };
        if let [tensor] = pill.tensors[..] {
            return format!("{kind} {}", self.title(tensor));
        }
        let tensors = format_count(pill.tensors.len());
        format!("{tensors} inputs and weights, {}", self.pill_size(pill))
    }

    fn pill_size(&self, pill: &Pill) -> String {
        let source = |&tensor: &TensorId| self.analysis.tensors[tensor].source;
        let mut sources = pill.tensors.iter().map(source);
        if pill.kind != PillKind::Output && sources.clone().all(|of| of == SizeSource::Ignored) {
            return "not counted".to_owned();
        }
        let bytes = format_bytes(pill.tensors.iter().map(|&tensor| self.bytes(tensor)).sum());
        if sources.any(|of| of == SizeSource::Assumed) {
            format!("~{bytes}")
        } else {
            bytes
        }
    }

    fn bytes(&self, tensor: TensorId) -> u64 {
        self.analysis.tensors[tensor].bytes
    }

    /// A tensor, its size, and how many kernels read and write it.
    fn title(&self, tensor: TensorId) -> String {
        let bytes = self.bytes(tensor);
        let size = match self.analysis.tensors[tensor].source {
            SizeSource::Ignored => "not counted".to_owned(),
            SizeSource::Assumed => format!(
                "assumed size {}: as large as the output of its reader",
                format_bytes(bytes)
            ),
            SizeSource::Inferred => format!("{} (inferred)", format_bytes(bytes)),
            SizeSource::Produced | SizeSource::Declared | SizeSource::Copied => {
                format!(
                    "{} ({} bytes)",
                    format_bytes(bytes),
                    format_exact(bytes.into())
                )
            }
        };
        let written = if self.is_written[tensor] {
            "written once, "
        } else {
            ""
        };
        let read = match self.readers[tensor] {
            0 => "read by no kernel".to_owned(),
            1 => "read by 1 kernel".to_owned(),
            n => format!("read by {n} kernels"),
        };
        let name = self.analysis.graph.tensor_name(tensor);
        format!("{}: {size}, {written}{read}", spoken(name))
    }
}

/// Which of several equal iterations a kernel runs in, where the graph shows one of them.
pub fn iteration_note(repeats: &Repeats, kernel: KernelId) -> Option<String> {
    let (run, iteration) = repeats.iteration_of(kernel)?;
    let (iteration, iterations) = (format_count(iteration + 1), format_count(run.iterations));
    Some(format!(
        "Iteration {iteration} of {iterations} equal iterations; the graph shows the first."
    ))
}

/// A name, shortened for screen readers and tooltips.
fn spoken(name: &str) -> String {
    short_name(name, SPOKEN_NAME_CHARS)
}
