//! Tiles and bytes of attention, each with its formula and its figures.

use super::{AttentionCount, AttentionSizes, loop_words};
use crate::present::derivation::{Derivation, Term};
use crate::present::figure::{Convention, Explanation, hardware_source};
use crate::present::format::format_exact;
use crate::present::number::Number;
use fuseline_core::fusion::attention::{AttentionShape, Tiles};
use fuseline_core::model::device::{Device, OnChip};
use fuseline_core::numeral::Numeral;
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
    pub rows: Explanation,
    /// Number of tiles.
    pub count: Explanation,
}

/// The bytes of one forward pass by one count.
#[derive(Clone, Debug, PartialEq)]
pub struct ByteRow {
    pub count: AttentionCount,
    /// Bytes, with a formula for the elements of one head.
    pub bytes: Explanation,
    /// How many times fewer bytes this is than with the scores in memory.
    pub factor: Explanation,
}

/// The tiles of K and V, and those of Q.
pub fn tile_rows(sizes: &AttentionSizes, device: &Device) -> [TileRow; 2] {
    let attention = Attention::new(sizes, device);
    [
        TileRow {
            of: "K and V: B_c = ⌈M / 4d⌉, T_c = ⌈N / B_c⌉",
            rows: attention.explain(
                "rows in a tile of K and V",
                "⌈M / 4d⌉",
                attention.tiles.key_rows.clone(),
            ),
            count: attention.explain(
                "tiles of K and V",
                "⌈N / B_c⌉",
                attention.tiles.key_tiles.clone(),
            ),
        },
        TileRow {
            of: if sizes.shape.is_square() {
                "Q: B_r = min(B_c, d), T_r = ⌈N / B_r⌉"
            } else {
                "Q: B_r = min(B_c, d), T_r = ⌈N_q / B_r⌉"
            },
            rows: attention.explain(
                "rows in a tile of Q",
                "min(B_c, d)",
                attention.tiles.query_rows.clone(),
            ),
            count: attention.explain(
                "tiles of Q",
                if sizes.shape.is_square() {
                    "⌈N / B_r⌉"
                } else {
                    "⌈N_q / B_r⌉"
                },
                attention.tiles.query_tiles.clone(),
            ),
        },
    ]
}

/// A row for each count.
pub fn byte_rows(sizes: &AttentionSizes, device: &Device) -> Vec<ByteRow> {
    let attention = Attention::new(sizes, device);
    let rows = AttentionCount::iter().map(|count| ByteRow {
        count,
        bytes: attention.explain_bytes(count),
        factor: attention.factor(count),
    });
    rows.collect()
}

/// Attention with the chosen sizes.
struct Attention<'a> {
    sizes: &'a AttentionSizes,
    device: &'a Device,
    tiles: Tiles<Term>,
}

impl<'a> Attention<'a> {
    fn new(sizes: &'a AttentionSizes, device: &'a Device) -> Self {
        Self {
            sizes,
            device,
            tiles: Tiles::new(&sizes.shape, sizes.on_chip_bytes(device)),
        }
    }

    /// The explanation of a figure that depends on on-chip memory.
    fn explain(&self, title: &str, formula: &'static str, term: Term) -> Explanation {
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
        let queries = if self.sizes.shape.is_square() {
            String::new()
        } else {
            format!("N_q = {queries}, ")
        };
        format!("attention with {queries}N = {keys}, d = {size}, heads = {heads}")
    }

    fn explain_bytes(&self, count: AttentionCount) -> Explanation {
        let title = format!("memory traffic of one forward pass: {}", count.name());
        let explanation = self.explain(&title, count.formula(self.sizes), self.bytes(count));
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
                let sources = [LOADS.to_owned()].into_iter().chain(explanation.sources);
                (vec![order], sources.collect())
            }
        };
        Explanation {
            notes: notes.into_iter().flatten().map(str::to_owned).collect(),
            conventions,
            sources,
            ..explanation
        }
    }

    fn factor(&self, count: AttentionCount) -> Explanation {
        let standard = self.bytes(AttentionCount::ScoresInMemory);
        let bytes = self.bytes(count);
        let factor = standard.number.value() / bytes.number.value().max(1.0);
        let explanation = self.explain_bytes(count);
        let derivation =
            Derivation::quotient(standard.named("three kernels"), bytes.named("these"));
        let mut sources = vec![STANDARD.to_owned()];
        sources.extend(
            explanation
                .sources
                .into_iter()
                .filter(|source| source != STANDARD),
        );
        Explanation {
            conventions: explanation.conventions,
            sources,
            ..Explanation::of(
                format!("factor of {}", count.name()),
                self.subject(),
                "bytes of three kernels / bytes of this count",
                Term::derived("", Number::Ratio(factor), derivation),
            )
        }
    }

    /// The bytes by a count, as a sum over tensors.
    fn bytes(&self, count: AttentionCount) -> Term {
        let AttentionSizes { shape, order, .. } = self.sizes;
        match count {
            AttentionCount::ScoresInMemory => shape.standard_bytes(),
            AttentionCount::TilesFetchedAnew => shape.forward_bytes(&self.tiles, *order),
            AttentionCount::TensorsOnce => shape.compulsory_bytes(),
        }
    }
}
