//! Resources that a kernel needs on a multiprocessor, and warnings where fusion costs time.
//! Computed on demand, not with every analysis.
//!
//! Registers, blocks and tiles are estimates by the formulas below; a compiler may choose others.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of tiles and of multiprocessors are whole and positive"
)]

mod estimate;
mod launch;
mod live;
mod row_block;
mod warning;

pub use crate::analysis::limits::estimate::Estimate;
pub use crate::analysis::limits::launch::BlockLaunch;
pub use crate::analysis::limits::row_block::RowBlock;
pub use crate::analysis::limits::warning::Warning;

use crate::analysis::Analysis;
use crate::analysis::device_model::Tiling;
use crate::analysis::limits::live::live_values;
use crate::analysis::limits::warning::warnings;
use crate::cost::work::op_work;
use crate::model::ids::{IdVec, KernelId};
use serde::Serialize;

/// Resources of one fused kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelLimits {
    /// On-chip bytes that one block needs: its rows of each value that is kept during reductions, 4
    /// bytes for each element, or the tiles of a matmul's operands in flight.
    pub on_chip_bytes: u64,
    /// On-chip bytes that a block can allocate.
    pub on_chip_available_bytes: u64,
    /// Most values that are live at any op, with the running values of reductions.
    pub live_values: u64,
    /// Estimate of the registers of one thread, before any spills.
    pub registers_per_thread: u64,
    /// Threads of one block, which share its on-chip memory.
    pub threads_per_block: u64,
    /// Into how many blocks the output is cut.
    pub blocks: u64,
    /// Resident threads over the most that a multiprocessor can hold.
    pub occupancy: f64,
    /// Waves: all blocks over those that the device runs at once, rounded up.
    pub waves: u64,
    /// Tiles of a matmul.
    pub tiling: Option<Tiling>,
    /// How it is divided into blocks, from which its resources follow.
    #[serde(skip)]
    pub launch: BlockLaunch,
    /// FLOPs of ops that it computes again instead of reading them.
    #[serde(skip)]
    pub recomputed_flops: u128,
    /// Bytes that it does not read because of that.
    #[serde(skip)]
    pub recomputed_saved_bytes: u64,
    /// Whether it runs more than one op, or one that another kernel runs as well.
    #[serde(skip)]
    pub is_fused: bool,
    /// Where fusing hardly pays or costs time.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl KernelLimits {
    /// The warnings that fusion may cost time here. A kernel of one op has none, because it is not
    /// fused. The device model counts neither spills nor idle multiprocessors, so a predicted gain
    /// does not refute them.
    pub fn harms(&self) -> impl Iterator<Item = &Warning> {
        let warnings = self.warnings.iter();
        warnings.filter(|warning| self.is_fused && warning.hurts())
    }
}

/// The limits of every fused kernel, in order. `None` if the multiprocessors of the device are
/// unknown. `O(ops + reads)`.
pub fn limits(analysis: &Analysis) -> Option<IdVec<KernelId, KernelLimits>> {
    let hardware = &analysis.options.device.hardware;
    let multiprocessor = hardware.multiprocessor()?;
    let multiprocessors = hardware.multiprocessors?.value;
    let live = live_values(analysis);
    let kernels = analysis.fused.kernels.iter_enumerated();
    Some(
        kernels
            .map(|(id, kernel)| {
                let launch = BlockLaunch {
                    estimate: Estimate::of(analysis, kernel, &live[id], multiprocessors),
                    live_values: live[id].at_once,
                    on_chip_available_bytes: analysis.options.device.on_chip_bytes(),
                    multiprocessor,
                    multiprocessors,
                };
                let mut limits = KernelLimits {
                    is_fused: kernel.ops.len() > 1 || !analysis.partition.recomputed[id].is_empty(),
                    ..of_kernel(launch)
                };
                // Before the warnings, which compare the recomputed FLOPs with the saved bytes.
                recompute(analysis, id, &mut limits);
                limits.warnings = warnings(analysis, id, &limits);
                limits
            })
            .collect(),
    )
}

fn of_kernel(launch: BlockLaunch) -> KernelLimits {
    KernelLimits {
        on_chip_bytes: launch.on_chip_bytes(),
        on_chip_available_bytes: launch.on_chip_available_bytes,
        live_values: launch.live_values,
        registers_per_thread: launch.registers_per_thread(),
        threads_per_block: launch.threads_per_block(),
        blocks: launch.blocks(),
        occupancy: launch.occupancy::<u64>(),
        waves: launch.waves(),
        tiling: launch.estimate.tiling(),
        launch,
        recomputed_flops: 0,
        recomputed_saved_bytes: 0,
        is_fused: false,
        warnings: Vec::new(),
    }
}

/// Sets the FLOPs that the kernel computes again, and the bytes of these outputs that it need not
/// read. Of what it computes in part it would read that part.
fn recompute(analysis: &Analysis, kernel: KernelId, limits: &mut KernelLimits) {
    let traffic = &analysis.fused.kernels[kernel].traffic;
    for &op in &analysis.partition.recomputed[kernel] {
        let work = traffic.work_of(op, op_work(&analysis.graph, op));
        limits.recomputed_flops = limits.recomputed_flops.saturating_add(work.flops());
        let output = &analysis.graph.tensors[analysis.graph.output[op]];
        let readers = &analysis.graph.successors[op];
        // An op that only feeds others that are computed again saves no read of its own.
        if readers
            .iter()
            .any(|&r| analysis.partition.kernel_of[r] == kernel)
        {
            let bytes = output.bytes().unwrap_or(0);
            let part = traffic.part_of(op).map(|part| part.share_of(bytes.into()));
            let part = part.and_then(|part| u64::try_from(part).ok());
            limits.recomputed_saved_bytes += part.unwrap_or(bytes);
        }
    }
}
