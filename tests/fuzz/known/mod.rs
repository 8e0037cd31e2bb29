//! Hostile and large inputs that are made in code, each with what must come of it.
//!
//! They stand here and not in `tests/model`, because without optimization they take most of the
//! time of all tests.

mod graphs;
mod models;
mod notation;
mod profiles;

pub(crate) use graphs::{ANSWERS, HARD, PICTURES};
pub(crate) use models::{ONNX, PT2};
pub(crate) use notation::{NOTATION, OP_LINES};
pub(crate) use profiles::PROFILES;

/// An input that each run tries once.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    /// Makes the input, and panics where something else comes of it.
    pub(crate) check: fn(),
}

/// The known inputs that these functions check, by the names of the functions.
macro_rules! known {
    ($($check:ident),+ $(,)?) => {
        &[$($crate::known::Known { name: stringify!($check), check: $check }),+]
    };
}
use known;
