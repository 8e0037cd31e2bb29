//! Predicted launches, and how well measured kernels fit them.

use super::Counted;
use super::operations::{self, MATRIX, Named, Operations, REDUCTIONS, Shape, of_function};
use crate::profile::MeasuredKernel;
use fuseline_core::analysis::Analysis;
use fuseline_core::model::ids::{IdVec, KernelId, OpId};
use fuseline_core::model::op_type::OpType;

/// A predicted launch.
pub(super) struct Launch {
    pub(super) id: KernelId,
    operations: Operations,
    shape: Shape,
    time_s: f64,
    /// Predicted bytes of the kind that the run counted.
    bytes: u64,
}

pub(super) struct Measured<'a> {
    pub(super) kernel: &'a MeasuredKernel,
    pub(super) named: Named,
    pub(super) bytes: Option<u64>,
}

/// The launches that an analysis predicts, in order. A kernel with several launches appears once
/// for each of them.
pub(super) fn launches(
    analysis: &Analysis,
    counted: Counted,
    predicted_s: &IdVec<KernelId, f64>,
) -> Vec<Launch> {
    let kernels = analysis.fused.kernels.iter_enumerated();
    let launched = kernels.filter(|(_, kernel)| !kernel.is_free);
    let each = launched.flat_map(|(id, kernel)| {
        let (operations, shape) = computed(analysis, id);
        let further = analysis.partition.further_launches_of(id);
        let time_s = predicted_s[id];
        (0..=further).map(move |_| Launch {
            id,
            operations,
            shape,
            time_s,
            bytes: counted.predicted(kernel),
        })
    });
    each.collect()
}

/// What a kernel computes, its own ops and those of others. Attention is no matmul: its kernel is
/// named after it.
pub(super) fn computed(analysis: &Analysis, id: KernelId) -> (Operations, Shape) {
    let kernel = &analysis.fused.kernels[id];
    let ops = || kernel.ops.iter().map(|&op: &OpId| &analysis.graph.ops[op]);
    let again = (analysis.partition.recomputed[id].iter()).map(|&op| &analysis.graph.ops[op]);
    let of_ops = ops().chain(again).filter_map(|op| op.function);
    let operations = of_ops.fold(Operations::NONE, |all, of_op| all | of_function(of_op));
    let matmuls = ops().filter(|op| op.op_type == OpType::Matmul).count();
    if operations.has(operations::ATTENTION) || matmuls >= 2 && operations.has(operations::SOFTMAX)
    {
        return (operations::ATTENTION, Shape::Matrix);
    }
    // The elements of a norm are no rows if another kernel has its statistics.
    let is_row = |function| of_function(function).has(REDUCTIONS);
    let mut others = ops().filter(|op| op.op_type != OpType::Reduction);
    let shape = if matmuls > 0 {
        Shape::Matrix
    } else if !kernel.reductions.is_empty() || others.any(|op| op.function.is_some_and(is_row)) {
        Shape::Rows
    } else {
        Shape::Elementwise
    };
    (operations, shape)
}

impl Launch {
    /// How well a measured kernel fits; `None` if it cannot be this one. A name that fits well
    /// counts more than any other sign.
    pub(super) fn score(&self, measured: &Measured<'_>) -> Option<f64> {
        let Named {
            operations,
            shape,
            helps,
        } = measured.named;
        if !helps.is_empty() {
            return None;
        }
        let is_matrix = self.shape == Shape::Matrix;
        let by_name = if operations.is_empty() || self.operations.is_empty() {
            let fits = match shape {
                Shape::Unknown => 0.2,
                _ if shape == self.shape => 0.6,
                _ => return None,
            };
            if is_matrix && shape == Shape::Unknown {
                0.1
            } else {
                fits
            }
        } else {
            if is_matrix != (shape == Shape::Matrix || operations.has(MATRIX)) {
                return None;
            }
            let exact = self.operations.likeness(operations);
            let spelled_out = self
                .operations
                .spelled_out()
                .likeness(operations.spelled_out());
            if exact == 0.0 && spelled_out == 0.0 {
                return None;
            }
            0.5 + exact + spelled_out + if shape == self.shape { 0.3 } else { 0.0 }
        };
        let bytes = measured
            .bytes
            .map_or(0.0, |bytes| nearness(bytes as f64, self.bytes as f64));
        Some(by_name + 0.3 * nearness(measured.kernel.time_s, self.time_s) + 0.4 * bytes)
    }
}

/// 1 for equal numbers, about 0.5 if one is three times the other.
fn nearness(a: f64, b: f64) -> f64 {
    let factor = (a / b).ln().abs();
    if factor.is_finite() {
        1.0 / (1.0 + factor)
    } else {
        0.0
    }
}
