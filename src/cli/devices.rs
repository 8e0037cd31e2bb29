//! `--device a,b`: one program on several devices, side by side.

use crate::policies::FusedReport;
use fuseline_core::Analysis;
use fuseline_view::present::on_devices::DeviceRow;
use serde::Serialize;
use std::fmt::Write as _;

/// The fused program on one device.
#[derive(Serialize)]
pub(super) struct DeviceReport {
    device: String,
    policy: &'static str,
    #[serde(flatten)]
    fused: FusedReport,
    /// Whether they fit the device; `null` where that is unknown.
    fits: Option<bool>,
}

impl DeviceReport {
    pub(super) fn new(analysis: &Analysis) -> Self {
        Self {
            device: analysis.options.device.id.to_string(),
            policy: analysis.options.policy.name(),
            fused: FusedReport::new(analysis),
            fits: analysis.fits_memory(),
        }
    }
}

/// One line for each device. The last column compares with the first device.
pub(super) fn devices_table(analyses: &[&Analysis]) -> String {
    let Some((&first, others)) = analyses.split_first() else {
        return String::new();
    };
    let head = ["device", "kernels", "bytes", "predicted", "lower bound"].map(str::to_owned);
    let beside = format!("than {}", first.options.device.name);
    let others = others
        .iter()
        .map(|other| DeviceRow::new(other, Some(first)));
    let of_devices = [DeviceRow::new(first, None)].into_iter().chain(others);
    let rows: Vec<([String; 5], String)> = [(head, beside)]
        .into_iter()
        .chain(of_devices.map(|row| {
            let predicted = row.predicted.unwrap_or_else(|| "-".to_owned());
            let cells = [row.name, row.kernels, row.bytes, predicted, row.lower_bound];
            (cells, row.compared)
        }))
        .collect();
    let widths = [0, 1, 2, 3, 4].map(|column: usize| {
        let cells = rows.iter().filter_map(|(row, _)| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    });
    let mut text = String::from("\n");
    for (row, compared) in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let _ = match column {
                0 => write!(line, "{cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        let _ = writeln!(text, "{}", format!("{line}  {compared}").trim_end());
    }
    text
}
