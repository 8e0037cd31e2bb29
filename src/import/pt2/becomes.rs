//! What an output of a node becomes: a tensor that is there already, or lines of the notation.

/// What an output of a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Becomes {
    /// The tensor at this index, in the element type of the output.
    Same(usize),
    /// The tensor at this index in its own element type: what the operator changes in it does not
    /// count.
    Unchanged(usize),
    /// The elements of the tensor at this index, in the shape of the output.
    Reshape(usize),
    /// Lines with blanks, the last of which writes `{y}`.
    Lines(Cast, String),
}

impl Becomes {
    /// Lines whose operands keep their element types.
    pub(super) fn lines(text: impl Into<String>) -> Self {
        Self::Lines(Cast::None, text.into())
    }
}

/// The element type in which an op computes, to which its operands are cast before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cast {
    /// The types of the operands.
    None,
    /// The type of the output.
    Result,
    /// The widest type of the operands.
    Widest,
    /// Truth values.
    Bool,
}
