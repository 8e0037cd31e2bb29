//! The resources of one block of a kernel, and how its blocks fill the device.
//!
//! Each formula stands once, over [`Numeral`]: with plain numbers for tables, with derivations for
//! whoever asks.

use super::estimate::Estimate;
use super::row_block::RowBlock;
use crate::analysis::device_model::Tiling;
use crate::analysis::tiling::registers_per_thread;
use crate::fusion::on_chip::BYTES_PER_ELEMENT;
use crate::model::device::Multiprocessor;
use crate::numeral::Numeral;

/// Registers of a thread are allocated in units of this many: 256 for a warp of 32.
const REGISTER_UNIT: u64 = 8;
/// Registers that the address of one operand takes.
const ADDRESS_REGISTERS: u64 = 2;

/// A kernel in blocks on a device. All that it needs follows from these figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockLaunch {
    /// How the kernel is divided into blocks.
    pub estimate: Estimate,
    /// Most values that are live at any op, with the running values of reductions.
    pub live_values: u64,
    /// On-chip bytes that a block can allocate.
    pub on_chip_available_bytes: u64,
    /// Registers, shared memory and threads that the blocks of a multiprocessor share.
    pub multiprocessor: Multiprocessor,
    /// Multiprocessors of the device.
    pub multiprocessors: f64,
}

impl BlockLaunch {
    /// On-chip bytes that one block needs: the tiles of attention take no more than there is.
    pub fn on_chip_bytes<N: Numeral>(&self) -> N {
        let available_bytes = self.on_chip_available_bytes;
        match self.estimate {
            Estimate::Attention { shape, tiles } => {
                let rows = tiles.query_rows.saturating_add(tiles.key_rows);
                let factors = [
                    N::count("rows of both tiles (B_r + B_c)", rows),
                    N::count("", 2),
                    N::count("columns (d)", shape.head_size),
                    N::bytes("", shape.bytes_per_element.into()),
                ];
                let tiles = N::product("tiles", factors);
                let available = N::bytes("available to a block", available_bytes);
                N::smallest("", [tiles, available])
                    .by("min((B_r + B_c) × 2d × bytes per element, available)")
            }
            Estimate::Matmul {
                tile,
                element_sizes,
                ..
            } => tile.shared_bytes(element_sizes, available_bytes),
            Estimate::Rows {
                kept_values,
                row_elements,
                block,
                ..
            } => {
                let factors = [
                    N::count("values", kept_values),
                    N::count("elements per row", row_elements),
                    N::bytes("", BYTES_PER_ELEMENT),
                ];
                if block.rows == 1 {
                    N::product("", factors).by("values kept × elements per row × 4 B")
                } else {
                    let rows = N::count("rows per block", block.rows);
                    N::product("", factors.into_iter().chain([rows]))
                        .by("values kept × elements per row × 4 B × rows per block")
                }
            }
            Estimate::Elements { .. } => {
                N::bytes("", 0).by("0, because each thread keeps its elements in registers")
            }
        }
    }

    /// Registers of one thread, before any spills.
    pub fn registers_per_thread<N: Numeral>(&self) -> N {
        match self.estimate {
            Estimate::Attention { shape, tiles } => registers_per_thread([
                N::count("", tiles.query_rows),
                N::count("", shape.head_size),
            ]),
            Estimate::Matmul { tile, .. } => registers_per_thread(tile.sides()),
            Estimate::Rows {
                block:
                    RowBlock {
                        elements_per_thread,
                        ..
                    },
                operands,
                ..
            }
            | Estimate::Elements {
                elements_per_thread,
                operands,
                ..
            } => {
                let values = [
                    N::count("values live at once", self.live_values),
                    N::count("elements per thread", elements_per_thread),
                ];
                let addresses = [
                    N::count("tensors read or written", operands),
                    N::count("for an address", ADDRESS_REGISTERS),
                ];
                let terms = [
                    N::product("values", values),
                    N::product("addresses", addresses),
                ];
                N::sum("", terms).by("live values × elements per thread + tensors × 2")
            }
        }
    }

    /// Threads of one block.
    pub fn threads_per_block(&self) -> u64 {
        self.estimate.threads_per_block(&self.multiprocessor)
    }

    /// Blocks of the kernel; at least one.
    pub fn blocks<N: Numeral>(&self) -> N {
        let blocks = match self.estimate {
            Estimate::Attention { shape, tiles } => {
                let tiles = N::count("tiles of queries", tiles.query_tiles);
                N::product("", [N::count("heads", shape.heads), tiles])
                    .by("heads × ⌈queries / B_r⌉")
            }
            Estimate::Matmul {
                product, tiling, ..
            } => product.tiles(tiling.tile),
            Estimate::Rows {
                elements,
                row_elements,
                block,
                ..
            } => {
                let of_row = N::count("per row", row_elements);
                let rows = N::floor("rows", N::count("elements", elements), of_row);
                if block.rows == 1 {
                    rows.by("elements / elements per row: one block per row")
                } else {
                    N::ceiling("", rows, N::count("rows per block", block.rows))
                        .by("⌈elements / elements per row / rows per block⌉: neighbours in memory are in different rows, so a block has several")
                }
            }
            Estimate::Elements {
                elements,
                elements_per_thread,
                ..
            } => {
                let of_block = [
                    N::count("threads", self.threads_per_block()),
                    N::count("elements per thread", elements_per_thread),
                ];
                let of_block = N::product("per block", of_block);
                N::ceiling("", N::count("elements", elements), of_block)
                    .by("⌈elements / (threads × elements per thread)⌉")
            }
        };
        blocks.at_least(1)
    }

    /// Registers that a thread gets: no more than it can have, in whole units.
    fn allocated_registers(&self) -> u64 {
        let registers = self.registers_per_thread::<u64>();
        let most = self.multiprocessor.registers_per_thread.into();
        // Beyond `most` the compiler spills, so occupancy does not fall further.
        registers.clamp(1, most).next_multiple_of(REGISTER_UNIT)
    }

    /// Blocks that the registers of a multiprocessor hold at once.
    pub fn blocks_by_registers<N: Numeral>(&self) -> N {
        let of_block = [
            N::count("per thread, in whole units", self.allocated_registers()),
            N::count("threads", self.threads_per_block()),
        ];
        let registers = N::count("", self.multiprocessor.registers.into());
        let of_block = N::product("per block", of_block);
        N::floor("limit by registers", registers, of_block)
    }

    /// Blocks that its threads allow.
    pub fn blocks_by_threads<N: Numeral>(&self) -> N {
        let threads = N::count("", self.multiprocessor.threads.into());
        let of_block = N::count("per block", self.threads_per_block());
        N::floor("limit by threads", threads, of_block)
    }

    /// Blocks that its shared memory holds; `None` for a kernel that needs none.
    pub fn blocks_by_shared_memory<N: Numeral>(&self) -> Option<N> {
        let needed_bytes = self.on_chip_bytes::<u64>();
        let bytes = N::bytes("", self.multiprocessor.shared_bytes.into());
        let of_block = N::bytes("per block", needed_bytes);
        (needed_bytes > 0).then(|| N::floor("limit by shared memory", bytes, of_block))
    }

    /// Blocks that a multiprocessor holds at once: the fewest of these limits, and one where not
    /// even that fits.
    pub fn resident_blocks<N: Numeral>(&self) -> N {
        let limits = [
            self.blocks_by_registers(),
            self.blocks_by_threads(),
            N::count("limit by blocks", self.multiprocessor.blocks.into()),
        ];
        let limits = limits.into_iter().chain(self.blocks_by_shared_memory());
        N::smallest("blocks at once", limits).at_least(1)
    }

    /// Resident threads over the most that a multiprocessor can hold.
    pub fn occupancy<N: Numeral>(&self) -> N::Share {
        let threads = N::count("threads", self.threads_per_block());
        let resident = N::product("resident threads", [self.resident_blocks(), threads]);
        let most = N::count("", self.multiprocessor.threads.into());
        let formula = "resident threads / threads that a multiprocessor can hold";
        N::share(resident, most, formula)
    }

    /// Waves: all blocks over those that the device runs at once, rounded up.
    pub fn waves<N: Numeral>(&self) -> N {
        let multiprocessors = N::whole("multiprocessors", self.multiprocessors);
        let at_once = N::product("at once", [self.resident_blocks(), multiprocessors]);
        N::ceiling("", N::count("blocks", self.blocks()), at_once)
            .by("⌈blocks / (blocks at once on a multiprocessor × multiprocessors)⌉")
    }

    /// Share of the slots of all waves that hold a tile; `None` without a matmul.
    pub fn wave_efficiency<N: Numeral>(&self) -> Option<N::Share> {
        let Estimate::Matmul {
            product,
            tiling: Tiling { tile, .. },
            ..
        } = self.estimate
        else {
            return None;
        };
        Some(product.wave_efficiency::<N>(tile, self.multiprocessors))
    }

    /// Share of the elements of all tiles that are inside the output; `None` without a matmul.
    pub fn tile_efficiency<N: Numeral>(&self) -> Option<N::Share> {
        let Estimate::Matmul {
            product, tiling, ..
        } = self.estimate
        else {
            return None;
        };
        Some(product.tile_efficiency::<N>(tiling.tile))
    }
}
