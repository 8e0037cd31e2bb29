//! `fuseline calibrate FILE...`: from measured rows to a record of each fused pattern.

use super::compare::{programs_beside, read};
use super::output::{print, tell};
use super::{Failed, json};
use crate::core::Device;
use crate::core::analysis::calibrate::calibrate;
use crate::present::calibration::report;
use std::path::{Path, PathBuf};

/// Prints the records of these files of one GPU; their op lists are beside the first.
pub(super) fn calibrate_files(
    files: &[PathBuf],
    device: &Device,
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
        let calibrations = calibrate(&measured, &programs, device);
        if is_json {
            print(&json(&calibrations)?)?;
        } else {
            print(&report(&calibrations))?;
        }
    }
    Ok(())
}
