//! The bottleneck of a kernel.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

/// What limits the speed of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum Bound {
    /// Memory bandwidth.
    Memory,
    /// The matrix units.
    Matrix,
    /// The vector units, which also run matmuls on types that no matrix unit accepts.
    Vector,
    /// The launch takes longer than the work.
    Launch,
    /// The peak for some of its FLOPs, or their number, is unknown; its time leaves them out.
    Unknown,
}
