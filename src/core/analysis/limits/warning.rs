//! Warnings about fused kernels, with their figures.

use crate::analysis::device_model::PredictedTimes;
use crate::analysis::limits::live::Live;
use crate::analysis::limits::{BlockLaunch, Estimate, KernelLimits};
use crate::analysis::{Analysis, Kernel};
use crate::model::bound::Bound;
use crate::model::ids::{KernelId, OpId};

/// Why fusion may cost time, or gain little.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Warning {
    /// More registers than a thread can have: the rest goes to memory and back.
    Spills {
        /// Registers that a thread needs.
        wanted: u64,
        /// Registers that it can have.
        available: u64,
    },
    /// The values that the rows of a block need after their reduction do not fit on chip: they are
    /// read or computed again.
    RowTooLong {
        /// Bytes that one block needs.
        wanted_bytes: u64,
        /// Bytes that it can have.
        available_bytes: u64,
    },
    /// Fewer blocks than multiprocessors, and than the slowest of its ops has alone.
    LostParallelism {
        /// Blocks of the kernel.
        blocks: u64,
        /// Multiprocessors of the device.
        multiprocessors: u64,
        /// The op that takes longest alone.
        slowest: OpId,
        /// Blocks that it has alone.
        slowest_blocks: u64,
    },
    /// The last wave of a matmul's tiles leaves most of the device idle.
    PartialWave {
        /// Tiles of the output.
        tiles: u64,
        /// Multiprocessors of the device.
        multiprocessors: u64,
        /// Share of all slots that compute.
        efficiency: f64,
    },
    /// Computing again takes longer than reading would.
    Recompute {
        /// Time of the added FLOPs.
        added_s: f64,
        /// Time of the bytes that are not read.
        saved_s: f64,
    },
    /// The kernel is bound by arithmetic: fusing saves bytes, but hardly time.
    HardlyPays {
        /// Bytes that fusion saves.
        saved_bytes: u64,
        /// Time of its ops one by one over its own: predicted where that is known, otherwise of
        /// lower bounds.
        speedup: f64,
    },
}

/// Share of computing slots below which there is a warning.
const WAVE_EFFICIENCY: f64 = 0.7;
/// Speedup below which fusion hardly pays.
const SPEEDUP: f64 = 1.1;

/// The warnings about a kernel.
pub(super) fn warnings(
    analysis: &Analysis,
    kernel: KernelId,
    limits: &KernelLimits,
) -> Vec<Warning> {
    let BlockLaunch { multiprocessor, .. } = limits.launch;
    let multiprocessors = limits.launch.multiprocessors as u64;
    let device = &analysis.options.device;
    let before = &analysis.comparisons[kernel];
    let predicted = (analysis.predicted.as_ref()).and_then(|all| all.kernels.get(kernel));
    let kernel = &analysis.fused.kernels[kernel];
    let mut found = Vec::new();
    let available = u64::from(multiprocessor.registers_per_thread);
    if limits.registers_per_thread > available {
        found.push(Warning::Spills {
            wanted: limits.registers_per_thread,
            available,
        });
    }
    // A matmul keeps no rows: its shared memory holds steps along K.
    if limits.tiling.is_none() && limits.on_chip_bytes > limits.on_chip_available_bytes {
        found.push(Warning::RowTooLong {
            wanted_bytes: limits.on_chip_bytes,
            available_bytes: limits.on_chip_available_bytes,
        });
    }
    if let Some(tiling) = limits.tiling
        && tiling.wave_efficiency < WAVE_EFFICIENCY
    {
        found.push(Warning::PartialWave {
            tiles: tiling.tiles as u64,
            multiprocessors,
            efficiency: tiling.wave_efficiency,
        });
    }
    if kernel.ops.len() > 1 {
        // A matmul has the same tiles alone, so fusing loses no blocks. `PartialWave` warns of few
        // tiles.
        if limits.tiling.is_none()
            && limits.blocks < multiprocessors
            && let Some((slowest, slowest_blocks)) =
                slowest_alone(analysis, kernel, predicted, limits.launch)
            && slowest_blocks > limits.blocks
        {
            found.push(Warning::LostParallelism {
                blocks: limits.blocks,
                multiprocessors,
                slowest,
                slowest_blocks,
            });
        }
        let speedup = match predicted {
            Some(predicted) => predicted.unfused_s / predicted.time_s,
            None => before.unfused_time_s / kernel.placement.time_s,
        };
        let saved_bytes = before.unfused_bytes.saturating_sub(kernel.bytes());
        // Where memory or the launch is the bottleneck, fewer bytes and launches do save time.
        let computes = matches!(kernel.placement.bound, Bound::Matrix | Bound::Vector);
        if computes && speedup < SPEEDUP && saved_bytes > 0 {
            found.push(Warning::HardlyPays {
                saved_bytes,
                speedup,
            });
        }
    }
    if let Some(peak) = device.vector_flops_per_s {
        let added_s = limits.recomputed_flops as f64 / peak.value;
        let saved_s = limits.recomputed_saved_bytes as f64 / device.memory_bytes_per_s.value;
        // A kernel that only computes ops of others once more is a part of how they run, and no
        // choice.
        if added_s > saved_s && !kernel.ops.is_empty() {
            found.push(Warning::Recompute { added_s, saved_s });
        }
    }
    found
}

/// The op of a kernel that takes longest alone, and its blocks. Idle multiprocessors cost little in
/// the other ops, and nothing in one that the kernel computes in part. Lower bounds do not count
/// idle multiprocessors, so of ops with equal bounds the one with the most blocks is taken.
fn slowest_alone(
    analysis: &Analysis,
    kernel: &Kernel,
    predicted: Option<&PredictedTimes>,
    launch: BlockLaunch,
) -> Option<(OpId, u64)> {
    let alone = |op: OpId| analysis.unfused.of_lone_op(op);
    let with_blocks = |op: OpId| {
        let live = Live::of_rows(&analysis.graph, &[op]);
        let launch = BlockLaunch {
            estimate: Estimate::of(analysis, alone(op), &live, launch.multiprocessors),
            ..launch
        };
        (op, launch.blocks::<u64>())
    };
    let is_whole = |&op: &OpId| kernel.traffic.part_of(op).is_none();
    if let Some(predicted) = predicted {
        return predicted.slowest_op.filter(is_whole).map(with_blocks);
    }
    let bound_s = |op: OpId| alone(op).placement.time_s;
    let ops = kernel.ops.iter().copied().filter(is_whole);
    let ops = ops.map(with_blocks);
    ops.max_by(|&(a, a_blocks), &(b, b_blocks)| {
        let by_time = bound_s(a).total_cmp(&bound_s(b));
        by_time.then(a_blocks.cmp(&b_blocks))
    })
}

impl Warning {
    /// Whether fusion costs time, rather than gaining little or waiting for tiles that the matmul
    /// alone has as well.
    pub(super) const fn hurts(&self) -> bool {
        !matches!(self, Self::HardlyPays { .. } | Self::PartialWave { .. })
    }
}
