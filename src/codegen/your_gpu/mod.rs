//! The program on the GPU of the visitor: what is run there, how often, and what can fail.
//! `browser/webgpu` runs it.

pub mod check;
pub mod failure;
pub mod job;
pub mod outcome;
pub mod prediction;
pub mod probe;
pub mod repeats;

pub use check::{Check, Output, compare};
pub use failure::Failure;
pub use job::{Buffer, DRAWN_ELEMENTS, Job, Launch, Limits, ProgramJob};
pub use outcome::{Checks, Outcome, Times};
pub use prediction::predicted;
pub use probe::Rates;

use crate::interpret::Budget;
use fuseline_core::model::device::DeviceProbe;
use repeats::LONGEST_WAIT_S;

/// Bytes of all tensors of a run that is timed, at most. WebGPU does not report the size of the
/// memory, so the tensors take no more than one buffer may, and no more than this.
const MAX_BYTES: u64 = 2 << 30;
/// The longest estimated time of a run that is timed, in seconds. The run is repeated, and
/// estimates may be several times too low.
pub const WANTED_RUN_S: f64 = 0.5;
/// The share of its vector rate that a GPU reaches in generated kernels, at least.
const LEAST_SHARE: f64 = 0.05;
/// The share of the rate of the measured matmul that convolutions and matmuls of few tiles reach,
/// at least.
const LEAST_PRODUCT_SHARE: f64 = 0.5;

/// Bytes of all tensors of a run that is timed, at most.
pub fn max_bytes(limits: &Limits) -> u64 {
    limits.max_buffer_bytes.min(MAX_BYTES)
}

/// The sizes of a run that is timed, on a GPU with these limits and rates: the program's own, or
/// the largest that fit. Sizes that cannot be made smaller are admitted up to the time after which
/// a run is given up.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of steps, finite and positive"
)]
pub fn timed_budget(limits: &Limits, rates: &DeviceProbe) -> Budget {
    let word_bytes = 4;
    // A step computes an element, or reads or writes one.
    let steps_per_s = (rates.vector_flops_per_s * LEAST_SHARE / 2.0)
        .min(rates.memory_bytes_per_s / f64::from(word_bytes as u32));
    let product_term_s = |flops_per_s: f64| 2.0 / (flops_per_s * LEAST_PRODUCT_SHARE);
    let steps = |run_s: f64| (steps_per_s * run_s).max(1e6) as u64;
    Budget {
        wanted_steps: steps(WANTED_RUN_S),
        max_steps: steps(LONGEST_WAIT_S),
        // Without a measured matmul, a multiply-add takes as long as everything else.
        steps_per_product_term: (rates.shader_product_flops_per_s)
            .map_or(1.0, |flops_per_s| steps_per_s * product_term_s(flops_per_s)),
        max_elements: max_bytes(limits) / word_bytes,
        max_tensor_elements: limits.max_tensor_bytes() / word_bytes,
    }
}
