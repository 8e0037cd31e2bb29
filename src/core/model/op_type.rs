//! Op types: how an op accesses its data.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// How an op accesses its data; the only property that the textbook rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum OpType {
    /// Each output element depends on the input elements at the same position: relu, add, dropout.
    Elementwise,
    /// Combines elements along an axis: sum, softmax, layer norm.
    Reduction,
    /// Runs on matrix units: matmul, linear, conv2d.
    Matmul,
    /// Moves or reindexes elements, with little or no arithmetic: reshape, transpose, concat,
    /// interpolate.
    Reshape,
    /// A separate kernel of a library, or an operator that the table of functions lacks: sort,
    /// sdpa, opaque. Nothing is fused with it.
    Opaque,
}

impl OpType {
    /// The name in the notation and in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
