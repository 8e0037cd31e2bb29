//! Whether what a reduction reads lies along its rows or across, which decides how the rows are
//! cut.

use super::facts::reduced_axes;
use super::lower::Lowering;
use super::value::{BufferView, LoweredValue};
use crate::model::functions::Function;
use crate::model::ids::OpId;

impl Lowering<'_> {
    /// How many of the accesses that read whole tensors lie along the rows, and how many across.
    pub(super) fn directions(
        &self,
        op: OpId,
        value: &LoweredValue,
        shape: &[u64],
    ) -> (usize, usize) {
        let axes = reduced_axes(self.graph.ops[op].axes, shape.len());
        let (inner, mut outer) = directions(value, shape, axes);
        // The position in a piece of a concatenation has no stride, so that it seems to lie across
        // (`pointwise_cat`).
        let concatenates = |source: &&BufferView| {
            let hidden_by = source.hidden_by().map(|op| &self.graph.ops[op]);
            hidden_by.is_some_and(|by| {
                let joined = by.indexing.as_ref().map_or(0, |indexing| indexing.axis);
                by.function == Some(Function::Concat)
                    && by.shape == shape
                    && joined < 32
                    && axes >> joined & 1 == 1
            })
        };
        outer += value.reads.iter().filter(concatenates).count();
        (inner, outer)
    }
}

/// How many of the accesses in a loop over a shape that depend on all of it lie along its reduced
/// axes, and how many across.
pub(super) fn directions(value: &LoweredValue, shape: &[u64], axes: u32) -> (usize, usize) {
    let views = value.reads.iter().filter_map(|read| read.view.as_ref());
    let strides = views.filter_map(|view| {
        let strides = view.strides_along(shape, axes);
        strides.filter(|_| view.is_whole(shape))
    });
    let (mut inner, mut outer) = (0, 0);
    for strides in strides {
        let is_outer = strides.iter().all(|&stride| stride != 1);
        *(if is_outer { &mut outer } else { &mut inner }) += 1;
    }
    (inner, outer)
}
