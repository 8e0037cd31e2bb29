//! The analysis as a table of text.

use fuseline_core::{Analysis, KernelId};
use fuseline_view::present::certificates::certificate_sentence;
use fuseline_view::present::figure::Part;
use fuseline_view::present::format::{format_bytes, format_percent};
use fuseline_view::present::headline;
use fuseline_view::present::memory::{memory_text, memory_warning};
use fuseline_view::present::names::{launches_note, short_kernel_ops};
use fuseline_view::present::quantity::{Figure, Quantity, Run, Subject, Values};
use fuseline_view::present::times::{TimeKind, kernel_time, missing_total};
use std::fmt::Write as _;

/// Longest name in the table, in characters.
const NAME_CHARS: usize = 32;
/// Most ops of a kernel that the table names.
const NAMED_OPS: usize = 6;

/// The columns between the ops of a kernel and its time.
const COLUMNS: [(&str, Quantity); 5] = [
    ("FLOPs", Quantity::Flops),
    ("read", Quantity::BytesRead),
    ("written", Quantity::BytesWritten),
    ("arithmetic intensity", Quantity::Intensity),
    ("bottleneck", Quantity::RooflineBound),
];

/// The headline and one line for each kernel.
pub(super) fn table(analysis: &Analysis) -> String {
    let heads = COLUMNS.iter().map(|(head, _)| *head);
    let time = TimeKind::of(analysis).name();
    let head: Vec<String> = (["#", "ops"].into_iter().chain(heads).chain([time]))
        .map(str::to_owned)
        .collect();
    let values = Values::new(analysis);
    let kernels = analysis.fused.kernels.ids();
    let mut rows = vec![head];
    rows.extend(kernels.map(|id| row(analysis, &values, id)));
    // Words are aligned left, figures right.
    let are_words: Vec<bool> = ([false, true].into_iter())
        .chain(
            COLUMNS
                .iter()
                .map(|(_, quantity)| quantity.unit().is_none()),
        )
        .chain([false])
        .collect();
    format!("{}\n{}", headline(analysis), aligned(&rows, &are_words))
}

/// Rows with their columns below each other, at the left where `are_words`, else at the right.
pub(super) fn aligned(rows: &[Vec<String>], are_words: &[bool]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        let are_words = are_words.iter().copied().chain(std::iter::repeat(false));
        for ((cell, &width), is_words) in row.iter().zip(&widths).zip(are_words) {
            // Writing to a `String` cannot fail.
            let _ = if is_words {
                write!(line, "{cell:<width$}  ")
            } else {
                write!(line, "{cell:>width$}  ")
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn row(analysis: &Analysis, values: &Values<'_>, id: KernelId) -> Vec<String> {
    let ops = short_kernel_ops(analysis, id, NAMED_OPS, NAME_CHARS);
    let ops = match launches_note(analysis, id) {
        None => ops,
        Some(launches) => format!("{ops} ({launches})"),
    };
    let number = |&(_, quantity): &(&str, Quantity)| {
        let figure = Figure::fused(Subject::kernel(analysis, id)?, quantity);
        values.of(figure).map(|_| values.text(figure))
    };
    let numbers = COLUMNS.iter().map(number);
    let mut row = vec![id.number().to_string(), ops];
    row.extend(numbers.map(|number| number.unwrap_or_else(|| "-".to_owned())));
    row.push(kernel_time(analysis, id).unwrap_or_default().joined());
    row
}

fn headline(analysis: &Analysis) -> String {
    let values = Values::new(analysis);
    let figures = headline::headline(analysis);
    let times = [figures.ratio, figures.bounds];
    let times: Vec<String> = times.into_iter().flatten().collect();
    let mut text = format!(
        "{} -> {}{}\n{} -> {} kernels\n{}: {} -> {}{}\n",
        figures.unfused_bytes,
        figures.fused_bytes,
        saved_text(analysis),
        figures.unfused_kernels,
        figures.fused_kernels,
        figures.time_label,
        figures.unfused_time,
        figures.fused_time,
        match times.join("; ").replace('→', "->") {
            beside if beside.is_empty() => beside,
            beside => format!(" ({beside})"),
        },
    );
    if let Some(words) = missing_total(analysis) {
        let _ = writeln!(text, "{words}");
    }
    if let Some(certificate) = &analysis.certificate {
        let sentence = certificate_sentence(certificate, analysis.is_partial());
        let _ = writeln!(text, "{sentence}");
    }
    for (what, run) in [("unfused", Run::Unfused), ("fused", Run::Fused)] {
        let _ = writeln!(text, "{what:>7}: {}", values.accesses(run));
    }
    let _ = writeln!(
        text,
        "peak memory: unfused {}, fused {}",
        values.total(Quantity::PeakMemory, Run::Unfused),
        memory_text(analysis)
    );
    if let Some(warning) = memory_warning(analysis).as_deref().map(Part::text_of) {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}

/// ` (336 MB saved, 14.6 % less)`; nothing where ops of unknown shape are missing, because lower
/// bounds have no difference.
fn saved_text(analysis: &Analysis) -> String {
    if analysis.is_partial() {
        return String::new();
    }
    let saved = analysis.fused.traffic.saved_by_fusion;
    let (verb, less) = if saved < 0 {
        ("added", "more")
    } else {
        ("saved", "less")
    };
    format!(
        " ({} {verb}, {} {less})",
        format_bytes(saved.unsigned_abs()),
        format_percent(analysis.savings_pct.abs())
    )
}
