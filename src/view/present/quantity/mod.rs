//! What can be measured, in which kernels, and of what: the one table of quantities, and the
//! identity of each number.
//!
//! Whatever shows a number (a table, a file, a line of the command line, a tooltip, a card, the
//! condition of a lesson) names its quantity here, so that it has one name, one unit and one value
//! everywhere. A new quantity is a variant with its row, and a line of `values` that says where its
//! number is.

mod marked;
mod unit;
mod values;

pub use self::marked::Marked;
pub use self::unit::Unit;
pub(crate) use self::values::Scope;
pub use self::values::{Value, Values};

use fuseline_core::{Analysis, Execution, KernelId, OpId, Policy, TensorId};
use strum::VariantArray;

/// A number on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Figure {
    /// What it measures.
    pub quantity: Quantity,
    /// In which kernels.
    pub run: Run,
    pub of: Subject,
}

/// What a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, VariantArray)]
pub enum Quantity {
    /// Bytes read and written.
    Bytes,
    BytesRead,
    BytesWritten,
    /// Bytes that fusion saves; negative where it adds some.
    SavedBytes,
    /// The part of the unfused bytes that fusion saves.
    Saving,
    /// The share of the subject in the memory traffic.
    Share,
    /// Bytes of a tensor that ops read or write as separate kernels and their fused kernel does
    /// not.
    BytesVanished,
    /// Bytes of one access to a tensor.
    TensorSize,
    /// Kernels that read a tensor from memory.
    Readers,
    /// Whether a tensor goes through `memory` or stays on `chip`.
    Place,
    /// Bytes that the device model predicts to be read from DRAM, with cold caches.
    DramReads,
    /// Launched kernels.
    Launches,
    Ops,
    /// Ops that a further kernel computes again.
    Recomputed,
    /// Edges that another policy treats differently from the chosen one.
    Differing,
    /// The chosen policy.
    Policy,
    /// Floating-point operations.
    Flops,
    /// FLOPs on matrix units.
    MatrixFlops,
    /// FLOPs on vector units.
    VectorFlops,
    /// Arithmetic intensity: FLOPs for each byte.
    Intensity,
    /// The time: predicted where the device has measured rates, otherwise its lower bound.
    Time,
    /// The lower bound of the time.
    LowerBound,
    /// The predicted time, where the device has measured rates.
    PredictedTime,
    /// Unfused over fused time.
    Speedup,
    /// Unfused over fused lower bound of the time.
    BoundSpeedup,
    /// The part of the time that takes longest.
    Bottleneck,
    /// What limits a kernel on the roofline: `memory`, `compute` or `launch`.
    RooflineBound,
    /// The rate under the roof: `min(peak, intensity * bandwidth)`.
    Attainable,
    /// The lower bound of a kernel's time over its predicted time: the share of its roof that it
    /// reaches.
    Reached,
    /// The share of the time in which no kernel runs, where Python launches each kernel.
    Idle,
    /// The most bytes of tensors that are live at once.
    PeakMemory,
    /// On-chip bytes that a block wants; of a program, those that a block of the device can have.
    OnChip,
    /// On-chip bytes that a block may have.
    OnChipAvailable,
    /// Values that a thread holds at once.
    LiveValues,
    /// Registers of a thread, before spills.
    Registers,
    /// Threads of a block.
    Threads,
    /// Resident threads over those that a multiprocessor can hold.
    Occupancy,
    /// Blocks of a kernel.
    Blocks,
    /// How many times the blocks of a kernel fill the device.
    Waves,
    /// Tiles over the slots of all waves.
    WaveEfficiency,
    /// Elements of a matmul's output over those of all tiles.
    TileEfficiency,
    /// Rows of a tile of the kernel's matmul.
    TileRows,
    /// Columns of such a tile.
    TileColumns,
    /// Warnings that fusion costs time.
    Warnings,
    /// The ridge point: for the work of a kernel, or in a program for f16 matmuls.
    Ridge,
    /// The ridge point of f32 vector work.
    VectorRidge,
    /// Peak bandwidth of memory.
    Bandwidth,
    /// Peak of f16 matmuls.
    MatrixPeak,
    /// Peak of f32 vector work.
    VectorPeak,
    LaunchTime,
    /// Multiprocessors of the device.
    Multiprocessors,
    /// The bytes of the device's memory.
    DeviceMemory,
    /// The value of a param.
    Param,
}

/// A row of the table of quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name in lessons and puzzles.
    pub id: &'static str,
    /// The label of its number, and the title of its card.
    pub title: &'static str,
    /// What its number counts; `None` where it is a word.
    pub unit: Option<Unit>,
    /// What it is about.
    pub kind: Kind,
}

/// What a quantity is about, which decides what else stands on its card: the counting
/// conventions that it rests on, and its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes through memory.
    Traffic,
    /// Which ops run as which kernels.
    Kernels,
    /// Arithmetic.
    Work,
    /// Arithmetic for each byte.
    Intensity,
    /// Times, and what limits them.
    Time,
    /// Bytes that are live at once.
    Memory,
    /// What a launch needs of a multiprocessor, and how it fills the device.
    Launch,
    /// Figures of the device alone.
    Device,
    /// What the text states.
    Text,
}

const fn row(id: &'static str, title: &'static str, unit: Unit, kind: Kind) -> Row {
    Row {
        id,
        title,
        unit: Some(unit),
        kind,
    }
}

/// A quantity whose values are words.
const fn word(id: &'static str, title: &'static str, kind: Kind) -> Row {
    Row {
        id,
        title,
        unit: None,
        kind,
    }
}

impl Quantity {
    /// Its row of the table.
    #[rustfmt::skip]
    pub const fn row(self) -> Row {
        match self {
            Self::Bytes => row("bytes", "memory traffic", Unit::Bytes, Kind::Traffic),
            Self::BytesRead => row("reads", "bytes read", Unit::Bytes, Kind::Traffic),
            Self::BytesWritten => row("writes", "bytes written", Unit::Bytes, Kind::Traffic),
            Self::SavedBytes => row("saved", "memory traffic saved", Unit::Bytes, Kind::Traffic),
            Self::Saving => row("saving", "change in memory traffic", Unit::Percent, Kind::Traffic),
            Self::Share => row("share", "share of the memory traffic", Unit::Percent, Kind::Traffic),
            Self::BytesVanished => row("vanished", "bytes that fusion saves", Unit::Bytes, Kind::Traffic),
            Self::TensorSize => row("size", "size", Unit::Bytes, Kind::Traffic),
            Self::Readers => row("readers", "reader kernels", Unit::Count, Kind::Traffic),
            Self::Place => word("place", "place", Kind::Traffic),
            Self::DramReads => row("dram", "bytes read from DRAM", Unit::Bytes, Kind::Traffic),
            Self::Launches => row("kernels", "kernels", Unit::Count, Kind::Kernels),
            Self::Ops => row("ops", "ops", Unit::Count, Kind::Kernels),
            Self::Recomputed => row("recomputed", "recomputed ops", Unit::Count, Kind::Kernels),
            Self::Differing => row("differing", "edges that differ from the chosen policy", Unit::Count, Kind::Kernels),
            Self::Policy => word("policy", "fusion policy", Kind::Kernels),
            Self::Flops => row("flops", "FLOPs", Unit::Flops, Kind::Work),
            Self::MatrixFlops => row("matrix-flops", "FLOPs on matrix units", Unit::Flops, Kind::Work),
            Self::VectorFlops => row("vector-flops", "FLOPs on vector units", Unit::Flops, Kind::Work),
            Self::Intensity => row("intensity", "arithmetic intensity", Unit::Intensity, Kind::Intensity),
            Self::Time => row("time", "time", Unit::Seconds, Kind::Time),
            Self::LowerBound => row("lower-bound", "lower bound of the time", Unit::Seconds, Kind::Time),
            Self::PredictedTime => row("predicted-time", "predicted time", Unit::Seconds, Kind::Time),
            Self::Speedup => row("speedup", "speedup", Unit::Ratio, Kind::Time),
            Self::BoundSpeedup => row("bound-speedup", "speedup at best", Unit::Ratio, Kind::Time),
            Self::Bottleneck => word("bottleneck", "bottleneck", Kind::Time),
            Self::RooflineBound => word("bound", "bottleneck on the roofline", Kind::Time),
            Self::Attainable => row("attainable", "attainable rate", Unit::FlopsPerSecond, Kind::Time),
            Self::Reached => row("reached", "share of the roof that is reached", Unit::Percent, Kind::Time),
            Self::Idle => row("idle", "share of the time in which the GPU waits", Unit::Percent, Kind::Time),
            Self::PeakMemory => row("peak", "peak memory", Unit::Bytes, Kind::Memory),
            Self::OnChip => row("onchip", "on-chip memory per block", Unit::Bytes, Kind::Launch),
            Self::OnChipAvailable => row("onchip-available", "on-chip memory available to a block", Unit::Bytes, Kind::Launch),
            Self::LiveValues => row("live-values", "values live at once", Unit::Count, Kind::Launch),
            Self::Registers => row("registers", "registers per thread", Unit::Count, Kind::Launch),
            Self::Threads => row("threads", "threads per block", Unit::Count, Kind::Launch),
            Self::Occupancy => row("occupancy", "occupancy", Unit::Percent, Kind::Launch),
            Self::Blocks => row("blocks", "blocks", Unit::Count, Kind::Launch),
            Self::Waves => row("waves", "waves", Unit::Count, Kind::Launch),
            Self::WaveEfficiency => row("wave-efficiency", "wave efficiency", Unit::Percent, Kind::Launch),
            Self::TileEfficiency => row("tile-efficiency", "tile efficiency", Unit::Percent, Kind::Launch),
            Self::TileRows => row("tile-rows", "rows in a tile", Unit::Count, Kind::Launch),
            Self::TileColumns => row("tile-columns", "columns in a tile", Unit::Count, Kind::Launch),
            Self::Warnings => row("warnings", "warnings", Unit::Count, Kind::Launch),
            Self::Ridge => row("ridge", "ridge point", Unit::Intensity, Kind::Device),
            Self::VectorRidge => row("vector-ridge", "ridge point of the vector units", Unit::Intensity, Kind::Device),
            Self::Bandwidth => row("bandwidth", "memory bandwidth", Unit::BytesPerSecond, Kind::Device),
            Self::MatrixPeak => row("matrix", "peak rate of the matrix units", Unit::FlopsPerSecond, Kind::Device),
            Self::VectorPeak => row("vector", "peak rate of the vector units", Unit::FlopsPerSecond, Kind::Device),
            Self::LaunchTime => row("launch", "launch time", Unit::Seconds, Kind::Device),
            Self::Multiprocessors => row("multiprocessors", "multiprocessors", Unit::Count, Kind::Device),
            Self::DeviceMemory => row("device-memory", "device memory", Unit::Bytes, Kind::Device),
            Self::Param => row("value", "value", Unit::Count, Kind::Text),
        }
    }

    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// What its number counts; `None` where it is a word.
    pub const fn unit(self) -> Option<Unit> {
        self.row().unit
    }

    pub const fn kind(self) -> Kind {
        self.row().kind
    }

    /// Its name in lessons and puzzles.
    pub const fn id(self) -> &'static str {
        self.row().id
    }

    /// The quantity of this name.
    pub fn with_id(id: &str) -> Option<Self> {
        Self::VARIANTS
            .iter()
            .copied()
            .find(|quantity| quantity.id() == id)
    }
}

/// The kernels in which something is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Run {
    /// One for each op.
    Unfused,
    /// The kernels that the policy chooses.
    Fused,
}

impl Run {
    /// The kernels that the pictures show.
    pub const fn shown(is_fused: bool) -> Self {
        if is_fused { Self::Fused } else { Self::Unfused }
    }

    pub const fn execution(self, analysis: &Analysis) -> &Execution {
        match self {
            Self::Unfused => &analysis.unfused,
            Self::Fused => &analysis.fused,
        }
    }
}

/// What a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The whole program.
    Program,
    /// The whole program under another policy.
    Policy(Policy),
    /// The fused kernel with this first op.
    Kernel(OpId),
    /// The fused kernel without ops of its own that recomputes this op of another kernel.
    Again(OpId),
    /// This op alone.
    Op(OpId),
    /// This tensor, summed over all kernels.
    Tensor(TensorId),
    /// This tensor, at the fused kernel with this first op.
    TensorAt(OpId, TensorId),
}

impl Subject {
    /// A fused kernel, by what stays the same while kernels come and go.
    pub fn kernel(analysis: &Analysis, id: KernelId) -> Option<Self> {
        let own = analysis.partition.kernels.get(id)?.first();
        let again = analysis.partition.recomputed[id].first();
        let own = own.map(|&first| Self::Kernel(first));
        own.or_else(|| again.map(|&first| Self::Again(first)))
    }

    /// The fused kernel that the subject is or belongs to; `None` if it has no kernel, or the
    /// analysis lacks that kernel.
    pub(in crate::present) fn kernel_id(self, analysis: &Analysis) -> Option<KernelId> {
        match self {
            Self::Kernel(first) | Self::TensorAt(first, _) => kernel_from(analysis, first),
            Self::Again(op) => kernel_again(analysis, op),
            Self::Program | Self::Policy(_) | Self::Op(_) | Self::Tensor(_) => None,
        }
    }
}

impl Figure {
    /// A figure of the fused kernels.
    pub const fn fused(of: Subject, quantity: Quantity) -> Self {
        Self {
            quantity,
            run: Run::Fused,
            of,
        }
    }

    /// A figure of the ops as separate kernels.
    pub const fn unfused(of: Subject, quantity: Quantity) -> Self {
        Self {
            quantity,
            run: Run::Unfused,
            of,
        }
    }

    /// The policy whose analysis it is a figure of; `None` for the chosen one.
    pub const fn policy(self) -> Option<Policy> {
        match self.of {
            Subject::Policy(policy) => Some(policy),
            _ => None,
        }
    }
}

/// The fused kernel with this first op.
fn kernel_from(analysis: &Analysis, first: OpId) -> Option<KernelId> {
    let id = *analysis.partition.kernel_of.get(first)?;
    let ops = &analysis.fused.kernels.get(id)?.ops;
    (ops.first() == Some(&first)).then_some(id)
}

/// The fused kernel that computes nothing but this op of another one.
fn kernel_again(analysis: &Analysis, op: OpId) -> Option<KernelId> {
    let mut kernels = analysis.partition.kernels.iter_enumerated();
    kernels.find_map(|(id, ops)| {
        let is_it = ops.is_empty() && analysis.partition.recomputed[id].first() == Some(&op);
        is_it.then_some(id)
    })
}
