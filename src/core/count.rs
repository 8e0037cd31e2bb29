//! Counts on their way out: plain numbers where JavaScript holds them exactly, never rounded above.
//!
//! Above `2^53 - 1` a count goes through `u128`, which becomes a `BigInt` in JavaScript and stays an
//! ordinary integer in JSON.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

const MAX_SAFE_INTEGER: u128 = (1 << 53) - 1;

/// For `u64` and `u128` fields.
pub(crate) fn serialize<T, S>(count: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Copy + Into<u128>,
    S: Serializer,
{
    let count: u128 = (*count).into();
    match u64::try_from(count) {
        Ok(small) if count <= MAX_SAFE_INTEGER => serializer.serialize_u64(small),
        _ => serializer.serialize_u128(count),
    }
}

/// For differences of counts that may not be there.
#[allow(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's signature"
)]
pub(crate) fn serialize_difference<S: Serializer>(
    difference: &Option<i64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match difference {
        Some(difference) => serialize_signed(difference, serializer),
        None => serializer.serialize_none(),
    }
}

/// For differences of counts.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(crate) fn serialize_signed<S: Serializer>(
    difference: &i64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if u128::from(difference.unsigned_abs()) <= MAX_SAFE_INTEGER {
        serializer.serialize_i64(*difference)
    } else {
        serializer.serialize_i128((*difference).into())
    }
}

/// A count of its own, where no field says how it is serialized.
pub(crate) struct Count(pub(crate) u64);

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

/// For shapes.
pub(crate) fn serialize_all<S: Serializer>(
    counts: &[u64],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(counts.len()))?;
    for &count in counts {
        list.serialize_element(&Count(count))?;
    }
    list.end()
}

/// For counts that may be unknown.
#[allow(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's signature"
)]
pub(crate) fn serialize_option<S: Serializer>(
    count: &Option<u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match count {
        Some(count) => serialize(count, serializer),
        None => serializer.serialize_none(),
    }
}
