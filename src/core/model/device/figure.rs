//! A figure, and whether its source was checked.

use borsh::{BorshDeserialize, BorshSerialize};

/// A figure of a device, and whether its source was read when it was entered.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// `false`: entered from memory, without the data sheet at hand; shown with a question mark.
    pub is_confirmed: bool,
}

/// A figure whose source was read.
pub(super) const fn sourced(value: f64) -> Figure {
    Figure {
        value,
        is_confirmed: true,
    }
}
