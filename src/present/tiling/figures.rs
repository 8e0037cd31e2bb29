//! The figures of a matmul in tiles, each with its formula.

use super::exact;
use crate::core::analysis::tiling::{MOST_WAVES, Tiled};
use crate::core::model::dtype::DType;
use crate::core::{Analysis, ridge_point};
use crate::present::format::{format_bytes, format_intensity, format_percent, format_ratio};

/// Figures that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureGroup {
    /// What they are about.
    pub title: &'static str,
    /// The figures.
    pub rows: Vec<FigureRow>,
}

/// A figure of a matmul in tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureRow {
    /// What it is.
    pub what: &'static str,
    /// Its formula.
    pub formula: &'static str,
    /// Its value, and what it is to be compared with.
    pub value: String,
    /// Whether it exceeds what the device has.
    pub is_excess: bool,
}

fn row(what: &'static str, formula: &'static str, value: String) -> FigureRow {
    FigureRow {
        what,
        formula,
        value,
        is_excess: false,
    }
}

/// Tiles and waves, bytes read, and what a block needs.
pub fn figure_groups(analysis: &Analysis, tiled: &Tiled) -> [FigureGroup; 3] {
    [
        FigureGroup {
            title: "Tiles and waves",
            rows: waves(analysis, tiled),
        },
        FigureGroup {
            title: "Bytes read",
            rows: reads(analysis, tiled),
        },
        FigureGroup {
            title: "One block",
            rows: block(tiled),
        },
    ]
}

fn waves(analysis: &Analysis, tiled: &Tiled) -> Vec<FigureRow> {
    let grid = &tiled.grid;
    let batch = match grid.batch {
        1 => String::new(),
        batch => format!(" × {}", exact(batch)),
    };
    let count = grid.tiles();
    let in_waves = count as f64 / tiled.wave_tiles as f64;
    let percent = |share: f64| format_percent(share * 100.0);
    vec![
        row(
            "tiles",
            "⌈M / BM⌉ · ⌈N / BN⌉ · products",
            format!(
                "{} × {}{batch} = {}",
                exact(grid.rows),
                exact(grid.columns),
                exact(count)
            ),
        ),
        row("steps of a tile along K", "⌈K / BK⌉", exact(tiled.steps())),
        row(
            "waves",
            "⌈tiles / multiprocessors⌉, a tile each",
            format!(
                "{} ({} / {} of {} = {in_waves:.2})",
                exact(tiled.waves()),
                exact(count),
                exact(tiled.wave_tiles),
                analysis.options.device.name,
            ),
        ),
        row(
            "wave efficiency",
            "tiles / (waves · multiprocessors)",
            percent(tiled.tiling.wave_efficiency),
        ),
        row(
            "tile efficiency",
            "M · N · products / (tiles · BM · BN)",
            percent(tiled.tiling.tile_efficiency),
        ),
    ]
}

fn reads(analysis: &Analysis, tiled: &Tiled) -> Vec<FigureRow> {
    let once_bytes = tiled.compulsory_read_bytes();
    let beside_once = |bytes: u64| {
        let ratio = bytes as f64 / once_bytes.max(1) as f64;
        format!("{}, {} of once", format_bytes(bytes), format_ratio(ratio))
    };
    let waves = tiled.waves_read_bytes().map_or_else(
        || format!("not counted above {} waves", exact(MOST_WAVES)),
        beside_once,
    );
    let shared = tiled.wave_intensity().map_or_else(
        || "–".to_owned(),
        |intensity| {
            let dtype = analysis.graph.ops[tiled.matmul.op].element_type();
            let (device, f32_matmul) = (
                &analysis.options.device,
                analysis.options.conventions.f32_matmul,
            );
            let ridge = ridge_point(device, dtype.unwrap_or(DType::F16), f32_matmul);
            let ridge = ridge.map_or_else(String::new, |ridge| {
                let side = if intensity < ridge { "below" } else { "above" };
                format!(", {side} the ridge of {}", format_intensity(ridge))
            });
            format!("{}{ridge}", format_intensity(intensity))
        },
    );
    vec![
        row(
            "one tile",
            "(BM + BN) · K · bytes of an element",
            format_bytes(tiled.tile_read_bytes()),
        ),
        row(
            "first wave, strips shared",
            "its rows of A, its columns of B, each once",
            format_bytes(tiled.shared_read_bytes(tiled.tiles_of_wave(0))),
        ),
        row(
            "all tiles, each by itself",
            "A once for each column of tiles, B once for each row",
            beside_once(tiled.separate_read_bytes()),
        ),
        row(
            "all waves, strips shared in a wave",
            "sum of the waves: what the cache keeps in a wave, and nothing between waves",
            waves,
        ),
        row("compulsory", "A and B once", format_bytes(once_bytes)),
        row(
            "intensity of a tile",
            "2 · BM · BN · K / bytes of one tile",
            format_intensity(tiled.tile_intensity()),
        ),
        row(
            "intensity with shared strips",
            "2 · M · N · K · products / bytes of all waves",
            shared,
        ),
    ]
}

fn block(tiled: &Tiled) -> Vec<FigureRow> {
    let resources = &tiled.resources;
    let excess = |is_excess: bool, text: String| {
        if is_excess {
            format!("{text}: too much")
        } else {
            text
        }
    };
    let shared = excess(
        !resources.fits_shared(),
        format!(
            "{} × {} = {} of {}",
            resources.stages,
            format_bytes(resources.step_bytes),
            format_bytes(resources.shared_bytes),
            format_bytes(resources.shared_available_bytes),
        ),
    );
    let registers = excess(
        !resources.fits_registers(),
        format!(
            "{} + {} = {} of {}",
            resources.sums_per_thread,
            resources.registers_per_thread - resources.sums_per_thread,
            resources.registers_per_thread,
            resources.registers_available,
        ),
    );
    vec![
        FigureRow {
            is_excess: !resources.fits_shared(),
            ..row(
                "shared memory of its stages",
                "stages · (BM + BN) · BK · bytes; two to four stages, as many as fit",
                shared,
            )
        },
        FigureRow {
            is_excess: !resources.fits_registers(),
            ..row(
                "registers of a thread",
                "BM · BN / 256 sums in f32, and 40 for addresses and the epilogue",
                registers,
            )
        },
    ]
}
