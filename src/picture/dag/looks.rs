//! What the numbers make of a placed graph: how wide an edge is, what a size label says, what a screen reader hears.

use crate::core::model::op::shape_text;
use crate::core::{Analysis, IdVec, KernelId, OpId, SizeSource, TensorId};
use crate::picture::dag::metrics::{
    BOLD, FONT_PX, OP_PADDING, PILL_WIDTHS, SIZE_LABEL_PX, fit_text, text_width,
};
use crate::picture::dag::{Edge, EdgeEnd, Pill, PillKind};
use crate::present::format::{format_bytes, format_exact, format_percent};
use crate::present::names::{joined, short_name};
use std::sync::Arc;

/// Room in a size label beside its text.
const SIZE_LABEL_PADDING: f64 = 12.0;
/// Longest name that is read out or shown in a tooltip, in characters.
const SPOKEN_NAME: usize = 120;

/// An op's box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpLook {
    /// Shape of the output, cut to the box.
    pub shape: String,
    /// The op in words.
    pub name: String,
}

/// A kernel's panel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanelLook {
    /// The kernel in words.
    pub name: String,
}

/// An edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EdgeLook {
    /// It goes through memory (DRAM); else fusion keeps it on chip, or it is a free view.
    pub is_dram: bool,
    /// Width of its line when it goes through memory, in pixels.
    pub width_px: f64,
}

/// The label on the edge of a tensor that an op produces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeLabelLook {
    /// The tensor goes through memory, so the label is shown.
    pub is_shown: bool,
    /// How many bytes, and how many kernels read them when there are several.
    pub text: String,
    /// Its width around the text, in pixels.
    pub width_px: f64,
    /// The same in words.
    pub title: String,
}

/// The pill of a tensor that enters or leaves the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PillLook {
    /// How many bytes, with a tilde when that is an assumption.
    pub text: String,
    /// The tensor in words.
    pub title: String,
}

/// Width of an edge through memory: 1.5 px for a kilobyte, 0.8 px more for each power of ten.
pub fn edge_width_px(bytes: u64) -> f64 {
    let powers = ((bytes.max(1) as f64).log10() - 3.0).clamp(0.0, 7.5);
    1.5 + 0.8 * powers
}

/// What an analysis says of the parts of its picture. Each look is made when it is asked for, so a picture of which
/// little is in sight costs little.
pub struct Looks {
    analysis: Arc<Analysis>,
    is_fused: bool,
    /// Kernel and tensor of every read, sorted.
    reads: Vec<(KernelId, TensorId)>,
    /// For each tensor how many kernels read it.
    readers: IdVec<TensorId, usize>,
    /// For each tensor whether it is written.
    is_written: IdVec<TensorId, bool>,
}

impl Looks {
    /// The looks of the fused kernels, or of one kernel for each op. `O(ops + reads)` but for a sort of the reads.
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
                reads.push((kernel, read.tensor));
                readers[read.tensor] += 1;
            }
            for write in &run.traffic.writes {
                is_written[write.tensor] = true;
            }
        }
        reads.sort_unstable();
        Self {
            analysis,
            is_fused,
            reads,
            readers,
            is_written,
        }
    }

    fn is_read_by(&self, op: OpId, tensor: TensorId) -> bool {
        let kernel = if self.is_fused {
            self.analysis.partition.kernel_of[op]
        } else {
            KernelId::of_lone_op(op)
        };
        self.reads.binary_search(&(kernel, tensor)).is_ok()
    }

    fn is_through_memory(&self, tensor: TensorId) -> bool {
        self.is_written[tensor] || self.readers[tensor] > 0
    }

    /// An op whose box is so wide.
    pub fn op(&self, op: OpId, width: f64) -> OpLook {
        let definition = &self.analysis.graph.ops[op];
        let tensor = self.analysis.graph.output[op];
        let shape = shape_text(&definition.shape);
        let function = definition.function.as_deref().unwrap_or("");
        let mut name = spoken(&definition.name);
        if ![definition.op_type.name(), &definition.name, ""].contains(&function) {
            name = format!("{name}, {}", spoken(function));
        }
        let kernel = self.analysis.partition.kernel_of[op].number();
        let kernels = self.analysis.partition.kernels.len();
        let fate = if self.is_through_memory(tensor) {
            format!("{} through memory", format_bytes(self.bytes(tensor)))
        } else {
            "stays on chip".to_owned()
        };
        OpLook {
            name: format!(
                "{name}, {}, kernel {kernel} of {kernels}, output {}, {fate}",
                definition.op_type.name(),
                spoken(&shape)
            ),
            shape: fit_text(&shape, width - 2.0 * OP_PADDING, FONT_PX.1),
        }
    }

    /// The panel of a fused kernel.
    pub fn panel(&self, kernel: KernelId) -> PanelLook {
        let ops = &self.analysis.partition.kernels[kernel];
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
                kernel.number(),
                self.analysis.partition.kernels.len(),
                format_bytes(run.bytes()),
            ),
        }
    }

    /// An edge of the layout.
    pub fn edge(&self, edge: &Edge) -> EdgeLook {
        let is_dram = match edge.to {
            EdgeEnd::Op(op) => self.is_read_by(op, edge.tensor),
            EdgeEnd::Pill(_) => self.is_written[edge.tensor],
        };
        EdgeLook {
            is_dram,
            width_px: edge_width_px(self.bytes(edge.tensor)),
        }
    }

    /// The size label below an op.
    pub fn size_label(&self, op: OpId) -> SizeLabelLook {
        let tensor = self.analysis.graph.output[op];
        let readers = self.readers[tensor];
        let bytes = format_bytes(self.bytes(tensor));
        let room = SIZE_LABEL_PX.0 - SIZE_LABEL_PADDING;
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

    /// A pill of the layout.
    pub fn pill(&self, pill: &Pill) -> PillLook {
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

    /// The tensor, its size and who moves it.
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

/// A name, shortened for screen readers and tooltips.
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
