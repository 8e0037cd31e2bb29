//! `report`: every measured row beside its prediction, and the errors of the predictions.

use crate::cli::Failed;
use crate::core::analysis::measured::{
    Errors, Measurements, Predicted, Row, Variant, errors, predict,
};
use crate::core::json::read_json;
use crate::core::notation::parse;
use std::collections::BTreeMap;
use std::path::Path;

/// A measured row and its prediction.
struct Line {
    row: Row,
    predicted: Predicted,
}

/// Prints the report of the measured files in a folder.
pub(super) fn report(folder: &Path) -> Result<(), Failed> {
    for name in ["h200.json", "h200_sizes.json", "h200_fresh.json"] {
        let path = folder.join(name);
        let file = read(&path)?;
        println!("{name}: {}, PyTorch {}\n", file.device, file.torch);
        let lines = lines_of(folder, file.rows)?;
        table(&lines);
        println!();
        summary(&lines);
    }
    Ok(())
}

fn failed(what: &Path, problem: impl std::fmt::Display) -> Failed {
    eprintln!("error: {}: {problem}", what.display());
    Failed
}

fn read(path: &Path) -> Result<Measurements, Failed> {
    let text = std::fs::read_to_string(path).map_err(|e| failed(path, e))?;
    read_json(&text).map_err(|e| failed(path, e))
}

fn lines_of(folder: &Path, rows: Vec<Row>) -> Result<Vec<Line>, Failed> {
    rows.into_iter()
        .map(|row| {
            let path = folder.join(format!("{}.fuse", row.pattern));
            let text = std::fs::read_to_string(&path).map_err(|e| failed(&path, e))?;
            let predicted = predict(&row, &parse(&text).program, "h200")
                .ok_or_else(|| failed(&path, "cannot be analysed"))?;
            Ok(Line { row, predicted })
        })
        .collect()
}

impl Line {
    fn name(&self) -> String {
        let size: Vec<String> = self.row.size.iter().map(i64::to_string).collect();
        format!(
            "{} {} {}",
            self.row.pattern,
            size.join("x"),
            self.row.variant.name()
        )
    }

    fn reads(&self) -> Option<(f64, f64)> {
        Some((
            self.predicted.dram_read_bytes,
            self.row.dram_read_bytes? as f64,
        ))
    }

    /// By model or measurement more is read from DRAM than the compulsory traffic.
    fn reads_again(&self) -> bool {
        let most = self.predicted.compulsory_read_bytes as f64 * 1.02;
        (self.reads()).is_some_and(|(predicted, measured)| predicted > most || measured > most)
    }

    fn times(&self) -> (f64, f64) {
        (self.predicted.time_us, self.row.time_us)
    }
}

/// Predicted and measured speedup of each compiled line over the eager line of the same pattern and size.
fn speedups(lines: &[Line]) -> Vec<(usize, (f64, f64))> {
    let eager: BTreeMap<(&str, &[i64]), (f64, f64)> = lines
        .iter()
        .filter(|line| line.row.variant == Variant::Eager)
        .map(|line| {
            (
                (line.row.pattern.as_str(), &line.row.size[..]),
                line.times(),
            )
        })
        .collect();
    lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.row.variant != Variant::Eager)
        .filter_map(|(index, line)| {
            let before = eager.get(&(line.row.pattern.as_str(), &line.row.size[..]))?;
            let after = line.times();
            Some((index, (before.0 / after.0, before.1 / after.1)))
        })
        .collect()
}

fn table(lines: &[Line]) {
    println!(
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
    let speedups: BTreeMap<usize, (f64, f64)> = speedups(lines).into_iter().collect();
    for (index, line) in lines.iter().enumerate() {
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
        let reads = line.reads().map_or_else(none, |reads| pair(reads, 1e6, 1));
        let times = pair(line.times(), 1.0, 1);
        let speedup = speedups.get(&index).map_or_else(none, |&s| pair(s, 1.0, 2));
        println!(
            "{:<58} {:>7}  {:>18} {:>6}  {:>19} {:>6}  {:>11} {:>6}",
            line.name(),
            format!("{}/{}", line.predicted.launches, line.row.kernels.len()),
            reads.0,
            reads.1,
            times.0,
            times.1,
            speedup.0,
            speedup.1
        );
    }
}

fn summary(lines: &[Line]) {
    /// Size of the H200's L2 cache.
    const L2_BYTES: u64 = 62_914_560;
    let all = || lines.iter().enumerate();
    let exceeds = |line: &Line| line.predicted.largest_kernel_bytes > L2_BYTES;
    let reads = |keep: &dyn Fn(&Line) -> bool| -> Vec<(usize, (f64, f64))> {
        all()
            .filter(|(_, line)| keep(line))
            .filter_map(|(index, line)| Some((index, line.reads()?)))
            .collect()
    };
    let speedups = speedups(lines);
    for (what, pairs) in [
        (
            "DRAM reads without a matmul, data beyond L2",
            reads(&|line| !line.predicted.has_matmul && exceeds(line)),
        ),
        (
            "DRAM reads with a matmul",
            reads(&|line| line.predicted.has_matmul),
        ),
        (
            "of these, some of it read again",
            reads(&|line| line.predicted.has_matmul && line.reads_again()),
        ),
        (
            "time",
            all().map(|(index, line)| (index, line.times())).collect(),
        ),
        ("speedup of compiled over eager", speedups),
    ] {
        let figures: Vec<(f64, f64)> = pairs.iter().map(|&(_, pair)| pair).collect();
        if let Some(errors) = errors(&figures) {
            let worst = pairs
                .get(errors.worst_at)
                .and_then(|&(index, _)| lines.get(index))
                .map_or_else(String::new, Line::name);
            let Errors {
                count,
                median,
                ninth_decile,
                worst: most,
                ..
            } = errors;
            println!(
                "{what:<46} {count:>3} rows: error at the median {:.1} %, at the ninth decile {:.1} %, at worst {:.1} % ({worst})",
                median * 100.0,
                ninth_decile * 100.0,
                most * 100.0
            );
        }
    }
    println!();
}
