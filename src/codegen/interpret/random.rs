//! Pseudorandom numbers from a seed.

use fuseline_core::model::digest::fnv1a;
use fuseline_core::splitmix::{STEP, SplitMix64};
use std::f64::consts::TAU;

pub(super) struct Random(SplitMix64);

impl Random {
    /// The generator for one name under a seed. Adding a name does not change the numbers of
    /// others.
    pub(super) fn of(seed: u64, name: &str) -> Self {
        // The hash spreads names well enough to start a generator that mixes.
        let mut numbers = SplitMix64(seed.wrapping_mul(STEP) ^ fnv1a(name));
        numbers.draw();
        Self(numbers)
    }

    /// A number from a uniform distribution, from 0 to below 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An integer from a uniform distribution, from 0 to below `count`.
    pub(super) fn below(&mut self, count: u64) -> f64 {
        (self.unit() * count as f64).floor()
    }

    /// A number from a normal distribution of mean 0 and variance 1, by the Box-Muller transform.
    pub(super) fn normal(&mut self) -> f64 {
        // `1 - unit` is never 0, so the logarithm is finite.
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(TAU * self.unit())
    }
}

/// The key of a name under a seed, for [`uniform`].
pub(crate) fn random_key(seed: u64, name: &str) -> u32 {
    let Random(mut numbers) = Random::of(seed, name);
    // The upper half of the bits.
    u32::try_from(numbers.draw() >> 32).unwrap_or_default()
}

/// A pseudorandom number from 0 to below 1, for a position under a key.
///
/// It has 24 bits, which f32 holds exactly, and needs only 32-bit arithmetic, so each thread of a
/// GPU can compute the number of its element. The mixing is that of PCG (O'Neill, "PCG: a family of
/// simple fast space-efficient statistically good algorithms for random number generation", 2014).
pub fn uniform(key: u32, place: u32) -> f64 {
    let state = (place ^ key)
        .wrapping_mul(747_796_405)
        .wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    f64::from(((word >> 22) ^ word) >> 8) / f64::from(1_u32 << 24)
}
