//! `fuseline precision FILE`: where a program rounds, unfused and fused, and what that does to its
//! numbers.

use crate::failure::Failed;
use crate::output::print;
use fuseline_codegen::interpret::{Setup, interpret};
use fuseline_core::{Analysis, Program};
use fuseline_view::present::precision::{
    PrecisionRow, not_run_text, precision_rows, precision_sentence, roundings, run_notes,
};
use std::fmt::Write as _;

/// The result in a sentence, a line for each tensor, and what each kernel rounds.
pub(super) fn precision(
    program: &Program,
    analysis: &Analysis,
    setup: &Setup,
) -> Result<(), Failed> {
    let partition = &analysis.partition;
    let ran = interpret(program, partition, setup)
        .map_err(|refused| Failed::command(not_run_text(&refused)))?;
    let mut text = format!("{}\n\n", precision_sentence(&ran));
    let rows = precision_rows(&ran, partition, usize::MAX);
    let head = [
        "tensor",
        "unfused",
        "fused",
        "error unfused",
        "error fused",
        "ratio",
    ];
    let cells = |row: &PrecisionRow| {
        [
            row.name.clone(),
            row.unfused.clone(),
            row.fused.clone(),
            row.unfused_error.value.clone(),
            row.fused_error.value.clone(),
            row.ratio.value.clone(),
        ]
    };
    let lines: Vec<[String; 6]> = std::iter::once(head.map(str::to_owned))
        .chain(rows.iter().map(cells))
        .collect();
    let mut widths = [0; 6];
    for (cell, width) in lines.iter().flat_map(|line| line.iter().zip(0..)) {
        widths[width] = cell.chars().count().max(widths[width]);
    }
    for line in &lines {
        let cells = line.iter().zip(widths);
        let padded: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        let _ = writeln!(text, "{}", padded.join("  ").trim_end());
    }
    text.push('\n');
    for sentence in roundings(&ran, partition, usize::MAX) {
        let _ = writeln!(text, "{sentence}");
    }
    for note in run_notes(&ran, setup) {
        let _ = writeln!(text, "{note}");
    }
    print(&text)
}
