//! Element types of tensors.

use serde::{Deserialize, Serialize};

/// The element type of a tensor, named as in the notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// IEEE double precision.
    F64,
    /// IEEE single precision; computed as TF32 on matrix units that support it.
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
    /// All element types, in the order of a picker.
    pub const ALL: [Self; 9] = [
        Self::F64,
        Self::F32,
        Self::Bf16,
        Self::F16,
        Self::F8,
        Self::I64,
        Self::I32,
        Self::I8,
        Self::Bool,
    ];

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
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::F8 => "f8",
            Self::I64 => "i64",
            Self::I32 => "i32",
            Self::I8 => "i8",
            Self::Bool => "bool",
        }
    }

    /// The element type of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
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
