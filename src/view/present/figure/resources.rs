//! Resources of a launch: what a block needs, and how many blocks run at once.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of rows, tiles and multiprocessors are whole and positive"
)]

use super::{Found, How, Number, Resource, Term, Worked};
use fuseline_core::analysis::Analysis;
use fuseline_core::analysis::limits::{
    ADDRESS_REGISTERS, Estimate, KernelLimits, Resident, limits,
};
use fuseline_core::analysis::tiling::{COMPUTING_THREADS, OTHER_REGISTERS};
use fuseline_core::fusion::on_chip::BYTES_PER_ELEMENT;
use fuseline_core::model::device::Multiprocessor;
use fuseline_core::model::ids::KernelId;

/// A resource of a fused kernel; `None` for a view, and where the multiprocessors of the device are unknown.
pub(super) fn found(analysis: &Analysis, id: KernelId, resource: Resource) -> Option<Found> {
    if analysis.fused.kernels[id].is_free {
        return None;
    }
    let all = limits(analysis)?;
    let limits = all.get(id)?;
    let multiprocessor = analysis.options.device.hardware.multiprocessor()?;
    Some(match resource {
        Resource::OnChip => on_chip(limits),
        Resource::OnChipAvailable => Found::new(Term::given(
            "",
            Number::Bytes(limits.on_chip_available_bytes),
        )),
        Resource::Registers => registers(limits, &multiprocessor),
        Resource::Occupancy => occupancy(limits, &multiprocessor),
        Resource::Blocks => blocks(limits),
        Resource::Waves => waves(analysis, limits, &multiprocessor)?,
        Resource::WaveEfficiency => wave_efficiency(analysis, limits)?,
        Resource::TileEfficiency => tile_efficiency(limits)?,
    })
}

/// A number with its formula in symbols.
fn by(formula: &'static str, term: Term) -> Found {
    Found {
        formula: Some(formula),
        ..Found::new(term)
    }
}

/// The same of a calculation.
fn worked(formula: &'static str, number: Number, how: How, terms: Vec<Term>) -> Found {
    by(formula, Term::worked("", number, Worked::new(how, terms)))
}

fn on_chip(limits: &KernelLimits) -> Found {
    let bytes = Number::Bytes(limits.on_chip_bytes);
    match limits.estimate {
        Estimate::Attention { shape, tiles } => {
            let rows = tiles.query_rows + tiles.key_rows;
            let all = vec![
                Term::count("rows of both tiles (B_r + B_c)", rows),
                Term::count("", 2),
                Term::count("columns (d)", shape.head_size),
                Term::given("", Number::Bytes(shape.bytes_per_element.into())),
            ];
            let tile_bytes = Number::Bytes(limits.estimate.tile_bytes());
            let tiles = Term::worked("tiles", tile_bytes, Worked::new(How::Product, all));
            let available = Number::Bytes(limits.on_chip_available_bytes);
            worked(
                "min((B_r + B_c) × 2d × bytes per element, available)",
                bytes,
                How::Smallest,
                vec![tiles, Term::given("available to a block", available)],
            )
        }
        Estimate::Matmul {
            step_bytes, stages, ..
        } => worked(
            "stages × (tile rows + tile columns) × step × bytes per element",
            bytes,
            How::Product,
            vec![
                Term::count("steps in flight", stages),
                Term::given("per step", Number::Bytes(step_bytes)),
            ],
        ),
        Estimate::Rows {
            kept_values,
            row_elements,
            ..
        } => worked(
            "values kept × elements per row × 4 B",
            bytes,
            How::Product,
            vec![
                Term::count("values", kept_values),
                Term::count("elements per row", row_elements),
                Term::given("", Number::Bytes(BYTES_PER_ELEMENT)),
            ],
        ),
        Estimate::Elements { .. } => Found {
            formula: Some("0, because each thread keeps its elements in registers"),
            notes: vec!["Threads share no values.".to_owned()],
            ..Found::new(Term::given("", bytes))
        },
    }
}

/// The registers of a thread that holds its part of the sums of a tile with these sides.
pub(in crate::present) fn registers_of_tile(sides: [Term; 2], registers: u64) -> Term {
    let sums = Term::rounded_up(
        "sums",
        registers - OTHER_REGISTERS,
        Term::product("of the tile", sides.into()),
        Term::count("computing threads", COMPUTING_THREADS),
    );
    let others = Term::count("addresses, counters and the epilogue", OTHER_REGISTERS);
    Term::worked(
        "",
        Number::Count(registers),
        Worked::new(How::Sum, vec![sums, others]),
    )
}

fn registers(limits: &KernelLimits, multiprocessor: &Multiprocessor) -> Found {
    let number = Number::Count(limits.registers_per_thread);
    let of_tile = |rows: u64, columns: u64| {
        let sides = [Term::count("", rows), Term::count("", columns)];
        by(
            "⌈tile rows × tile columns / 256⌉ + 40",
            registers_of_tile(sides, limits.registers_per_thread),
        )
    };
    let of_values = |elements_per_thread: u64, operands: u64| {
        let values = vec![
            Term::count("values live at once", limits.live_values),
            Term::count("elements per thread", elements_per_thread),
        ];
        let addresses = vec![
            Term::count("tensors read or written", operands),
            Term::count("for an address", ADDRESS_REGISTERS),
        ];
        worked(
            "live values × elements a thread + tensors × 2",
            number,
            How::Sum,
            vec![
                Term::product("values", values),
                Term::product("addresses", addresses),
            ],
        )
    };
    let mut found = match limits.estimate {
        Estimate::Attention { shape, tiles } => of_tile(tiles.query_rows, shape.head_size),
        Estimate::Matmul { tiling, .. } => {
            of_tile(tiling.tile.rows as u64, tiling.tile.columns as u64)
        }
        Estimate::Rows {
            elements_per_thread,
            operands,
            ..
        }
        | Estimate::Elements {
            elements_per_thread,
            operands,
            ..
        } => of_values(elements_per_thread, operands),
    };
    let most = u64::from(multiprocessor.registers_per_thread);
    found.notes.push(format!(
        "A thread can have {most}. Further values spill to memory."
    ));
    found
}

fn blocks(limits: &KernelLimits) -> Found {
    let number = Number::Count(limits.blocks);
    match limits.estimate {
        Estimate::Attention { shape, tiles } => worked(
            "heads × ⌈queries / B_r⌉",
            number,
            How::Product,
            vec![
                Term::count("heads", shape.heads),
                Term::count("tiles of queries", tiles.query_tiles),
            ],
        ),
        Estimate::Matmul {
            product, tiling, ..
        } => {
            let side = |name: &str, side: f64, tile: f64| {
                let (side, tile) = (side as u64, tile as u64);
                let tile_side = Term::count("of the tile", tile);
                Term::rounded_up(name, side.div_ceil(tile), Term::count("", side), tile_side)
            };
            let mut factors = vec![
                side("rows of tiles", product.rows, tiling.tile.rows),
                side("columns of tiles", product.columns, tiling.tile.columns),
            ];
            if product.batch > 1.0 {
                factors.push(Term::count("products", product.batch as u64));
            }
            worked(
                "⌈M / tile rows⌉ × ⌈N / tile columns⌉ × products",
                number,
                How::Product,
                factors,
            )
        }
        Estimate::Rows {
            elements,
            row_elements,
            ..
        } => worked(
            "elements / elements per row: one block per row",
            number,
            How::RoundedDown,
            vec![
                Term::count("elements", elements),
                Term::count("per row", row_elements),
            ],
        ),
        Estimate::Elements {
            elements,
            elements_per_thread,
            ..
        } => {
            let of_block = vec![
                Term::count("threads", limits.threads_per_block),
                Term::count("elements per thread", elements_per_thread),
            ];
            let blocks = Term::rounded_up(
                "",
                limits.blocks,
                Term::count("elements", elements),
                Term::product("per block", of_block),
            );
            by("⌈elements / (threads × elements a thread)⌉", blocks)
        }
    }
}

/// The blocks that one multiprocessor holds at once. Where not even one fits, it is counted as one, which has no calculation.
fn resident(limits: &KernelLimits, m: &Multiprocessor) -> Term {
    let Resident {
        registers_per_thread,
        by_registers,
        by_shared_memory,
        by_threads,
        by_blocks,
    } = limits.resident;
    let quotient = |name: &str, number: u64, above: Term, below: Term| {
        let worked = Worked::new(How::RoundedDown, vec![above, below]);
        Term::worked(name, Number::Count(number), worked)
    };
    let threads = limits.threads_per_block;
    let of_block = vec![
        Term::count("per thread, in whole units", registers_per_thread),
        Term::count("threads", threads),
    ];
    let mut terms = vec![
        quotient(
            "limit by registers",
            by_registers,
            Term::count("", m.registers.into()),
            Term::product("per block", of_block),
        ),
        quotient(
            "limit by threads",
            by_threads,
            Term::count("", m.threads.into()),
            Term::count("per block", threads),
        ),
        Term::count("limit by blocks", by_blocks),
    ];
    if limits.on_chip_bytes > 0 {
        terms.push(quotient(
            "limit by shared memory",
            by_shared_memory,
            Term::given("", Number::Bytes(m.shared_bytes.into())),
            Term::given("per block", Number::Bytes(limits.on_chip_bytes)),
        ));
    }
    let blocks = limits.resident.blocks();
    let fits = terms.iter().all(|term| term.number.value() >= 1.0);
    Term {
        worked: fits.then(|| Worked::new(How::Smallest, terms)),
        ..Term::count("blocks at once", blocks)
    }
}

fn occupancy(limits: &KernelLimits, m: &Multiprocessor) -> Found {
    let threads = vec![
        resident(limits, m),
        Term::count("threads", limits.threads_per_block),
    ];
    let threads = Term::product("resident threads", threads);
    let occupancy = Term::share(limits.occupancy, threads, Term::count("", m.threads.into()));
    by(
        "resident threads / threads that a multiprocessor can hold",
        occupancy,
    )
}

fn multiprocessors(analysis: &Analysis) -> Option<u64> {
    let count = analysis.options.device.hardware.multiprocessors?;
    Some(count.value as u64)
}

fn waves(analysis: &Analysis, limits: &KernelLimits, m: &Multiprocessor) -> Option<Found> {
    let multiprocessors = multiprocessors(analysis)?;
    let at_once = vec![
        resident(limits, m),
        Term::count("multiprocessors", multiprocessors),
    ];
    let waves = Term::rounded_up(
        "",
        limits.waves,
        Term::count("blocks", limits.blocks),
        Term::product("at once", at_once),
    );
    Some(by(
        "⌈blocks / (blocks at once on a multiprocessor × multiprocessors)⌉",
        waves,
    ))
}

fn wave_efficiency(analysis: &Analysis, limits: &KernelLimits) -> Option<Found> {
    let tiling = limits.tiling?;
    let slots = vec![
        Term::count("waves", tiling.waves as u64),
        Term::count("multiprocessors, one tile each", multiprocessors(analysis)?),
    ];
    let efficiency = Term::share(
        tiling.wave_efficiency,
        Term::count("tiles", tiling.tiles as u64),
        Term::product("slots", slots),
    );
    Some(by(
        "tiles / (⌈tiles / multiprocessors⌉ × multiprocessors)",
        efficiency,
    ))
}

fn tile_efficiency(limits: &KernelLimits) -> Option<Found> {
    let Estimate::Matmul {
        product: product_of,
        tiling,
        ..
    } = limits.estimate
    else {
        return None;
    };
    let output = vec![
        Term::count("rows", product_of.rows as u64),
        Term::count("columns", product_of.columns as u64),
        Term::count("products", product_of.batch as u64),
    ];
    let computed = vec![
        Term::count("tiles", tiling.tiles as u64),
        Term::count("rows", tiling.tile.rows as u64),
        Term::count("columns", tiling.tile.columns as u64),
    ];
    let efficiency = Term::share(
        tiling.tile_efficiency,
        Term::product("of the output", output),
        Term::product("of all tiles", computed),
    );
    Some(by(
        "elements of the output / elements of all tiles",
        efficiency,
    ))
}
