//! The figures of a device, and those of a custom one as a visitor types them.

use super::format::{format_bandwidth, format_intensity, format_rate, format_seconds};
use crate::core::model::device::{
    Figure, MatrixUnits, OWN_BYTES_PER_S, OWN_FLOPS_PER_S, OWN_LAUNCH_S,
};
use crate::core::{DType, Device, ridge_point};
use std::ops::RangeInclusive;
use strum::EnumIter;

/// Whether the figures that most programs need were checked against their source.
pub fn is_confirmed(device: &Device) -> bool {
    let rates = [device.vector_flops_per_s, device.matrix_f16_flops_per_s];
    let mut rates = rates.into_iter().flatten();
    device.memory_bytes_per_s.is_confirmed && rates.all(|figure| figure.is_confirmed)
}

/// One figure of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureRow {
    /// What it measures.
    pub what: &'static str,
    /// Its value with its unit, and `?` where it was not checked against its source.
    pub figure: String,
}

/// All figures of a device.
pub fn figure_rows(device: &Device) -> Vec<FigureRow> {
    let marked = |figure: Figure, format: fn(f64) -> String| {
        let mark = if figure.is_confirmed { "" } else { " ?" };
        format!("{}{mark}", format(figure.value))
    };
    let rate = |figure: Option<Figure>| match figure {
        Some(figure) => marked(figure, format_rate),
        None => "no figure".to_owned(),
    };
    let f8_rate = match (
        device.matrix_f8_flops_per_s,
        device.matmul_peak(DType::F8).map(|peak| peak.computed_as),
    ) {
        (None, Some(computed_as)) if !computed_as.is_empty() => {
            format!("no figure; computed{computed_as}")
        }
        (figure, _) => rate(figure),
    };
    let f16_units = match device.matrix_units {
        MatrixUnits::Absent => "vector units, f16; there are no matrix units",
        MatrixUnits::F16 => "matrix units, f16; not bf16",
        MatrixUnits::F16AndBf16 => "matrix units, f16 and bf16",
    };
    let ridge = ridge_point(device, DType::F16);
    let rows = [
        Some((
            "memory bandwidth",
            marked(device.memory_bytes_per_s, format_bandwidth),
        )),
        Some(("vector units, f32", rate(device.vector_flops_per_s))),
        Some((
            "matrix units, f32 as TF32",
            rate(device.matrix_tf32_flops_per_s),
        )),
        Some((f16_units, rate(device.matrix_f16_flops_per_s))),
        Some(("matrix units, f8", f8_rate)),
        Some(("matrix units, i8", rate(device.matrix_i8_flops_per_s))),
        ridge.map(|ridge| ("ridge for f16", format_intensity(ridge))),
        Some((
            "launch of a kernel",
            marked(device.launch_s, format_seconds),
        )),
    ];
    let rows = rows.into_iter().flatten();
    rows.map(|(what, figure)| FigureRow { what, figure })
        .collect()
}

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

    /// The unit in which it is typed, in that of the device.
    const fn unit(self) -> f64 {
        match self {
            Self::Bandwidth => 1e9,
            Self::MatrixRate | Self::VectorRate => 1e12,
            Self::Launch => 1e-6,
        }
    }

    /// What it may be, in the unit of the device.
    const fn range(self) -> RangeInclusive<f64> {
        match self {
            Self::Bandwidth => OWN_BYTES_PER_S,
            Self::MatrixRate | Self::VectorRate => OWN_FLOPS_PER_S,
            Self::Launch => OWN_LAUNCH_S,
        }
    }

    /// Its value of `device`, in the unit in which it is typed; 0 where the device has none.
    pub fn value(self, device: &Device) -> f64 {
        let figure = match self {
            Self::Bandwidth => Some(device.memory_bytes_per_s),
            Self::MatrixRate => device.matrix_f16_flops_per_s,
            Self::VectorRate => device.vector_flops_per_s,
            Self::Launch => Some(device.launch_s),
        };
        let value = figure.map_or(0.0, |figure| figure.value / self.unit());
        // Without the last digits that a change of units leaves behind.
        (value * 1e6).round() / 1e6
    }

    /// The custom device that has this figure as typed, and the others of `device`.
    ///
    /// # Errors
    /// What may be typed, when it is something else.
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
