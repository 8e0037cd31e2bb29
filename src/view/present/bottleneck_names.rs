//! What limits kernels, in a word or two.

use fuseline_core::analysis::device_model::RatedWork;
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
pub const fn what_name(what: RatedWork) -> &'static str {
    match what {
        RatedWork::MemoryBytes => "memory",
        RatedWork::BytesAgain => "repeated reads",
        RatedWork::CacheBytes => "L2 cache",
        RatedWork::MatrixFlops
        | RatedWork::WaveFlops
        | RatedWork::Waves
        | RatedWork::Steps
        | RatedWork::Keys => "matrix units",
        RatedWork::RowElements | RatedWork::RowWaves => "one row",
        RatedWork::HeldElements => "rows in registers",
        RatedWork::Elements => "running statistics",
        RatedWork::Exponentials => "exponentials",
        RatedWork::ErrorFunctions => "error functions",
        RatedWork::Tangents => "hyperbolic tangents",
        RatedWork::Divisions => "divisions",
        RatedWork::Instructions | RatedWork::VectorFlops => "vector units",
        RatedWork::Strided => "strided access",
        RatedWork::Softmax
        | RatedWork::WideSoftmax
        | RatedWork::Norm
        | RatedWork::Pool
        | RatedWork::Sum => "library kernel",
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
