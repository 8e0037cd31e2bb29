//! `report`: every measured row beside its prediction, and the errors of the predictions.

use crate::failure::Failed;
use crate::output::print;
use fuseline_core::Program;
use fuseline_core::analysis::measured::{MeasuredRow, Measurements, errors};
use fuseline_core::notation::parse;
use fuseline_view::present::measured::{PredictedRow, patterns, predicted_rows};
use std::fmt::Write as _;
use std::path::Path;

/// Prints the report of the measured files in a folder.
pub(super) fn report(folder: &Path) -> Result<(), Failed> {
    // Writing to a `String` cannot fail.
    let mut text = String::new();
    for name in [
        "h200.json",
        "h200_sizes.json",
        "h200_fresh.json",
        "h200_decode.json",
        "h200_decode_fresh.json",
        "h200_rows.json",
        "h200_rows_fresh.json",
        "h100.json",
    ] {
        let path = folder.join(name);
        let file = read(&path)?;
        let _ = writeln!(text, "{name}: {}, PyTorch {}\n", file.device, file.torch);
        let rows = predicted(folder, file)?;
        table(&rows, &mut text);
        text.push('\n');
        summary(&rows, &mut text);
    }
    print(&text)
}

fn read(path: &Path) -> Result<Measurements, Failed> {
    let text = std::fs::read_to_string(path).map_err(|e| Failed::file(path, e))?;
    Measurements::read(&text).map_err(|e| Failed::file(path, e))
}

/// The op lists of all patterns, by name.
pub(super) fn programs_beside<'r>(
    folder: &Path,
    rows: impl Iterator<Item = &'r MeasuredRow>,
) -> Result<Vec<(String, Program)>, Failed> {
    let mut programs = Vec::new();
    for pattern in patterns(rows) {
        let path = folder.join(format!("{pattern}.fuse"));
        let text = std::fs::read_to_string(&path).map_err(|e| Failed::file(&path, e))?;
        programs.push((pattern, parse(&text).program));
    }
    Ok(programs)
}

fn predicted(folder: &Path, file: Measurements) -> Result<Vec<PredictedRow>, Failed> {
    let device = file.listed_device().ok_or_else(|| {
        let problem = format!("{} is not in the table of devices", file.device);
        Failed::file(folder, problem)
    })?;
    let programs = programs_beside(folder, file.rows.iter())?;
    let count = file.rows.len();
    let predicted = predicted_rows(file.rows, &programs, device);
    if predicted.len() < count {
        return Err(Failed::file(folder, "an op list cannot be analyzed"));
    }
    Ok(predicted)
}

fn name(row: &MeasuredRow) -> String {
    let size: Vec<String> = row.size.iter().map(i64::to_string).collect();
    format!("{} {} {}", row.pattern, size.join("x"), row.variant.name())
}

fn reads(of: &PredictedRow) -> Option<(f64, f64)> {
    Some((of.predicted.dram_read_bytes, of.row.dram_read_bytes? as f64))
}

fn times(of: &PredictedRow) -> (f64, f64) {
    (of.predicted.time_us, of.row.time_us)
}

/// Whether a row reads more than its compulsory traffic from DRAM, as predicted or measured.
fn reads_again(of: &PredictedRow) -> bool {
    let most = of.predicted.compulsory_read_bytes as f64 * 1.02;
    reads(of).is_some_and(|(predicted, measured)| predicted > most || measured > most)
}

fn table(rows: &[PredictedRow], text: &mut String) {
    let _ = writeln!(
        text,
        "{:<58} {:>7}  {:>18} {:>6}  {:>19} {:>6}  {:>11} {:>6}",
        "pattern, size, variant",
        "kernels",
        "DRAM reads in MB",
        "error",
        "time in us",
        "error",
        "speedup",
        "error"
    );
    for row in rows {
        let pair = |(predicted, measured): (f64, f64), unit: f64, digits: usize| {
            let text = format!(
                "{:.digits$} / {:.digits$}",
                predicted / unit,
                measured / unit
            );
            (
                text,
                format!("{:+.0} %", (predicted / measured - 1.0) * 100.0),
            )
        };
        let none = || (String::new(), String::new());
        let reads = reads(row).map_or_else(none, |reads| pair(reads, 1e6, 1));
        let times = pair(times(row), 1.0, 1);
        let speedup = row.speedup().map_or_else(none, |s| pair(s, 1.0, 2));
        let _ = writeln!(
            text,
            "{:<58} {:>7}  {:>18} {:>6}  {:>19} {:>6}  {:>11} {:>6}",
            name(&row.row),
            format!("{}/{}", row.predicted.launches, row.row.kernels.len()),
            reads.0,
            reads.1,
            times.0,
            times.1,
            speedup.0,
            speedup.1
        );
    }
}

fn summary(rows: &[PredictedRow], text: &mut String) {
    /// Size of the H200's L2 cache.
    const L2_BYTES: u64 = 62_914_560;
    /// Predicted and measured; `None` for a row that does not count.
    type Figure<'f> = &'f dyn Fn(&PredictedRow) -> Option<(f64, f64)>;
    let exceeds = |row: &PredictedRow| row.predicted.largest_kernel_bytes > L2_BYTES;
    let figures: [(&str, Figure<'_>); 6] = [
        (
            "DRAM reads without a matmul, data larger than the L2 cache",
            &|row| reads(row).filter(|_| !row.predicted.has_matmul && exceeds(row)),
        ),
        ("DRAM reads with a matmul", &|row| {
            reads(row).filter(|_| row.predicted.has_matmul)
        }),
        ("of these, with some data read again", &|row| {
            reads(row).filter(|_| row.predicted.has_matmul && reads_again(row))
        }),
        ("time", &|row| Some(times(row))),
        ("time with a cold cache", &|row| {
            Some((row.predicted.time_cold_us, row.row.time_cold_us?))
        }),
        ("speedup of compiled over eager", &PredictedRow::speedup),
    ];
    for (what, figure) in figures {
        let pairs = rows.iter().filter_map(|row| Some((row, figure(row)?)));
        let (rows, pairs): (Vec<_>, Vec<_>) = pairs.unzip();
        if let Some(errors) = errors(&pairs) {
            let worst = rows.get(errors.worst_at).map(|row| name(&row.row));
            let _ = writeln!(
                text,
                "{what:<46} {:>3} rows: median error {:.1} %, 90th percentile {:.1} %, largest {:.1} % ({})",
                errors.count,
                errors.median * 100.0,
                errors.ninth_decile * 100.0,
                errors.worst * 100.0,
                worst.unwrap_or_default(),
            );
        }
    }
    text.push('\n');
}
