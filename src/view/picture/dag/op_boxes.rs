//! The boxes of ops: their texts and their common width.

use super::dag_layout::OpBox;
use super::geometry::Rect;
use super::metrics::{
    BOLD, FUNCTION_FONT_PX, LABEL_GAP, OP_PADDING, OP_WIDTHS, SMALL_FONT_PX, fit_name, fit_text,
    reserved_shape_width, text_width,
};
use fuseline_core::{Graph, IdVec, Op, OpId, Partition, TensorId};

/// Whether [`layout`](super::layout) gives the same result for both, as it does when only sizes
/// differ.
pub fn has_same_picture(a: (&Graph, &Partition), b: (&Graph, &Partition)) -> bool {
    let same_op = |(a, b): (&Op, &Op)| {
        title(a) == title(b) && a.name == b.name && a.shape.len() == b.shape.len()
    };
    let same_tensor = |id: TensorId| {
        let (one, other) = (&a.0.tensors[id], &b.0.tensors[id]);
        (one.role, one.producer) == (other.role, other.producer)
            && a.0.tensor_name(id) == b.0.tensor_name(id)
    };
    a.1 == b.1
        && a.0.ops.len() == b.0.ops.len()
        && a.0.inputs == b.0.inputs
        && a.0.tensors.len() == b.0.tensors.len()
        && a.0.ops.iter().zip(&b.0.ops).all(same_op)
        && a.0.tensors.ids().all(same_tensor)
}

/// The upper line of an op's box: its function in bold, and its name where that is another.
fn title(op: &Op) -> (&str, &str) {
    let function = op.operator();
    let label = if op.name == function { "" } else { &op.name };
    (function, label)
}

/// The width of all boxes: that of the widest.
pub(super) fn op_width(graph: &Graph) -> f64 {
    let needed = graph.ops.iter().map(|op| {
        let (function, label) = title(op);
        let title = text_width(function, BOLD * FUNCTION_FONT_PX)
            + LABEL_GAP
            + text_width(label, SMALL_FONT_PX);
        title.max(reserved_shape_width(op.shape.len())) + 2.0 * OP_PADDING
    });
    let widest = needed.fold(OP_WIDTHS.0, f64::max).min(OP_WIDTHS.1);
    (widest / 4.0).ceil() * 4.0
}

/// The boxes with their texts, not placed yet.
pub(super) fn op_boxes(graph: &Graph, width: f64) -> IdVec<OpId, OpBox> {
    let room = width - 2.0 * OP_PADDING;
    graph
        .ops
        .iter()
        .map(|op| {
            let (function, label) = title(op);
            let function = fit_text(function, room, BOLD * FUNCTION_FONT_PX);
            let rest = room - text_width(&function, BOLD * FUNCTION_FONT_PX) - LABEL_GAP;
            OpBox {
                rect: Rect::default(),
                label: if rest > 2.0 * SMALL_FONT_PX {
                    fit_name(label, rest, SMALL_FONT_PX)
                } else {
                    String::new()
                },
                function,
            }
        })
        .collect()
}
