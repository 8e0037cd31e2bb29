//! One program on several devices, side by side.

use super::format::format_faster;
use super::quantity::{Quantity, Run, Values};
use super::times::TimeKind;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::compare::on_device;
use fuseline_core::{Analysis, DEVICES};

/// The fused program on one device.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct DeviceRow {
    /// The id of the device.
    pub id: String,
    pub name: String,
    pub kernels: String,
    pub bytes: String,
    /// `None` where the device has no measured rates.
    pub predicted: Option<String>,
    pub lower_bound: String,
    /// How many times faster it runs than the first device: by predicted times where both have
    /// them, else by lower bounds. Empty for the first device itself.
    pub compared: String,
    /// Whether the peak memory is more than the device has.
    pub is_too_large: bool,
}

/// The chosen device, then the others of the table. As many analyses as there are others.
pub fn all_devices(chosen: &Analysis) -> Vec<DeviceRow> {
    let own = &chosen.options.device.id;
    let others = DEVICES.iter().filter(|device| device.id != *own);
    let others = others.map(|device| DeviceRow::new(&on_device(chosen, device), Some(chosen)));
    [DeviceRow::new(chosen, None)]
        .into_iter()
        .chain(others)
        .collect()
}

impl DeviceRow {
    /// The row of `analysis`, compared with that of the first device unless it is the first itself.
    pub fn new(analysis: &Analysis, first: Option<&Analysis>) -> Self {
        let values = Values::new(analysis);
        let total = |quantity| values.total(quantity, Run::Fused);
        let device = &analysis.options.device;
        Self {
            id: device.id.to_string(),
            name: device.name.to_string(),
            kernels: total(Quantity::Launches),
            bytes: total(Quantity::Bytes),
            predicted: match TimeKind::of(analysis) {
                TimeKind::Predicted => Some(total(Quantity::PredictedTime)),
                TimeKind::LowerBound => None,
            },
            lower_bound: total(Quantity::LowerBound),
            compared: first.map_or_else(String::new, |first| faster(first, analysis)),
            is_too_large: analysis.fits_memory() == Some(false),
        }
    }
}

fn faster(first: &Analysis, analysis: &Analysis) -> String {
    if first.predicted.is_some() && analysis.predicted.is_some() {
        return format_faster(first.time_s() / analysis.time_s());
    }
    let ratio = format_faster(first.fused.time_s / analysis.fused.time_s);
    format!("{ratio} by lower bounds")
}
