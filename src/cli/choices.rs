//! The arguments that choose policy, conventions and device.

use crate::failure::{AnyError, Failed};
use crate::fusion::FusionFlags;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::model::day::Day;
use fuseline_core::model::device::{DeviceProbe, OWN_LAUNCH_S};
use fuseline_core::{
    Conventions, DEVICES, DType, Device, Externals, F32Matmul, Objective, Options, Policy,
    ReshapeCost, default_device, device,
};
use std::error::Error;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use strum::VariantArray;

#[derive(Args)]
#[command(next_help_heading = "Fusion policy")]
pub(super) struct Choices {
    /// The fusion policy.
    #[arg(long, default_value = "rules", value_parser = by_name::<Policy>())]
    policy: Policy,
    #[command(flatten)]
    fusion: FusionFlags,
    /// How inputs and weights count.
    #[arg(long, help_heading = "Counting", default_value = "declared", value_parser = by_name::<Externals>())]
    externals: Externals,
    /// What a separate reshape costs.
    #[arg(long, help_heading = "Counting", default_value = "copy", value_parser = by_name::<ReshapeCost>())]
    reshape: ReshapeCost,
    /// The type in which matmuls on f32 operands are computed; f32 is PyTorch's default.
    #[arg(long, help_heading = "Device", default_value = "f32", value_parser = by_name::<F32Matmul>())]
    f32_matmul: F32Matmul,
    /// The type in which convolutions of f32 operands are computed; tf32 is PyTorch's default.
    #[arg(long, help_heading = "Device", default_value = "tf32", value_parser = by_name::<F32Matmul>())]
    f32_conv: F32Matmul,
    /// The device for which times are predicted, by id, or a file that a program's script saved on
    /// a GPU; `fuseline devices` lists them. `analyze` and `diff` take several: h200,b200.
    #[arg(long, help_heading = "Device", default_value = &*default_device().id, value_name = "NAME|FILE,…", value_parser = known_devices)]
    device: Devices,
    /// Measured records of fused patterns (from fuseline calibrate --json) for --objective
    /// measured, instead of the device's own.
    #[arg(long, help_heading = "Device", value_name = "FILE", value_parser = calibrations)]
    calibrations: Option<Arc<Calibrations>>,
    /// Launch time per kernel, in microseconds, instead of the device's own.
    #[arg(long, help_heading = "Device", value_name = "MICROSECONDS", value_parser = microseconds)]
    launch_us: Option<f64>,
}

/// What `analyze` prints beside its table, or instead.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Outputs {
    /// Also print the device resources that each kernel needs, and warnings where fusing costs
    /// time.
    #[arg(long)]
    pub(super) limits: bool,
    /// Also print all policies, ranked by bytes or by time.
    #[arg(long, value_name = "bytes|time", value_parser = by_name::<Objective>())]
    pub(super) compare: Option<Objective>,
    /// Also print the decisions of the policy, step by step.
    #[arg(long)]
    pub(super) steps: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(super) json: bool,
}

impl Choices {
    fn with_launch(&self, device: Device) -> Device {
        match self.launch_us {
            Some(launch_us) => device.with_launch_s(launch_us * 1e-6),
            None => device,
        }
    }

    /// The devices after the first.
    pub(super) fn other_devices(&self) -> Vec<Device> {
        let others = self.device.others.iter().cloned();
        others.map(|device| self.with_launch(device)).collect()
    }

    /// The options of a command that shows one device.
    pub(super) fn options_of_one(&self) -> Result<Options, Failed> {
        if self.device.others.is_empty() {
            return Ok(self.options());
        }
        Err(Failed::usage(
            "this command takes one device",
            "`analyze` and `diff` compare several",
        ))
    }

    pub(super) fn options(&self) -> Options {
        let device = self.device.first.clone();
        Options {
            policy: self.policy,
            fusion: self.fusion.options(),
            conventions: Conventions {
                externals: self.externals,
                reshape: self.reshape,
                f32_matmul: self.f32_matmul,
                f32_conv: self.f32_conv,
            },
            device: self.with_launch(device),
            own_calibrations: self.calibrations.clone(),
        }
    }
}

/// The devices of `--device`, of which there is one at least.
#[derive(Clone)]
struct Devices {
    /// The device of all times but those of the comparison.
    first: Device,
    others: Vec<Device>,
}

/// The devices of a list with commas. A file whose name has a comma is one device.
fn known_devices(ids: &str) -> Result<Devices, AnyError> {
    let (first, others) = match known_device(ids) {
        Err(_) if ids.contains(',') => {
            let mut all = ids.split(',').map(|id| known_device(id.trim()));
            let first = all.next().unwrap_or_else(|| known_device(ids))?;
            (first, all.collect::<Result<_, _>>()?)
        }
        first => (first?, Vec::new()),
    };
    Ok(Devices { first, others })
}

/// A parser of a choice by its name. Help and errors list the names.
pub(super) fn by_name<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + Copy + Into<&'static str> + FromStr<Err: Error + Send + Sync> + Send + Sync,
{
    let names = T::VARIANTS.iter().map(|&choice| choice.into());
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// Reads the calibration records in a file.
pub(super) fn calibrations(path: &str) -> Result<Arc<Calibrations>, AnyError> {
    let text = std::fs::read_to_string(path)?;
    Ok(Arc::new(Calibrations::read(&text)?))
}

/// The element type with this name, in the notation or in PyTorch.
pub(super) fn element_type(name: &str) -> Result<DType, String> {
    DType::named(name).ok_or_else(|| one_of(DType::VARIANTS.iter().map(|dtype| dtype.name())))
}

fn microseconds(text: &str) -> Result<f64, String> {
    let is_valid = |us: &f64| OWN_LAUNCH_S.contains(&(us * 1e-6));
    text.parse().ok().filter(is_valid).ok_or_else(|| {
        let [least, most] = [OWN_LAUNCH_S.start(), OWN_LAUNCH_S.end()].map(|s| s * 1e6);
        format!("write a number of microseconds from {least} to {most}, such as 2 or 0.5")
    })
}

/// The device with this id, else the device in a file that a script saved.
pub(super) fn known_device(id: &str) -> Result<Device, AnyError> {
    if let Some(known) = device(id) {
        return Ok(known.clone());
    }
    let Ok(text) = std::fs::read_to_string(id) else {
        let ids = one_of(DEVICES.iter().map(|d| d.id.as_ref()));
        return Err(format!("{ids}, or a file that a program's script saved on a GPU").into());
    };
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let unix_ms = since_1970.map_or(0, |time| time.as_secs() * 1000);
    let today = Day::of_unix_ms(unix_ms).unwrap_or(Day::LAST);
    let probe = DeviceProbe::read(&text, today).map_err(|error| {
        format!("this is no file that a program's script saved on a GPU: {error}")
    })?;
    Ok(probe.device())
}

pub(super) fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("use one of: {}", names.collect::<Vec<_>>().join(", "))
}

pub(super) fn assignment(text: &str) -> Result<(String, i64), String> {
    text.split_once('=')
        .and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)))
        .ok_or_else(|| "write it as PARAM=VALUE with a whole number, such as S=1024".to_owned())
}
