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

    /// The type with this name in the notation, or in PyTorch, NumPy, MLIR or C, ignoring case. An
    /// unsigned byte is an `i8`.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let name = name.strip_prefix("torch.").unwrap_or(&name);
        Some(match name {
            "float64" | "fp64" | "double" => Self::F64,
            "float32" | "fp32" | "tf32" | "float" | "single" => Self::F32,
            "bfloat16" | "bfloat" => Self::Bf16,
            "float16" | "fp16" | "half" => Self::F16,
            "int64" | "long" => Self::I64,
            "int32" | "int" => Self::I32,
            "int8" | "uint8" | "ui8" | "u8" | "byte" => Self::I8,
            "boolean" | "i1" => Self::Bool,
            _ if name.contains("e4m3") || name.contains("e5m2") => Self::F8,
            other => return other.parse().ok(),
        })
    }

    /// The name in the notation.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it holds integers; a bool does not.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::I64 | Self::I32 | Self::I8)
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
