//! Arithmetic: FLOPs by the units that do them.

use crate::core::model::dtype::DType;

/// Arithmetic of an op or a kernel.
///
/// `u128` holds any matmul: output elements and K are below `2^63` each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// FLOPs on the matrix units.
    pub matrix_flops: u128,
    /// FLOPs on the vector units.
    pub vector_flops: u128,
    /// Element type that the matrix units multiply, when there is a matmul.
    pub matrix_dtype: Option<DType>,
    /// Some of the vector FLOPs are in f64, which the vector units' f32 rate says nothing of.
    pub has_vector_f64: bool,
    /// A matmul's contraction length is unknown: its FLOPs are missing here, and it has no point.
    pub is_unknown: bool,
}

impl Work {
    /// Both kinds together.
    pub fn flops(&self) -> u128 {
        self.matrix_flops.saturating_add(self.vector_flops)
    }

    /// The work of both, as one kernel does it.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            matrix_flops: self.matrix_flops.saturating_add(other.matrix_flops),
            vector_flops: self.vector_flops.saturating_add(other.vector_flops),
            matrix_dtype: self.matrix_dtype.or(other.matrix_dtype),
            has_vector_f64: self.has_vector_f64 || other.has_vector_f64,
            is_unknown: self.is_unknown || other.is_unknown,
        }
    }
}
