//! What tiles and waves read, and how much arithmetic that is for each byte.

use super::{FigureRow, Figures};
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::figure::{Convention, Explanation, f32_matmul};
use crate::present::format::format_intensity;
use crate::present::number::Number;
use crate::present::tiling::{exact, order_words};
use fuseline_core::analysis::tiling::{MOST_WAVES, Strips, Tiled};
use fuseline_core::model::dtype::DType;
use fuseline_core::numeral::Numeral;
use fuseline_core::ridge_point;

const STRIPS: &str = "CUTLASS, Efficient GEMM in CUDA: a block reads a strip of each operand.";
const ORDER: &str = "Triton's tutorial on matmuls, L2 cache optimizations.";
const ONCE: &str = "Compulsory traffic: reads with a cache that loses nothing.";
const TWICE: &str = "A multiply-add counts as 2 FLOPs.";

/// Adds what counts as a FLOP.
fn counts_twice(mut explanation: Explanation) -> Explanation {
    explanation.sources.push(TWICE.to_owned());
    explanation
}

impl Figures<'_> {
    pub(super) fn reads(self) -> Vec<FigureRow> {
        vec![
            self.one_tile(),
            self.first_wave(),
            self.all_tiles(),
            self.all_waves(),
            self.compulsory(),
            self.tile_intensity(),
            self.wave_intensity(),
        ]
    }

    fn one_tile(self) -> FigureRow {
        let formula = "(BM + BN) · K · bytes per element";
        let Tiled { matmul, tile, .. } = self.tiled;
        let is_clipped = tile.rows > matmul.rows || tile.columns > matmul.columns;
        let note = "The tile is larger than the output and reads only what exists.";
        Explanation {
            notes: is_clipped.then(|| note.to_owned()).into_iter().collect(),
            ..self.explain("one tile", self.tile_bytes().by(formula), STRIPS)
        }
        .into()
    }

    fn first_wave(self) -> FigureRow {
        let strips = self.tiled.shared_strips(self.tiled.tiles_of_wave(0));
        let formula = "its rows of A, its columns of B, each once";
        let [rows, columns] = [("rows", strips.rows), ("columns", strips.columns)]
            .map(|(name, count)| Term::count(name, count));
        let bytes = self.tiled.bytes_of(Strips { rows, columns });
        self.shared("first wave, strips shared", formula, bytes)
            .into()
    }

    fn all_tiles(self) -> FigureRow {
        let bytes: Term = self.tiled.bytes_of(self.tiled.separate_strips());
        let formula = "A once per column of tiles, B once per row of tiles";
        let explanation = self.explain("all tiles, no sharing", bytes.by(formula), STRIPS);
        self.beside_once(
            explanation,
            "This is the traffic between the cache and the multiprocessors.",
        )
    }

    fn all_waves(self) -> FigureRow {
        let title = "all waves, strips shared within a wave";
        let formula =
            "Σ over waves, with strips kept in the cache within a wave and not between waves";
        match self.waves_bytes() {
            Some(bytes) => {
                let note = "A GPU's reads from memory lie between this and the compulsory traffic.";
                self.beside_once(self.shared(title, formula, bytes), note)
            }
            None => self.uncounted(title, formula).into(),
        }
    }

    fn compulsory(self) -> FigureRow {
        let bytes = self.once_bytes().by("A and B once");
        self.explain("compulsory traffic", bytes, ONCE).into()
    }

    fn tile_intensity(self) -> FigureRow {
        let Tiled { matmul, tile, .. } = self.tiled;
        let Strips { rows, columns } = self.tiled.tile_strips();
        let factors = vec![Term::count("", 2), rows, columns, self.inner()];
        let intensity = intensity_term(self.tiled.tile_intensity(), factors, self.tile_bytes());
        let formula = "2 · BM · BN · K / bytes of one tile";
        let is_whole = tile.rows <= matmul.rows && tile.columns <= matmul.columns;
        let note = "K cancels: only the tile and the bytes per element matter.";
        Explanation {
            notes: is_whole.then(|| note.to_owned()).into_iter().collect(),
            ..counts_twice(self.explain(
                "arithmetic intensity of a tile",
                intensity.by(formula),
                STRIPS,
            ))
        }
        .into()
    }

    fn wave_intensity(self) -> FigureRow {
        let title = "arithmetic intensity with shared strips";
        let formula = "2 · M · N · K · products / bytes of all waves";
        let (Some(intensity), Some(bytes)) = (self.tiled.wave_intensity(), self.waves_bytes())
        else {
            return self.uncounted(title, formula).into();
        };
        let matmul = &self.tiled.matmul;
        let mut factors = vec![
            Term::count("", 2),
            Term::count("(M)", matmul.rows),
            Term::count("(N)", matmul.columns),
            self.inner(),
        ];
        factors.extend((matmul.batch > 1).then(|| Term::count("products", matmul.batch)));
        let explanation = self.shared(title, formula, intensity_term(intensity, factors, bytes));
        let explanation = counts_twice(explanation);
        let options = &self.analysis.options;
        let dtype = self.analysis.graph.ops[matmul.op].element_type();
        let dtype = dtype.unwrap_or(DType::F16);
        let Some(ridge) = ridge_point(&options.device, dtype, options.conventions.f32_matmul)
        else {
            return explanation.into();
        };
        let (side, what) = if intensity < ridge {
            ("below", "reads take longer than the arithmetic")
        } else {
            ("above", "the arithmetic takes longer than the reads")
        };
        let at = format!("{side} the ridge point of {}", format_intensity(ridge));
        let mut conventions = explanation.conventions;
        conventions.extend((dtype == DType::F32).then(|| f32_matmul(options)));
        FigureRow {
            after: format!(", {at}"),
            ..Explanation {
                notes: vec![format!(
                    "This is {at}: at the peak rates of the device, {what}."
                )],
                conventions,
                ..explanation
            }
            .into()
        }
    }

    /// A figure of tiles that share strips, which depends on the order of the tiles.
    fn shared(self, title: &str, formula: &'static str, term: Term) -> Explanation {
        let words = order_words(self.tiled.grid.group_rows);
        let note = "Tiles of one wave read the same strips, which the cache holds, so each strip counts once per wave.";
        Explanation {
            notes: vec![note.to_owned()],
            conventions: vec![Convention::of_words("Order of the tiles:", words)],
            ..self.explain(title, term.by(formula), ORDER)
        }
    }

    /// The explanation in place of a figure with too many waves to count.
    fn uncounted(self, title: &str, formula: &'static str) -> Explanation {
        let waves = exact(MOST_WAVES);
        Explanation {
            value: format!("not counted above {waves} waves"),
            term: None,
            ..self.shared(title, formula, Term::count("", self.tiled.waves()))
        }
    }

    /// Bytes, with their ratio to reading each operand once.
    fn beside_once(self, explanation: Explanation, note: &str) -> FigureRow {
        let once = self.once_bytes();
        let Some(bytes) = &explanation.term else {
            return explanation.into();
        };
        let ratio = Number::Ratio(bytes.number.value() / once.number.value().max(1.0)).text();
        let of_once = format!(
            "{ratio} the compulsory traffic: {} / {}.",
            bytes.text(),
            once.text()
        );
        let mut notes = explanation.notes;
        notes.extend([note.to_owned(), of_once]);
        FigureRow {
            after: format!(", {ratio} the compulsory traffic"),
            ..Explanation {
                notes,
                ..explanation
            }
            .into()
        }
    }

    fn tile_bytes(self) -> Term {
        let bytes: Term = self.tiled.bytes_of(self.tiled.tile_strips());
        bytes.named("one tile")
    }

    fn once_bytes(self) -> Term {
        let bytes: Term = self.tiled.bytes_of(self.tiled.compulsory_strips());
        bytes.named("compulsory traffic")
    }

    fn waves_bytes(self) -> Option<Term> {
        let strips = self.tiled.strips_of_waves()?;
        let bytes = self.tiled.bytes_of(Strips {
            rows: Term::count("rows in all waves", strips.rows),
            columns: Term::count("columns in all waves", strips.columns),
        });
        Some(bytes.named("all waves"))
    }

    fn inner(self) -> Term {
        Term::count("(K)", self.tiled.matmul.inner)
    }
}

/// Arithmetic intensity, with the FLOPs as a product of factors.
fn intensity_term(intensity: f64, factors: Vec<Term>, bytes: Term) -> Term {
    let product = factors.iter().fold(1_u128, |product, factor| {
        product.saturating_mul(match factor.number {
            Number::Count(count) => count.into(),
            _ => 1,
        })
    });
    let flops = Number::Flops(product);
    let flops = Term::derived("", flops, Derivation::new(Operation::Product, factors));
    Term::derived(
        "",
        Number::Intensity(intensity),
        Derivation::quotient(flops, bytes),
    )
}
