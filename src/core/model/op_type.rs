//! How an op touches its data.

use serde::{Deserialize, Serialize};

/// How an op touches its data; the only thing that the baseline rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpType {
    /// One output element from the elements at the same place: relu, add, dropout.
    Elementwise,
    /// Looks along an axis: sum, softmax, layer norm.
    Reduction,
    /// Runs on the matrix units: matmul, linear, conv2d.
    Matmul,
    /// Moves or renames elements without arithmetic: reshape, transpose, concat.
    Reshape,
}

impl OpType {
    /// All four.
    pub const ALL: [Self; 4] = [
        Self::Elementwise,
        Self::Reduction,
        Self::Matmul,
        Self::Reshape,
    ];

    /// The name in the notation and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elementwise => "elementwise",
            Self::Reduction => "reduction",
            Self::Matmul => "matmul",
            Self::Reshape => "reshape",
        }
    }

    /// The op type of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }
}
