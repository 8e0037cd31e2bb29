//! A number with its unit, as it is shown and with all its digits.

use crate::present::format::{
    format_all_digits, format_amount, format_bytes, format_change, format_digits, format_error,
    format_exact, format_flops, format_intensity, format_percent, format_precisely, format_ratio,
    format_scientific, format_seconds,
};

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A number of things.
    Count(u64),
    Bytes(u64),
    /// A difference of bytes.
    SavedBytes(i64),
    /// Floating-point operations.
    Flops(u128),
    /// A time.
    Seconds(f64),
    /// A difference of times.
    SavedSeconds(f64),
    /// FLOPs for each byte.
    Intensity(f64),
    /// How many times as much.
    Ratio(f64),
    /// The saved part of a total, in percent.
    SavedPercent(f64),
    /// A part of a total, in percent.
    Percent(f64),
    /// A relative error: 0.1 is a tenth too much.
    Error(f64),
    /// A number of things that is not exact.
    Whole(f64),
    /// A number without a unit, and how many of its digits are shown.
    Digits(f64, usize),
    /// A small number, shown with its power of ten.
    Scientific(f64),
    /// Any other amount, and its unit.
    Amount(f64, &'static str),
}

impl Number {
    /// The number in its unit.
    pub const fn value(self) -> f64 {
        match self {
            Self::Count(count) | Self::Bytes(count) => count as f64,
            Self::SavedBytes(bytes) => bytes as f64,
            Self::Flops(flops) => flops as f64,
            Self::Seconds(value)
            | Self::SavedSeconds(value)
            | Self::Intensity(value)
            | Self::Ratio(value)
            | Self::SavedPercent(value)
            | Self::Percent(value)
            | Self::Error(value)
            | Self::Whole(value)
            | Self::Digits(value, _)
            | Self::Scientific(value)
            | Self::Amount(value, _) => value,
        }
    }

    /// As it is shown: with three digits.
    pub fn text(self) -> String {
        match self {
            Self::Count(count) => format_exact(count.into()),
            Self::Bytes(bytes) => format_bytes(bytes),
            Self::SavedBytes(bytes) if bytes < 0 => {
                format!("−{}", format_bytes(bytes.unsigned_abs()))
            }
            Self::SavedBytes(bytes) => format_bytes(bytes.unsigned_abs()),
            Self::Flops(flops) => format_flops(flops),
            Self::SavedSeconds(seconds) if seconds < 0.0 => {
                format!("−{}", format_seconds(-seconds))
            }
            Self::Seconds(seconds) | Self::SavedSeconds(seconds) => format_seconds(seconds),
            Self::Intensity(intensity) => format_intensity(intensity),
            Self::Ratio(ratio) => format_ratio(ratio),
            Self::SavedPercent(percent) => format_change(percent),
            Self::Percent(percent) => format_percent(percent),
            Self::Error(error) => format_error(error),
            Self::Whole(count) => format!("{count:.0}"),
            Self::Digits(value, digits) => format_digits(value, digits),
            Self::Scientific(value) => format_scientific(value),
            Self::Amount(amount, unit) => format_amount(amount, unit),
        }
    }

    /// All digits of a count; of a quotient more digits than are displayed.
    pub fn exact(self) -> String {
        match self {
            Self::Count(count) => format_exact(count.into()),
            Self::Bytes(bytes) => format!("{} B", format_exact(bytes.into())),
            Self::SavedBytes(bytes) => {
                let sign = if bytes < 0 { "−" } else { "" };
                format!("{sign}{} B", format_exact(bytes.unsigned_abs().into()))
            }
            Self::Flops(flops) => format!("{} FLOP", format_exact(flops)),
            Self::SavedSeconds(seconds) if seconds < 0.0 => {
                format!("−{}", format_precisely(-seconds, "s"))
            }
            Self::Seconds(seconds) | Self::SavedSeconds(seconds) => format_precisely(seconds, "s"),
            Self::Intensity(intensity) => format!("{intensity:.6} FLOP/B"),
            Self::Ratio(ratio) => format!("{ratio:.6}"),
            Self::SavedPercent(percent) => format!("{percent:.6} % saved"),
            Self::Percent(percent) => format!("{percent:.6} %"),
            Self::Error(error) => format!("{:.6} %", error * 100.0),
            Self::Whole(count) => count.to_string(),
            Self::Digits(value, _) | Self::Scientific(value) => format_all_digits(value),
            Self::Amount(amount, unit) => format_precisely(amount, unit),
        }
    }

    /// The sum of two numbers of one kind.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Count(a), Self::Count(b)) => Self::Count(a.saturating_add(b)),
            (Self::Bytes(a), Self::Bytes(b)) => Self::Bytes(a.saturating_add(b)),
            (Self::Flops(a), Self::Flops(b)) => Self::Flops(a.saturating_add(b)),
            (Self::Seconds(a), b) => Self::Seconds(a + b.value()),
            (Self::Amount(a, unit), b) => Self::Amount(a + b.value(), unit),
            (a, _) => a,
        }
    }
}
