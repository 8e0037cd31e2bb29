//! The program on the GPU of the visitor: what is run there, how often, and what can fail. `browser/gpu` runs it.

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
pub use outcome::{Outcome, Times};
pub use prediction::{Rates, predicted};

use crate::core::interpret::Budget;

/// Bytes of all tensors of a run that is timed, at most.
const MAX_BYTES: u64 = 512 << 20;
/// A run that is timed shall take no longer, in seconds.
const WANTED_RUN_S: f64 = 0.02;
/// The share of its vector rate that a GPU reaches in generated kernels, at least.
const LEAST_SHARE: f64 = 0.05;

/// The sizes of a run that is timed, on a GPU with these limits and rates: as large as fits, for small kernels show the cost of
/// their launch alone.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of steps, finite and positive"
)]
pub fn timed_budget(limits: &Limits, rates: &Rates) -> Budget {
    let word_bytes = 4;
    // A step is a multiply-add, or reads or writes an element.
    let steps_per_s = (rates.vector_flops_per_s * LEAST_SHARE / 2.0)
        .min(rates.memory_bytes_per_s / f64::from(word_bytes as u32));
    let steps = (steps_per_s * WANTED_RUN_S).max(1e6) as u64;
    Budget {
        wanted_steps: steps,
        max_steps: steps.saturating_mul(16),
        max_elements: MAX_BYTES / word_bytes,
        max_tensor_elements: limits.max_tensor_bytes() / word_bytes,
    }
}
