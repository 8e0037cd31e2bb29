//! How an op touches its data.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// How an op touches its data; the only thing that the baseline rules look at.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
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
    /// The name in the notation and in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
