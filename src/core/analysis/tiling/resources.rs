//! What one block of a matmul needs on a multiprocessor. The formulas are estimates; `docs/tiling.md` has their sources.

use super::BlockTile;

/// The threads of a matmul's block that compute. Some GPUs have [others that
/// load](crate::model::device::Multiprocessor::loading_threads).
pub const COMPUTING_THREADS: u64 = 256;
/// Registers of a matmul's thread beside its part of the tile: descriptors, counters, the epilogue.
pub const OTHER_REGISTERS: u64 = 40;
/// Depths of a tile's step along K. The deepest of which two fit is used: one step loads while another computes.
const STEP_DEPTHS: [u64; 3] = [64, 32, 16];
/// Fewest steps in flight: one loads while another computes.
pub const LEAST_STAGES: u64 = 2;
/// Most steps in flight; more gain nothing.
pub const MOST_STAGES: u64 = 4;

/// What one block needs, and what it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockResources {
    /// Bytes of one step along K: a piece of each operand.
    pub step_bytes: u64,
    /// Steps that are on chip at once: as many as fit, two at least and four at most.
    pub stages: u64,
    /// Shared memory of all of them.
    pub shared_bytes: u64,
    /// Shared memory that a block can allocate.
    pub shared_available_bytes: u64,
    /// Sums of the tile that one computing thread holds, in f32.
    pub sums_per_thread: u64,
    /// Registers of such a thread.
    pub registers_per_thread: u64,
    /// Registers that a thread can have.
    pub registers_available: u64,
}

impl BlockResources {
    pub(super) fn new(
        tile: BlockTile,
        element_bytes: [u64; 2],
        shared_available_bytes: u64,
        registers_available: u64,
    ) -> Self {
        let [left, right] = element_bytes;
        let deep_bytes = (tile.rows * left).saturating_add(tile.columns * right);
        let step_bytes = tile.depth.saturating_mul(deep_bytes);
        let stages = stages(step_bytes, shared_available_bytes);
        Self {
            step_bytes,
            stages,
            shared_bytes: stages.saturating_mul(step_bytes),
            shared_available_bytes,
            sums_per_thread: sums_per_thread(tile.rows, tile.columns),
            registers_per_thread: registers_per_thread(tile.rows, tile.columns),
            registers_available,
        }
    }

    /// Whether two steps fit into shared memory.
    pub const fn fits_shared(&self) -> bool {
        self.shared_bytes <= self.shared_available_bytes
    }

    /// Whether the sums of the tile stay in registers.
    pub const fn fits_registers(&self) -> bool {
        self.registers_per_thread <= self.registers_available
    }

    /// Whether the block runs as it should.
    pub const fn fits(&self) -> bool {
        self.fits_shared() && self.fits_registers()
    }
}

const fn sums_per_thread(rows: u64, columns: u64) -> u64 {
    (rows * columns).div_ceil(COMPUTING_THREADS)
}

/// Registers of a computing thread: its part of the tile, and 40 beside it.
pub(crate) const fn registers_per_thread(rows: u64, columns: u64) -> u64 {
    sums_per_thread(rows, columns) + OTHER_REGISTERS
}

/// Steps in flight: as many as fit, but two at least.
pub(crate) fn stages(step_bytes: u64, available_bytes: u64) -> u64 {
    (available_bytes / step_bytes.max(1)).clamp(LEAST_STAGES, MOST_STAGES)
}

/// The depth of a step, given the bytes of one element along K: the deepest of which two fit.
pub(crate) fn step_depth(deep_bytes: u64, available_bytes: u64) -> u64 {
    let [.., shallowest] = STEP_DEPTHS;
    let fits_twice = |depth: &u64| (2 * depth).saturating_mul(deep_bytes) <= available_bytes;
    STEP_DEPTHS
        .into_iter()
        .find(fits_twice)
        .unwrap_or(shallowest)
}
