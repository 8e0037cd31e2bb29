//! The sizes that the device model was measured at, and kernels beyond them.

use crate::analysis::device_model::{KernelView, Kind};
use crate::fusion::attention::AttentionShape;
use crate::model::dtype::DType;
use crate::model::op::element_count;
use serde::Serialize;

/// The fewest rows that a measured kernel had. Fewer of them leave multiprocessors idle, and libraries then take
/// kernels that no row of `public/measured` ran.
pub const FEWEST_ROWS: u64 = 512;

/// A sum is outside the measured sizes if at least this share of its time is.
const NOTABLE_SHARE: f64 = 0.05;

/// How a kernel differs from all kernels that were measured, so that its predicted time is unverified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// It is an opaque operator, of which only the bytes are known.
    Opaque,
    /// It reads or writes floats of 8 bits.
    F8,
    /// It is attention in which so many heads share one head of K and V.
    GroupedHeads(u64),
    /// It is attention with so many queries, fewer than [`FEWEST_ROWS`].
    FewQueries(u64),
    /// It has so many rows, fewer than [`FEWEST_ROWS`].
    FewRows(u64),
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
        let mut tensors = ops().flat_map(|op| {
            let read = graph.inputs[op].iter().copied();
            read.chain([graph.output[op]])
        });
        if tensors.any(|tensor| graph.tensors[tensor].dtype == Some(DType::F8)) {
            return Some(Outside::F8);
        }
        let few_rows = |rows: u64| (rows < FEWEST_ROWS).then_some(Outside::FewRows(rows));
        match self.kind() {
            Kind::View => None,
            Kind::Attention => {
                let shape = AttentionShape::of_kernel(graph, self.launch.ops)?;
                if shape.group > 1 {
                    Some(Outside::GroupedHeads(shape.group))
                } else if shape.queries < FEWEST_ROWS {
                    Some(Outside::FewQueries(shape.queries))
                } else {
                    None
                }
            }
            Kind::Matmul { product, .. } => few_rows(product.rows as u64),
            Kind::Rows | Kind::Pointwise => {
                let rows = |tensor| {
                    let [rows @ .., _] = graph.tensor_shape(tensor)? else {
                        return Some(1);
                    };
                    element_count(rows)
                };
                let tensors = ops().flat_map(|op| {
                    let read = graph.inputs[op].iter().copied();
                    read.chain([graph.output[op]])
                });
                few_rows(tensors.filter_map(rows).max()?)
            }
        }
    }
}

/// How a sum of predicted times is outside the measured sizes: like the longest of the kernels that are, if these
/// take a notable share of it.
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
