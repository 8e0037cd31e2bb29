//! Formulas that are written once: over plain numbers where only the result counts, and over
//! numbers that keep their derivation where a reader asks for it.
//!
//! A formula is a function over `N: Numeral`. With `u64` or `f64` it compiles to the arithmetic
//! alone, and the names are gone; the view implements the trait for a term that keeps them. So what
//! is shown as a derivation cannot differ from what was computed.

/// A number in a formula. Whole numbers are counts or bytes; a share is a part of a whole, from 0
/// to 1.
///
/// A name says what a number is of, for readers: `waves`, `per block`; it may be empty.
pub trait Numeral: Clone {
    /// A quotient that is no whole number.
    type Share;

    /// A given number of things.
    fn count(name: &'static str, count: u64) -> Self;

    /// A given number of bytes.
    fn bytes(name: &'static str, bytes: u64) -> Self;

    /// A whole number of things that the device model holds as a float.
    fn whole(name: &'static str, count: f64) -> Self;

    /// All terms together.
    fn sum(name: &'static str, terms: impl IntoIterator<Item = Self>) -> Self;

    /// All factors, of which at most one is of bytes.
    fn product(name: &'static str, factors: impl IntoIterator<Item = Self>) -> Self;

    /// `⌈above / below⌉`. Nothing divides by 0: below counts as 1 at least.
    fn ceiling(name: &'static str, above: Self, below: Self) -> Self;

    /// `⌊above / below⌋`, a number of things; below counts as 1 at least.
    fn floor(name: &'static str, above: Self, below: Self) -> Self;

    /// The smallest term; 0 of none.
    fn smallest(name: &'static str, terms: impl IntoIterator<Item = Self>) -> Self;

    /// `number`, but no less than `least` and no more than `most`.
    fn between(name: &'static str, number: Self, least: Self, most: Self) -> Self;

    /// `above / below`, with this formula in symbols.
    fn share(above: Self, below: Self, formula: &'static str) -> Self::Share;

    /// At least this many, whatever the formula gives.
    #[must_use]
    fn at_least(self, count: u64) -> Self;

    /// This number under another name.
    #[must_use]
    fn named(self, name: &'static str) -> Self;

    /// With its formula in symbols: `⌈blocks / slots⌉`.
    #[must_use]
    fn by(self, formula: &'static str) -> Self;
}

impl Numeral for u64 {
    type Share = f64;

    fn count(_: &'static str, count: u64) -> Self {
        count
    }

    fn bytes(_: &'static str, bytes: u64) -> Self {
        bytes
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and positive; a float saturates"
    )]
    fn whole(_: &'static str, count: f64) -> Self {
        count as Self
    }

    fn sum(_: &'static str, terms: impl IntoIterator<Item = Self>) -> Self {
        terms.into_iter().fold(0, Self::saturating_add)
    }

    fn product(_: &'static str, factors: impl IntoIterator<Item = Self>) -> Self {
        factors.into_iter().fold(1, Self::saturating_mul)
    }

    fn ceiling(_: &'static str, above: Self, below: Self) -> Self {
        above.div_ceil(below.max(1))
    }

    fn floor(_: &'static str, above: Self, below: Self) -> Self {
        above / below.max(1)
    }

    fn smallest(_: &'static str, terms: impl IntoIterator<Item = Self>) -> Self {
        terms.into_iter().min().unwrap_or_default()
    }

    fn between(_: &'static str, number: Self, least: Self, most: Self) -> Self {
        number.min(most).max(least)
    }

    fn share(above: Self, below: Self, _: &'static str) -> f64 {
        above as f64 / below as f64
    }

    fn at_least(self, count: u64) -> Self {
        self.max(count)
    }

    fn named(self, _: &'static str) -> Self {
        self
    }

    fn by(self, _: &'static str) -> Self {
        self
    }
}

impl Numeral for f64 {
    type Share = Self;

    fn count(_: &'static str, count: u64) -> Self {
        count as Self
    }

    fn bytes(_: &'static str, bytes: u64) -> Self {
        bytes as Self
    }

    fn whole(_: &'static str, count: Self) -> Self {
        count
    }

    fn sum(_: &'static str, terms: impl IntoIterator<Item = Self>) -> Self {
        terms.into_iter().sum()
    }

    fn product(_: &'static str, factors: impl IntoIterator<Item = Self>) -> Self {
        factors.into_iter().product()
    }

    fn ceiling(_: &'static str, above: Self, below: Self) -> Self {
        (above / below.max(1.0)).ceil()
    }

    fn floor(_: &'static str, above: Self, below: Self) -> Self {
        (above / below.max(1.0)).floor()
    }

    fn smallest(_: &'static str, terms: impl IntoIterator<Item = Self>) -> Self {
        terms.into_iter().reduce(Self::min).unwrap_or_default()
    }

    fn between(_: &'static str, number: Self, least: Self, most: Self) -> Self {
        number.min(most).max(least)
    }

    fn share(above: Self, below: Self, _: &'static str) -> Self {
        above / below
    }

    fn at_least(self, count: u64) -> Self {
        self.max(count as Self)
    }

    fn named(self, _: &'static str) -> Self {
        self
    }

    fn by(self, _: &'static str) -> Self {
        self
    }
}
