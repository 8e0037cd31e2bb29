//! The figures of a matmul in tiles. Each has its derivation from the figures of the matmul,
//! the tile and the device.

mod block;
mod reads;
mod waves;

use super::{sizes_text, tile_text};
use crate::present::derivation::Term;
use crate::present::figure::{Explanation, hardware_source};
use crate::present::names::op_name;
use fuseline_core::Analysis;
use fuseline_core::analysis::tiling::Tiled;

/// Figures that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureGroup {
    pub title: &'static str,
    pub rows: Vec<FigureRow>,
}

/// A figure of a matmul in tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureRow {
    /// The figure, and the explanation of it.
    pub explanation: Explanation,
    /// The text before it: its calculation, where that is short.
    pub before: String,
    /// The text after it, to compare it with.
    pub after: String,
    /// Whether it exceeds what the device has.
    pub is_excess: bool,
}

impl From<Explanation> for FigureRow {
    fn from(explanation: Explanation) -> Self {
        Self {
            explanation,
            before: String::new(),
            after: String::new(),
            is_excess: false,
        }
    }
}

/// Tiles and waves, bytes read, and what a block needs.
pub fn figure_groups(analysis: &Analysis, tiled: &Tiled) -> [FigureGroup; 3] {
    let figures = Figures { analysis, tiled };
    let group = |title, rows| FigureGroup { title, rows };
    [
        group("Tiles and waves", figures.waves()),
        group("Bytes read", figures.reads()),
        group("One block", figures.block()),
    ]
}

#[derive(Clone, Copy)]
struct Figures<'a> {
    analysis: &'a Analysis,
    tiled: &'a Tiled,
}

impl Figures<'_> {
    fn explain(self, title: &str, term: Term, source: &str) -> Explanation {
        let Tiled { matmul, tile, .. } = self.tiled;
        let name = op_name(&self.analysis.graph, matmul.op);
        let sizes = sizes_text(matmul);
        let subject = format!("{name}: {sizes}, in tiles of {}", tile_text(*tile));
        Explanation {
            sources: vec![source.to_owned()],
            ..Explanation::of(title, subject, term.formula.unwrap_or_default(), term)
        }
    }

    /// The explanation of a figure that also depends on the device.
    fn with_device(self, explanation: Explanation, what: &str) -> Explanation {
        let device = &self.analysis.options.device;
        let hardware = &device.hardware;
        let is_confirmed = match hardware.multiprocessor() {
            Some(multiprocessor) if what != MULTIPROCESSORS => multiprocessor.is_confirmed,
            _ => hardware.multiprocessors.is_some_and(|it| it.is_confirmed),
        };
        let mut sources = explanation.sources;
        sources.push(hardware_source(device, what, is_confirmed));
        Explanation {
            sources,
            ..explanation
        }
    }
}

const MULTIPROCESSORS: &str = "Multiprocessors";
