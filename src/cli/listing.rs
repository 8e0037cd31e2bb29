//! The devices and the functions that the program knows, as tables or JSON.

use crate::failure::Failed;
use crate::output::{json, print};
use crate::table::aligned;
use fuseline_core::model::device::Rate;
use fuseline_core::model::functions::Function;
use fuseline_core::{DEVICES, Device};
use fuseline_view::present::format::{format_bandwidth, format_rate, format_seconds};
use serde::Serialize;
use std::collections::BTreeMap;
use strum::VariantArray;

/// A device in JSON.
#[derive(Serialize)]
struct DeviceEntry<'a> {
    id: &'a str,
    name: &'a str,
    source: &'a str,
    memory_bytes_per_s: f64,
    /// Peak rates in FLOP/s, by unit and element type.
    peaks: BTreeMap<&'static str, f64>,
    launch_s: f64,
    /// Figures that nobody has checked against their source.
    unverified: Vec<&'static str>,
}

#[derive(Serialize)]
struct Devices<'a> {
    devices: Vec<DeviceEntry<'a>>,
}

/// A function in JSON.
#[derive(Serialize)]
struct FunctionEntry {
    name: &'static str,
    op_type: &'static str,
    arguments: String,
    /// FLOPs per element, by the rule of its op type; 0 for a product, whose sizes decide.
    flops_per_element: u64,
    summary: &'static str,
    flops_source: &'static str,
}

#[derive(Serialize)]
struct Functions {
    functions: Vec<FunctionEntry>,
}

/// Prints the devices by which `--device` chooses.
pub(super) fn devices(is_json: bool) -> Result<(), Failed> {
    if is_json {
        let devices = DEVICES.iter().map(device_entry).collect();
        return print(&json(&Devices { devices })?);
    }
    let rates = Rate::VARIANTS.iter();
    let mut head = vec!["id".to_owned(), "name".to_owned(), "bandwidth".to_owned()];
    head.extend(rates.map(|rate| rate.name().replace('-', " ")));
    head.push("launch".to_owned());
    let mut rows = vec![head];
    rows.extend(DEVICES.iter().map(|device| {
        let marked = |text: String, is_confirmed: bool| text + if is_confirmed { "" } else { "?" };
        let bandwidth = device.memory_bytes_per_s;
        let mut row = vec![
            device.id.to_string(),
            device.name.to_string(),
            marked(format_bandwidth(bandwidth.value), bandwidth.is_confirmed),
        ];
        row.extend(Rate::VARIANTS.iter().map(|rate| match rate.figure(device) {
            Some(figure) => marked(format_rate(figure.value), figure.is_confirmed),
            None => "–".to_owned(),
        }));
        let launch = device.launch_s;
        row.push(marked(format_seconds(launch.value), launch.is_confirmed));
        row
    }));
    let table = aligned(&rows, &[true, true]);
    print(&format!(
        "{table}\n? = unverified figure; `--device ID` chooses a device.\n"
    ))
}

fn device_entry(device: &Device) -> DeviceEntry<'_> {
    let figures = || {
        let rates = Rate::VARIANTS.iter();
        rates.filter_map(|rate| Some((rate.name(), rate.figure(device)?)))
    };
    let others = [
        ("memory_bytes_per_s", device.memory_bytes_per_s),
        ("launch_s", device.launch_s),
    ];
    let all = others.into_iter().chain(figures());
    let unverified = all.filter(|(_, figure)| !figure.is_confirmed);
    DeviceEntry {
        id: &device.id,
        name: &device.name,
        source: device.source.citation(),
        memory_bytes_per_s: device.memory_bytes_per_s.value,
        peaks: figures()
            .map(|(name, figure)| (name, figure.value))
            .collect(),
        launch_s: device.launch_s.value,
        unverified: unverified.map(|(name, _)| name).collect(),
    }
}

/// Prints the functions of the notation.
pub(super) fn functions(is_json: bool) -> Result<(), Failed> {
    if is_json {
        let entry = |&function: &Function| {
            let row = function.row();
            FunctionEntry {
                name: function.name(),
                op_type: row.op_type.name(),
                arguments: function.arguments(),
                flops_per_element: row.flops_per_element,
                summary: row.summary,
                flops_source: row.flops_source,
            }
        };
        let functions = Function::VARIANTS.iter().map(entry).collect();
        return print(&json(&Functions { functions })?);
    }
    let mut rows = vec![
        ["function", "op type", "what it computes"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(Function::VARIANTS.iter().map(|function| {
        let row = function.row();
        let call = format!("{}({})", function.name(), function.arguments());
        vec![call, row.op_type.name().to_owned(), row.summary.to_owned()]
    }));
    print(&aligned(&rows, &[true, true, true]))
}
