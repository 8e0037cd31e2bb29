//! Bytes that attention moves, from its sizes and the on-chip memory.

use crate::fusion::attention::AttentionShape;
use serde::Serialize;

/// How Q, K and V are cut into tiles of rows, so that four tiles fit on chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tiles {
    /// Rows of Q in a tile, `B_r = min(B_c, d)`.
    pub query_rows: u64,
    /// Rows of K and V in a tile, `B_c = ceil(M / 4d)` for M elements on chip.
    pub key_rows: u64,
    /// Tiles of Q, `T_r = ceil(N / B_r)`.
    pub query_tiles: u64,
    /// Tiles of K and V, `T_c = ceil(N / B_c)`.
    pub key_tiles: u64,
}

impl Tiles {
    /// The tiles of the papers for `on_chip_bytes` of memory in one block; a tile has at least one row.
    pub fn new(shape: &AttentionShape, on_chip_bytes: u64) -> Self {
        let elements = on_chip_bytes / u64::from(shape.bytes_per_element.max(1));
        let head_size = shape.head_size.max(1);
        let key_rows = elements.div_ceil(head_size.saturating_mul(4)).max(1);
        let query_rows = key_rows.min(head_size);
        Self {
            key_rows,
            query_rows,
            key_tiles: shape.keys.div_ceil(key_rows),
            query_tiles: shape.queries.div_ceil(query_rows),
        }
    }
}

/// The outer loop of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopOrder {
    /// Over Q, as in FlashAttention-2: K and V are read again for each tile of Q.
    #[default]
    Queries,
    /// Over K and V, as in the first paper: the result and its row sums are read and written for each tile of
    /// K.
    Keys,
}

impl AttentionShape {
    /// Compulsory traffic: Q, K and V are read once and the result is written once. A head of K and V that a
    /// group of heads shares counts once.
    pub fn compulsory_bytes(&self) -> u64 {
        let (of_queries, of_keys) = self.elements();
        let shared = Self {
            heads: self.heads.div_ceil(self.group.max(1)),
            ..*self
        };
        self.bytes_of(of_queries.saturating_mul(2))
            .saturating_add(shared.bytes_of(of_keys.saturating_mul(2)))
    }

    /// Bytes through memory without a cache: a tile is loaded each time it is needed, by each head of a group
    /// for itself. With N queries and N keys, one head moves
    /// - over Q: `2Nd + T_r * 2Nd + N`,
    /// - over K and V: `2Nd + T_c (3Nd + 4N)` plus `Nd + 2N` at the start.
    pub fn forward_bytes(&self, tiles: Tiles, order: LoopOrder) -> u64 {
        let (of_queries, of_keys) = self.elements();
        let elements = match order {
            LoopOrder::Queries => of_queries
                .saturating_mul(2)
                .saturating_add(tiles.query_tiles.saturating_mul(2).saturating_mul(of_keys))
                .saturating_add(self.queries),
            LoopOrder::Keys => {
                let each = of_queries
                    .saturating_mul(3)
                    .saturating_add(self.queries.saturating_mul(4));
                let first = of_queries.saturating_add(self.queries.saturating_mul(2));
                of_keys
                    .saturating_mul(2)
                    .saturating_add(tiles.key_tiles.saturating_mul(each))
                    .saturating_add(first)
            }
        };
        self.bytes_of(elements)
    }

    /// Bytes of K and V of one head. While a cache holds them, tiles that are loaded again do not come from
    /// memory.
    pub fn head_bytes(&self) -> u64 {
        let one = Self { heads: 1, ..*self };
        one.bytes_of(self.elements().1.saturating_mul(2))
    }

    /// Bytes of K and V that are read from memory again with the loop over Q: 0 if K and V of one head fit a
    /// cache of this size, otherwise the tiled count minus the compulsory traffic.
    pub fn read_again_bytes(&self, tiles: Tiles, cache_bytes: f64) -> u64 {
        if self.head_bytes() as f64 <= cache_bytes {
            return 0;
        }
        self.forward_bytes(tiles, LoopOrder::Queries)
            .saturating_sub(self.compulsory_bytes())
    }

    /// Bytes of the backward pass with the loop over K and V: `4Nd + T_c (5Nd + 2N)` plus `Nd` elements for one
    /// head.
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

    /// Bytes of the three kernels without the rewrite (scores, softmax, product with V): `4Nd + 4N^2` elements, fewer
    /// where heads share K and V.
    pub fn standard_bytes(&self) -> u64 {
        let scores = self.queries.saturating_mul(self.keys).saturating_mul(4);
        self.bytes_of(scores)
            .saturating_add(self.compulsory_bytes())
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
    /// The counts of a shape. With as many queries as keys the standard count grows with the square of the length, and so
    /// does the tiled count, at `d / B_r` of that rate or less; with a fixed number of queries all counts grow linearly, as
    /// compulsory traffic always does.
    pub fn of(shape: &AttentionShape, on_chip_bytes: u64, order: LoopOrder) -> Self {
        Self {
            length: shape.keys,
            standard_bytes: shape.standard_bytes(),
            tiled_bytes: shape.forward_bytes(Tiles::new(shape, on_chip_bytes), order),
            compulsory_bytes: shape.compulsory_bytes(),
        }
    }
}
