//! How a kernel is divided into blocks and threads, and what a block needs.

use super::live::Live;
use crate::analysis::device_model::{Product, Tiling};
use crate::analysis::tiling::{COMPUTING_THREADS, registers_per_thread, stages, step_depth};
use crate::analysis::{Analysis, Kernel};
use crate::fusion::attention::{AttentionShape, Tiles};
use crate::model::device::Multiprocessor;
use crate::model::op::element_count;
use crate::model::op_type::OpType;

/// Threads of a block of an elementwise kernel.
const POINTWISE_THREADS: u64 = 128;
/// Threads of a block along rows.
const ROW_THREADS: u64 = 512;
/// Elements of a row that a thread processes at once, whatever their type: a compiler chose blocks of 2048 to 8192 elements,
/// see `tests/measure/results/h100_registers.json`.
const ROW_ELEMENTS: u64 = 8;
/// Bytes that one thread of an elementwise kernel loads at once.
const LOAD_BYTES: u64 = 16;
/// Registers that the address of one operand takes.
pub const ADDRESS_REGISTERS: u64 = 2;

/// How a kernel is divided into blocks, with the figures from which its resources are estimated. Compared with a compiler's
/// kernels in `docs/measurement.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// Attention in the tiles of the papers: a block for each tile of queries of each head. The sums of its tile are in registers.
    Attention {
        /// The sizes.
        shape: AttentionShape,
        /// The tiles.
        tiles: Tiles,
    },
    /// A matmul: a block for each tile. A thread holds its part of the tile's sums.
    Matmul {
        /// The product.
        product: Product,
        /// Its tiles.
        tiling: Tiling,
        /// Bytes of one step along K.
        step_bytes: u64,
        /// Steps in flight, as many as fit.
        stages: u64,
    },
    /// A kernel with a reduction: a block for each row.
    Rows {
        /// Elements of its largest tensor.
        elements: u64,
        /// Elements of the longest row that it reduces.
        row_elements: u64,
        /// Values of which one row is kept on chip.
        kept_values: u64,
        /// Bytes of these rows.
        kept_row_bytes: u64,
        /// Elements of each value that a thread holds at once.
        elements_per_thread: u64,
        /// Tensors that it reads or writes.
        operands: u64,
    },
    /// Any other kernel: a block for each piece of equally many elements.
    Elements {
        /// Elements of its largest tensor.
        elements: u64,
        /// Elements of each value that a thread holds at once: 16 bytes of the narrowest type.
        elements_per_thread: u64,
        /// Tensors that it reads or writes.
        operands: u64,
    },
}

impl Estimate {
    pub(super) fn of(
        analysis: &Analysis,
        kernel: &Kernel,
        live: &Live,
        multiprocessors: f64,
    ) -> Self {
        let graph = &analysis.graph;
        let on_chip_bytes = analysis.options.device.on_chip_bytes();
        if let Some(shape) = AttentionShape::of_kernel(graph, &kernel.ops) {
            let tiles = Tiles::new(&shape, on_chip_bytes);
            return Self::Attention { shape, tiles };
        }
        let has_type = |op_type| {
            kernel
                .ops
                .iter()
                .find(|&&op| graph.ops[op].op_type == op_type)
        };
        let matmul = has_type(OpType::Matmul);
        if let Some(product) = matmul.and_then(|&op| Product::of_op(graph, op)) {
            let tiling = product.tiling(multiprocessors);
            let sides = tiling.tile.rows as u64 + tiling.tile.columns as u64;
            let deep_bytes = sides * product.element_bytes as u64;
            let step_bytes = step_depth(deep_bytes, on_chip_bytes) * deep_bytes;
            return Self::Matmul {
                product,
                tiling,
                step_bytes,
                stages: stages(step_bytes, on_chip_bytes),
            };
        }
        let outputs = kernel.ops.iter().map(|&op| &graph.ops[op]);
        let elements = outputs
            .clone()
            .filter_map(|op| element_count(&op.shape))
            .max()
            .unwrap_or(1)
            .max(live.reduced_elements);
        let operands = (kernel.traffic.reads.len() + kernel.traffic.writes.len()) as u64;
        if has_type(OpType::Reduction).is_some() {
            return Self::Rows {
                elements,
                row_elements: live.row_elements.max(1),
                kept_values: live.kept_values,
                kept_row_bytes: live.kept_row_bytes,
                elements_per_thread: ROW_ELEMENTS,
                operands,
            };
        }
        let narrowest = outputs.map(|op| u64::from(op.bytes_per_element)).min();
        Self::Elements {
            elements,
            elements_per_thread: (LOAD_BYTES / narrowest.unwrap_or(1).max(1)).max(1),
            operands,
        }
    }

    /// The tiles of a matmul.
    pub const fn tiling(&self) -> Option<Tiling> {
        match *self {
            Self::Matmul { tiling, .. } => Some(tiling),
            _ => None,
        }
    }

    /// Threads of one block.
    pub(super) fn threads_per_block(&self, multiprocessor: &Multiprocessor) -> u64 {
        match self {
            Self::Attention { .. } | Self::Matmul { .. } => {
                COMPUTING_THREADS + u64::from(multiprocessor.loading_threads)
            }
            Self::Rows { .. } => ROW_THREADS,
            Self::Elements { .. } => POINTWISE_THREADS,
        }
    }

    /// Registers of one thread with this many live values.
    pub(super) const fn registers_per_thread(&self, live_values: u64) -> u64 {
        match *self {
            Self::Attention { shape, tiles } => {
                registers_per_thread(tiles.query_rows, shape.head_size)
            }
            Self::Matmul { tiling, .. } => {
                registers_per_thread(tiling.tile.rows as u64, tiling.tile.columns as u64)
            }
            Self::Rows {
                elements_per_thread,
                operands,
                ..
            }
            | Self::Elements {
                elements_per_thread,
                operands,
                ..
            } => live_values * elements_per_thread + operands * ADDRESS_REGISTERS,
        }
    }

    /// Blocks of the kernel.
    pub(super) fn blocks(&self) -> u64 {
        let blocks = match *self {
            Self::Attention { shape, tiles } => shape.heads.saturating_mul(tiles.query_tiles),
            Self::Matmul { tiling, .. } => tiling.tiles as u64,
            Self::Rows {
                elements,
                row_elements,
                ..
            } => elements / row_elements,
            Self::Elements {
                elements,
                elements_per_thread,
                ..
            } => elements.div_ceil(POINTWISE_THREADS * elements_per_thread),
        };
        blocks.max(1)
    }

    /// On-chip bytes that one block needs: the tiles of attention take no more than there is.
    pub(super) fn on_chip_bytes(&self, available_bytes: u64) -> u64 {
        match *self {
            Self::Attention { .. } => self.tile_bytes().min(available_bytes),
            Self::Matmul {
                step_bytes, stages, ..
            } => step_bytes * stages,
            Self::Rows { kept_row_bytes, .. } => kept_row_bytes,
            Self::Elements { .. } => 0,
        }
    }

    /// Bytes of the tiles of Q, K, V and the result of an attention; 0 for any other kernel.
    pub const fn tile_bytes(&self) -> u64 {
        match *self {
            Self::Attention { shape, tiles } => (tiles.query_rows + tiles.key_rows)
                .saturating_mul(2 * shape.head_size)
                .saturating_mul(shape.bytes_per_element as u64),
            _ => 0,
        }
    }
}
