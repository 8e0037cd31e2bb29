//! The resources of one block of a matmul on a multiprocessor. The formulas are estimates;
//! `docs/tiling.md` has their sources.

use super::BlockTile;
use crate::model::element_size::ElementSize;
use crate::numeral::Numeral;

/// The threads of a matmul's block that compute. Some GPUs have [others that
/// load](crate::model::device::Multiprocessor::loading_threads).
pub const COMPUTING_THREADS: u64 = 256;
/// Registers of a matmul's thread beside its part of the tile: descriptors, counters, the epilogue.
const OTHER_REGISTERS: u64 = 40;
/// Depths of a tile's step along K. The deepest of which two fit is used: one step loads while
/// another computes.
const STEP_DEPTHS: [u64; 3] = [64, 32, 16];
/// Fewest steps in flight: one loads while another computes.
const LEAST_STAGES: u64 = 2;
/// Most steps in flight; more gain nothing.
const MOST_STAGES: u64 = 4;

/// The needs of one block, beside the limits.
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
        element_sizes: [ElementSize; 2],
        shared_available_bytes: u64,
        registers_available: u64,
    ) -> Self {
        Self {
            step_bytes: tile.step_bytes(element_sizes),
            stages: tile.stages(element_sizes, shared_available_bytes),
            shared_bytes: tile.shared_bytes(element_sizes, shared_available_bytes),
            shared_available_bytes,
            sums_per_thread: sums_per_thread(tile.sides()),
            registers_per_thread: registers_per_thread(tile.sides()),
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

impl BlockTile {
    /// The tile with the deepest step of which two fit.
    pub(crate) fn deepest(
        sides: [u64; 2],
        element_sizes: [ElementSize; 2],
        available_bytes: u64,
    ) -> Self {
        let [rows, columns] = sides;
        let [left, right] = element_sizes.map(ElementSize::bits);
        let deep_bits = rows.saturating_mul(left) + columns.saturating_mul(right);
        Self {
            rows,
            columns,
            depth: step_depth(deep_bits, available_bytes),
        }
    }

    /// Rows and columns.
    pub fn sides<N: Numeral>(&self) -> [N; 2] {
        [N::count("(BM)", self.rows), N::count("(BN)", self.columns)]
    }

    /// Bytes of one step along K: a piece of each operand.
    pub fn step_bytes<N: Numeral>(&self, [left, right]: [ElementSize; 2]) -> N {
        let piece = |name, side, size: ElementSize| {
            let depth = N::count("(BK)", self.depth);
            size.bytes_of_product(name, [side, depth])
        };
        let [rows, columns] = self.sides();
        N::sum(
            "per step",
            [piece("A", rows, left), piece("B", columns, right)],
        )
    }

    /// Steps in flight: as many as fit, but two at least and four at most.
    pub fn stages<N: Numeral>(&self, element_sizes: [ElementSize; 2], available_bytes: u64) -> N {
        // A reader of the derivation finds the step beside it, so the quotient names its result
        // alone.
        let step_bytes = N::bytes("per step", self.step_bytes(element_sizes));
        let fit = N::floor("fit", N::bytes("per block", available_bytes), step_bytes);
        let least = N::count("at least", LEAST_STAGES);
        let most = N::count("at most", MOST_STAGES);
        N::between("stages", fit, least, most)
    }

    /// Shared memory of all steps in flight.
    pub fn shared_bytes<N: Numeral>(
        &self,
        element_sizes: [ElementSize; 2],
        available_bytes: u64,
    ) -> N {
        let stages = self.stages(element_sizes, available_bytes);
        let bytes = N::product("", [stages, self.step_bytes(element_sizes)]);
        bytes.by(
            "stages × (BM + BN) × BK × bytes per element, with two to four stages, as many as fit",
        )
    }
}

fn sums_per_thread<N: Numeral>(sides: [N; 2]) -> N {
    let sums = N::product("of the tile", sides);
    N::ceiling(
        "sums",
        sums,
        N::count("computing threads", COMPUTING_THREADS),
    )
}

/// Registers of a computing thread: its part of the sums of a tile with these sides, and 40 beside
/// it.
pub fn registers_per_thread<N: Numeral>(sides: [N; 2]) -> N {
    let others = N::count("addresses, counters and the epilogue", OTHER_REGISTERS);
    N::sum("", [sums_per_thread(sides), others]).by("⌈tile rows × tile columns / 256⌉ + 40")
}

/// The depth of a step, given the bits of both operands for one element along K.
fn step_depth(deep_bits: u64, available_bytes: u64) -> u64 {
    let [.., shallowest] = STEP_DEPTHS;
    let available_bits = available_bytes.saturating_mul(8);
    let fits_twice = |depth: &u64| (2 * depth).saturating_mul(deep_bits) <= available_bits;
    STEP_DEPTHS
        .into_iter()
        .find(fits_twice)
        // A tile that does not fit even so is shown, and marked as too large.
        .unwrap_or(shallowest)
}
