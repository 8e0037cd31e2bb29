//! Arithmetic work in FLOPs, by the unit that executes it.

use crate::model::dtype::DType;

/// The arithmetic of an op or a kernel.
///
/// `u128` is wide enough for any matmul: output elements and K are below `2^63` each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// FLOPs on the matrix units.
    pub matrix_flops: u128,
    /// FLOPs on the vector units.
    pub vector_flops: u128,
    /// Element type of the matmul operands, if there is a matmul.
    pub matrix_dtype: Option<DType>,
    /// Whether all FLOPs on the matrix units are those of convolutions.
    pub is_convolution: bool,
    /// The part of `vector_flops` that is in f64, which has a rate of its own.
    pub vector_f64_flops: u128,
    /// The parts of `matrix_flops` and of `vector_flops` in f32 that are on scores which a causal
    /// mask hides. They count, as in PyTorch's counter, but no kernel has to compute them.
    pub hidden_flops: [u128; 2],
    /// FLOPs of operators that the table of functions lacks, as far as the program states them;
    /// `None` without such an operator. Their units and types are unknown, so they count in sums
    /// but have no peak and no time.
    pub opaque_flops: Option<u128>,
    /// Some FLOPs are unknown and not included: K of a matmul is unknown, or an opaque operator
    /// states no FLOPs.
    pub is_unknown: bool,
}

impl Work {
    /// FLOPs of all units.
    pub fn flops(&self) -> u128 {
        (self.matrix_flops.saturating_add(self.vector_flops))
            .saturating_add(self.opaque_flops.unwrap_or(0))
    }

    /// Vector FLOPs at the f32 rate.
    pub fn vector_f32_flops(&self) -> u128 {
        self.vector_flops.saturating_sub(self.vector_f64_flops)
    }

    /// The sum of both, for one fused kernel.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let convolves = |work: &Self| work.is_convolution || work.matrix_dtype.is_none();
        Self {
            matrix_flops: self.matrix_flops.saturating_add(other.matrix_flops),
            vector_flops: self.vector_flops.saturating_add(other.vector_flops),
            matrix_dtype: self.matrix_dtype.or(other.matrix_dtype),
            is_convolution: (self.is_convolution || other.is_convolution)
                && convolves(&self)
                && convolves(&other),
            vector_f64_flops: self.vector_f64_flops.saturating_add(other.vector_f64_flops),
            hidden_flops: [0, 1].map(|unit| {
                let both = self.hidden_flops[unit].checked_add(other.hidden_flops[unit]);
                both.unwrap_or(u128::MAX)
            }),
            opaque_flops: match (self.opaque_flops, other.opaque_flops) {
                (Some(own), Some(others)) => Some(own.saturating_add(others)),
                (own, others) => own.or(others),
            },
            is_unknown: self.is_unknown || other.is_unknown,
        }
    }
}
