//! The words in an op's box and its name for screen readers.

use super::super::metrics::{OP_PADDING, SMALL_FONT_PX, fit_text, text_width};
use super::{Looks, spoken};
use crate::present::format::format_bytes;
use crate::present::names::{counted, joined, lone_number};
use fuseline_core::model::op::shape_text;
use fuseline_core::{OpId, OpType};

/// An op's box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpLook {
    /// Shape of the output, cut to the box, or for how many more ops of its kernel the box stands.
    pub second_line: String,
    /// The number of its kernel where it runs alone.
    pub lone_number: String,
}

impl Looks {
    /// An op whose box has this width and stands for the ops `inside`, too.
    pub fn op(&self, op: OpId, inside: &[OpId], width: f64) -> OpLook {
        let room = width - 2.0 * OP_PADDING;
        let second_line = if inside.is_empty() {
            let shape = shape_text(&self.analysis.graph.ops[op].shape);
            fit_text(&shape, room, SMALL_FONT_PX)
        } else {
            self.inside_words(inside, room)
        };
        OpLook {
            lone_number: lone_number(&self.analysis, op),
            second_line,
        }
    }

    /// The functions inside a box, as many as there is room for, and how many more. A matmul comes
    /// first: its kernel is known by it.
    fn inside_words(&self, inside: &[OpId], room: f64) -> String {
        let graph = &self.analysis.graph;
        let mut ops: Vec<_> = inside.iter().map(|&op| &graph.ops[op]).collect();
        ops.sort_by_key(|op| op.op_type != OpType::Matmul);
        let text = |shown: usize| {
            let functions = ops.iter().take(shown).map(|op| op.operator());
            let more = ops.len() - shown;
            let more = (more > 0).then(|| format!("{more} more"));
            let words = functions.map(str::to_owned).chain(more);
            format!("with {}", words.collect::<Vec<_>>().join(", "))
        };
        let mut texts = (1..=ops.len()).rev().map(text);
        let fits = |text: &String| text_width(text, SMALL_FONT_PX) <= room;
        texts
            .find(fits)
            .unwrap_or_else(|| format!("with {}", counted(ops.len(), "more op")))
    }

    /// The name of an op for screen readers, with those of the ops `inside`, for which its box
    /// stands, too.
    pub fn op_name(&self, op: OpId, inside: &[OpId]) -> String {
        let name = self.lone_op_name(op);
        if inside.is_empty() {
            return name;
        }
        let names = (inside.iter()).map(|&op| spoken(&self.analysis.graph.ops[op].name));
        let inside = joined(names, [", ", " and "], 4);
        format!("{name}; with {inside}")
    }

    fn lone_op_name(&self, op: OpId) -> String {
        let definition = &self.analysis.graph.ops[op];
        let tensor = self.analysis.graph.output[op];
        let function = definition.operator();
        let mut name = spoken(&definition.name);
        if ![definition.op_type.name(), &definition.name].contains(&function) {
            name = format!("{name}, {}", spoken(function));
        }
        let kernel = self.analysis.partition.kernel_of[op].number();
        let kernels = self.analysis.partition.kernels.len();
        let output = if self.analysis.is_free_view(op) {
            "a view of the bytes that it reads".to_owned()
        } else if self.is_through_memory(tensor) {
            format!("{} through memory", format_bytes(self.bytes(tensor)))
        } else {
            "stays on chip".to_owned()
        };
        let fate = if self.is_fused { "" } else { "fuses into " };
        format!(
            "{name}, {}, {fate}kernel {kernel} of {kernels}, output {}, {output}",
            definition.op_type.name(),
            spoken(&shape_text(&definition.shape))
        )
    }
}
