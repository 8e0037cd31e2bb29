//! The blocks that a multiprocessor holds at once.

use crate::model::device::Multiprocessor;

/// Registers of a thread are allocated in units of this many: 256 for a warp of 32.
const REGISTER_UNIT: u64 = 8;

/// How many blocks of a kernel fit a multiprocessor at once by each of its resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Registers that a thread gets: no more than it can have, in whole units.
    pub registers_per_thread: u64,
    /// By the registers.
    pub by_registers: u64,
    /// By the shared memory.
    pub by_shared_memory: u64,
    /// By the threads.
    pub by_threads: u64,
    /// By the count of blocks itself.
    pub by_blocks: u64,
}

impl Resident {
    pub(super) fn new(
        m: &Multiprocessor,
        threads_per_block: u64,
        registers_per_thread: u64,
        on_chip_bytes: u64,
    ) -> Self {
        let registers = registers_per_thread.clamp(1, m.registers_per_thread.into());
        let registers_per_thread = registers.next_multiple_of(REGISTER_UNIT);
        Self {
            registers_per_thread,
            by_registers: u64::from(m.registers) / (registers_per_thread * threads_per_block),
            by_shared_memory: u64::from(m.shared_bytes) / on_chip_bytes.max(1),
            by_threads: u64::from(m.threads) / threads_per_block,
            by_blocks: m.blocks.into(),
        }
    }

    /// Blocks at once: the fewest of these, and one where not even that fits.
    pub fn blocks(self) -> u64 {
        self.by_registers
            .min(self.by_shared_memory)
            .min(self.by_threads)
            .min(self.by_blocks)
            .max(1)
    }
}
