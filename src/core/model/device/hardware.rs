//! The hardware of a device: multiprocessors and on-chip memories.

use crate::model::device::figure::Figure;
use borsh::{BorshDeserialize, BorshSerialize};

/// Figures that limit how kernels fit a device. `None`: unknown, or the device has no such unit.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Hardware {
    /// Multiprocessors (NVIDIA), compute units (AMD), cores.
    pub multiprocessors: Option<Figure>,
    /// Highest clock of the multiprocessors, in Hz.
    pub clock_hz: Option<Figure>,
    /// Device memory.
    pub memory_bytes: Option<Figure>,
    /// Cache that all multiprocessors share: L2, or its equivalent.
    pub l2_bytes: Option<Figure>,
    /// Memories of one multiprocessor.
    pub on_chip: OnChip,
}

/// The memories of one multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub enum OnChip {
    /// Registers, shared memory and threads of a GPU.
    Multiprocessor(Multiprocessor),
    /// A memory managed by software, such as the vector memory of a TPU or the memory of a thread
    /// group.
    Scratchpad {
        /// Its size.
        bytes: u64,
        /// The source was read when the figure was entered.
        is_confirmed: bool,
    },
    /// No figure is known.
    Unknown,
}

/// Limits of one multiprocessor; the same for all devices of an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Multiprocessor {
    /// Shared memory that one block can allocate.
    pub shared_bytes_per_block: u32,
    /// Shared memory of all resident blocks.
    pub shared_bytes: u32,
    /// Resident threads.
    pub threads: u32,
    /// Resident blocks.
    pub blocks: u32,
    /// 32-bit registers of all resident threads.
    pub registers: u32,
    /// Most registers of one thread; further values spill to memory.
    pub registers_per_thread: u32,
    /// Threads that execute in lockstep: a warp (NVIDIA) or a wavefront (AMD).
    pub lanes: u32,
    /// Threads of a matmul's block that only load, in addition to those that compute.
    pub loading_threads: u32,
    /// The sources were read when the figures were entered.
    pub is_confirmed: bool,
}

impl Hardware {
    /// A device of which only rates are known.
    pub const UNKNOWN: Self = Self {
        multiprocessors: None,
        clock_hz: None,
        memory_bytes: None,
        l2_bytes: None,
        on_chip: OnChip::Unknown,
    };

    /// Limits of one multiprocessor, if the device is a GPU whose figures are known.
    pub const fn multiprocessor(&self) -> Option<Multiprocessor> {
        match self.on_chip {
            OnChip::Multiprocessor(multiprocessor) => Some(multiprocessor),
            OnChip::Scratchpad { .. } | OnChip::Unknown => None,
        }
    }
}

/// An NVIDIA multiprocessor: 65,536 registers, at most 255 a thread, warps of 32.
const fn nvidia(shared: [u32; 2], threads: u32, blocks: u32, is_confirmed: bool) -> Multiprocessor {
    let [shared_bytes_per_block, shared_bytes] = shared;
    Multiprocessor {
        shared_bytes_per_block,
        shared_bytes,
        threads,
        blocks,
        registers: 65_536,
        registers_per_thread: 255,
        lanes: 32,
        loading_threads: 0,
        is_confirmed,
    }
}

/// An AMD compute unit of the CDNA family: 512 KiB of vector registers, waves of 64.
const fn cdna(shared_bytes: u32, is_confirmed: bool) -> Multiprocessor {
    Multiprocessor {
        shared_bytes_per_block: shared_bytes,
        shared_bytes,
        threads: 2048,
        blocks: 32,
        registers: 131_072,
        registers_per_thread: 512,
        lanes: 64,
        loading_threads: 0,
        is_confirmed,
    }
}

pub(super) const PASCAL: Multiprocessor = nvidia([49_152, 65_536], 2048, 32, true);
pub(super) const VOLTA: Multiprocessor = nvidia([98_304, 98_304], 2048, 32, true);
pub(super) const TURING: Multiprocessor = nvidia([65_536, 65_536], 1024, 16, false);
pub(super) const AMPERE_A100: Multiprocessor = nvidia([166_912, 167_936], 2048, 32, true);
pub(super) const AMPERE: Multiprocessor = nvidia([101_376, 102_400], 1536, 16, true);
pub(super) const ADA: Multiprocessor = nvidia([101_376, 102_400], 1536, 24, false);
/// Matrix units read operands from shared memory, which one group of four warps fills.
pub(super) const HOPPER: Multiprocessor = Multiprocessor {
    loading_threads: 128,
    ..nvidia([232_448, 233_472], 2048, 32, true)
};
pub(super) const BLACKWELL: Multiprocessor = nvidia([232_448, 233_472], 2048, 32, true);
/// The compiler's table gives 131,072 bytes of shared memory. NVIDIA's documents give 102,400 for
/// this compute capability, and also for the smaller card of the family.
pub(super) const BLACKWELL_RTX: Multiprocessor = nvidia([101_376, 102_400], 1536, 24, false);
pub(super) const CDNA: Multiprocessor = cdna(65_536, true);
pub(super) const CDNA_4: Multiprocessor = cdna(163_840, true);
