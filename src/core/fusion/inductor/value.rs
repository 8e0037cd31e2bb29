//! How a reader obtains a tensor: from which buffers, and what of them.

use super::node::BufferId;
use super::view::View;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{OpId, TensorId};

/// How a reader obtains a tensor: it reads these buffers and computes these ops.
#[derive(Clone, Default)]
pub(super) struct LoweredValue {
    pub(super) reads: Vec<BufferView>,
    pub(super) ops: Vec<OpId>,
}

/// A buffer, and for each element of a tensor the element of it that is read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BufferView {
    pub(super) buffer: BufferId,
    /// `None` if no view says it.
    pub(super) view: Option<View>,
    /// The op, and its input, that hides the view: other inputs read other elements.
    hidden_by: Option<(OpId, usize)>,
}

impl BufferView {
    pub(super) const fn new(buffer: BufferId, view: Option<View>) -> Self {
        Self {
            buffer,
            view,
            hidden_by: None,
        }
    }

    /// The op whose way of reading no view describes.
    pub(super) fn hidden_by(&self) -> Option<OpId> {
        self.hidden_by.map(|(op, _)| op)
    }
}

impl LoweredValue {
    /// Adds the reads and the ops of another value. [`Self::sort`] follows after the last.
    pub(super) fn append(&mut self, other: &Self) {
        self.ops.extend(&other.ops);
        self.reads.extend(other.reads.iter().cloned());
    }

    /// The value of a tensor that shows this one through a view, or in another way as an input of
    /// an op.
    pub(super) fn see(&mut self, view: Option<&View>, input: (OpId, usize)) {
        for read in &mut self.reads {
            let seen = view.zip(read.view.as_ref());
            read.view = seen.and_then(|(view, read)| view.through(read));
            if read.view.is_none() {
                // The first op that hides a view is kept: nothing behind it can show more.
                read.hidden_by = read.hidden_by.or(Some(input));
            }
        }
    }

    /// The value of what an index picks: a buffer with one value for all elements along the axis is
    /// read as by any other op.
    pub(super) fn gather(&mut self, rows: &GatheredRows<'_>, input: (OpId, usize)) {
        for read in &mut self.reads {
            let is_row = |view: &&View| {
                let strides = view.strides_along(rows.shape, rows.axis);
                strides.is_some_and(|strides| strides.iter().all(|&stride| stride == 0))
            };
            let row = read.view.as_ref().filter(is_row);
            read.view = row.and_then(|row| rows.view.through(row));
            if read.view.is_none() {
                read.hidden_by = read.hidden_by.or(Some(input));
            }
        }
    }

    pub(super) fn sort(&mut self) {
        self.ops.sort_unstable();
        self.ops.dedup();
        self.reads.sort();
        self.reads.dedup();
    }
}

/// The elements that a gather reads of values that are equal along its axis.
pub(super) struct GatheredRows<'a> {
    /// The shape of the input.
    shape: &'a [u64],
    /// The bit of the axis.
    axis: u32,
    /// For each element of the output one of the input in the same row.
    view: View,
}

/// For an input of a gather, or of a concatenation, of which a reader also knows only the row.
pub(super) fn gathered_rows(
    graph: &Graph,
    op: OpId,
    tensor: TensorId,
    place: usize,
) -> Option<GatheredRows<'_>> {
    let definition = &graph.ops[op];
    let picks = match definition.function {
        Some(Function::Gather) => place == 0,
        Some(Function::Concat) => true,
        _ => false,
    };
    let indexing = definition.indexing.as_ref().filter(|_| picks)?;
    let shape = graph.tensor_shape(tensor)?;
    Some(GatheredRows {
        shape,
        axis: 1_u32.checked_shl(u32::try_from(indexing.axis).ok()?)?,
        view: View::of_rows(shape, indexing.axis, &definition.shape)?,
    })
}

pub(super) fn buffer_value(buffer: BufferId, view: View) -> LoweredValue {
    LoweredValue {
        reads: vec![BufferView::new(buffer, Some(view))],
        ops: Vec::new(),
    }
}
