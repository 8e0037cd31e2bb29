//! What limits kernels, in a word or two.

use fuseline_core::analysis::device_model::What;
use fuseline_core::{Analysis, Bound, KernelId};

/// What limits the speed of a kernel, in a word or two.
pub const fn bound_name(bound: Bound) -> &'static str {
    match bound {
        Bound::Memory => "memory",
        Bound::Matrix => "matrix units",
        Bound::Vector => "vector units",
        Bound::Launch => "launch",
        Bound::Unknown => "unknown",
    }
}

/// What limits a fused kernel: what takes longest in its predicted time, else by the roofline.
pub fn bottleneck_name(analysis: &Analysis, id: KernelId) -> &'static str {
    let Some(kernel) = analysis.fused.kernels.get(id) else {
        return "";
    };
    let predicted = analysis.predicted.as_ref();
    match predicted.and_then(|predicted| predicted.kernels.get(id)) {
        _ if kernel.is_free => "–",
        None => bound_name(kernel.placement.bound),
        Some(times) => times.longest.map_or(bound_name(Bound::Launch), what_name),
    }
}

/// What a part of a predicted time is spent on, in a word or two.
pub const fn what_name(what: What) -> &'static str {
    match what {
        What::MemoryBytes => "memory",
        What::BytesAgain => "repeated reads",
        What::CacheBytes => "L2 cache",
        What::MatrixFlops | What::WaveFlops | What::Waves => "matrix units",
        What::Elements => "running statistics",
        What::Exponentials => "exponentials",
        What::ErrorFunctions => "error functions",
        What::Tangents => "hyperbolic tangents",
        What::Divisions => "divisions",
        What::Instructions => "vector units",
        What::Strided => "strided access",
        What::Softmax | What::WideSoftmax | What::Norm | What::Pool | What::Sum => "library kernel",
    }
}

/// What limits a kernel on the roofline, in the one word that lessons ask for.
pub const fn bound_word(bound: Bound) -> &'static str {
    match bound {
        Bound::Memory => "memory",
        Bound::Matrix | Bound::Vector => "compute",
        Bound::Launch => "launch",
        Bound::Unknown => "unknown",
    }
}
