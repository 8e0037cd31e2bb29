//! How many tiles there are, and how they fill the device.

use super::{FigureRow, Figures, MULTIPROCESSORS};
use crate::present::derivation::Term;
use crate::present::figure::Explanation;
use crate::present::tiling::exact;

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
        let explanation = self.explain("tiles", self.tiled.tile_count(), GUIDE);
        FigureRow {
            before: format!("{} × {}{batch} = ", exact(grid.rows), exact(grid.columns)),
            ..explanation.into()
        }
    }

    fn steps(self) -> FigureRow {
        let source = "A block works along K in steps, as in Triton and CUTLASS.";
        let steps = self.tiled.step_count();
        self.explain("steps of a tile along K", steps, source)
            .into()
    }

    fn wave_count(self) -> FigureRow {
        let (tiles, places) = (self.tiled.grid.tiles(), self.tiled.wave_tiles);
        let quotient = tiles as f64 / places as f64;
        let explanation = self.explain("waves", self.tiled.wave_count(), GUIDE);
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
                        ..explanation
                    },
                    MULTIPROCESSORS,
                )
                .into()
        }
    }

    fn wave_efficiency(self) -> FigureRow {
        let tiled = self.tiled;
        let efficiency = tiled.wave_efficiency::<Term>();
        let empty =
            (tiled.waves().saturating_mul(tiled.wave_tiles)).saturating_sub(tiled.grid.tiles());
        let explanation = Explanation {
            notes: vec![format!("Idle slots in the last wave: {}.", exact(empty))],
            ..self.explain("wave efficiency", efficiency, GUIDE)
        };
        self.with_device(explanation, MULTIPROCESSORS).into()
    }

    fn tile_efficiency(self) -> FigureRow {
        let efficiency = self.tiled.tile_efficiency::<Term>();
        Explanation {
            notes: vec![
                "Tiles at the lower and right edges compute some elements beyond the output for nothing.".to_owned(),
            ],
            ..self.explain("tile efficiency", efficiency, GUIDE)
        }
        .into()
    }
}
