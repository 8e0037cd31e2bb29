//! The JSON that the script of a program saves.

use super::{ContentError, Kind, MAX_KERNELS, MeasuredKernel, MeasuredRun, Profile, ProfileError};
use fuseline_core::input::MAX_INPUT_BYTES;
use fuseline_core::json::read_json;
use fuseline_core::model::device::DeviceProbe;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A file of the script. Times are in microseconds.
#[derive(Deserialize)]
#[serde(expecting = "a file that a program's script saves")]
struct File {
    program: String,
    digest: Option<String>,
    #[serde(deserialize_with = "gpu")]
    device: Gpu,
    torch: String,
    rows: Vec<Row>,
    /// Older scripts write none.
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "a run with `variant`, times and `kernels`")]
struct Row {
    variant: String,
    #[serde(default, deserialize_with = "time")]
    time_us: Option<f64>,
    #[serde(default, deserialize_with = "time")]
    time_cold_us: Option<f64>,
    /// Without a GPU the script only checks.
    #[serde(default)]
    kernels: Vec<Launched>,
}

#[derive(Deserialize)]
#[serde(expecting = "a kernel with `name` and `time_us`")]
struct Launched {
    name: String,
    #[serde(deserialize_with = "time")]
    time_us: Option<f64>,
    start_us: Option<f64>,
}

/// What ran the program: a name, as older scripts and those without a GPU write, or a probe.
enum Gpu {
    Named(String),
    Probed(Box<DeviceProbe>),
}

impl Gpu {
    fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Probed(probe) => &probe.name,
        }
    }
}

fn gpu<'de, D: Deserializer<'de>>(source: D) -> Result<Gpu, D::Error> {
    match Value::deserialize(source)? {
        Value::String(name) => Ok(Gpu::Named(name)),
        probe => serde_json::from_value(probe)
            .map(|probe| Gpu::Probed(Box::new(probe)))
            .map_err(serde::de::Error::custom),
    }
}

/// A time of at least 0, or none.
fn time<'de, D: Deserializer<'de>>(source: D) -> Result<Option<f64>, D::Error> {
    let time = Option::<f64>::deserialize(source)?;
    match time {
        Some(time_us) if time_us < 0.0 => Err(serde::de::Error::custom(format!(
            "a time is at least 0, and this one is {time_us}"
        ))),
        time => Ok(time),
    }
}

/// Collects the file, which is small.
#[derive(Default)]
pub(super) struct ScriptReader {
    bytes: Vec<u8>,
}

impl ScriptReader {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ProfileError> {
        if bytes.len() > MAX_INPUT_BYTES - self.bytes.len() {
            return Err(ProfileError::TooLarge {
                most_mb: MAX_INPUT_BYTES / 1_000_000,
            });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Profile, ProfileError> {
        let text = String::from_utf8_lossy(&self.bytes);
        let file: File = read_json(&text)?;
        let count: usize = file.rows.iter().map(|row| row.kernels.len()).sum();
        if count > MAX_KERNELS {
            return Err(ContentError::TooManyKernels.into());
        }
        if count == 0 {
            return Err(ProfileError::NothingTimed(file.device.name().to_owned()));
        }
        let rows = file.rows.into_iter().filter(|row| !row.kernels.is_empty());
        Ok(Profile {
            kind: Kind::Script,
            program: Some(file.program),
            digest: file.digest,
            text: file.text,
            device: Some(file.device.name().to_owned()),
            probe: match file.device {
                Gpu::Named(_) => None,
                Gpu::Probed(probe) => Some(*probe),
            },
            torch: Some(file.torch),
            runs: rows.map(run).collect(),
            passed_over: 0,
        })
    }
}

fn run(row: Row) -> MeasuredRun {
    let seconds = |us: Option<f64>| us.map(|us| us * 1e-6);
    let kernel = |kernel: Launched| MeasuredKernel {
        start_s: seconds(kernel.start_us),
        ..MeasuredKernel::new(kernel.name, kernel.time_us.unwrap_or(0.0) * 1e-6)
    };
    let mut run = MeasuredRun {
        variant: Some(row.variant),
        time_s: seconds(row.time_us),
        time_cold_s: seconds(row.time_cold_us),
        kernels: row.kernels.into_iter().map(kernel).collect(),
        is_cut: false,
        is_cold: false,
        is_summed: false,
    };
    run.start_at_zero();
    run
}
