//! Memory traffic of attention, from its sizes and the on-chip memory.

use crate::fusion::attention::AttentionShape;
use crate::numeral::Numeral;
use serde::Serialize;

/// How Q, K and V are cut into tiles of rows, so that four tiles fit on chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tiles<N = u64> {
    /// Rows of Q in a tile, `B_r = min(B_c, d)`.
    pub query_rows: N,
    /// Rows of K and V in a tile, `B_c = ceil(M / 4d)` for M elements on chip.
    pub key_rows: N,
    /// Tiles of Q, `T_r = ceil(N / B_r)`.
    pub query_tiles: N,
    /// Tiles of K and V, `T_c = ceil(N / B_c)`.
    pub key_tiles: N,
}

impl<N: Numeral> Tiles<N> {
    /// The tiles of the papers for `on_chip_bytes` of memory in one block; a tile has at least one
    /// row.
    pub fn new(shape: &AttentionShape, on_chip_bytes: u64) -> Self {
        let sizes = Sizes::<N>::of(shape);
        let elements = N::floor(
            "elements (M)",
            N::bytes("on chip", on_chip_bytes),
            sizes.element_bytes,
        );
        // Q, K, V and the result have a tile each.
        let four_rows = N::product("(4d)", [N::count("", 4), sizes.head_size.clone()]);
        let key_rows = N::ceiling("rows (B_c)", elements, four_rows).at_least(1);
        let query_rows = [key_rows.clone(), sizes.head_size];
        let query_rows = N::smallest("rows (B_r)", query_rows).at_least(1);
        Self {
            key_tiles: N::ceiling("tiles (T_c)", sizes.keys, key_rows.clone()),
            query_tiles: N::ceiling("tiles (T_r)", sizes.queries, query_rows.clone()),
            key_rows,
            query_rows,
        }
    }
}

/// The sizes of an attention by the letters of the papers.
struct Sizes<N> {
    queries: N,
    keys: N,
    head_size: N,
    heads: N,
    element_bytes: N,
    key_element_bytes: N,
}

impl<N: Numeral> Sizes<N> {
    fn of(shape: &AttentionShape) -> Self {
        Self {
            queries: N::count(
                if shape.is_square() { "(N)" } else { "(N_q)" },
                shape.queries,
            ),
            keys: N::count("(N)", shape.keys),
            head_size: N::count("(d)", shape.head_size),
            heads: N::count("heads", shape.heads),
            element_bytes: N::bytes("", shape.bytes_per_element.into()),
            key_element_bytes: N::bytes("", shape.key_bytes_per_element.into()),
        }
    }

    /// Bytes of a tensor of Q's shape, so many times in all heads.
    fn of_queries(&self, name: &'static str, times: u64) -> N {
        self.tensor(
            name,
            [
                N::count("", times),
                self.queries.clone(),
                self.head_size.clone(),
            ],
        )
    }

    /// Bytes of a tensor of K's shape, so many times in all heads.
    fn of_keys(&self, name: &'static str, times: &[N]) -> N {
        let (n, d) = (&self.keys, &self.head_size);
        let of_all = [n, d, &self.heads, &self.key_element_bytes];
        N::product(name, times.iter().chain(of_all).cloned())
    }

    /// Bytes of so many elements in each head, as wide as those of Q.
    fn tensor(&self, name: &'static str, elements: impl IntoIterator<Item = N>) -> N {
        let of_all = [self.heads.clone(), self.element_bytes.clone()];
        N::product(name, elements.into_iter().chain(of_all))
    }
}

/// The outer loop of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopOrder {
    /// Over Q, as in FlashAttention-2: K and V are read again for each tile of Q.
    #[default]
    Queries,
    /// Over K and V, as in the first paper: the result and its row sums are read and written for
    /// each tile of K.
    Keys,
}

impl AttentionShape {
    /// Whether there are as many queries as keys, as in self-attention.
    pub const fn is_square(&self) -> bool {
        self.queries == self.keys
    }

    /// Compulsory traffic: Q, K and V are read once and the result is written once. A head of K and
    /// V that a group of heads shares counts once.
    pub fn compulsory_bytes<N: Numeral>(&self) -> N {
        N::sum("", self.each_once())
    }

    fn each_once<N: Numeral>(&self) -> [N; 2] {
        let sizes = Sizes::<N>::of(self);
        let of_queries = sizes.of_queries("Q and the result", 2);
        let heads_of_keys = match self.group {
            0 | 1 => sizes.heads,
            group => {
                let group = N::count("share K and V (g)", group);
                N::ceiling("heads of K and V", sizes.heads, group)
            }
        };
        let sizes = Sizes {
            heads: heads_of_keys,
            ..sizes
        };
        [of_queries, sizes.of_keys("K and V", &[N::count("", 2)])]
    }

    /// Bytes through memory without a cache: a tile is loaded each time it is needed, by each head
    /// of a group for itself. With N queries and N keys, the elements of one head are
    /// - over Q: `2Nd + T_r * 2Nd + N`,
    /// - over K and V: `2Nd + T_c (3Nd + 4N)` plus `Nd + 2N` at the start.
    pub fn forward_bytes<N: Numeral>(&self, tiles: &Tiles<N>, order: LoopOrder) -> N {
        let sizes = Sizes::<N>::of(self);
        let (q, d) = (&sizes.queries, &sizes.head_size);
        let factor_of = |factor| N::count("", factor);
        let rows = |name, factors: &[N]| {
            let factors = factors.iter().chain([q]).cloned();
            sizes.tensor(name, factors)
        };
        match order {
            LoopOrder::Queries => {
                let terms = [
                    sizes.of_queries("Q and the result", 2),
                    sizes.of_keys(
                        "K and V, once per tile of Q",
                        &[tiles.query_tiles.clone(), factor_of(2)],
                    ),
                    rows("one number per row for the backward pass", &[]),
                ];
                N::sum("", terms)
            }
            LoopOrder::Keys => {
                let results = [&tiles.key_tiles, &factor_of(3), q, d].map(Clone::clone);
                let of_rows = [tiles.key_tiles.clone(), factor_of(4)];
                let terms = [
                    sizes.of_keys("K and V", &[factor_of(2)]),
                    sizes.tensor("Q once and the result twice, per tile of K", results),
                    rows(
                        "maximum and sum of each row, read and written per tile of K",
                        &of_rows,
                    ),
                    sizes.tensor("the result, set to 0", [q.clone(), d.clone()]),
                    rows(
                        "maximum and sum of each row, set at the start",
                        &[factor_of(2)],
                    ),
                ];
                N::sum("", terms)
            }
        }
    }

    /// Bytes of K and V of one head. While a cache holds them, tiles that are loaded again do not
    /// come from memory.
    pub fn head_bytes(&self) -> u64 {
        let elements = self.elements().1.saturating_mul(2);
        elements.saturating_mul(self.key_bytes_per_element.into())
    }

    /// Bytes of K and V that are read from memory again with the loop over Q: 0 if K and V of one
    /// head fit a cache of this size or all queries are one tile, otherwise the tiled count minus
    /// the compulsory traffic.
    pub fn read_again_bytes(&self, tiles: Tiles, cache_bytes: f64) -> u64 {
        // The heads that share K and V read them side by side.
        if tiles.query_tiles <= 1 || self.head_bytes() as f64 <= cache_bytes {
            return 0;
        }
        self.forward_bytes(&tiles, LoopOrder::Queries)
            .saturating_sub(self.compulsory_bytes())
    }

    /// Bytes of the backward pass with the loop over K and V: `4Nd + T_c (5Nd + 2N)` plus `Nd`
    /// elements for one head.
    pub fn backward_bytes(&self, tiles: Tiles) -> u64 {
        let (of_queries, of_keys) = self.elements();
        let each = of_queries
            .saturating_mul(5)
            .saturating_add(self.queries.saturating_mul(2));
        let elements = of_keys
            .saturating_mul(4)
            .saturating_add(tiles.key_tiles.saturating_mul(each))
            .saturating_add(of_queries);
        self.bytes_of(elements)
    }

    /// Bytes of the three kernels without the rewrite (scores, softmax, product with V):
    /// `4Nd + 4N^2` elements, fewer where heads share K and V.
    pub fn standard_bytes<N: Numeral>(&self) -> N {
        let sizes = Sizes::<N>::of(self);
        let elements = [N::count("", 4), sizes.queries.clone(), sizes.keys.clone()];
        let scores = sizes.tensor("scores and probabilities, written and read", elements);
        N::sum("", self.each_once().into_iter().chain([scores]))
    }

    /// Elements of Q and of K in one head.
    fn elements(&self) -> (u64, u64) {
        (
            self.queries.saturating_mul(self.head_size),
            self.keys.saturating_mul(self.head_size),
        )
    }

    fn bytes_of(&self, elements_of_head: u64) -> u64 {
        elements_of_head
            .saturating_mul(self.heads)
            .saturating_mul(self.bytes_per_element.into())
    }
}

/// Bytes of one forward pass at one length of K and V.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Rows of K and V.
    pub length: u64,
    /// Three kernels, with the scores in memory.
    pub standard_bytes: u64,
    /// One kernel without a cache.
    pub tiled_bytes: u64,
    /// One kernel while a cache holds K and V of one head: compulsory traffic.
    pub compulsory_bytes: u64,
}

impl Growth {
    /// The counts of a shape. With as many queries as keys the standard count grows with the square
    /// of the length, and so does the tiled count, at `d / B_r` of that rate or less; with a fixed
    /// number of queries all counts grow linearly, as compulsory traffic always does.
    pub fn of(shape: &AttentionShape, on_chip_bytes: u64, order: LoopOrder) -> Self {
        Self {
            length: shape.keys,
            standard_bytes: shape.standard_bytes(),
            tiled_bytes: shape.forward_bytes(&Tiles::new(shape, on_chip_bytes), order),
            compulsory_bytes: shape.compulsory_bytes(),
        }
    }
}
