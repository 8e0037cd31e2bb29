//! `SplitMix64` (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014),
//! written out: a lesson quotes numbers that follow from it, so they must not change with the
//! version of a crate.

/// By how much the state grows: an odd number near 2^64 over the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A generator of numbers that follow from its first state.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next number, which is never the last: there are as many as states.
    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }
}

/// A number of which each bit depends on each bit of this one.
pub const fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
