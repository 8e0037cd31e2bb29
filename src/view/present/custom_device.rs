//! The figures of a custom device, as a visitor types them.

use crate::present::format::format_exact;
use fuseline_core::Device;
use fuseline_core::model::device::{OWN_BYTES_PER_S, OWN_FLOPS_PER_S, OWN_LAUNCH_S, Rate};
use std::ops::RangeInclusive;
use strum::VariantArray as _;

/// A figure of a custom device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomFigure {
    /// Bandwidth of its memory.
    Bandwidth,
    /// One of its rates; it may be left out.
    Rate(Rate),
    /// Time that one launch adds.
    Launch,
}

impl CustomFigure {
    /// All figures, in the order of the form.
    pub fn all() -> impl Iterator<Item = Self> {
        let rates = Rate::VARIANTS.iter().copied().map(Self::Rate);
        [Self::Bandwidth]
            .into_iter()
            .chain(rates)
            .chain([Self::Launch])
    }

    /// What it measures, and in which unit it is typed.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Bandwidth => "bandwidth, GB/s",
            Self::Rate(Rate::MatrixF16) => "matrix units f16 and bf16, TFLOP/s",
            Self::Rate(Rate::Vector) => "vector units f32, TFLOP/s",
            Self::Rate(Rate::MatrixTf32) => "matrix units TF32, TFLOP/s",
            Self::Rate(Rate::MatrixF8) => "matrix units f8, TFLOP/s",
            Self::Rate(Rate::MatrixI8) => "matrix units i8, TFLOP/s",
            Self::Rate(Rate::MatrixF4) => "matrix units f4, TFLOP/s",
            Self::Rate(Rate::VectorF64) => "vector units f64, TFLOP/s",
            Self::Rate(Rate::MatrixF64) => "matrix units f64, TFLOP/s",
            Self::Launch => "launch, µs",
        }
    }

    /// What the page shows while it is empty; `None` if it must not be empty.
    pub const fn if_empty(self) -> Option<&'static str> {
        match self {
            Self::Bandwidth | Self::Launch => None,
            Self::Rate(Rate::MatrixF16 | Rate::MatrixTf32) => Some("as f32"),
            Self::Rate(Rate::MatrixF8) => Some("as f16"),
            Self::Rate(Rate::MatrixF4) => Some("as f8"),
            Self::Rate(Rate::MatrixF64) => Some("on vector units"),
            Self::Rate(Rate::Vector | Rate::MatrixI8 | Rate::VectorF64) => Some("unknown"),
        }
    }

    /// The unit of typed values, as a multiple of the device's unit.
    const fn unit(self) -> f64 {
        match self {
            Self::Bandwidth => 1e9,
            Self::Rate(_) => 1e12,
            Self::Launch => 1e-6,
        }
    }

    /// Its range, in the unit of the device.
    const fn range(self) -> RangeInclusive<f64> {
        match self {
            Self::Bandwidth => OWN_BYTES_PER_S,
            Self::Rate(_) => OWN_FLOPS_PER_S,
            Self::Launch => OWN_LAUNCH_S,
        }
    }

    /// An end of its range, in the unit in which it is typed.
    fn end(self, of: impl Fn(&RangeInclusive<f64>) -> &f64) -> String {
        grouped(of(&self.range()) / self.unit())
    }

    /// Its value for `device`, in the unit in which it is typed; `None` if the device has none.
    pub fn value(self, device: &Device) -> Option<f64> {
        let figure = match self {
            Self::Bandwidth => Some(device.memory_bytes_per_s),
            Self::Rate(rate) => rate.figure(device),
            Self::Launch => Some(device.launch_s),
        };
        // Rounds away the digits that the change of units adds.
        figure.map(|figure| (figure.value / self.unit() * 1e6).round() / 1e6)
    }

    /// The value as its field shows it; empty if the device has none.
    pub fn text(self, device: &Device) -> String {
        (self.value(device)).map_or_else(String::new, |value| value.to_string())
    }

    /// The custom device that has this figure as typed, and the others of `device`. An empty text
    /// leaves out a figure that may be left out.
    ///
    /// # Errors
    /// If the text is not a number in the range of the figure.
    pub fn typed(self, device: &Device, typed: &str) -> Result<Device, OutOfRange> {
        let range = self.range();
        let number = typed.parse::<f64>().ok();
        let number = number.filter(|value| range.contains(&(value * self.unit())));
        let is_left_out = typed.trim().is_empty() && self.if_empty().is_some();
        if number.is_none() && !is_left_out {
            return Err(OutOfRange { figure: self });
        }
        Ok(custom_device(|figure| {
            if figure == self {
                number
            } else {
                figure.value(device)
            }
        }))
    }
}

/// What was typed is not a number in the range of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: from {} to {}", figure.label(), figure.end(RangeInclusive::start), figure.end(RangeInclusive::end))]
pub struct OutOfRange {
    figure: CustomFigure,
}

/// The custom device that has the figures of `device`.
pub fn custom_copy(device: &Device) -> Device {
    custom_device(|figure| figure.value(device))
}

/// A number with its digits in groups: `0.1`, `100,000`.
fn grouped(number: f64) -> String {
    if number.fract() == 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number of at least 0"
        )]
        let whole = number as u128;
        format_exact(whole)
    } else {
        number.to_string()
    }
}

fn custom_device(value: impl Fn(CustomFigure) -> Option<f64>) -> Device {
    // A figure that is not positive is one that is left out.
    let value = |figure: CustomFigure| value(figure).unwrap_or(0.0) * figure.unit();
    let device = Device::custom(
        value(CustomFigure::Bandwidth),
        value(CustomFigure::Rate(Rate::MatrixF16)),
        value(CustomFigure::Rate(Rate::Vector)),
        value(CustomFigure::Launch),
    );
    (Rate::VARIANTS.iter()).fold(device, |device, &rate| {
        device.with_rate(rate, value(CustomFigure::Rate(rate)))
    })
}
