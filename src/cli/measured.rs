//! `fuseline measured PROGRAM FILE...`: the visitor's own measurements beside predictions.

use super::failure::{AnyError, Failed};
use super::output::{json, print};
use crate::analysed::Analysed;
use fuseline_core::{Analysis, Options, Policy, ReshapeCost, analyze_program};
use fuseline_import::matching::{Matching, match_kernels, policy_of_variant, short_neighbours};
use fuseline_import::profile::{MeasuredRun, Profile, Reader};
use fuseline_import::workload::{PatternInProgram, patterns_in_program};
use fuseline_view::opened::model_file::{FileKind, kind_of};
use fuseline_view::present::profile::{
    NeighbourRow, Note, ProfileRow, bytes_title, found_sentence, neighbour_rows, notes,
    pattern_sentence, profile_rows, profile_totals, run_title,
};
use fuseline_view::present::times::TimeKind;
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
pub(super) const SLICE_BYTES: usize = 1 << 20;

/// The runs of all files.
#[derive(Serialize)]
struct MeasuredReport {
    runs: Vec<RunReport>,
}

/// A run beside its prediction.
#[derive(Serialize)]
struct RunReport {
    variant: Option<String>,
    device: Option<String>,
    torch: Option<String>,
    predicted_for: String,
    policy: &'static str,
    time_s: Option<f64>,
    time_cold_s: Option<f64>,
    /// Whether a cache was flushed before each kernel. If so, predictions assume cold caches, too.
    is_cold: bool,
    calls: usize,
    /// Kernels of the file that came before the last ones that are read.
    passed_over: usize,
    kernels: Vec<KernelReport>,
    neighbours: Vec<NeighbourReport>,
}

/// A kernel that ran or is predicted.
#[derive(Serialize)]
struct KernelReport {
    /// Number of the predicted kernel, from 1.
    kernel: Option<usize>,
    /// Names of its ops.
    ops: Vec<String>,
    lower_bound_s: Option<f64>,
    /// By the device model; `null` without measured rates.
    predicted_s: Option<f64>,
    predicted_read_bytes: Option<u64>,
    predicted_bytes: Option<u64>,
    ran: Vec<LaunchReport>,
}

#[derive(Serialize)]
struct LaunchReport {
    name: String,
    start_s: Option<f64>,
    time_s: f64,
    read_bytes: Option<u64>,
    write_bytes: Option<u64>,
    moved_bytes: Option<u64>,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
}

#[derive(Serialize)]
struct NeighbourReport {
    kernels: [usize; 2],
    times_s: [f64; 2],
    gap_s: Option<f64>,
    saved_bytes: Option<i64>,
    lower_bound_saved_s: Option<f64>,
    predicted_saved_s: Option<f64>,
    /// Why no kernel can do the work of both.
    reason: Option<String>,
}

/// A run with everything that is printed about it.
struct Shown {
    analysis: Analysis,
    matching: Matching,
    notes: Vec<Note>,
}

/// Prints the runs of all files.
pub(super) fn measured(
    analysed: &Analysed,
    files: &[PathBuf],
    is_json: bool,
) -> Result<(), Failed> {
    let mut profile: Option<Profile> = None;
    for file in files {
        let read = read(file).map_err(|problem| Failed::file(file, problem))?;
        match &mut profile {
            None => profile = Some(read),
            Some(profile) => profile
                .add(read)
                .map_err(|problem| Failed::file(file, problem))?,
        }
    }
    let Some(profile) = profile else {
        return Ok(());
    };
    let digest = profile
        .digest
        .clone()
        .unwrap_or_else(|| analysed.analysis.graph.digest());
    let shown = profile.runs.iter().filter_map(|run| {
        let options = options_of(run, &profile, &analysed.analysis.options);
        let analysis = analyze_program(&analysed.parsed.program, &options).analysis?;
        let matching = match_kernels(&analysis, run);
        let notes = notes(&analysis, &profile, &digest, &matching);
        Some(Shown {
            analysis,
            matching,
            notes,
        })
    });
    let shown: Vec<Shown> = shown.collect();
    let patterns = patterns(&shown);
    print(&if is_json {
        let runs = shown.iter().map(|shown| report(shown, &profile)).collect();
        json(&MeasuredReport { runs })?
    } else {
        let runs = shown.iter().map(text).chain(pattern_lines(&patterns));
        runs.collect::<Vec<_>>().join("\n")
    })
}

/// Reads a file slice by slice.
fn read(path: &Path) -> Result<Profile, AnyError> {
    let mut file = File::open(path)?;
    let mut slice = vec![0; SLICE_BYTES];
    let mut length = file.read(&mut slice)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kind = match kind_of(&name, &slice[..length]) {
        FileKind::Profile(kind) => kind,
        FileKind::Other(what) => return Err(format!("{what}.").into()),
        FileKind::Measurements => {
            return Err("it contains measured patterns but no run of this program: `fuseline calibrate FILE` makes records of them.".into());
        }
        FileKind::Text | FileKind::Model(_) | FileKind::Calibrations | FileKind::Device => {
            return Err("This is not a measurement. Use a file that a program's script saved, a table of ncu --csv, nsys stats or rocprof, or a trace or a printed table of torch.profiler.".into());
        }
    };
    let mut reader = Reader::new(kind);
    while length > 0 {
        reader.push(&slice[..length])?;
        length = file.read(&mut slice)?;
    }
    Ok(reader.finish()?)
}

/// The choices under which the kernels of a run are predicted.
fn options_of(run: &MeasuredRun, profile: &Profile, chosen: &Options) -> Options {
    let mut options = chosen.clone();
    // PyTorch launches no kernel for a view, whichever convention is chosen.
    options.conventions.reshape = ReshapeCost::View;
    if let Some(device) = profile.measured_device() {
        options.device = device;
    }
    if let Some((policy, is_tuned)) = run.variant.as_deref().and_then(policy_of_variant) {
        options.policy = policy;
        options.fusion.max_autotune = policy == Policy::Inductor && is_tuned;
    }
    options
}

/// The measured patterns that the program contains; none without both an eager and a compiled run.
fn patterns(shown: &[Shown]) -> Vec<PatternInProgram> {
    let of_variant = |variant: &str| {
        let is_it = |shown: &&Shown| shown.matching.run.variant.as_deref() == Some(variant);
        let found = shown.iter().find(is_it)?;
        Some((&found.analysis, &found.matching))
    };
    let (Some(eager), Some(compiled)) = (of_variant("eager"), of_variant("compiled")) else {
        return Vec::new();
    };
    let records = compiled.0.options.calibrations();
    records.map_or_else(Vec::new, |records| {
        patterns_in_program(eager, compiled, records)
    })
}

fn pattern_lines(patterns: &[PatternInProgram]) -> Option<String> {
    let lines = patterns
        .iter()
        .map(|pattern| pattern_sentence(pattern) + "\n");
    let lines: String = lines.collect();
    (!lines.is_empty()).then(|| format!("Patterns that were also measured alone:\n{lines}"))
}

fn text(shown: &Shown) -> String {
    let Shown {
        analysis,
        matching,
        notes,
    } = shown;
    let mut text = format!(
        "{}: {}\n",
        run_title(&matching.run),
        found_sentence(analysis, matching)
    );
    for note in notes {
        let mark = if note.is_warning { "warning: " } else { "" };
        let _ = writeln!(text, "{mark}{}", note.text);
    }
    let kind = TimeKind::of(analysis).name();
    let bytes = bytes_title(matching);
    let head = [
        "#",
        "ops",
        "ran",
        kind,
        "measured",
        "error",
        bytes,
        "measured",
        "error",
        "gap before",
    ];
    let mut lines: Vec<[String; 10]> = vec![head.map(str::to_owned)];
    let rows = profile_rows(analysis, matching);
    let mut line = |number: String, row: ProfileRow| {
        let ran = [row.name.as_str(), row.remark]
            .into_iter()
            .filter(|part| !part.is_empty());
        let ran = ran.collect::<Vec<_>>().join(", ");
        let [times, bytes] = [row.times, row.bytes];
        let [
            [predicted_time, time, time_error],
            [predicted_bytes, bytes, bytes_error],
        ] = [times, bytes];
        lines.push([
            number,
            row.ops,
            ran,
            predicted_time,
            time,
            time_error,
            predicted_bytes,
            bytes,
            bytes_error,
            row.gap,
        ]);
    };
    for row in rows {
        line(
            row.kernel()
                .map_or_else(|| "-".to_owned(), |kernel| kernel.number().to_string()),
            row,
        );
    }
    for row in profile_totals(analysis, matching) {
        line(row.of.sum_title().to_owned(), row);
    }
    let widths: [usize; 10] = std::array::from_fn(|column| {
        lines
            .iter()
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    for line in &lines {
        let cells =
            line.iter()
                .zip(widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    1 | 2 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    let neighbours = neighbour_rows(analysis, &short_neighbours(analysis, matching));
    for NeighbourRow {
        names, time, merge, ..
    } in neighbours
    {
        let end = match merge {
            Ok([bytes, saved]) => format!("one kernel would save {bytes} and {saved}"),
            Err(reason) => reason,
        };
        let _ = writeln!(text, "short consecutive kernels: {names}, {time}: {end}");
    }
    text
}

fn report(shown: &Shown, profile: &Profile) -> RunReport {
    let Shown {
        analysis, matching, ..
    } = shown;
    let run = &matching.run;
    let kernel = |row: ProfileRow| {
        let predicted = row
            .kernel()
            .and_then(|kernel| analysis.fused.kernels.get(kernel));
        let ops = predicted.map(|kernel| {
            kernel
                .ops
                .iter()
                .map(|&op| analysis.graph.ops[op].name.clone())
                .collect()
        });
        KernelReport {
            kernel: row.kernel().map(fuseline_core::KernelId::number),
            ops: ops.unwrap_or_default(),
            lower_bound_s: predicted.map(|kernel| kernel.placement.time_s),
            predicted_s: (analysis.predicted.as_ref())
                .and_then(|_| matching.predicted_s.get(row.kernel()?).copied()),
            predicted_read_bytes: predicted.map(|kernel| kernel.bytes_read),
            predicted_bytes: predicted.map(fuseline_core::Kernel::bytes),
            ran: row
                .launches(matching)
                .map(|launch| LaunchReport {
                    name: launch.name.to_string(),
                    start_s: launch.start_s,
                    time_s: launch.time_s,
                    read_bytes: launch.read_bytes,
                    write_bytes: launch.write_bytes,
                    moved_bytes: launch.moved_bytes,
                    grid: launch.grid,
                    block: launch.block,
                })
                .collect(),
        }
    };
    let neighbours = short_neighbours(analysis, matching);
    let rows = neighbour_rows(analysis, &neighbours);
    RunReport {
        variant: run.variant.clone(),
        device: profile.device.clone(),
        torch: profile.torch.clone(),
        predicted_for: analysis.options.device.name.to_string(),
        policy: analysis.options.policy.name(),
        time_s: run.time_s,
        time_cold_s: run.time_cold_s,
        is_cold: run.is_cold,
        calls: matching.calls,
        passed_over: profile.passed_over,
        kernels: profile_rows(analysis, matching)
            .into_iter()
            .map(kernel)
            .collect(),
        neighbours: (neighbours.iter().zip(rows))
            .map(|(of, row)| {
                let price = of.merge.as_ref().ok();
                NeighbourReport {
                    kernels: [of.first.number(), of.second.number()],
                    times_s: of.times_s,
                    gap_s: of.gap_s,
                    saved_bytes: price.map(|price| price.saved_bytes()),
                    lower_bound_saved_s: price.and_then(|price| price.bound_saved_s()),
                    predicted_saved_s: price.and_then(|price| price.predicted_saved_s()),
                    reason: row.merge.err(),
                }
            })
            .collect(),
    }
}
