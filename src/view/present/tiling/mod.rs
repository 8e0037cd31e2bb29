//! The tab on tiles: a matmul and a tile that a visitor chooses, with the figures of both.

mod figures;
mod fits;

pub use figures::{FigureGroup, FigureRow, figure_groups};
pub use fits::{FitRow, first_refused, fit_rows, needs_text};

use crate::present::format::format_exact;
use crate::present::names::{counted, op_name};
use crate::present::options::ChoiceWords;
use fuseline_core::analysis::tiling::{
    Best, BlockTile, Follower, GROUPS, SIDES, TileProgress, Tiled, TiledMatmul, TimeLimit, best,
    followers, matmuls,
};
use fuseline_core::{Analysis, KernelId};
use strum::{EnumIter, IntoStaticStr};

/// Matmuls that are listed to choose from, at most.
const MOST_LISTED: usize = 500;

/// What a visitor chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TilingChoice {
    /// The name of the matmul; `None` for the one of the selected kernel, or the largest.
    pub matmul: Option<String>,
    /// The tile; `None` for the library's, which *Limits* and the predicted times assume.
    pub tile: Option<BlockTile>,
    /// Rows of tiles that are taken at a time.
    pub group_rows: u64,
}

impl Default for TilingChoice {
    fn default() -> Self {
        let [_, grouped] = GROUPS;
        Self {
            matmul: None,
            tile: None,
            group_rows: grouped,
        }
    }
}

/// A side of the tile. Its name is part of the ids of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, IntoStaticStr)]
pub enum TileSide {
    /// Rows of the output.
    #[strum(serialize = "bm")]
    Rows,
    /// Columns of the output.
    #[strum(serialize = "bn")]
    Columns,
    /// Step along K.
    #[strum(serialize = "bk")]
    Depth,
}

impl TileSide {
    /// Its name in Triton and CUTLASS.
    pub const fn letters(self) -> &'static str {
        match self {
            Self::Rows => "BM",
            Self::Columns => "BN",
            Self::Depth => "BK",
        }
    }

    /// Its name and its meaning.
    pub fn name(self) -> String {
        let what = match self {
            Self::Rows => "rows of the tile",
            Self::Columns => "columns of the tile",
            Self::Depth => "step along K",
        };
        format!("{}, {what}", self.letters())
    }

    /// The size of this side.
    pub const fn of(self, tile: BlockTile) -> u64 {
        match self {
            Self::Rows => tile.rows,
            Self::Columns => tile.columns,
            Self::Depth => tile.depth,
        }
    }

    /// The last position of its slider; the first is 0.
    pub const fn last_place() -> usize {
        SIDES.len() - 1
    }

    /// The position of its slider: at the next smaller side if the slider lacks the side of a
    /// library's tile.
    pub fn place(self, tile: BlockTile) -> usize {
        let value = self.of(tile);
        SIDES.iter().rposition(|&side| side <= value).unwrap_or(0)
    }

    /// The tile after its slider was moved; `None` if the position has no side.
    pub fn moved(self, tile: BlockTile, place: &str) -> Option<BlockTile> {
        let &side = SIDES.get(place.parse::<usize>().ok()?)?;
        Some(match self {
            Self::Rows => BlockTile { rows: side, ..tile },
            Self::Columns => BlockTile {
                columns: side,
                ..tile
            },
            Self::Depth => BlockTile {
                depth: side,
                ..tile
            },
        })
    }
}

/// The matmul in its tiles, and what follows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TilingReport {
    /// The matmul in tiles.
    pub tiled: Tiled,
    /// The ops that follow it.
    pub followers: Vec<Follower>,
    /// The tile that the model suggests.
    pub best: Best,
}

impl TilingReport {
    /// The report of the chosen matmul; `None` for a program without a matmul, and where the
    /// multiprocessors of the device are unknown.
    pub fn new(
        analysis: &Analysis,
        choice: &TilingChoice,
        selected: Option<KernelId>,
    ) -> Option<Self> {
        let matmul = chosen_matmul(analysis, choice, selected)?;
        let device = &analysis.options.device;
        let best = best(matmul, device)?;
        let tile = match choice.tile {
            Some(tile) => tile,
            None => matmul.library_tile(device)?,
        };
        Some(Self {
            tiled: Tiled::new(matmul, tile, choice.group_rows, device)?,
            followers: followers(analysis, &matmul, tile),
            best,
        })
    }
}

/// The matmul of the chosen name, else that of the selected kernel, else the one with the most
/// FLOPs.
fn chosen_matmul(
    analysis: &Analysis,
    choice: &TilingChoice,
    selected: Option<KernelId>,
) -> Option<TiledMatmul> {
    let graph = &analysis.graph;
    let named = choice.matmul.as_ref().and_then(|name| {
        let op = graph.op_named(name)?;
        TiledMatmul::of_op(graph, op)
    });
    let of_kernel = || {
        let kernel = analysis.fused.kernels.get(selected?)?;
        let mut ops = kernel.ops.iter();
        ops.find_map(|&op| TiledMatmul::of_op(graph, op))
    };
    let largest = || {
        matmuls(graph).reduce(|most, other| {
            if other.flops() > most.flops() {
                other
            } else {
                most
            }
        })
    };
    named.or_else(of_kernel).or_else(largest)
}

/// A matmul to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatmulChoice {
    /// Its op's name.
    pub name: String,
    /// The name and the sizes.
    pub label: String,
}

/// The matmuls of the program, the first ones of very many.
pub fn matmul_choices(analysis: &Analysis) -> Vec<MatmulChoice> {
    let choices = matmuls(&analysis.graph).take(MOST_LISTED).map(|matmul| {
        let name = op_name(&analysis.graph, matmul.op).to_owned();
        MatmulChoice {
            label: format!("{name}: {}", sizes_text(&matmul)),
            name,
        }
    });
    choices.collect()
}

/// `M 4,096 · N 16,384 · K 4,096`, and the number of products of a batch.
pub fn sizes_text(matmul: &TiledMatmul) -> String {
    let [m, n, k] = [matmul.rows, matmul.columns, matmul.inner].map(exact);
    let batch = match matmul.batch {
        1 => String::new(),
        batch => format!("{} products, each ", exact(batch)),
    };
    format!("{batch}M {m} · N {n} · K {k}")
}

/// The text in place of figures where there are none.
pub fn no_tiles(analysis: &Analysis) -> String {
    if matmuls(&analysis.graph).next().is_none() {
        return "This program has no matmul with known sizes, so there are no tiles to choose. Convolutions have no tiles here."
            .to_owned();
    }
    format!(
        "The number of multiprocessors of {} is unknown, so there are no waves. Choose another device.",
        analysis.options.device.name,
    )
}

/// The tile that the model suggests, and why.
pub fn suggestion(best: &Best) -> String {
    let why = match best.limit {
        TimeLimit::Arithmetic => {
            "this one wastes the least arithmetic on idle slots and empty edges, and among equal tiles it loads the least"
        }
        TimeLimit::Loads => {
            "this one loads the fewest bytes, and every tile would wait longer for loads than for arithmetic"
        }
    };
    format!(
        "The model suggests {}: of {} that fit, {why}. The model uses rates measured on an H200, not a library's own table.",
        tile_text(best.tile),
        counted(best.compared, "tile"),
    )
}

/// The order in which the tiles are taken.
pub const fn order_words(group_rows: u64) -> ChoiceWords {
    match group_rows {
        1 => ChoiceWords {
            name: "row by row",
            sentence: "A wave needs few rows of A and all columns of B.",
        },
        _ => ChoiceWords {
            name: "eight rows at a time",
            sentence: "Like Triton's matmul with GROUP_M = 8: a wave is nearly square and needs fewer strips.",
        },
    }
}

/// `256 × 128 × 64`.
pub fn tile_text(tile: BlockTile) -> String {
    format!("{} × {} × {}", tile.rows, tile.columns, tile.depth)
}

/// All digits of a count.
fn exact(count: u64) -> String {
    format_exact(count.into())
}

/// How far a matmul is at a position of [`Tiled::positions`], in words.
pub fn progress_words(tiled: &Tiled, at: u64) -> String {
    let TileProgress { waves, steps } = tiled.progress(at);
    let all = tiled.waves();
    if waves >= all {
        return format!(
            "{} done",
            counted(usize::try_from(all).unwrap_or(usize::MAX), "wave")
        );
    }
    format!(
        "Wave {} of {}, step {} of {} along K",
        exact(waves + 1),
        exact(all),
        exact(steps),
        exact(tiled.steps())
    )
}
