//! The figures that a quantity can name.

use super::value::Unit;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// A figure of a program, a kernel, an op, a tensor, a param or the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Metric {
    /// Launched kernels.
    Kernels,
    /// Ops.
    Ops,
    /// Bytes through memory, read and written.
    Bytes,
    /// Bytes read.
    Reads,
    /// Bytes written.
    Writes,
    /// Bytes that fusion saves.
    Saved,
    /// Part of the unfused bytes that fusion saves.
    Saving,
    /// Part of all bytes that the subject moves.
    Share,
    /// Bytes of one access to a tensor.
    Size,
    /// Whether a tensor goes through `memory` or stays on `chip`.
    Place,
    /// Time: expected where the device has measured rates, otherwise the lower bound.
    Time,
    /// Unfused over fused time.
    Speedup,
    /// Floating-point operations.
    Flops,
    /// FLOPs for each byte moved.
    Intensity,
    /// What limits a kernel: `memory`, `compute` or `launch`.
    Bound,
    /// The lower bound of a kernel's time over its predicted time: the share of its roof that it reaches.
    Reached,
    /// The share of the time in which no kernel runs, where Python launches each kernel.
    Idle,
    /// The most bytes of tensors that are live at once.
    Peak,
    /// The value of a param.
    Value,
    /// The intensity at which f16 matmuls leave the memory roof.
    Ridge,
    /// Peak of memory.
    Bandwidth,
    /// Peak of f16 matmuls.
    Matrix,
    /// Peak of f32 vector work.
    Vector,
    /// Time of a launch.
    Launch,
    /// The chosen policy.
    Policy,
    /// Estimated registers of a thread.
    Registers,
    /// Resident threads over the most that a multiprocessor can hold.
    Occupancy,
    /// Blocks of a kernel.
    Blocks,
    /// Rounds of blocks that the device needs.
    Waves,
    /// Share of a wave's places in which a tile of the kernel's matmul computes.
    #[strum(serialize = "wave-efficiency")]
    WaveEfficiency,
    /// Share of the elements of a matmul's tiles that are elements of its output.
    #[strum(serialize = "tile-efficiency")]
    TileEfficiency,
    /// Rows of a tile of the kernel's matmul.
    #[strum(serialize = "tile-rows")]
    TileRows,
    /// Columns of such a tile.
    #[strum(serialize = "tile-columns")]
    TileColumns,
    /// On-chip bytes that a block of a kernel keeps; of the device, those that it can have.
    Onchip,
    /// Warnings that fusion costs time.
    Warnings,
    /// Bytes that the device model expects from DRAM with cold caches.
    Dram,
    /// Ops that are computed again in a further kernel.
    Recomputed,
    /// Kernels that read a tensor from memory.
    Readers,
    /// Multiprocessors of the device.
    Multiprocessors,
    /// The intensity at which f32 vector work leaves the memory roof.
    #[strum(serialize = "vector-ridge")]
    VectorRidge,
}

impl Metric {
    /// What number it is; `None` if it is a word.
    pub(super) const fn unit(self) -> Option<Unit> {
        Some(match self {
            Self::Kernels
            | Self::Ops
            | Self::Value
            | Self::Registers
            | Self::Blocks
            | Self::Waves
            | Self::TileRows
            | Self::TileColumns
            | Self::Warnings
            | Self::Recomputed
            | Self::Readers
            | Self::Multiprocessors => Unit::Count,
            Self::Bytes
            | Self::Reads
            | Self::Writes
            | Self::Saved
            | Self::Size
            | Self::Peak
            | Self::Onchip
            | Self::Dram => Unit::Bytes,
            Self::Saving
            | Self::Share
            | Self::Reached
            | Self::Idle
            | Self::Occupancy
            | Self::WaveEfficiency
            | Self::TileEfficiency => Unit::Percent,
            Self::Time | Self::Launch => Unit::Seconds,
            Self::Speedup => Unit::Ratio,
            Self::Flops => Unit::Flops,
            Self::Intensity | Self::Ridge | Self::VectorRidge => Unit::Intensity,
            Self::Bandwidth => Unit::BytesPerSecond,
            Self::Matrix | Self::Vector => Unit::FlopsPerSecond,
            Self::Place | Self::Bound | Self::Policy => return None,
        })
    }

    /// Whether it is what kernels ask of the device.
    pub(super) const fn is_of_device(self) -> bool {
        matches!(
            self,
            Self::Registers
                | Self::Occupancy
                | Self::Blocks
                | Self::Waves
                | Self::WaveEfficiency
                | Self::TileEfficiency
                | Self::TileRows
                | Self::TileColumns
                | Self::Onchip
                | Self::Warnings
                | Self::Dram
                | Self::Recomputed
        )
    }
}
