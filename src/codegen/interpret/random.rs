//! Numbers that look random and follow from a seed.

use fuseline_core::model::digest::fnv1a;
use fuseline_core::splitmix::{STEP, SplitMix64};
use std::f64::consts::TAU;

pub(super) struct Random(SplitMix64);

impl Random {
    /// The numbers of one name under a seed: those of other names do not change when one is added.
    pub(super) fn of(seed: u64, name: &str) -> Self {
        // The hash spreads names well enough to start a generator that mixes.
        let mut numbers = SplitMix64(seed.wrapping_mul(STEP) ^ fnv1a(name));
        numbers.draw();
        Self(numbers)
    }

    /// From 0 to below 1, evenly.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 to below `count`, evenly.
    pub(super) fn below(&mut self, count: u64) -> f64 {
        (self.unit() * count as f64).floor()
    }

    /// With mean 0 and variance 1, by Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        // 1 - unit is never 0.
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(TAU * self.unit())
    }
}

/// Where the numbers of a name begin under a seed, for [`uniform`].
pub(crate) fn random_key(seed: u64, name: &str) -> u32 {
    let Random(mut numbers) = Random::of(seed, name);
    // The upper half of the bits.
    u32::try_from(numbers.draw() >> 32).unwrap_or_default()
}

/// The number from 0 to below 1 of a place under a key, in 24 bits, which f32 holds exactly. It
/// follows from 32-bit arithmetic alone, so that the threads of a GPU draw the same, each for its
/// element. The mixing is that of a generator by permuted congruences (O'Neill, "PCG: a family of
/// simple fast space-efficient statistically good algorithms for random number generation", 2014).
pub fn uniform(key: u32, place: u32) -> f64 {
    let state = (place ^ key)
        .wrapping_mul(747_796_405)
        .wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    f64::from(((word >> 22) ^ word) >> 8) / f64::from(1_u32 << 24)
}
