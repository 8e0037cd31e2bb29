//! How a kernel of the compiler iterates.

use borsh::{BorshDeserialize, BorshSerialize};

/// The loop of a kernel of the compiler. Two kernels fuse only if their loops match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Loop {
    /// A library call, which takes only views and one add after it.
    Library,
    /// A generated matmul with this many output elements, which may take an epilogue.
    Template(u64),
    /// A loop over this many elements.
    Pointwise(u64),
    /// A reduction of rows.
    Reduction {
        /// Number of rows.
        rows: u64,
        /// Elements of a row.
        width: u64,
        /// Stride between neighbours of a row, 1 if rows are contiguous; for axes that are not
        /// adjacent, a number that identifies them.
        inner: u64,
    },
}

impl Loop {
    /// The kind of loop, as JSON says it.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Template(_) => "matmul",
            Self::Pointwise(_) => "pointwise",
            Self::Reduction { .. } => "reduction",
        }
    }
}
