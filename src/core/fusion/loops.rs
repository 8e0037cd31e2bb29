//! How a kernel of the compiler iterates.

/// What a kernel of the compiler iterates over: two kernels fuse only where these fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// A library call: nothing joins it.
    Library,
    /// A generated matmul of so many elements: an epilogue may join it.
    Template(u64),
    /// Each element for itself.
    Pointwise(u64),
    /// Rows of this width.
    Reduction {
        /// Number of rows.
        rows: u64,
        /// Elements of a row.
        width: u64,
        /// Elements between two of a row, 1 when the rows are contiguous; where axes lie apart, what tells them from others.
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
