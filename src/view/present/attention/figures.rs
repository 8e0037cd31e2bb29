//! Tiles and bytes of attention, each with its formula and its figures.

use super::{AttentionCount, AttentionSizes, loop_words};
use crate::present::figure::{Convention, Explanation, How, Number, Term, Worked, hardware_source};
use crate::present::format::format_exact;
use fuseline_core::fusion::attention::{AttentionShape, Growth, LoopOrder, Tiles};
use fuseline_core::model::device::{Device, OnChip};
use strum::IntoEnumIterator;

const TILES: &str = "Dao et al., FlashAttention, 2022, algorithm 1: four tiles fit on chip.";
const LOADS: &str = "Loads and stores of algorithm 1 in Dao et al., FlashAttention, 2022. The loop over Q follows Dao, FlashAttention-2, 2023.";
const STANDARD: &str = "Loads and stores of the standard implementation, algorithm 0 in Dao et al., FlashAttention, 2022.";
const ONCE: &str = "Compulsory traffic: Q, K and V are read once, and the result is written once.";

/// How a matrix is cut into tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct TileRow {
    /// Which matrices, and by which formula.
    pub of: &'static str,
    /// Rows in one tile.
    pub rows: Explanation,
    /// Tiles.
    pub count: Explanation,
}

/// The bytes of one forward pass by one count.
#[derive(Clone, Debug, PartialEq)]
pub struct ByteRow {
    /// The count.
    pub count: AttentionCount,
    /// Bytes; the formula is that of the elements of one head.
    pub bytes: Explanation,
    /// How many times fewer they are than with the scores in memory.
    pub factor: Explanation,
}

/// The tiles of K and V, and those of Q.
pub fn tile_rows(sizes: &AttentionSizes, device: &Device) -> [TileRow; 2] {
    let attention = Attention::new(sizes, device);
    [
        TileRow {
            of: "K and V: B_c = ⌈M / 4d⌉, T_c = ⌈N / B_c⌉",
            rows: attention.told(
                "rows in a tile of K and V",
                "⌈M / 4d⌉",
                attention.key_rows(),
            ),
            count: attention.told("tiles of K and V", "⌈N / B_c⌉", attention.key_tiles()),
        },
        TileRow {
            of: if sizes.is_self {
                "Q: B_r = min(B_c, d), T_r = ⌈N / B_r⌉"
            } else {
                "Q: B_r = min(B_c, d), T_r = ⌈N_q / B_r⌉"
            },
            rows: attention.told("rows in a tile of Q", "min(B_c, d)", attention.query_rows()),
            count: attention.told(
                "tiles of Q",
                if sizes.is_self {
                    "⌈N / B_r⌉"
                } else {
                    "⌈N_q / B_r⌉"
                },
                attention.query_tiles(),
            ),
        },
    ]
}

/// A row for each count.
pub fn byte_rows(sizes: &AttentionSizes, device: &Device) -> Vec<ByteRow> {
    let attention = Attention::new(sizes, device);
    let rows = AttentionCount::iter().map(|count| ByteRow {
        count,
        bytes: attention.bytes_told(count),
        factor: attention.factor(count),
    });
    rows.collect()
}

/// Attention with the chosen sizes.
struct Attention<'a> {
    sizes: &'a AttentionSizes,
    device: &'a Device,
    tiles: Tiles,
    growth: Growth,
}

impl<'a> Attention<'a> {
    fn new(sizes: &'a AttentionSizes, device: &'a Device) -> Self {
        Self {
            sizes,
            device,
            tiles: Tiles::new(&sizes.shape, sizes.on_chip_bytes(device)),
            growth: sizes.growth_at(sizes.shape.keys, device),
        }
    }

    /// A figure that the memory on chip decides.
    fn told(&self, title: &str, formula: &'static str, term: Term) -> Explanation {
        let is_confirmed = match self.device.hardware.on_chip {
            OnChip::Multiprocessor(multiprocessor) => multiprocessor.is_confirmed,
            OnChip::Scratchpad { is_confirmed, .. } => is_confirmed,
            OnChip::Unknown => false,
        };
        let on_chip = match self.sizes.own_on_chip_bytes {
            Some(_) => "M is the on-chip memory chosen on this tab.".to_owned(),
            None => hardware_source(self.device, "M, the shared memory of a block", is_confirmed),
        };
        Explanation {
            sources: vec![TILES.to_owned(), on_chip],
            ..Explanation::of(title, self.subject(), formula, term)
        }
    }

    fn subject(&self) -> String {
        let AttentionShape {
            heads,
            queries,
            keys,
            head_size,
            ..
        } = self.sizes.shape;
        let [heads, queries, keys, size] =
            [heads, queries, keys, head_size].map(|count| format_exact(count.into()));
        let queries = if self.sizes.is_self {
            String::new()
        } else {
            format!("N_q = {queries}, ")
        };
        format!("attention with {queries}N = {keys}, d = {size}, heads = {heads}")
    }

    /// Rows of K and V.
    fn keys(&self) -> Term {
        Term::count("(N)", self.sizes.shape.keys)
    }

    /// Rows of Q.
    fn queries(&self) -> Term {
        let letter = if self.sizes.is_self { "(N)" } else { "(N_q)" };
        Term::count(letter, self.sizes.shape.queries)
    }

    fn head_size(&self) -> Term {
        Term::count("(d)", self.sizes.shape.head_size)
    }

    fn key_rows(&self) -> Term {
        let bytes = self.sizes.on_chip_bytes(self.device);
        let width = u64::from(self.sizes.shape.bytes_per_element);
        let [bytes_term, width_term] = [("on chip", bytes), ("", width)]
            .map(|(name, bytes)| Term::given(name, Number::Bytes(bytes)));
        let elements = Term::worked(
            "elements (M)",
            Number::Count(bytes / width.max(1)),
            Worked::new(How::RoundedDown, vec![bytes_term, width_term]),
        );
        let four_rows = Term::product("(4d)", vec![Term::count("", 4), self.head_size()]);
        let rows = Worked::new(How::RoundedUp, vec![elements, four_rows]);
        Term::worked("rows (B_c)", Number::Count(self.tiles.key_rows), rows)
    }

    fn query_rows(&self) -> Term {
        let rows = Worked::new(How::Smallest, vec![self.key_rows(), self.head_size()]);
        Term::worked("rows (B_r)", Number::Count(self.tiles.query_rows), rows)
    }

    fn key_tiles(&self) -> Term {
        let tiles = Worked::new(How::RoundedUp, vec![self.keys(), self.key_rows()]);
        Term::worked("tiles (T_c)", Number::Count(self.tiles.key_tiles), tiles)
    }

    fn query_tiles(&self) -> Term {
        let tiles = Worked::new(How::RoundedUp, vec![self.queries(), self.query_rows()]);
        Term::worked("tiles (T_r)", Number::Count(self.tiles.query_tiles), tiles)
    }

    fn bytes_told(&self, count: AttentionCount) -> Explanation {
        let title = format!("memory traffic of one forward pass: {}", count.name());
        let told = self.told(&title, count.formula(self.sizes), self.bytes(count));
        let per_head = "The formula counts the elements of one head. Multiply by the number of heads and the bytes per element.";
        let group = self.sizes.shape.group;
        let shared = "Heads that share K and V read them once together.";
        let notes = [
            Some(per_head),
            (group > 1 && count != AttentionCount::TilesFetchedAnew).then_some(shared),
        ];
        let (conventions, sources) = match count {
            AttentionCount::ScoresInMemory => (Vec::new(), vec![STANDARD.to_owned()]),
            AttentionCount::TensorsOnce => (Vec::new(), vec![ONCE.to_owned()]),
            AttentionCount::TilesFetchedAnew => {
                let order = Convention::of_words("Outer loop", loop_words(self.sizes.order));
                let sources = [LOADS.to_owned()].into_iter().chain(told.sources);
                (vec![order], sources.collect())
            }
        };
        Explanation {
            notes: notes.into_iter().flatten().map(str::to_owned).collect(),
            conventions,
            sources,
            ..told
        }
    }

    fn factor(&self, count: AttentionCount) -> Explanation {
        let standard = self.bytes(AttentionCount::ScoresInMemory);
        let bytes = self.bytes(count);
        let factor = standard.number.value() / bytes.number.value().max(1.0);
        let told = self.bytes_told(count);
        let worked = Worked::quotient(standard.called("three kernels"), bytes.called("these"));
        let mut sources = vec![STANDARD.to_owned()];
        sources.extend(told.sources.into_iter().filter(|source| source != STANDARD));
        Explanation {
            conventions: told.conventions,
            sources,
            ..Explanation::of(
                format!("factor of {}", count.name()),
                self.subject(),
                "bytes of three kernels / bytes of this count",
                Term::worked("", Number::Ratio(factor), worked),
            )
        }
    }

    /// The bytes of a count, tensor by tensor.
    fn bytes(&self, count: AttentionCount) -> Term {
        let shape = &self.sizes.shape;
        let (q, n, d) = (self.queries(), self.keys(), self.head_size());
        let times = |factor| Term::count("", factor);
        let all = Term::count("heads", shape.heads);
        let of_keys = match shape.group {
            0 | 1 => all.clone(),
            group => {
                let shared = vec![all.clone(), Term::count("share K and V (g)", group)];
                let heads = shape.heads.div_ceil(group);
                let worked = Worked::new(How::RoundedUp, shared);
                Term::worked("heads of K and V", Number::Count(heads), worked)
            }
        };
        let once = [
            (
                "Q and the result",
                vec![times(2), q.clone(), d.clone(), all.clone()],
            ),
            ("K and V", vec![times(2), n.clone(), d.clone(), of_keys]),
        ];
        let terms = match (count, self.sizes.order) {
            (AttentionCount::ScoresInMemory, _) => {
                let scores = (
                    "scores and probabilities, written and read",
                    vec![times(4), q, n, all],
                );
                once.into_iter().chain([scores]).collect()
            }
            (AttentionCount::TensorsOnce, _) => once.to_vec(),
            (AttentionCount::TilesFetchedAnew, LoopOrder::Queries) => vec![
                (
                    "Q and the result",
                    vec![times(2), q.clone(), d.clone(), all.clone()],
                ),
                (
                    "K and V, once per tile of Q",
                    vec![self.query_tiles(), times(2), n, d, all.clone()],
                ),
                ("one number per row for the backward pass", vec![q, all]),
            ],
            (AttentionCount::TilesFetchedAnew, LoopOrder::Keys) => vec![
                ("K and V", vec![times(2), n, d.clone(), all.clone()]),
                (
                    "Q once and the result twice, per tile of K",
                    vec![
                        self.key_tiles(),
                        times(3),
                        q.clone(),
                        d.clone(),
                        all.clone(),
                    ],
                ),
                (
                    "maximum and sum of each row, read and written per tile of K",
                    vec![self.key_tiles(), times(4), q.clone(), all.clone()],
                ),
                ("the result, set to 0", vec![q.clone(), d, all.clone()]),
                (
                    "maximum and sum of each row, set at the start",
                    vec![times(2), q, all],
                ),
            ],
        };
        // Sizes of a billion billion bytes are not written out.
        let terms: Option<Vec<Term>> = (terms.into_iter())
            .map(|(name, factors)| self.tensor(name, factors))
            .collect();
        let bytes = count.bytes(&self.growth);
        Term {
            worked: (terms.filter(|_| bytes < u64::MAX)).map(|terms| Worked::new(How::Sum, terms)),
            ..Term::given("", Number::Bytes(bytes))
        }
    }

    /// Bytes of so many elements; `None` beyond 64 bits.
    fn tensor(&self, name: &str, mut factors: Vec<Term>) -> Option<Term> {
        let width = u64::from(self.sizes.shape.bytes_per_element);
        let bytes = factors
            .iter()
            .try_fold(width, |product, factor| match factor.number {
                Number::Count(count) => product.checked_mul(count),
                _ => None,
            })?;
        factors.push(Term::given("", Number::Bytes(width)));
        let product = Worked::new(How::Product, factors);
        Some(Term::worked(name, Number::Bytes(bytes), product))
    }
}
