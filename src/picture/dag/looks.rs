//! The parts of the drawing that depend on numbers: widths of edges, texts of size labels, names for screen
//! readers.
#![allow(
    clippy::indexing_slicing,
    reason = "op, kernel and tensor ids are dense indices of one analysis"
)]

use super::metrics::{
    BOLD, FONT_PX, OP_PADDING, PILL_WIDTHS, SIZE_LABEL_SIZE, fit_text, text_width,
};
use super::{DagLayout, Edge, EdgeEnd, Pill, PillKind};
use crate::core::model::op::shape_text;
use crate::core::sorting::sort_pairs;
use crate::core::{Analysis, Execution, OpId, SizeSource, TensorId};
use crate::present::format::{format_bytes, format_exact, format_percent};
use crate::present::names::{joined, short_name};

/// Space in a size label beside its text.
const SIZE_LABEL_PADDING: f64 = 12.0;
/// Longest name in a tooltip or for a screen reader, in characters.
const SPOKEN_NAME: usize = 120;

/// An op's box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpLook {
    /// Shape of the output, shortened to the width of the box.
    pub shape: String,
    /// Description of the op.
    pub name: String,
}

/// A kernel's panel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanelLook {
    /// Description of the kernel.
    pub name: String,
}

/// An edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EdgeLook {
    /// Whether it goes through memory; otherwise fusion keeps it on chip, or it is a free view.
    pub is_dram: bool,
    /// Width of its line in pixels, if it goes through memory.
    pub width_px: f64,
}

/// The size label of a tensor that an op produces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeLabelLook {
    /// Whether the tensor goes through memory, so that the size label is shown.
    pub is_shown: bool,
    /// Its bytes, and the number of kernels that read it if there are several.
    pub text: String,
    /// Width with padding, in pixels.
    pub width_px: f64,
    /// Description of the tensor.
    pub title: String,
}

/// The pill of a tensor that enters or leaves the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PillLook {
    /// Its bytes, with a tilde if the size is assumed.
    pub text: String,
    /// Description of the tensor.
    pub title: String,
}

/// All parts that depend on numbers, in the order of the layout's lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looks {
    /// Ops.
    pub ops: Vec<OpLook>,
    /// Panels.
    pub panels: Vec<PanelLook>,
    /// Edges.
    pub edges: Vec<EdgeLook>,
    /// Size labels; hidden ones for ops without a size label in the layout.
    pub size_labels: Vec<SizeLabelLook>,
    /// Pills.
    pub pills: Vec<PillLook>,
}

/// The numbers of `analysis` for its layout, fused or op by op. `O(ops + reads)`, but for a sort of the reads.
pub fn looks(analysis: &Analysis, layout: &DagLayout, is_fused: bool) -> Looks {
    let view = View::new(analysis, is_fused);
    let ops = 0..analysis.graph.ops.len();
    Looks {
        ops: ops.clone().map(|op| view.op(op, layout)).collect(),
        panels: (0..analysis.partition.groups.len())
            .map(|kernel| view.panel(kernel))
            .collect(),
        edges: layout.edges.iter().map(|edge| view.edge(edge)).collect(),
        size_labels: ops.map(|op| view.size_label(op)).collect(),
        pills: layout.pills.iter().map(|pill| view.pill(pill)).collect(),
    }
}

/// Width of an edge through memory: 1.5 px for a kilobyte, 0.8 px more for each power of ten.
pub fn edge_width_px(bytes: u64) -> f64 {
    let powers = ((bytes.max(1) as f64).log10() - 3.0).clamp(0.0, 7.5);
    1.5 + 0.8 * powers
}

struct View<'a> {
    analysis: &'a Analysis,
    is_fused: bool,
    /// Pairs of kernel and tensor that it reads, sorted.
    reads: Vec<(usize, TensorId)>,
    /// For each tensor the number of kernels that read it.
    readers: Vec<usize>,
    /// For each tensor whether a kernel writes it.
    is_written: Vec<bool>,
}

impl<'a> View<'a> {
    fn new(analysis: &'a Analysis, is_fused: bool) -> Self {
        let execution: &Execution = if is_fused {
            &analysis.fused
        } else {
            &analysis.unfused
        };
        let mut view = Self {
            analysis,
            is_fused,
            reads: Vec::new(),
            readers: vec![0; analysis.graph.tensors.len()],
            is_written: vec![false; analysis.graph.tensors.len()],
        };
        for (kernel, run) in execution.kernels.iter().enumerate() {
            for read in &run.traffic.reads {
                view.reads.push((kernel, read.tensor));
                view.readers[read.tensor] += 1;
            }
            for write in &run.traffic.writes {
                view.is_written[write.tensor] = true;
            }
        }
        sort_pairs(&mut view.reads);
        view
    }

    fn is_read_by(&self, op: OpId, tensor: TensorId) -> bool {
        let kernel = if self.is_fused {
            self.analysis.partition.group_of[op]
        } else {
            op
        };
        self.reads.binary_search(&(kernel, tensor)).is_ok()
    }

    fn is_through_memory(&self, tensor: TensorId) -> bool {
        self.is_written[tensor] || self.readers[tensor] > 0
    }

    fn op(&self, op: OpId, layout: &DagLayout) -> OpLook {
        let definition = &self.analysis.graph.ops[op];
        let tensor = self.analysis.graph.output[op];
        let shape = shape_text(&definition.shape);
        let function = definition.function.as_deref().unwrap_or("");
        let mut name = spoken(&definition.name);
        if ![definition.op_type.name(), &definition.name, ""].contains(&function) {
            name = format!("{name}, {}", spoken(function));
        }
        let kernel = self.analysis.partition.group_of[op] + 1;
        let kernels = self.analysis.partition.groups.len();
        let fate = if self.is_through_memory(tensor) {
            format!("{} through memory", format_bytes(self.bytes(tensor)))
        } else {
            "stays on chip".to_owned()
        };
        let width = layout.ops.get(op).map_or(0.0, |b| b.rect.width);
        OpLook {
            name: format!(
                "{name}, {}, kernel {kernel} of {kernels}, output {}, {fate}",
                definition.op_type.name(),
                spoken(&shape)
            ),
            shape: fit_text(&shape, width - 2.0 * OP_PADDING, FONT_PX.1),
        }
    }

    fn panel(&self, kernel: usize) -> PanelLook {
        let ops = &self.analysis.partition.groups[kernel];
        let names = ops
            .iter()
            .map(|&op| spoken(&self.analysis.graph.ops[op].name));
        let names = joined(names, [", ", " and "], 4);
        let run = &self.analysis.fused.kernels[kernel];
        let before = self.analysis.comparisons[kernel].unfused_bytes;
        let saved = if before > run.bytes() {
            let part = (before - run.bytes()) as f64 / before as f64 * 100.0;
            format!(", {} less than op by op", format_percent(part))
        } else {
            String::new()
        };
        PanelLook {
            name: format!(
                "kernel {} of {}: {names}, {} through memory{saved}",
                kernel + 1,
                self.analysis.partition.groups.len(),
                format_bytes(run.bytes()),
            ),
        }
    }

    fn edge(&self, edge: &Edge) -> EdgeLook {
        let is_dram = match edge.to {
            EdgeEnd::Op(op) => self.is_read_by(op, edge.tensor),
            EdgeEnd::Pill(_) => self.is_written[edge.tensor],
        };
        EdgeLook {
            is_dram,
            width_px: edge_width_px(self.bytes(edge.tensor)),
        }
    }

    fn size_label(&self, op: OpId) -> SizeLabelLook {
        let tensor = self.analysis.graph.output[op];
        let readers = self.readers[tensor];
        let bytes = format_bytes(self.bytes(tensor));
        let room = SIZE_LABEL_SIZE.0 - SIZE_LABEL_PADDING;
        let text = if readers > 1 {
            fit_text(&format!("{bytes} x{readers}"), room, BOLD * FONT_PX.1)
        } else {
            bytes
        };
        let width = text_width(&text, BOLD * FONT_PX.1).min(room) + SIZE_LABEL_PADDING;
        SizeLabelLook {
            is_shown: self.is_through_memory(tensor),
            width_px: width.round(),
            text,
            title: self.title(tensor),
        }
    }

    fn pill(&self, pill: &Pill) -> PillLook {
        let sum: u64 = pill.tensors.iter().map(|&t| self.bytes(t)).sum();
        let is_assumed = pill
            .tensors
            .iter()
            .any(|&t| self.analysis.tensors[t].source == SizeSource::Assumed);
        let is_ignored = pill.kind != PillKind::Output
            && pill
                .tensors
                .iter()
                .all(|&t| self.analysis.tensors[t].source == SizeSource::Ignored);
        let text = if is_ignored {
            "not counted".to_owned()
        } else if is_assumed {
            format!("~{}", format_bytes(sum))
        } else {
            format_bytes(sum)
        };
        let kind = match pill.kind {
            PillKind::Input => "input",
            PillKind::Weight => "weight",
            PillKind::Output => "result",
        };
        let title = match pill.tensors[..] {
            [tensor] => format!("{kind} {}", self.title(tensor)),
            _ => format!("{} tensors from outside, {text}", pill.tensors.len()),
        };
        PillLook {
            text: fit_text(&text, PILL_WIDTHS.1 - 8.0, FONT_PX.1),
            title,
        }
    }

    fn bytes(&self, tensor: TensorId) -> u64 {
        self.analysis.tensors[tensor].bytes
    }

    /// The tensor, its size, and the kernels that write and read it.
    fn title(&self, tensor: TensorId) -> String {
        let bytes = self.bytes(tensor);
        let size = match self.analysis.tensors[tensor].source {
            SizeSource::Ignored => "not counted".to_owned(),
            SizeSource::Assumed => format!(
                "assumed {}: as large as the output of its reader",
                format_bytes(bytes)
            ),
            SizeSource::Inferred => format!("{} (inferred)", format_bytes(bytes)),
            SizeSource::Produced | SizeSource::Declared => {
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

/// A name, shortened for tooltips and screen readers.
fn spoken(name: &str) -> String {
    short_name(name, SPOKEN_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_follows_the_logarithm_of_the_bytes() {
        assert!((edge_width_px(1) - 1.5).abs() < 1e-9);
        assert!((edge_width_px(1_000_000) - 3.9).abs() < 1e-9);
        let step = edge_width_px(10_000_000) - edge_width_px(1_000_000);
        assert!((step - 0.8).abs() < 1e-9);
        assert!(edge_width_px(u64::MAX) < 8.0);
    }
}
