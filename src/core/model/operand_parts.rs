//! Details that a program leaves open and shapes determine: which part of a packed operand a matmul
//! reads, and how heads are split.

use std::ops::Range;

/// Rows and columns of the matrices of an operand as the matmul takes them, after any
/// transposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub columns: u64,
}

/// The parts of its operands that a matmul with a stated K reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedParts {
    /// Columns of the left operand.
    pub left: Range<u64>,
    /// Columns of the right operand.
    pub right: Range<u64>,
    /// Whether the columns of the right operand are the rows of its factor.
    pub is_right_transposed: bool,
}

/// The parts that give `output` over `k`, where operands may hold Q, K and V side by side in their
/// columns.
///
/// The left operand is the first piece. A right operand that is the same tensor is the second
/// piece; one that is multiplied along its rows is the last piece. `None` where no part fits.
pub fn packed_parts(
    output: Sides,
    k: u64,
    left: Sides,
    right: Sides,
    is_same: bool,
) -> Option<PackedParts> {
    let holds = |columns: u64, piece: u64| columns.checked_rem(piece) == Some(0);
    if left.rows != output.rows || !holds(left.columns, k) {
        return None;
    }
    let by_columns = right.rows == output.columns && holds(right.columns, k);
    let by_rows = right.rows == k && holds(right.columns, output.columns);
    let is_right_transposed = by_columns && (is_same || !by_rows);
    let right = if is_right_transposed {
        let start = if is_same && right.columns > k { k } else { 0 };
        start..start + k
    } else if by_rows {
        right.columns - output.columns..right.columns
    } else {
        return None;
    };
    Some(PackedParts {
        left: 0..k,
        right,
        is_right_transposed,
    })
}

/// How a `rearrange` moves columns and heads. Heads may have several dimensions, such as the heads
/// of K and V and the queries of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heads {
    /// `[.., S, heads*d]` to `[.., heads, S, d]`.
    Split,
    /// `[.., heads, S, d]` to `[.., S, heads*d]`.
    Joined,
}

/// How heads move between two shapes, and the sizes of their dimensions; `None` where the shapes do
/// not show where the elements move.
pub fn heads_between<'a>(from: &'a [u64], to: &'a [u64]) -> Option<(Heads, &'a [u64])> {
    let heads_of = |joined: &[u64], split: &'a [u64]| {
        let (batch, &[s, wide]) = joined.split_last_chunk()?;
        let (outer, &[rows, d]) = split.split_last_chunk()?;
        let (own, heads) = outer.split_at_checked(batch.len())?;
        let columns = heads.iter().try_fold(d, |all, &size| all.checked_mul(size));
        let is_split = batch == own && s == rows && columns == Some(wide);
        (is_split && !heads.is_empty()).then_some(heads)
    };
    let split = heads_of(from, to).map(|heads| (Heads::Split, heads));
    split.or_else(|| heads_of(to, from).map(|heads| (Heads::Joined, heads)))
}
