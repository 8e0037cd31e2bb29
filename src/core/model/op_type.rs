//! Op types: how an op accesses its data.

use serde::{Deserialize, Serialize};

/// How an op accesses its data; the only property that the baseline rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpType {
    /// Each output element depends on the input elements at the same position: relu, add, dropout.
    Elementwise,
    /// Combines elements along an axis: sum, softmax, layer norm.
    Reduction,
    /// Runs on matrix units: matmul, linear, conv2d.
    Matmul,
    /// Moves or reindexes elements without arithmetic: reshape, transpose, concat.
    Reshape,
}

impl OpType {
    /// All op types.
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

    /// The op type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }
}
