//! How many tiles there are, and how they fill the device.

use super::{FigureRow, Figures, MULTIPROCESSORS};
use crate::present::figure::{Explanation, Term};
use crate::present::tiling::exact;
use fuseline_core::analysis::tiling::Tiled;

const GUIDE: &str =
    "NVIDIA, Matrix Multiplication Background User's Guide: tile and wave quantization.";

impl Figures<'_> {
    pub(super) fn waves(self) -> Vec<FigureRow> {
        vec![
            self.tiles(),
            self.steps(),
            self.wave_count(),
            self.wave_efficiency(),
            self.tile_efficiency(),
        ]
    }

    fn tiles(self) -> FigureRow {
        let grid = &self.tiled.grid;
        let batch = match grid.batch {
            1 => String::new(),
            batch => format!(" × {}", exact(batch)),
        };
        let formula = "⌈M / BM⌉ · ⌈N / BN⌉ · products";
        let told = self.told("tiles", formula, self.tiles_term(), GUIDE);
        FigureRow {
            before: format!("{} × {}{batch} = ", exact(grid.rows), exact(grid.columns)),
            ..told.into()
        }
    }

    fn steps(self) -> FigureRow {
        let Tiled { matmul, tile, .. } = self.tiled;
        let [inner, depth] = [("(K)", matmul.inner), ("(BK)", tile.depth)]
            .map(|(name, size)| Term::count(name, size));
        let steps = Term::rounded_up("", self.tiled.steps(), inner, depth);
        let source = "A block works along K in steps, as in Triton and CUTLASS.";
        self.told("steps of a tile along K", "⌈K / BK⌉", steps, source)
            .into()
    }

    fn wave_count(self) -> FigureRow {
        let (tiles, places) = (self.tiled.grid.tiles(), self.tiled.wave_tiles);
        let quotient = tiles as f64 / places as f64;
        let told = self.told(
            "waves",
            "⌈tiles / multiprocessors⌉, one tile per multiprocessor",
            self.waves_term(),
            GUIDE,
        );
        let device = &self.analysis.options.device.name;
        FigureRow {
            after: format!(
                " ({} / {} of {device} = {quotient:.2})",
                exact(tiles),
                exact(places)
            ),
            ..self
                .with_device(
                    Explanation {
                        notes: vec!["A multiprocessor computes one tile at a time. Small tiles can share one, but then they also share its rate.".to_owned()],
                        ..told
                    },
                    MULTIPROCESSORS,
                )
                .into()
        }
    }

    fn wave_efficiency(self) -> FigureRow {
        let tiled = self.tiled;
        let places = vec![self.waves_term(), self.multiprocessors()];
        let efficiency = Term::share(
            tiled.tiling.wave_efficiency,
            self.tiles_term(),
            Term::product("slots", places),
        );
        let empty =
            (tiled.waves().saturating_mul(tiled.wave_tiles)).saturating_sub(tiled.grid.tiles());
        let formula = "tiles / (waves · multiprocessors)";
        let told = Explanation {
            notes: vec![format!("Idle slots in the last wave: {}.", exact(empty))],
            ..self.told("wave efficiency", formula, efficiency, GUIDE)
        };
        self.with_device(told, MULTIPROCESSORS).into()
    }

    fn tile_efficiency(self) -> FigureRow {
        let Tiled { matmul, tile, .. } = self.tiled;
        let count = |(name, count)| Term::count(name, count);
        let mut elements = [("(M)", matmul.rows), ("(N)", matmul.columns)]
            .map(count)
            .to_vec();
        elements.extend(self.products());
        let mut computed = vec![self.tiles_term()];
        computed.extend([("(BM)", tile.rows), ("(BN)", tile.columns)].map(count));
        let efficiency = Term::share(
            self.tiled.tiling.tile_efficiency,
            Term::product("elements", elements),
            Term::product("in all tiles", computed),
        );
        let formula = "M · N · products / (tiles · BM · BN)";
        Explanation {
            notes: vec![
                "Tiles at the lower and right edges compute some elements beyond the output for nothing.".to_owned(),
            ],
            ..self.told("tile efficiency", formula, efficiency, GUIDE)
        }
        .into()
    }

    fn tiles_term(self) -> Term {
        let Tiled {
            matmul, tile, grid, ..
        } = self.tiled;
        let count = |name, size| Term::count(name, size);
        let [rows, columns] = [
            (
                "from top to bottom",
                grid.rows,
                count("(M)", matmul.rows),
                count("(BM)", tile.rows),
            ),
            (
                "from left to right",
                grid.columns,
                count("(N)", matmul.columns),
                count("(BN)", tile.columns),
            ),
        ]
        .map(|(name, number, above, below)| Term::rounded_up(name, number, above, below));
        let mut factors = vec![rows, columns];
        factors.extend(self.products());
        Term::product("tiles", factors)
    }

    fn waves_term(self) -> Term {
        let waves = self.tiled.waves();
        Term::rounded_up("waves", waves, self.tiles_term(), self.multiprocessors())
    }

    fn multiprocessors(self) -> Term {
        Term::count("multiprocessors", self.tiled.wave_tiles)
    }

    /// The products of a batch; nothing for one.
    pub(super) fn products(self) -> Option<Term> {
        let batch = self.tiled.matmul.batch;
        (batch > 1).then(|| Term::count("products", batch))
    }
}
