//! Reductions of the rows and of the columns of one tensor in one kernel, which adds the columns up
//! piece by piece.
//!
//! Source: `MixOrderReduction.can_fuse` in `torch/_inductor/scheduler.py`.

use super::node::ReducedRows;

/// Fewer elements stay in the cache between two kernels.
const FEWEST_ELEMENTS: u64 = 5 << 20;
/// Fewest rows, and the longest row that a block keeps whole. With fewer rows, which are at least
/// twice as many as the columns, the tensor stays in the cache.
const FEWEST_ROWS: u64 = 4096;
const LONGEST_ROW: u64 = 16 << 10;

/// Whether one of two reductions runs along the rows of a tensor and the other one adds up its
/// columns, and both gain by one kernel.
pub(super) fn are_mixed(a: ReducedRows, b: ReducedRows, is_2_15: bool) -> bool {
    if (a.count, a.width) != (b.width, b.count) || a.count == a.width {
        return false;
    }
    let (along, across) = if a.is_contiguous { (a, b) } else { (b, a) };
    // A kernel keeps a row whole while it adds the row to partial results of the columns, which
    // the compiler lacks for other reductions, such as a maximum.
    along.is_contiguous
        && across.is_sum
        && along.count.saturating_mul(along.width) >= FEWEST_ELEMENTS
        // Torch 2.15 asks no ratio: flat tensors gain, too.
        && (is_2_15 || along.count >= along.width.saturating_mul(2))
        && along.count >= FEWEST_ROWS
        && along.width <= LONGEST_ROW
}

/// The rows of two kernels that became one.
pub(super) fn join(a: Option<ReducedRows>, b: Option<ReducedRows>) -> Option<ReducedRows> {
    let (Some(one), Some(other)) = (a, b) else {
        return a.or(b);
    };
    let fits = (one.count, one.width) == (other.count, other.width);
    fits.then_some(ReducedRows {
        is_contiguous: one.is_contiguous && other.is_contiguous,
        is_sum: one.is_sum && other.is_sum,
        ..one
    })
}
