//! How many rows a block of a kernel along rows has, and with how many threads.

use crate::fusion::rows::RowDomain;

/// The rows of a block and its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowBlock {
    /// Rows of a block.
    pub rows: u64,
    /// Its threads.
    pub threads: u64,
    /// Elements of each value that a thread holds at once.
    pub elements_per_thread: u64,
}

/// A block has one row that is contiguous in memory. A thread processes 8 of its elements at once,
/// whatever their type: a compiler chose blocks of 2048 to 8192 elements, see
/// `tests/measure/results/h100_registers.json`.
const ONE_ROW: RowBlock = RowBlock {
    rows: 1,
    threads: 512,
    elements_per_thread: 8,
};
/// Columns of up to this many elements are held, others are read in pieces.
const HELD_COLUMN: u64 = 64;
/// Most elements of a block that holds columns.
const HELD_ELEMENTS: u64 = 4096;
/// Elements that a block reads of other columns at once.
const PIECE: u64 = 512;
/// Elements of a block for each of its warps.
const WARP_ELEMENTS: u64 = 128;
const WARP_THREADS: u64 = 32;

impl RowBlock {
    /// The block of a kernel that reduces these rows.
    pub(super) fn of(rows: RowDomain) -> Self {
        if rows.stride > 1 {
            Self::of_columns(rows.rows, rows.width)
        } else {
            ONE_ROW
        }
    }

    /// Neighbours in memory are in different columns, so a block takes several columns. As
    /// `_persistent_reduction_configs` and `outer_config_opt` of
    /// `torch/_inductor/runtime/triton_heuristics.py` choose them for few operands. Sizes count as
    /// the next power of two there.
    fn of_columns(columns: u64, length: u64) -> Self {
        let (columns, length) = (columns.next_power_of_two(), length.next_power_of_two());
        let (own, places, most_warps) = if length <= HELD_COLUMN {
            let fits = |&own: &u64| own <= columns && own * length <= HELD_ELEMENTS;
            let own = [128, 32, 8].into_iter().find(fits).unwrap_or(1);
            (own, length, 8)
        } else {
            // A few columns each, so that all multiprocessors have some.
            let own = match columns / 4096 {
                0 if columns <= 1024 => (columns / 128).clamp(2, 8),
                0..=8 => 16,
                more => more.clamp(64, 256),
            };
            (own, (PIECE / own).min(64), 16)
        };
        let elements = own * places;
        let warps = (elements / WARP_ELEMENTS).clamp(2, most_warps);
        let threads = warps * WARP_THREADS;
        Self {
            rows: own,
            threads,
            elements_per_thread: elements.div_ceil(threads),
        }
    }
}
