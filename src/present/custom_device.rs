//! The figures of a custom device, as a visitor types them.

use crate::core::Device;
use crate::core::model::device::{OWN_BYTES_PER_S, OWN_FLOPS_PER_S, OWN_LAUNCH_S};
use std::ops::RangeInclusive;
use strum::EnumIter;

/// A figure of a custom device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum CustomFigure {
    /// Bandwidth of its memory.
    Bandwidth,
    /// Rate of its matrix units, for every element type.
    MatrixRate,
    /// Rate of its vector units.
    VectorRate,
    /// Time that one launch adds.
    Launch,
}

impl CustomFigure {
    /// What it measures, and in which unit it is typed.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Bandwidth => "bandwidth, GB/s",
            Self::MatrixRate => "matrix units, TFLOP/s",
            Self::VectorRate => "vector units, TFLOP/s",
            Self::Launch => "launch, µs",
        }
    }

    /// The unit in which it is typed, in the unit of the device.
    const fn unit(self) -> f64 {
        match self {
            Self::Bandwidth => 1e9,
            Self::MatrixRate | Self::VectorRate => 1e12,
            Self::Launch => 1e-6,
        }
    }

    /// Its range, in the unit of the device.
    const fn range(self) -> RangeInclusive<f64> {
        match self {
            Self::Bandwidth => OWN_BYTES_PER_S,
            Self::MatrixRate | Self::VectorRate => OWN_FLOPS_PER_S,
            Self::Launch => OWN_LAUNCH_S,
        }
    }

    /// Its value for `device`, in the unit in which it is typed; 0 if the device has none.
    pub fn value(self, device: &Device) -> f64 {
        let figure = match self {
            Self::Bandwidth => Some(device.memory_bytes_per_s),
            Self::MatrixRate => device.matrix_f16_flops_per_s,
            Self::VectorRate => device.vector_flops_per_s,
            Self::Launch => Some(device.launch_s),
        };
        let value = figure.map_or(0.0, |figure| figure.value / self.unit());
        // Removes the last digits, which come from the change of units.
        (value * 1e6).round() / 1e6
    }

    /// The custom device that has this figure as typed, and the others of `device`.
    ///
    /// # Errors
    /// The range, if the text is not a number in it.
    pub fn typed(self, device: &Device, typed: &str) -> Result<Device, String> {
        let range = self.range();
        let typed = typed.parse::<f64>().ok();
        let typed = typed.filter(|value| range.contains(&(value * self.unit())));
        let typed = typed.ok_or_else(|| {
            let (min, max) = (range.start() / self.unit(), range.end() / self.unit());
            format!("{}: from {min} to {max}", self.label())
        })?;
        Ok(custom_device(|figure| {
            if figure == self {
                typed
            } else {
                figure.value(device)
            }
        }))
    }
}

/// The custom device that has the figures of `device`.
pub fn custom_copy(device: &Device) -> Device {
    custom_device(|figure| figure.value(device))
}

fn custom_device(value: impl Fn(CustomFigure) -> f64) -> Device {
    let value = |figure: CustomFigure| value(figure) * figure.unit();
    Device::custom(
        value(CustomFigure::Bandwidth),
        value(CustomFigure::MatrixRate),
        value(CustomFigure::VectorRate),
        value(CustomFigure::Launch),
    )
}
