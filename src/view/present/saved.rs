//! What a change saves: bytes, time, or the share of the program's time.

use super::number::Number;
use super::quantity::Quantity;
use super::times::TimeKind;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::Analysis;
use fuseline_core::analysis::why::{Cost, Price};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub enum Saved {
    /// Bytes through memory.
    Bytes,
    Time,
    /// Time as a share of the program's time.
    Share,
}

impl Saved {
    pub fn number(self, price: Price) -> Option<Number> {
        match self {
            Self::Bytes => Some(Number::SavedBytes(price.saved_bytes())),
            Self::Time | Self::Share => Some(Number::SavedSeconds(price.time_s()?)),
        }
    }

    /// The part of a cost that is compared.
    pub(super) fn of(self, cost: Cost, is_predicted: bool) -> Option<Number> {
        match self {
            Self::Bytes => Some(Number::Bytes(cost.bytes)),
            Self::Time | Self::Share => {
                let seconds = if is_predicted {
                    cost.predicted_s
                } else {
                    cost.bound_s
                };
                Some(Number::Seconds(seconds?))
            }
        }
    }

    pub(super) const fn quantity(self, is_predicted: bool) -> Quantity {
        match self {
            Self::Bytes => Quantity::Bytes,
            Self::Time | Self::Share if is_predicted => Quantity::Time,
            Self::Time | Self::Share => Quantity::LowerBound,
        }
    }

    pub(super) fn title(self, analysis: &Analysis) -> &'static str {
        match self {
            Self::Bytes => "memory traffic saved",
            Self::Time => saved_time_title(analysis).0,
            Self::Share => "time saved, as a share of the program's",
        }
    }
}

/// The title of the column of saved times, and what it says at length.
pub fn saved_time_title(analysis: &Analysis) -> (&'static str, &'static str) {
    match TimeKind::of(analysis) {
        TimeKind::Predicted => (
            "predicted time saved",
            "how much time one kernel in place of the two would save, by the device model",
        ),
        TimeKind::LowerBound => (
            "lower bound saved",
            "how far one kernel in place of the two would reduce the lower bound of the time",
        ),
    }
}

/// What a change saves: `33.6 MB`, `costs 33.6 MB`, `not known` where there is no such number.
pub(super) fn saved_text(price: Price, saved: Saved) -> String {
    let Some(number) = saved.number(price) else {
        return "not known".to_owned();
    };
    match number.text().strip_prefix('−') {
        Some(cost) => format!("costs {cost}"),
        None => number.text(),
    }
}
