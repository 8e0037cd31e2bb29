//! How a kernel is divided into blocks and threads, and what a block needs.

use super::live::Live;
use super::row_block::RowBlock;
use crate::analysis::device_model::{Product, Tiling, operand_sizes};
use crate::analysis::tiling::{BlockTile, COMPUTING_THREADS};
use crate::analysis::{Analysis, Kernel};
use crate::fusion::attention::{AttentionShape, Tiles};
use crate::model::device::Multiprocessor;
use crate::model::element_size::ElementSize;
use crate::model::ids::OpId;
use crate::model::op::element_count;
use crate::model::op_type::OpType;

/// Threads of a block of an elementwise kernel.
const POINTWISE_THREADS: u64 = 128;
/// Bytes that one thread of an elementwise kernel loads at once.
const LOAD_BYTES: u64 = 16;

/// How a kernel is divided into blocks, with the figures from which its resources are estimated.
/// Compared with a compiler's kernels in `docs/measurement.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// Attention in the tiles of the papers: a block for each tile of queries of each head. The
    /// sums of its tile are in registers.
    Attention {
        /// Heads, rows and columns of Q, K and V.
        shape: AttentionShape,
        /// Rows of queries and of keys in a tile.
        tiles: Tiles,
    },
    /// A matmul: a block for each tile. A thread holds its part of the tile's sums.
    Matmul {
        /// Its rows, columns and K.
        product: Product,
        /// How it is cut on the device.
        tiling: Tiling,
        /// The same tile, with the step along K that a block takes.
        tile: BlockTile,
        /// Size of an element of the left and of the right operand.
        element_sizes: [ElementSize; 2],
    },
    /// A kernel with a reduction: a block for each row, or for some adjacent columns.
    Rows {
        /// Elements of its largest tensor.
        elements: u64,
        /// Elements of the longest row that it reduces.
        row_elements: u64,
        /// Values of which the rows of a block are kept on chip.
        kept_values: u64,
        /// The rows of a block and its threads.
        block: RowBlock,
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
        // First, because attention in single ops has matmuls and a reduction, too.
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
        if let Some(&op) = matmul
            && let Some(product) = Product::of_op(graph, op)
        {
            let tiling = product.tiling(multiprocessors);
            let sides = [tiling.tile.rows as u64, tiling.tile.columns as u64];
            let element_sizes = operand_sizes(graph, op);
            let tile = BlockTile::deepest(sides, element_sizes, on_chip_bytes);
            return Self::Matmul {
                product,
                tiling,
                tile,
                element_sizes,
            };
        }
        let outputs = kernel.ops.iter().map(|&op| &graph.ops[op]);
        let computed = |&op: &OpId| match kernel.traffic.part_of(op) {
            Some(part) => Some(part.elements),
            None => element_count(&graph.ops[op].shape),
        };
        let elements = (kernel.ops.iter().filter_map(computed))
            .max()
            .unwrap_or(1)
            // A reduction reads more elements than it writes, and its blocks cover what it reads.
            .max(live.rows.full_elements());
        let operands = (kernel.traffic.reads.len() + kernel.traffic.writes.len()) as u64;
        if has_type(OpType::Reduction).is_some() {
            return Self::Rows {
                elements,
                row_elements: live.rows.width.max(1),
                kept_values: live.kept_values,
                block: RowBlock::of(live.rows),
                operands,
            };
        }
        // The widest load is full with the narrowest type, so that one decides how many elements a
        // thread holds.
        let narrowest = outputs
            .map(|op| u64::from(op.bytes_per_element.addressed_bytes()))
            .min();
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

    pub(super) fn threads_per_block(&self, multiprocessor: &Multiprocessor) -> u64 {
        match self {
            Self::Attention { .. } | Self::Matmul { .. } => {
                COMPUTING_THREADS + u64::from(multiprocessor.loading_threads)
            }
            Self::Rows { block, .. } => block.threads,
            Self::Elements { .. } => POINTWISE_THREADS,
        }
    }
}
