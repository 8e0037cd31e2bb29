//! `fuseline calibrate FILE...`: from measured rows to a record of each fused pattern.

use super::compare::{programs_beside, read};
use super::output::{print, tell};
use super::{Failed, json};
use crate::core::Device;
use crate::core::analysis::calibrate::calibrate;
use crate::core::model::calibration::Calibrations;
use crate::present::calibration::report;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Prints the records of these files of one GPU; their op lists are beside the first. Records of other GPUs stand against them.
pub(super) fn calibrate_files(
    files: &[PathBuf],
    device: &Device,
    others: &[Arc<Calibrations>],
    is_json: bool,
) -> Result<(), Failed> {
    let measured: Result<Vec<_>, Failed> = files.iter().map(|path| read(path)).collect();
    let measured = measured?;
    let mut devices = measured.iter().map(|file| &file.device);
    if let (Some(first), Some(path)) = (devices.next(), files.first()) {
        if let Some(other) = devices.find(|other| *other != first) {
            tell(&format!(
                "error: the files are of two GPUs, {first} and {other}: calibrate each alone\n"
            ));
            return Err(Failed);
        }
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        let rows = measured.iter().flat_map(|file| &file.rows);
        let programs = programs_beside(folder, rows)?;
        let calibrated = calibrate(&measured, &programs, device);
        if is_json {
            print(&json(&calibrated.records)?)?;
        } else {
            let others: Vec<Calibrations> = others
                .iter()
                .map(|other| Calibrations::clone(other))
                .collect();
            print(&report(&calibrated, &others))?;
        }
    }
    Ok(())
}
