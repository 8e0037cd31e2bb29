//! Whole numbers of any size, as far as decimal numbers need them.

/// A whole number: 32 bits a limb, the lowest first, the highest not zero.
pub(super) struct Big {
    limbs: Vec<u32>,
}

impl Big {
    pub(super) fn new(value: u64) -> Self {
        let mut big = Self { limbs: Vec::new() };
        #[allow(clippy::cast_possible_truncation, reason = "one half after the other")]
        let halves = [value as u32, (value >> 32) as u32];
        big.limbs.extend(halves);
        big.trim();
        big
    }

    pub(super) const fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    /// Bits from the lowest to the highest that is set.
    pub(super) fn bits(&self) -> i32 {
        let top = self.limbs.last().map_or(0, |limb| limb.leading_zeros());
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            reason = "a few thousand at most"
        )]
        let all = self.limbs.len() as i32 * 32;
        all - top.cast_signed()
    }

    /// What the lowest 64 bits hold.
    pub(super) fn low_64(&self) -> u64 {
        let limb = |place: usize| u64::from(self.limbs.get(place).copied().unwrap_or(0));
        limb(0) | limb(1) << 32
    }

    /// `self * factor + addend`. `O(limbs)`.
    pub(super) fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for limb in &mut self.limbs {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = low(carry);
            carry >>= 32;
        }
        if carry > 0 {
            self.limbs.push(low(carry));
        }
    }

    /// `self * base^power`, for bases up to 10. `O(limbs * power)`.
    pub(super) fn multiply_power(&mut self, base: u32, power: u32) {
        for factor in factors(base, power) {
            self.multiply_add(factor, 0);
        }
    }

    /// The whole part of `self / base^power`, for bases up to 10; says whether anything was left. `O(limbs * power)`.
    pub(super) fn divide_power(&mut self, base: u32, power: u32) -> bool {
        // The whole part of a whole part's quotient is that of the quotient.
        let remainders = factors(base, power).map(|divisor| self.divide(divisor));
        remainders.fold(0, |any, remainder| any | remainder) > 0
    }

    /// Half of `self`, rounded to nearest and to even between two; `is_inexact` when it stands for a little more.
    pub(super) fn halve(&mut self, is_inexact: bool) {
        let is_half = self.divide(2) > 0;
        if is_half && (is_inexact || self.low_64() & 1 == 1) {
            self.multiply_add(1, 1);
        }
    }

    /// In decimal digits. `O(limbs * digits)`.
    pub(super) fn into_text(mut self) -> String {
        let mut digits = Vec::new();
        while !self.is_zero() || digits.is_empty() {
            digits.push(char::from(b'0' + self.divide(10).to_le_bytes()[0]));
        }
        digits.into_iter().rev().collect()
    }

    /// Leaves the whole part of the quotient and gives the remainder. `O(limbs)`.
    fn divide(&mut self, divisor: u32) -> u32 {
        let divisor = u64::from(divisor);
        let mut remainder = 0;
        for limb in self.limbs.iter_mut().rev() {
            let part = remainder << 32 | u64::from(*limb);
            *limb = low(part / divisor);
            remainder = part % divisor;
        }
        self.trim();
        low(remainder)
    }

    fn trim(&mut self) {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the carry is the rest")]
const fn low(value: u64) -> u32 {
    value as u32
}

/// `base^power` as factors that fit a limb.
fn factors(base: u32, power: u32) -> impl Iterator<Item = u32> {
    const STEP: u32 = 9;
    let whole = std::iter::repeat_n(base.pow(STEP), (power / STEP) as usize);
    whole.chain(std::iter::once(base.pow(power % STEP)))
}
