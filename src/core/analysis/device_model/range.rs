//! The sizes that the device model was measured at, and kernels beyond them.

use crate::analysis::device_model::{KernelOrigin, KernelView, Kind};
use crate::fusion::attention::ScheduledAttention;
use crate::model::dtype::DType;
use crate::model::element_size::ElementSize;
use crate::model::functions::Function;
use crate::model::op::element_count;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use std::ops::RangeInclusive;

/// The fewest keys that measured attention had.
pub const FEWEST_KEYS: u64 = 16;

/// Rows from which reductions were measured whatever their length. With fewer of them, a row of at
/// most [`LONGEST_OF_FEW_ROWS`] elements was.
const FEWEST_ROWS: u64 = 512;

/// The longest rows of which fewer than [`FEWEST_ROWS`] were measured.
pub const LONGEST_OF_FEW_ROWS: u64 = 14_336;

/// The fewest columns of a measured product, and the fewest channels of a measured convolution.
pub const FEWEST_COLUMNS: u64 = 64;

/// The sizes of a head that measured attention had.
pub const HEAD_SIZES: RangeInclusive<u64> = 32..=256;

/// The sizes of a head with which one query took as long as the model predicts.
const HEAD_SIZES_OF_ONE_QUERY: RangeInclusive<u64> = 32..=128;

/// The most query heads that shared one head of K and V in measured attention.
pub const MOST_SHARING_HEADS: u64 = 32;

/// A sum is outside the measured sizes if at least this share of its time is.
const NOTABLE_SHARE: f64 = 0.05;

/// How a kernel differs from all kernels that were measured, so that its predicted time is
/// unverified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// It is an opaque operator, of which only the bytes are known.
    Opaque,
    /// The amount or the peak rate of some of its arithmetic is unknown, so its time leaves that
    /// out.
    LeftOut,
    /// It computes in this type, in which no kernel was measured, so its arithmetic counts at the
    /// peak rate.
    AtPeak(DType),
    /// It reads or writes floats of 8 bits and is no matmul of them.
    F8,
    /// It reads or writes elements of 4 bits.
    FourBits,
    /// It sorts or sums up along a row, for which libraries make several passes. They were not
    /// measured, so only the bytes count.
    SortOrScan,
    /// It is attention in which so many heads share one head of K and V, more than
    /// [`MOST_SHARING_HEADS`].
    GroupedHeads(u64),
    /// It is attention with heads of this size, outside [`HEAD_SIZES`].
    HeadSize(u64),
    /// It is attention with so many keys, fewer than [`FEWEST_KEYS`].
    FewKeys(u64),
    /// It reduces so many rows, fewer than [`FEWEST_ROWS`], of more than [`LONGEST_OF_FEW_ROWS`]
    /// elements, in one launch and by no sum or softmax of a library.
    FewRows(u64),
    /// It is a product with so many columns, fewer than [`FEWEST_COLUMNS`].
    FewColumns(u64),
}

impl Outside {
    /// Whether the time is at least the predicted one: arithmetic is missing from it, or counts at
    /// the peak rate.
    pub const fn is_at_least(self) -> bool {
        matches!(
            self,
            Self::Opaque | Self::LeftOut | Self::AtPeak(_) | Self::SortOrScan
        )
    }
}

const fn is_norm(function: Function) -> bool {
    matches!(
        function,
        Function::LayerNorm | Function::RmsNorm | Function::GroupNorm | Function::L2Norm
    )
}

impl KernelView<'_> {
    /// Whether few long rows were measured: sums and softmax of a library, and what the compiler
    /// splits into two launches.
    fn is_measured_for_few_rows(&self) -> bool {
        match self.code {
            KernelOrigin::Generated => self.launch.is_split,
            KernelOrigin::Library => {
                let ops = self.launch.reductions.iter();
                let mut functions = ops.filter_map(|&op| self.model.graph.ops[op].function);
                !functions.any(is_norm)
            }
        }
    }

    /// How the kernel is outside the measured sizes, if it is. `O(ops + reads)`.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rows are a count"
    )]
    pub(super) fn outside(&self) -> Option<Outside> {
        let graph = self.model.graph;
        let ops = || {
            self.launch
                .ops
                .iter()
                .chain(self.launch.reductions)
                .copied()
        };
        if ops().any(|op| graph.ops[op].unknown.is_some()) {
            return Some(Outside::Opaque);
        }
        if ops().any(|op| graph.ops[op].function.is_some_and(Function::sorts_or_scans)) {
            return Some(Outside::SortOrScan);
        }
        let tensors = || {
            ops().flat_map(|op| {
                let read = graph.inputs[op].iter().copied();
                read.chain([graph.output[op]])
            })
        };
        if let Some(unmeasured) = self.unmeasured() {
            return Some(unmeasured);
        }
        let types = || tensors().filter_map(|tensor| graph.tensors[tensor].dtype);
        if types().any(|dtype| dtype.size() == ElementSize::HALF_BYTE) {
            return Some(Outside::FourBits);
        }
        let kind = self.kind();
        let multiplies_f8 = matches!(kind, Kind::Matmul { .. })
            && self.launch.work.matrix_dtype.is_some_and(DType::is_f8);
        if types().any(DType::is_f8) && !multiplies_f8 {
            return Some(Outside::F8);
        }
        match kind {
            // Loops over single elements were measured, too.
            Kind::View | Kind::Pointwise => None,
            Kind::Attention => {
                let ScheduledAttention { shape, value_size } =
                    ScheduledAttention::of_kernel(graph, self.launch.ops)?;
                let is_grouped = shape.group > MOST_SHARING_HEADS;
                let grouped = is_grouped.then_some(Outside::GroupedHeads(shape.group));
                let sizes = match shape.queries {
                    1 => HEAD_SIZES_OF_ONE_QUERY,
                    _ => HEAD_SIZES,
                };
                let mut of_head = [shape.head_size, value_size].into_iter();
                let size = of_head.find(|size| !sizes.contains(size));
                let size = size.map(Outside::HeadSize);
                grouped
                    .or(size)
                    .or_else(|| below(shape.keys, FEWEST_KEYS, Outside::FewKeys))
            }
            Kind::Matmul { product, .. } => {
                below(product.columns as u64, FEWEST_COLUMNS, Outside::FewColumns)
            }
            Kind::Rows if self.is_measured_for_few_rows() => None,
            Kind::Rows => {
                // Of inputs, too: a reduction over all axes writes a single row.
                let row = |tensor| match graph.tensor_shape(tensor)? {
                    [rows @ .., width] => Some((element_count(rows)?, *width)),
                    [] => Some((1, 1)),
                };
                let (rows, width) = tensors().filter_map(row).max()?;
                let few = below(rows, FEWEST_ROWS, Outside::FewRows);
                few.filter(|_| width > LONGEST_OF_FEW_ROWS)
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
