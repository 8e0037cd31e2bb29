//! Softmax of one row, step by step: in three passes over it, or in one that keeps a running
//! maximum and a running sum.
//!
//! The one pass is what lets attention run as one kernel (Milakov and Gimelshein, *Online
//! normalizer calculation for softmax*, 2018; Dao et al., `FlashAttention`, 2022). Each step takes
//! a block of numbers:
//!
//! ```text
//! m' = max(m, block)
//! l' = l * exp(m - m') + sum of exp(x - m') over the block
//! ```
//!
//! At the end `exp(x - m) / l` is the softmax of `x`, as in three passes.

use std::ops::Range;

/// Largest number below which rounding to f16 stays finite: halfway between its largest finite
/// value, 65,504, and the next power of two.
pub const F16_OVERFLOWS_FROM: f64 = 65_520.0;

/// How the row is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoftmaxMethod {
    /// The maximum, then the sum, then the quotients: each needs the whole row before the next one
    /// starts.
    ThreePasses,
    /// One pass for maximum and sum, which takes so many numbers at a time.
    Online {
        /// At least one.
        block: usize,
    },
}

/// The task of a step in one pass over the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoftmaxPass {
    /// Finds the maximum.
    Maximum,
    /// Adds up the exponentials.
    Sum,
    /// Maximum and sum at once.
    Both,
    /// Divides by the sum.
    Divide,
}

/// One step: some numbers of the row, and the state before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftmaxStep {
    /// The task of the step.
    pub pass: SoftmaxPass,
    /// The positions of the numbers that it reads.
    pub reads: Range<usize>,
    /// Running maximum and sum before it.
    pub before: Running,
    /// Running maximum and sum after it.
    pub after: Running,
    /// The factor by which the old sum is scaled, `exp(m - m')`: 1 where the maximum stays. Only
    /// where both run.
    pub rescale: Option<f64>,
    /// For each number read its exponential over the maximum after the step, or its softmax where
    /// the step divides; empty where it looks for the maximum.
    pub terms: Vec<f64>,
}

/// The running maximum and sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    /// Minus infinity before the first number.
    pub maximum: f64,
    /// 0 before the first number.
    pub sum: f64,
}

impl Running {
    const START: Self = Self {
        maximum: f64::NEG_INFINITY,
        sum: 0.0,
    };
}

/// All steps of a row, in order. None for an empty row.
pub fn softmax_steps(row: &[f64], method: SoftmaxMethod) -> Vec<SoftmaxStep> {
    let mut steps = Vec::new();
    let mut running = Running::START;
    match method {
        SoftmaxMethod::ThreePasses => {
            for (place, x) in row.iter().enumerate() {
                let before = running;
                running.maximum = running.maximum.max(*x);
                steps.push(SoftmaxStep {
                    pass: SoftmaxPass::Maximum,
                    reads: place..place + 1,
                    before,
                    after: running,
                    rescale: None,
                    terms: Vec::new(),
                });
            }
            for (place, x) in row.iter().enumerate() {
                let before = running;
                let term = exp_below(*x, running.maximum);
                running.sum += term;
                steps.push(SoftmaxStep {
                    pass: SoftmaxPass::Sum,
                    reads: place..place + 1,
                    before,
                    after: running,
                    rescale: None,
                    terms: vec![term],
                });
            }
        }
        SoftmaxMethod::Online { block } => {
            let mut start = 0;
            for numbers in row.chunks(block.max(1)) {
                let before = running;
                running.maximum = numbers.iter().fold(before.maximum, |most, x| most.max(*x));
                // Before the first block the maximum is minus infinity and the sum 0, so the factor
                // is 0: the difference of two infinities would be no number.
                let rescale = exp_below(before.maximum, running.maximum);
                let terms: Vec<f64> = numbers
                    .iter()
                    .map(|x| exp_below(*x, running.maximum))
                    .collect();
                running.sum = before.sum * rescale + terms.iter().sum::<f64>();
                steps.push(SoftmaxStep {
                    pass: SoftmaxPass::Both,
                    reads: start..start + numbers.len(),
                    before,
                    after: running,
                    rescale: Some(rescale),
                    terms,
                });
                start += numbers.len();
            }
        }
    }
    if !row.is_empty() {
        let quotient = |x: &f64| exp_below(*x, running.maximum) / running.sum;
        steps.push(SoftmaxStep {
            pass: SoftmaxPass::Divide,
            reads: 0..row.len(),
            before: running,
            after: running,
            rescale: None,
            terms: row.iter().map(quotient).collect(),
        });
    }
    steps
}

/// `exp(x - maximum)`, at most 1; 0 for minus infinity, before the first number.
fn exp_below(x: f64, maximum: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        0.0
    } else {
        (x - maximum).exp()
    }
}

/// The result of the last step: the softmax of each number.
pub fn softmax_of(steps: &[SoftmaxStep]) -> &[f64] {
    steps.last().map_or(&[], |step| &step.terms)
}

/// Softmax without subtracting a maximum, when each exponential and their sum are stored in f16:
/// what comes of it for each number. Beyond the largest f16 they are infinite, and infinity over
/// infinity is no number.
pub fn naive_in_f16(row: &[f64]) -> Vec<f64> {
    let stored = |value: f64| {
        if value >= F16_OVERFLOWS_FROM {
            f64::INFINITY
        } else {
            value
        }
    };
    let exponentials: Vec<f64> = row.iter().map(|x| stored(x.exp())).collect();
    let sum = stored(exponentials.iter().sum());
    exponentials.iter().map(|x| x / sum).collect()
}
