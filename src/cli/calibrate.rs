//! `fuseline calibrate FILE...`: turns measurements of a GPU into a record of each fused pattern.

use super::compare::programs_beside;
use super::failure::Failed;
use super::input::read_source;
use super::measured::SLICE_BYTES;
use super::output::{json, print, tell};
use fuseline_core::analysis::measured::Measurements;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::parse;
use fuseline_core::{Device, Options, Program, analyze_program};
use fuseline_import::calibrate::{Measured, calibrate};
use fuseline_import::profile::{Kind, Profile, read_profile};
use fuseline_view::opened::model_file::{FileKind, kind_of};
use fuseline_view::present::calibration::{report, skipped_sentence};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const USE: &str = "Use a file that a program's script saved on a GPU (fuseline script PROGRAM > bench.py, then python bench.py bench.json), or measured patterns in the form of public/measured.";

/// Prints the calibration records of files that were measured on one GPU.
///
/// Programs that no file contains are read from the folder of the first file. The report compares
/// the records with those of other GPUs.
pub(super) fn calibrate_files(
    files: &[PathBuf],
    device: Option<&Device>,
    others: &[Arc<Calibrations>],
    is_json: bool,
) -> Result<(), Failed> {
    let folder = files.first().and_then(|path| path.parent());
    let folder = folder.unwrap_or_else(|| Path::new(""));
    let measured: Result<Vec<Measured>, Failed> =
        files.iter().map(|path| read(path, folder)).collect();
    let measured = measured?;
    let device = device_of(&measured, device)?;
    let calibrated = calibrate(&measured, device);
    for (pattern, reason) in &calibrated.skipped {
        tell(&format!(
            "warning: {}\n",
            skipped_sentence(pattern, *reason)
        ));
    }
    if calibrated.records.patterns.is_empty() {
        return Err(Failed::command("no pattern gives a record"));
    }
    print(&if is_json {
        json(&calibrated.records)?
    } else {
        let others: Vec<Calibrations> = others
            .iter()
            .map(|other| Calibrations::clone(other))
            .collect();
        report(&calibrated, &others)
    })
}

/// The GPU on which all files were measured: `named`, else the device that the files name.
fn device_of<'d>(
    measured: &'d [Measured],
    named: Option<&'d Device>,
) -> Result<&'d Device, Failed> {
    let mut gpus = measured.iter().map(|file| &file.measurements.device);
    let first = gpus.next().map_or("", String::as_str);
    if let Some(other) = gpus.find(|other| *other != first) {
        return Err(Failed::command(format!(
            "the files come from two GPUs, {first} and {other}: calibrate each GPU separately"
        )));
    }
    let known = measured.iter().find_map(|file| file.device.as_ref());
    named.or(known).ok_or_else(|| {
        Failed::command(format!("the table of devices has no {first}: name a similar one with --device, or a file that `python bench.py --probe` saved on it"))
    })
}

/// Reads a measured file. Its programs may be in `folder`.
fn read(path: &Path, folder: &Path) -> Result<Measured, Failed> {
    let bytes = std::fs::read(path).map_err(|problem| Failed::file(path, problem))?;
    let start = bytes.chunks(SLICE_BYTES).next().unwrap_or_default();
    let what = match kind_of(&path.to_string_lossy(), start) {
        FileKind::Profile(Kind::Script) => {
            let profile = read_profile(Kind::Script, &bytes);
            return of_script(
                path,
                folder,
                &profile.map_err(|problem| Failed::file(path, problem))?,
            );
        }
        FileKind::Measurements => {
            let file = Measurements::read(&String::from_utf8_lossy(&bytes));
            let file = file.map_err(|problem| Failed::file(path, problem))?;
            let programs = programs_beside(folder, file.rows.iter())?;
            return Ok(Measured::of_patterns(file, programs));
        }
        FileKind::Profile(kind @ (Kind::Table | Kind::Trace | Kind::Averages)) => format!(
            "it is {}, which does not time both eager and compiled runs",
            kind.name()
        ),
        FileKind::Calibrations => {
            "it already contains records: give it to --calibrations or --against".to_owned()
        }
        FileKind::Device => "it contains only the rates of a GPU: give it to --device".to_owned(),
        FileKind::Text | FileKind::Model(_) => "it is not a measurement".to_owned(),
        FileKind::Other(what) => what.to_owned(),
    };
    Err(Failed::file(path, format!("{what}. {USE}")))
}

/// The measurement that a script saved, with its program: the one in the file, or for older files
/// the one in `folder`.
fn of_script(path: &Path, folder: &Path, profile: &Profile) -> Result<Measured, Failed> {
    let name = profile.program.as_deref().unwrap_or_default();
    if let Some(text) = &profile.text {
        let parsed = parse(text);
        if has_errors(&parsed.diagnostics) {
            let file = format!("the program in {}", path.display());
            return Err(Failed::Text {
                file,
                text: text.clone(),
                diagnostics: parsed.diagnostics,
            });
        }
        return Ok(Measured::of_script(profile, name, parsed.program));
    }
    let mut beside = folder.join(Path::new(name).file_name().unwrap_or_default());
    if beside.extension().is_none() {
        beside.set_extension("fuse");
    }
    if !beside.is_file() {
        let problem = format!(
            "it lacks its program, which newer scripts save: put the program there as {}",
            beside.display()
        );
        return Err(Failed::file(path, problem));
    }
    let source = read_source(&beside.to_string_lossy())?;
    if has_errors(&source.parsed.diagnostics) {
        return Err(Failed::Text {
            file: source.name,
            text: source.text,
            diagnostics: source.parsed.diagnostics,
        });
    }
    let program = source.parsed.program;
    if let (Some(measured), Some(own)) = (&profile.digest, digest(&program))
        && *measured != own
    {
        let problem = format!(
            "{} differs from the measured program, or has other sizes: put the measured program there",
            beside.display()
        );
        return Err(Failed::file(path, problem));
    }
    let pattern = beside.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Measured::of_script(profile, &pattern, program))
}

/// The digest in the script of a program; `None` if the program cannot be analysed.
fn digest(program: &Program) -> Option<String> {
    let analysis = analyze_program(program, &Options::default()).analysis?;
    Some(analysis.graph.digest())
}
