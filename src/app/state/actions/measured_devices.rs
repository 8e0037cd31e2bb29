//! GPUs that the visitor measured, among the devices of the picker.

use crate::app::measured_devices::{keep_device, replace_device};
use crate::app::state::page::Page;
use fuseline_browser as browser;
use fuseline_core::default_device;
use fuseline_core::model::day::Day;
use fuseline_core::model::device::{DeviceProbe, ProbeError};
use leptos::prelude::*;
use std::sync::Arc;

impl Page {
    /// Takes the rates of a GPU from a file, and chooses it.
    pub fn take_device(self, text: &str) {
        match DeviceProbe::read(text, today()) {
            Ok(probe) => {
                let probe = Arc::new(probe);
                self.keep_device(Arc::clone(&probe));
                self.choose_measured(&probe);
            }
            Err(problem) => {
                self.tell_failure(format!(
                    "The rates of this GPU could not be used: {problem}."
                ));
            }
        }
    }

    /// Takes the rates of a GPU that were measured here, and chooses it.
    pub fn take_your_gpu(self, probe: &Arc<DeviceProbe>) {
        self.chosen
            .measured_devices
            .update(|devices| replace_device(devices, Arc::clone(probe)));
        self.choose_measured(probe);
    }

    fn choose_measured(self, probe: &DeviceProbe) {
        self.choose(|choices| choices.device = probe.clone().device());
        let title = probe.title();
        self.tell(format!(
            "The GPU is now {title}. Times are predicted with its measured rates where its cache is known. GPU figures lists the rates and removes the GPU."
        ));
    }

    /// Offers a measured GPU in the picker, in this visit and later ones.
    pub fn keep_device(self, probe: Arc<DeviceProbe>) {
        self.chosen
            .measured_devices
            .maybe_update(|devices| keep_device(devices, probe));
    }

    /// Offers the GPU of a measurement, whose kernels are shown whatever its rates are.
    pub(super) fn keep_device_of_profile(self, probe: &DeviceProbe) -> Result<(), ProbeError> {
        probe.check_by(today())?;
        self.keep_device(Arc::new(probe.clone()));
        Ok(())
    }

    /// Removes the chosen GPU, if it was measured. The GPU of that name in the device table
    /// replaces it, else the default device.
    pub fn forget_device(self) {
        let device = self.chosen.device.get_untracked();
        if let Some(probe) = &device.probe {
            self.choose(|choices| {
                choices.device = device.listed().unwrap_or(default_device()).clone();
            });
            self.chosen
                .measured_devices
                .update(|devices| devices.retain(|kept| kept != probe));
        }
    }
}

/// The day, by the visitor's clock.
pub fn today() -> Day {
    Day::of_unix_ms(browser::clock_ms()).unwrap_or(Day::LAST)
}
