//! Element types of tensors.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The element type of a tensor, named as in the notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum DType {
    /// IEEE double precision.
    F64,
    /// IEEE single precision.
    F32,
    /// bfloat16.
    Bf16,
    /// IEEE half precision.
    F16,
    /// Eight-bit float (E4M3 or E5M2).
    F8,
    /// 64-bit integer.
    I64,
    /// 32-bit integer.
    I32,
    /// 8-bit integer.
    I8,
    /// A Boolean; one byte.
    Bool,
}

impl DType {
    /// Bytes of one element.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::F64 | Self::I64 => 8,
            Self::F32 | Self::I32 => 4,
            Self::Bf16 | Self::F16 => 2,
            Self::F8 | Self::I8 | Self::Bool => 1,
        }
    }

    /// The name in the notation.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The float type with this width: the meaning of `bytes_per_element` without a `dtype`.
    pub const fn float_of_bytes(bytes: u32) -> Option<Self> {
        match bytes {
            8 => Some(Self::F64),
            4 => Some(Self::F32),
            2 => Some(Self::F16),
            1 => Some(Self::F8),
            _ => None,
        }
    }
}
