//! The loops of a reduction, and the rows of a norm.

use super::facts::reduced_axes;
use super::view::{View, broadcast};
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;

/// The loops of a reduction.
pub(super) struct Reduced {
    pub(super) shape: Vec<u64>,
    /// The bits of the reduced dimensions.
    pub(super) axes: u32,
}

impl Reduced {
    /// Over the dimensions of the input.
    pub(super) fn input(graph: &Graph, op: OpId) -> Self {
        let definition = &graph.ops[op];
        let input = graph.inputs[op]
            .first()
            .and_then(|&tensor| graph.tensor_shape(tensor));
        let shape = input.unwrap_or(&definition.shape).to_vec();
        Self {
            axes: reduced_axes(definition.axes, shape.len()),
            shape,
        }
    }

    /// For a norm of groups of channels over groups, the channels of a group, and the pixels.
    /// Source: `native_group_norm` in `torch/_refs/__init__.py`.
    pub(super) fn grouped(self, norm: &Op) -> Self {
        let groups = groups(norm);
        let [batch, channels, pixels @ ..] = &self.shape[..] else {
            return self;
        };
        let in_group = channels.checked_div(groups).unwrap_or(0);
        let Some(pixels) = element_count(pixels).filter(|_| in_group > 0) else {
            return self;
        };
        Self {
            shape: vec![*batch, groups, in_group, pixels],
            axes: 0b1100,
        }
    }
}

/// Groups of channels of a norm; 0 if it has none.
fn groups(norm: &Op) -> u64 {
    norm.indexing.as_ref().map_or(0, |indexing| indexing.groups)
}

/// Whether the op reduces to a variance, which is three values until the end.
pub(super) fn is_variance(op: &Op) -> bool {
    op.function.is_some_and(Function::takes_variance)
}

/// Whether a row has several channels, of which the norm has several rows. Its elements, which a
/// weight addresses by channel, then find their row by a division, so their loop is not that of the
/// rows.
pub(super) fn has_rows_of_channels(norm: &Op) -> bool {
    let channels = norm.shape.get(1).copied().unwrap_or(0);
    (2..channels).contains(&groups(norm))
}

pub(super) fn is_softmax(op: &Op) -> bool {
    op.function.is_some_and(Function::is_softmax)
}

/// Whether the row values are two buffers: mean and variance, or maximum and sum.
pub(super) fn has_two_row_values(op: &Op) -> bool {
    is_variance(op) || is_softmax(op)
}

/// For each element of a norm's output its row.
pub(super) fn row_view(norm: &Op) -> Option<View> {
    let groups = groups(norm);
    if let (1.., Some(batch)) = (groups, norm.shape.first()) {
        // Groups of channels are no axes, so the norm is seen as a matrix with a row per group.
        let rows = batch.checked_mul(groups).filter(|&rows| rows > 0)?;
        let width = element_count(&norm.shape)? / rows;
        let reader = Op::new("", OpType::Elementwise, &[], "", &[rows, width], 1);
        return broadcast(&[rows, 1], &reader);
    }
    let axes = reduced_axes(norm.axes, norm.shape.len());
    let shape = norm.shape.iter().enumerate();
    let rows = shape.map(|(place, &size)| {
        let is_reduced = place < 32 && axes >> place & 1 == 1;
        if is_reduced { 1 } else { size }
    });
    let rows: Vec<u64> = rows.collect();
    let reader = Op::new("", OpType::Elementwise, &[], "", &norm.shape, 1);
    broadcast(&rows, &reader)
}
