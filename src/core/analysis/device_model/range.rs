//! The sizes that the device model was measured at, and kernels beyond them.

use crate::analysis::device_model::{KernelView, Kind};
use crate::fusion::attention::AttentionShape;
use crate::model::dtype::DType;
use crate::model::op::element_count;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use std::ops::RangeInclusive;

/// The fewest rows, queries or keys that a measured kernel had. Fewer of them leave multiprocessors
/// idle, and libraries then take kernels that no row of `public/measured` ran.
pub const FEWEST_ROWS: u64 = 512;

/// The fewest columns of a measured product, and the fewest channels of a measured convolution.
pub const FEWEST_COLUMNS: u64 = 64;

/// The fewest elements that a measured loop over elements wrote: 512 rows of 768.
pub const FEWEST_ELEMENTS: u64 = 512 * 768;

/// The sizes of a head that measured attention had.
pub const HEAD_SIZES: RangeInclusive<u64> = 64..=128;

/// A sum is outside the measured sizes if at least this share of its time is.
const NOTABLE_SHARE: f64 = 0.05;

/// How a kernel differs from all kernels that were measured, so that its predicted time is
/// unverified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// It is an opaque operator, of which only the bytes are known.
    Opaque,
    /// It reads or writes floats of 8 bits.
    F8,
    /// It is attention in which so many heads share one head of K and V.
    GroupedHeads(u64),
    /// It is attention with heads of this size, outside [`HEAD_SIZES`].
    HeadSize(u64),
    /// It is attention with so many queries, fewer than [`FEWEST_ROWS`].
    FewQueries(u64),
    /// It is attention with so many keys, fewer than [`FEWEST_ROWS`].
    FewKeys(u64),
    /// It has so many rows, fewer than [`FEWEST_ROWS`].
    FewRows(u64),
    /// It is a product with so many columns, fewer than [`FEWEST_COLUMNS`].
    FewColumns(u64),
    /// It is a loop over so many elements, fewer than [`FEWEST_ELEMENTS`].
    FewElements(u64),
}

impl KernelView<'_> {
    /// How the kernel is outside the measured sizes, if it is. `O(ops + reads)`.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rows are a count"
    )]
    pub(super) fn outside(&self) -> Option<Outside> {
        let graph = self.model.graph;
        let ops = || self.launch.ops.iter().copied();
        if ops().any(|op| graph.ops[op].unknown.is_some()) {
            return Some(Outside::Opaque);
        }
        let tensors = || {
            ops().flat_map(|op| {
                let read = graph.inputs[op].iter().copied();
                read.chain([graph.output[op]])
            })
        };
        if tensors().any(|tensor| graph.tensors[tensor].dtype == Some(DType::F8)) {
            return Some(Outside::F8);
        }
        match self.kind() {
            Kind::View => None,
            Kind::Attention => {
                let shape = AttentionShape::of_kernel(graph, self.launch.ops)?;
                let grouped = (shape.group > 1).then_some(Outside::GroupedHeads(shape.group));
                let size = shape.head_size;
                let size = (!HEAD_SIZES.contains(&size)).then_some(Outside::HeadSize(size));
                grouped
                    .or(size)
                    .or_else(|| below(shape.queries, FEWEST_ROWS, Outside::FewQueries))
                    .or_else(|| below(shape.keys, FEWEST_ROWS, Outside::FewKeys))
            }
            Kind::Matmul { product, .. } => {
                let [rows, columns] = [product.rows as u64, product.columns as u64];
                below(rows, FEWEST_ROWS, Outside::FewRows)
                    .or_else(|| below(columns, FEWEST_COLUMNS, Outside::FewColumns))
            }
            Kind::Rows => {
                // Of inputs, too: a reduction over all axes writes a single row.
                let rows = |tensor| match graph.tensor_shape(tensor)? {
                    [rows @ .., _] => element_count(rows),
                    [] => Some(1),
                };
                below(
                    tensors().filter_map(rows).max()?,
                    FEWEST_ROWS,
                    Outside::FewRows,
                )
            }
            Kind::Pointwise => {
                let written = ops().filter_map(|op| graph.tensors[graph.output[op]].elements());
                below(written.max()?, FEWEST_ELEMENTS, Outside::FewElements)
            }
        }
    }
}

/// The size as a reason, if it is below the least that was measured.
fn below(size: u64, least: u64, reason: fn(u64) -> Outside) -> Option<Outside> {
    (size < least).then(|| reason(size))
}

/// How a sum of predicted times is outside the measured sizes. The longest kernel outside of them
/// says how, if all kernels outside take a notable share of the sum.
pub(super) fn outside_of_sum(
    times: impl IntoIterator<Item = (f64, Option<Outside>)>,
) -> Option<Outside> {
    let (mut sum_s, mut outside_s) = (0.0, 0.0);
    let mut longest: Option<(f64, Outside)> = None;
    for (time_s, outside) in times {
        sum_s += time_s;
        if let Some(outside) = outside {
            outside_s += time_s;
            if longest.is_none_or(|(longest_s, _)| time_s > longest_s) {
                longest = Some((time_s, outside));
            }
        }
    }
    let (_, outside) = longest?;
    (outside_s >= NOTABLE_SHARE * sum_s).then_some(outside)
}
