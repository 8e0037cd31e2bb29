//! The size of an element: whole bytes, or half a byte.

use crate::numeral::Numeral;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{Display, Formatter};

/// The size of an element of a tensor. In JSON it is a number of bytes: `2`, or `0.5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementSize {
    bits: u64,
}

const BITS_PER_BYTE: u64 = 8;

impl ElementSize {
    /// Two elements a byte.
    pub const HALF_BYTE: Self = Self { bits: 4 };

    /// A size of whole bytes.
    pub const fn of_bytes(bytes: u32) -> Self {
        // The widest argument times 8 is below 2^35.
        Self {
            bits: bytes as u64 * BITS_PER_BYTE,
        }
    }

    /// The size of so many bytes, if it is a whole number of them that fits 32 bits, or half a
    /// byte.
    pub fn of_number(bytes: f64) -> Option<Self> {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and within 32 bits"
        )]
        let whole = || Self::of_bytes(bytes as u32);
        let is_whole = bytes.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&bytes);
        if is_whole {
            Some(whole())
        } else {
            (bytes.total_cmp(&Self::HALF_BYTE.bytes()).is_eq()).then_some(Self::HALF_BYTE)
        }
    }

    /// Bits of an element.
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// Bytes of an element, which may be half a byte.
    pub const fn bytes(self) -> f64 {
        self.bits as f64 / BITS_PER_BYTE as f64
    }

    /// Bytes of an element that has its own address: half a byte takes a whole one.
    pub fn addressed_bytes(self) -> u32 {
        u32::try_from(self.bits.div_ceil(BITS_PER_BYTE)).unwrap_or(u32::MAX)
    }

    /// Bytes of an element, if it has whole ones.
    pub fn whole_bytes(self) -> Option<u32> {
        let is_whole = self.bits.is_multiple_of(BITS_PER_BYTE);
        is_whole.then(|| self.addressed_bytes())
    }

    /// Bytes of so many elements in a row: an odd half byte takes a whole one. `None` above
    /// `2^63 - 1`.
    pub fn bytes_of(self, elements: u64) -> Option<u64> {
        let bits = u128::from(elements) * u128::from(self.bits);
        let bytes = i64::try_from(bits.div_ceil(u128::from(BITS_PER_BYTE))).ok()?;
        Some(bytes.cast_unsigned())
    }
}

impl ElementSize {
    /// Bytes of as many elements as this product has, as a formula.
    pub fn bytes_of_product<N: Numeral>(
        self,
        name: &'static str,
        factors: impl IntoIterator<Item = N>,
    ) -> N {
        if let Some(bytes) = self.whole_bytes() {
            let bytes = N::bytes("", bytes.into());
            return N::product(name, factors.into_iter().chain([bytes]));
        }
        let per_byte = N::count("elements per byte", BITS_PER_BYTE / self.bits.max(1));
        let whole = N::ceiling("", N::product("elements", factors), per_byte);
        N::product(name, [whole, N::bytes("", 1)])
    }
}

/// `2 bytes`, `half a byte`.
impl Display for ElementSize {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.whole_bytes() {
            Some(1) => f.write_str("1 byte"),
            Some(bytes) => write!(f, "{bytes} bytes"),
            None => f.write_str("half a byte"),
        }
    }
}

impl Serialize for ElementSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.whole_bytes() {
            Some(bytes) => serializer.serialize_u32(bytes),
            None => serializer.serialize_f64(self.bytes()),
        }
    }
}

impl<'de> Deserialize<'de> for ElementSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = f64::deserialize(deserializer)?;
        Self::of_number(bytes).ok_or_else(|| D::Error::custom("no element has this many bytes"))
    }
}
