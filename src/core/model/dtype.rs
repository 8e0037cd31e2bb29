//! Element types of tensors.

use crate::model::element_size::ElementSize;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The element type of a tensor, named as in the notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum DType {
    /// IEEE double precision.
    F64,
    /// IEEE single precision.
    F32,
    /// bfloat16.
    Bf16,
    /// IEEE half precision.
    F16,
    /// Eight-bit float E4M3 without infinities (`e4m3fn`), largest value 448. `f8` means this type.
    #[serde(alias = "f8")]
    #[strum(serialize = "f8e4m3", serialize = "f8")]
    F8e4m3,
    /// Eight-bit float E5M2, largest finite value 57,344.
    F8e5m2,
    /// Eight-bit power of two E8M0, 2^-127 to 2^127, without a sign and a zero: a scale.
    F8e8m0,
    /// Four-bit float E2M1, largest value 6; two elements a byte.
    F4,
    /// 64-bit integer.
    I64,
    /// 32-bit integer.
    I32,
    /// 8-bit integer.
    I8,
    /// 4-bit integer, -8 to 7; two elements a byte.
    I4,
    /// A Boolean; one byte.
    Bool,
}

impl DType {
    /// The size of one element.
    pub const fn size(self) -> ElementSize {
        match self {
            Self::F64 | Self::I64 => ElementSize::of_bytes(8),
            Self::F32 | Self::I32 => ElementSize::of_bytes(4),
            Self::Bf16 | Self::F16 => ElementSize::of_bytes(2),
            Self::F8e4m3 | Self::F8e5m2 | Self::F8e8m0 | Self::I8 | Self::Bool => {
                ElementSize::of_bytes(1)
            }
            Self::F4 | Self::I4 => ElementSize::HALF_BYTE,
        }
    }

    /// The type with this name in the notation, or in PyTorch, NumPy, MLIR or C, ignoring case. An
    /// unsigned integer is the signed one of its size.
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
            "int4" | "uint4" | "u4" => Self::I4,
            "fp4" => Self::F4,
            "fp8" => Self::F8e4m3,
            _ if name.contains("e4m3") => Self::F8e4m3,
            _ if name.contains("e5m2") => Self::F8e5m2,
            _ if name.contains("e8m0") => Self::F8e8m0,
            _ if name.contains("e2m1") => Self::F4,
            other => return other.parse().ok(),
        })
    }

    /// The name in the notation.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it holds integers; a bool does not.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::I64 | Self::I32 | Self::I8 | Self::I4)
    }

    /// Whether it holds floats.
    pub const fn is_float(self) -> bool {
        !self.is_integer() && !matches!(self, Self::Bool)
    }

    /// Whether it is a float of 16 bits, with which compilers compute in f32.
    pub const fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16)
    }

    /// Whether it is an eight-bit float, of which matrix units multiply all but the power of two.
    pub const fn is_f8(self) -> bool {
        matches!(self, Self::F8e4m3 | Self::F8e5m2 | Self::F8e8m0)
    }

    /// The type in which a product of these operands multiplies: a float before an integer, then
    /// the wider one, then the left one.
    #[must_use]
    pub fn of_product(left: Self, right: Self) -> Self {
        let rank = |dtype: Self| (dtype.is_float(), dtype.size());
        if rank(right) > rank(left) {
            right
        } else {
            left
        }
    }

    /// The float type of this size: the meaning of `bytes_per_element` without a `dtype`.
    pub fn float_of_size(size: ElementSize) -> Option<Self> {
        const FLOATS: [DType; 5] = [DType::F64, DType::F32, DType::F16, DType::F8e4m3, DType::F4];
        FLOATS.into_iter().find(|dtype| dtype.size() == size)
    }
}
