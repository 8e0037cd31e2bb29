//! The peak rates of a device, by unit and element type.

use crate::model::device::{Device, Figure};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// A peak rate of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Rate {
    /// [`Device::matrix_f16_flops_per_s`].
    MatrixF16,
    /// [`Device::vector_flops_per_s`].
    Vector,
    /// [`Device::matrix_tf32_flops_per_s`].
    MatrixTf32,
    /// [`Device::matrix_f8_flops_per_s`].
    MatrixF8,
    /// [`Device::matrix_i8_flops_per_s`].
    MatrixI8,
    /// [`Device::matrix_f4_flops_per_s`].
    MatrixF4,
    /// [`Device::vector_f64_flops_per_s`].
    VectorF64,
    /// [`Device::matrix_f64_flops_per_s`].
    MatrixF64,
}

impl Rate {
    /// The name in links.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// This rate of a device; `None` if it is unknown.
    pub const fn figure(self, device: &Device) -> Option<Figure> {
        match self {
            Self::MatrixF16 => device.matrix_f16_flops_per_s,
            Self::Vector => device.vector_flops_per_s,
            Self::MatrixTf32 => device.matrix_tf32_flops_per_s,
            Self::MatrixF8 => device.matrix_f8_flops_per_s,
            Self::MatrixI8 => device.matrix_i8_flops_per_s,
            Self::MatrixF4 => device.matrix_f4_flops_per_s,
            Self::VectorF64 => device.vector_f64_flops_per_s,
            Self::MatrixF64 => device.matrix_f64_flops_per_s,
        }
    }

    /// The field of a device that holds it.
    pub(super) const fn of(self, device: &mut Device) -> &mut Option<Figure> {
        match self {
            Self::MatrixF16 => &mut device.matrix_f16_flops_per_s,
            Self::Vector => &mut device.vector_flops_per_s,
            Self::MatrixTf32 => &mut device.matrix_tf32_flops_per_s,
            Self::MatrixF8 => &mut device.matrix_f8_flops_per_s,
            Self::MatrixI8 => &mut device.matrix_i8_flops_per_s,
            Self::MatrixF4 => &mut device.matrix_f4_flops_per_s,
            Self::VectorF64 => &mut device.vector_f64_flops_per_s,
            Self::MatrixF64 => &mut device.matrix_f64_flops_per_s,
        }
    }
}
