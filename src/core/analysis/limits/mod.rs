//! Resources that a kernel needs on a multiprocessor, and warnings where fusion costs time. Computed on demand, not
//! with every analysis.
//!
//! Registers, blocks and tiles are estimates by the formulas below; a compiler may choose others.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of tiles and of multiprocessors are whole and positive"
)]

mod live;
mod warning;

pub use crate::core::analysis::limits::warning::Warning;

use crate::core::analysis::device_model::{Product, Tiling};
use crate::core::analysis::limits::live::live_values;
use crate::core::analysis::limits::warning::warnings;
use crate::core::analysis::tiling::{MATMUL_THREADS, registers_per_thread, stages, step_depth};
use crate::core::analysis::{Analysis, Kernel};
use crate::core::cost::work::op_work;
use crate::core::fusion::attention::{AttentionShape, Tiles};
use crate::core::model::device::Multiprocessor;
use crate::core::model::ids::{IdVec, KernelId};
use crate::core::model::op::element_count;
use crate::core::model::op_type::OpType;
use serde::Serialize;

/// Resources of one fused kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelLimits {
    /// On-chip bytes that one block needs: one row of each value that is kept during reductions, 4 bytes for each
    /// element, or the tiles of a matmul's operands in flight.
    pub on_chip_bytes: u64,
    /// On-chip bytes that a block can allocate.
    pub on_chip_available_bytes: u64,
    /// Most values that are live at any op, with the running values of reductions.
    pub live_values: u64,
    /// Estimate of the registers of one thread, before any spills.
    pub registers_per_thread: u64,
    /// Threads of one block.
    pub threads_per_block: u64,
    /// Blocks of the kernel.
    pub blocks: u64,
    /// Resident threads over the most that a multiprocessor can hold.
    pub occupancy: f64,
    /// Rounds of blocks that the device needs, rounded up.
    pub waves: u64,
    /// Tiles of a matmul.
    pub tiling: Option<Tiling>,
    /// FLOPs of ops that it computes again instead of reading them.
    #[serde(skip)]
    pub recomputed_flops: u128,
    /// Bytes that it does not read because of that.
    #[serde(skip)]
    pub recomputed_saved_bytes: u64,
    /// Warnings.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Threads of a block of an elementwise kernel.
const POINTWISE_THREADS: u64 = 128;
/// Threads of a block along rows, and elements that each of them processes at once, whatever their type: a compiler
/// chose blocks of 2048 to 8192 elements, see `tests/measure/results/h100_registers.json`.
const ROW_THREADS: u64 = 512;
const ROW_ELEMENTS: u64 = 8;
/// Registers that the address of one operand takes.
const ADDRESS_REGISTERS: u64 = 2;
/// Bytes that one thread loads at once.
const LOAD_BYTES: u64 = 16;
/// Registers of a thread are allocated in units of this many: 256 for a warp of 32.
const REGISTER_UNIT: u64 = 8;

/// The limits of every fused kernel, in order. `None` if the multiprocessors of the device are unknown.
/// `O(ops + reads)`.
pub fn limits(analysis: &Analysis) -> Option<IdVec<KernelId, KernelLimits>> {
    let hardware = &analysis.options.device.hardware;
    let multiprocessor = hardware.multiprocessor()?;
    let multiprocessors = hardware.multiprocessors?.value;
    let live = live_values(analysis);
    let kernels = analysis.fused.kernels.iter_enumerated();
    Some(
        kernels
            .map(|(id, kernel)| {
                let shape = Shape::of(analysis, kernel, &live[id], multiprocessors);
                let mut limits = shape.limits(analysis, &multiprocessor, multiprocessors);
                limits.live_values = live[id].at_once;
                recompute(analysis, id, &mut limits);
                let count = multiprocessors as u64;
                limits.warnings = warnings(analysis, id, &limits, &multiprocessor, count);
                limits
            })
            .collect(),
    )
}

/// How a kernel is divided into blocks and threads.
struct Shape {
    threads_per_block: u64,
    registers_per_thread: u64,
    blocks: u64,
    on_chip_bytes: u64,
    tiling: Option<Tiling>,
}

impl Shape {
    /// - Attention: the tiles of the paper; the sums of a tile of queries are in registers.
    /// - Matmul: a thread holds its part of the tile, `rows * columns / 256` sums, and 40 registers beside them.
    /// - Else: `live values * elements a thread`, and 2 registers for the address of each operand. A thread takes
    ///   16 bytes of the narrowest type at once, along rows 8 elements. Compared with a compiler's kernels in
    ///   `docs/measurement.md`.
    fn of(analysis: &Analysis, kernel: &Kernel, live: &live::Live, multiprocessors: f64) -> Self {
        let graph = &analysis.graph;
        let of_type = |op_type| {
            let ops = kernel.ops.iter().copied();
            ops.filter(move |&op| graph.ops[op].op_type == op_type)
        };
        let mut matmuls = of_type(OpType::Matmul);
        let first = matmuls.next();
        if let Some(shape) = AttentionShape::of_kernel(graph, &kernel.ops) {
            return Self::of_attention(&shape, analysis.options.device.on_chip_bytes());
        }
        if let Some(product) = first.and_then(|op| Product::of_op(graph, op)) {
            let tiling = product.tiling(multiprocessors);
            let (rows, columns) = (tiling.tile.rows as u64, tiling.tile.columns as u64);
            let deep_bytes = (rows + columns) * product.element_bytes as u64;
            return Self {
                threads_per_block: MATMUL_THREADS,
                registers_per_thread: registers_per_thread(rows, columns),
                blocks: tiling.tiles as u64,
                on_chip_bytes: in_flight_bytes(deep_bytes, analysis.options.device.on_chip_bytes()),
                tiling: Some(tiling),
            };
        }
        let outputs = kernel.ops.iter().map(|&op| &graph.ops[op]);
        let elements = outputs
            .clone()
            .filter_map(|op| element_count(&op.shape))
            .max()
            .unwrap_or(1)
            .max(live.reduced_elements);
        let narrowest = outputs.map(|op| u64::from(op.bytes_per_element)).min();
        let operands = (kernel.traffic.reads.len() + kernel.traffic.writes.len()) as u64;
        let (threads, at_once, blocks) = if of_type(OpType::Reduction).next().is_some() {
            let rows = elements / live.row_elements.max(1);
            (ROW_THREADS, ROW_ELEMENTS, rows)
        } else {
            let at_once = (LOAD_BYTES / narrowest.unwrap_or(1).max(1)).max(1);
            let block = POINTWISE_THREADS * at_once;
            (POINTWISE_THREADS, at_once, elements.div_ceil(block))
        };
        Self {
            threads_per_block: threads,
            registers_per_thread: live.at_once * at_once + operands * ADDRESS_REGISTERS,
            blocks: blocks.max(1),
            on_chip_bytes: live.kept_row_bytes,
            tiling: None,
        }
    }

    fn of_attention(shape: &AttentionShape, on_chip_bytes: u64) -> Self {
        let tiles = Tiles::new(shape, on_chip_bytes);
        let elements = (tiles.query_rows + tiles.key_rows).saturating_mul(2 * shape.head_size);
        Self {
            threads_per_block: MATMUL_THREADS,
            registers_per_thread: registers_per_thread(tiles.query_rows, shape.head_size),
            blocks: shape.heads.saturating_mul(tiles.query_tiles).max(1),
            on_chip_bytes: elements
                .saturating_mul(shape.bytes_per_element.into())
                .min(on_chip_bytes),
            tiling: None,
        }
    }

    fn limits(self, analysis: &Analysis, m: &Multiprocessor, multiprocessors: f64) -> KernelLimits {
        let registers = self
            .registers_per_thread
            .clamp(1, m.registers_per_thread.into());
        // Blocks that fit at once by each of four limits.
        let given = registers.next_multiple_of(REGISTER_UNIT);
        let by_registers = u64::from(m.registers) / (given * self.threads_per_block);
        let by_memory = u64::from(m.shared_bytes) / self.on_chip_bytes.max(1);
        let by_threads = u64::from(m.threads) / self.threads_per_block;
        let resident = by_registers
            .min(by_memory)
            .min(by_threads)
            .min(m.blocks.into())
            .max(1);
        let at_once = resident.saturating_mul(multiprocessors as u64).max(1);
        KernelLimits {
            on_chip_bytes: self.on_chip_bytes,
            on_chip_available_bytes: analysis.options.device.on_chip_bytes(),
            live_values: 0,
            registers_per_thread: self.registers_per_thread,
            threads_per_block: self.threads_per_block,
            blocks: self.blocks,
            occupancy: (resident * self.threads_per_block) as f64 / f64::from(m.threads),
            waves: self.blocks.div_ceil(at_once),
            tiling: self.tiling,
            recomputed_flops: 0,
            recomputed_saved_bytes: 0,
            warnings: Vec::new(),
        }
    }
}

/// On-chip bytes of the steps that a matmul's block has in flight, as many as fit; `deep_bytes` are those of one
/// element along K.
fn in_flight_bytes(deep_bytes: u64, available_bytes: u64) -> u64 {
    let step_bytes = step_depth(deep_bytes, available_bytes) * deep_bytes;
    step_bytes * stages(step_bytes, available_bytes)
}

/// Sets the FLOPs that the kernel computes again, and the bytes of these outputs that it need not read.
fn recompute(analysis: &Analysis, kernel: KernelId, limits: &mut KernelLimits) {
    for &op in &analysis.partition.recomputed[kernel] {
        let work = op_work(&analysis.graph, op);
        limits.recomputed_flops = limits.recomputed_flops.saturating_add(work.flops());
        let output = &analysis.graph.tensors[analysis.graph.output[op]];
        let readers = &analysis.graph.successors[op];
        // An op that only feeds others that are computed again saves no read of its own.
        if readers
            .iter()
            .any(|&r| analysis.partition.kernel_of[r] == kernel)
        {
            limits.recomputed_saved_bytes += output.bytes().unwrap_or(0);
        }
    }
}
