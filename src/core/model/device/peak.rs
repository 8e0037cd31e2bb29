//! The type in which the operands of a matmul are computed, and its rate.

use crate::model::device::figure::Figure;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The rate of matmuls on operands of one element type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The rate, in FLOP/s.
    pub figure: Figure,
    /// The type of the computation, if it is not that of the operands.
    pub computed_as: Option<ComputeType>,
    /// The vector units compute it, because no matrix unit accepts the type.
    pub is_on_vector_units: bool,
}

/// A type in which matmuls of other operand types are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeType {
    /// 8-bit floats.
    F8,
    /// 8-bit integers.
    I8,
    /// 16-bit floats.
    F16,
    /// The matrix units' 19-bit floats.
    Tf32,
    /// 32-bit floats.
    F32,
}

/// The type in which products of f32 operands are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum F32Matmul {
    /// f32, at the rate of the vector units: PyTorch's default for matmuls, where
    /// `torch.backends.cuda.matmul.allow_tf32` is `False`.
    F32,
    /// TF32, at the rate of the matrix units, where the device has it: PyTorch's default for
    /// convolutions, where `torch.backends.cudnn.allow_tf32` is `True`.
    Tf32,
}

impl F32Matmul {
    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
