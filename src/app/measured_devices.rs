//! The GPUs that a visitor measured, as the browser keeps them.

use fuseline_core::model::device::DeviceProbe;
use serde_json::Value;
use std::sync::Arc;

/// Most GPUs that are kept. The oldest is dropped first.
pub const MAX_DEVICES: usize = 12;

/// The measured GPUs, the latest first.
pub type MeasuredDevices = Vec<Arc<DeviceProbe>>;

/// The GPUs in a stored text. What cannot be read is left out, so that one bad entry costs no
/// other.
pub fn read_devices(stored: &str) -> MeasuredDevices {
    let entries: Vec<Value> = serde_json::from_str(stored).unwrap_or_default();
    let probes = entries
        .iter()
        .filter_map(|entry| DeviceProbe::of_json(&entry.to_string()));
    probes.take(MAX_DEVICES).map(Arc::new).collect()
}

/// The text to be stored, for [`read_devices`].
pub fn write_devices(devices: &MeasuredDevices) -> String {
    let entries: Vec<String> = devices.iter().map(|probe| probe.json()).collect();
    format!("[{}]", entries.join(","))
}

/// Adds a GPU in the place of what was measured by the same means on one of its name.
pub fn replace_device(devices: &mut MeasuredDevices, probe: Arc<DeviceProbe>) {
    devices.retain(|kept| (&kept.name, &kept.measured_with) != (&probe.name, &probe.measured_with));
    keep_device(devices, probe);
}

/// Adds a GPU; `false` if it is there already.
pub fn keep_device(devices: &mut MeasuredDevices, probe: Arc<DeviceProbe>) -> bool {
    if devices.contains(&probe) {
        return false;
    }
    devices.insert(0, probe);
    devices.truncate(MAX_DEVICES);
    true
}
