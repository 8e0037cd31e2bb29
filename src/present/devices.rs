//! Figures of devices, in words.

use crate::core::model::device::{ComputeType, Peak};

/// The units that reach a peak.
pub const fn units_name(peak: &Peak) -> &'static str {
    if peak.is_on_vector_units {
        "vector units"
    } else {
        "matrix units"
    }
}

/// Behind an element type, the type that its matmuls are computed in where that is another one: ` as f16`.
pub const fn computed_as(peak: &Peak) -> &'static str {
    match peak.computed_as {
        None => "",
        Some(ComputeType::F16) => " as f16",
        Some(ComputeType::Tf32) => " as TF32",
        Some(ComputeType::F32) => " as f32",
    }
}
