//! Rates that a visitor measured on a GPU, and the device with these rates.

use crate::json::{JsonError, read_json};
use crate::model::day::Day;
use crate::model::device::figure::sourced;
use crate::model::device::{Device, Hardware, MatrixUnits, OnChip, Rate, Source, device_called};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The rates of a GPU by a short measurement: the probe of a program's script, or WebGPU.
///
/// Each has a physical meaning; none is fitted. Files, links and the browser's storage all hold it
/// as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(expecting = "the rates of a GPU, as `python bench.py --probe` saves them")]
pub struct DeviceProbe {
    /// The name that the driver gives the GPU.
    pub name: String,
    /// The day of the measurement, in UTC.
    pub measured_on: Day,
    /// The tool that measured: `PyTorch 2.11.0`, `WebGPU`.
    pub measured_with: String,
    /// Rate at which a copy of a few hundred megabytes reads and writes, in byte/s.
    pub memory_bytes_per_s: f64,
    /// Rate at which a copy that stays in the shared cache reads and writes, in byte/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_bytes_per_s: Option<f64>,
    /// Matmuls of large matrices of random f16 numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix_f16_flops_per_s: Option<f64>,
    /// Matmuls of random bf16 numbers; `None` where the device has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix_bf16_flops_per_s: Option<f64>,
    /// Matmuls of random f32 numbers, computed as TF32.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix_tf32_flops_per_s: Option<f64>,
    /// f32 arithmetic of the vector units. A multiply-add is one instruction and counts as two
    /// FLOPs.
    pub vector_flops_per_s: f64,
    /// A large product of f32 matrices in a shader of this page, which uses no matrix units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shader_product_flops_per_s: Option<f64>,
    /// Exponentials of f32 numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exp_per_s: Option<f64>,
    /// Time that a tiny kernel adds to others, launch included.
    pub kernel_s: f64,
    /// Multiprocessors (NVIDIA), compute units (AMD).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiprocessors: Option<u32>,
    /// Capacity of the DRAM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Size of the shared cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_bytes: Option<u64>,
    /// Shared memory that one block can allocate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_bytes_per_block: Option<u32>,
}

/// A file of the script: the probe and the script's other results.
#[derive(Deserialize)]
struct File {
    device: DeviceProbe,
}

/// Most characters of a name.
const MAX_NAME: usize = 80;
/// From a software renderer to the fastest cache, in byte/s.
const BYTES_PER_S: RangeInclusive<f64> = 1e8..=1e15;
/// In FLOP/s.
const FLOPS_PER_S: RangeInclusive<f64> = 1e8..=1e17;
/// Rates that a shader may measure. Its threads often wait for each other, which takes most of the
/// time where a CPU runs them.
const SHADER_FLOPS_PER_S: RangeInclusive<f64> = 1e5..=1e17;
const EXP_PER_S: RangeInclusive<f64> = 1e7..=1e16;
const KERNEL_S: RangeInclusive<f64> = 1e-8..=1e-2;
const MULTIPROCESSORS: RangeInclusive<f64> = 1.0..=1e5;
/// A kilobyte to a petabyte.
const SIZE_BYTES: RangeInclusive<f64> = 1e3..=1e15;

/// Why a text holds no [`DeviceProbe`].
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The text is not JSON of this form.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A figure that no device has.
    #[error("device.{0}")]
    Figure(#[from] FigureError),
    /// A measurement of a later day than today.
    #[error("device.measured_on is {day}, and today is {today}")]
    Future {
        /// The day that the file states.
        day: Day,
        /// The day on which it is read.
        today: Day,
    },
}

/// A figure that no device has: `vector_flops_per_s is 0, and must be from 1e8 to 1e17`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FigureError {
    /// The field with this name is empty or has several lines.
    #[error("{0} must be one line of 1 to {MAX_NAME} characters")]
    NoLine(&'static str),
    /// A number that is too small or too large.
    #[error("{field} is {value:e}, and must be from {:e} to {:e}", range.start(), range.end())]
    OutOfRange {
        /// The field of the file that has it.
        field: &'static str,
        /// In the unit of the field.
        value: f64,
        /// The range of valid values.
        range: RangeInclusive<f64>,
    },
}

impl DeviceProbe {
    /// A probe of the figures that every measurement has: bandwidth in byte/s, f32 rate of the
    /// vector units in FLOP/s, time of a tiny kernel in seconds.
    ///
    /// The caller sets the other figures as fields; [`DeviceProbe::check`] says whether all of them
    /// are possible.
    pub fn new(
        name: impl Into<String>,
        measured_on: Day,
        measured_with: impl Into<String>,
        memory_bytes_per_s: f64,
        vector_flops_per_s: f64,
        kernel_s: f64,
    ) -> Self {
        Self {
            name: name.into(),
            measured_on,
            measured_with: measured_with.into(),
            memory_bytes_per_s,
            l2_bytes_per_s: None,
            matrix_f16_flops_per_s: None,
            matrix_bf16_flops_per_s: None,
            matrix_tf32_flops_per_s: None,
            vector_flops_per_s,
            shader_product_flops_per_s: None,
            exp_per_s: None,
            kernel_s,
            multiprocessors: None,
            memory_bytes: None,
            l2_bytes: None,
            shared_bytes_per_block: None,
        }
    }

    /// A driver's name of a GPU, as a name that [`DeviceProbe::check`] admits.
    pub fn name_of(called: &str) -> String {
        let name = called.split(char::is_control).flat_map(str::chars);
        let name: String = name.take(MAX_NAME).collect();
        if name.trim().is_empty() {
            "GPU without a name".to_owned()
        } else {
            name
        }
    }

    /// Whether the figures can be those of a device.
    ///
    /// # Errors
    /// The first that cannot, and its range:
    /// `vector_flops_per_s is 0, and must be from 1e8 to 1e17`.
    pub fn check(&self) -> Result<(), FigureError> {
        for (field, text) in [("name", &self.name), ("measured_with", &self.measured_with)] {
            let count = text.chars().count();
            if !(1..=MAX_NAME).contains(&count) || text.chars().any(char::is_control) {
                return Err(FigureError::NoLine(field));
            }
        }
        let figures = [
            (
                "memory_bytes_per_s",
                Some(self.memory_bytes_per_s),
                BYTES_PER_S,
            ),
            ("l2_bytes_per_s", self.l2_bytes_per_s, BYTES_PER_S),
            (
                "matrix_f16_flops_per_s",
                self.matrix_f16_flops_per_s,
                FLOPS_PER_S,
            ),
            (
                "matrix_bf16_flops_per_s",
                self.matrix_bf16_flops_per_s,
                FLOPS_PER_S,
            ),
            (
                "matrix_tf32_flops_per_s",
                self.matrix_tf32_flops_per_s,
                FLOPS_PER_S,
            ),
            (
                "vector_flops_per_s",
                Some(self.vector_flops_per_s),
                FLOPS_PER_S,
            ),
            (
                "shader_product_flops_per_s",
                self.shader_product_flops_per_s,
                SHADER_FLOPS_PER_S,
            ),
            ("exp_per_s", self.exp_per_s, EXP_PER_S),
            ("kernel_s", Some(self.kernel_s), KERNEL_S),
            (
                "multiprocessors",
                self.multiprocessors.map(f64::from),
                MULTIPROCESSORS,
            ),
            (
                "memory_bytes",
                self.memory_bytes.map(|bytes| bytes as f64),
                SIZE_BYTES,
            ),
            (
                "l2_bytes",
                self.l2_bytes.map(|bytes| bytes as f64),
                SIZE_BYTES,
            ),
            (
                "shared_bytes_per_block",
                self.shared_bytes_per_block.map(f64::from),
                SIZE_BYTES,
            ),
        ];
        for (field, value, range) in figures {
            if let Some(value) = value.filter(|value| !range.contains(value)) {
                return Err(FigureError::OutOfRange {
                    field,
                    value,
                    range,
                });
            }
        }
        Ok(())
    }

    /// Whether a text is likely to be a probe alone, by what it begins with.
    pub fn begins(text: &str) -> bool {
        text.trim_start().starts_with('{')
            && text.contains("\"measured_on\"")
            && !text.contains("\"program\"")
    }

    /// Reads the file that a script saves, with or without measured kernels. `O(text)`.
    ///
    /// # Errors
    /// What is missing or impossible, and where; and a day after `today`.
    pub fn read(text: &str, today: Day) -> Result<Self, ProbeError> {
        let File { device: probe } = read_json(text)?;
        probe.check_by(today)?;
        Ok(probe)
    }

    /// Whether the figures can be those of a device that was measured in the past.
    ///
    /// # Errors
    /// As [`DeviceProbe::check`], with the position in a file; and a day after `today`.
    pub fn check_by(&self, today: Day) -> Result<(), ProbeError> {
        self.check()?;
        let day = self.measured_on;
        if day > today {
            return Err(ProbeError::Future { day, today });
        }
        Ok(())
    }

    /// Reads a probe alone, as links and storage have it; `None` if the text is not a probe, or if
    /// its figures are impossible.
    pub fn of_json(text: &str) -> Option<Self> {
        let probe: Self = serde_json::from_str(text).ok()?;
        probe.check().is_ok().then_some(probe)
    }

    /// The probe for links and storage, without line breaks.
    pub fn json(&self) -> String {
        // A struct of numbers and strings always is JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The name with the day and the means of the measurement: `NVIDIA L4 (2026-11-23, WebGPU)`.
    pub fn title(&self) -> String {
        format!(
            "{} ({}, {})",
            self.name, self.measured_on, self.measured_with
        )
    }

    /// When and with what it was measured, as a part of a sentence.
    pub fn origin(&self) -> String {
        format!(
            "measured on {} with {}",
            self.measured_on, self.measured_with
        )
    }

    /// The device with these rates. Its peaks are those of the table where the table has the name,
    /// else the measured rates.
    pub fn device(self) -> Device {
        let mut device = match device_called(&self.name) {
            Some(listed) => listed.clone(),
            None => self.measured_device(),
        };
        device.id = Cow::Owned(self.title());
        device.name = Cow::Owned(self.name.clone());
        device.launch_s = sourced(self.kernel_s);
        let hardware = &mut device.hardware;
        let count = self.multiprocessors.map(f64::from);
        hardware.multiprocessors = count.map(sourced).or(hardware.multiprocessors);
        let size = |bytes: Option<u64>| bytes.map(|bytes| sourced(bytes as f64));
        hardware.memory_bytes = size(self.memory_bytes).or(hardware.memory_bytes);
        hardware.l2_bytes = size(self.l2_bytes).or(hardware.l2_bytes);
        device.probe = Some(Arc::new(self));
        device
    }

    /// The device whose peaks are the measured rates, whether or not the table has it.
    pub fn measured_device(&self) -> Device {
        let matrix_flops_per_s = self.matrix_f16_flops_per_s.unwrap_or(0.0);
        let mut device = Device::custom(
            self.memory_bytes_per_s,
            matrix_flops_per_s,
            self.vector_flops_per_s,
            self.kernel_s,
        );
        if let Some(tf32) = self.matrix_tf32_flops_per_s {
            device = device.with_rate(Rate::MatrixTf32, tf32);
        }
        device.source = Source::Probe;
        device.matrix_units = match (self.matrix_f16_flops_per_s, self.matrix_bf16_flops_per_s) {
            (Some(_), None) => MatrixUnits::F16,
            // Without either rate nothing is known of the matrix units.
            (None, None) | (_, Some(_)) => MatrixUnits::F16AndBf16,
        };
        device.hardware = Hardware {
            on_chip: match self.shared_bytes_per_block {
                Some(bytes) => OnChip::Scratchpad {
                    bytes: bytes.into(),
                    is_confirmed: true,
                },
                None => OnChip::Unknown,
            },
            ..Hardware::UNKNOWN
        };
        device
    }
}
