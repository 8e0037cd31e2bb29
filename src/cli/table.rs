//! The analysis as a table of text.

use fuseline_core::Analysis;
use fuseline_view::present::bottleneck_names::bound_name;
use fuseline_view::present::certificates::certificate_sentence;
use fuseline_view::present::explain::{total_accesses, total_memory};
use fuseline_view::present::figure::Part;
use fuseline_view::present::format::{
    format_bytes, format_flops, format_intensity, format_percent,
};
use fuseline_view::present::headline;
use fuseline_view::present::memory::{memory_text, memory_warning};
use fuseline_view::present::names::{launches_note, short_kernel_ops};
use fuseline_view::present::times::{TimeKind, kernel_time, missing_total};
use std::fmt::Write as _;

/// Longest name in the table, in characters.
const NAME_CHARS: usize = 32;
/// Most ops of a kernel that the table names.
const NAMED_OPS: usize = 6;

/// The headline and one line for each kernel.
pub(super) fn table(analysis: &Analysis) -> String {
    let kind = TimeKind::of(analysis);
    let head: [&str; 8] = [
        "#",
        "ops",
        "FLOPs",
        "read",
        "written",
        "arithmetic intensity",
        "bottleneck",
        kind.name(),
    ];
    let rows: Vec<[String; 8]> = analysis
        .fused
        .kernels
        .iter_enumerated()
        .map(|(id, kernel)| {
            let ops = short_kernel_ops(analysis, id, NAMED_OPS, NAME_CHARS);
            [
                id.number().to_string(),
                match launches_note(analysis, id) {
                    None => ops,
                    Some(launches) => format!("{ops} ({launches})"),
                },
                format_flops(kernel.work.flops()),
                format_bytes(kernel.bytes_read),
                format_bytes(kernel.bytes_written),
                kernel
                    .placement
                    .intensity
                    .map_or_else(|| "-".to_owned(), format_intensity),
                bound_name(kernel.placement.bound).to_owned(),
                kernel_time(analysis, id).unwrap_or_default().joined(),
            ]
        })
        .collect();
    let mut widths = head.map(|h| h.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[&str]| {
        let mut line = String::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            // Words are aligned left, figures right.
            let _ = match column {
                1 | 6 => write!(line, "{cell:<width$}  "),
                _ => write!(line, "{cell:>width$}  "),
            };
        }
        line.trim_end().to_owned()
    };
    let mut out = headline(analysis);
    let _ = writeln!(out, "\n{}", line(&head));
    for row in &rows {
        let _ = writeln!(out, "{}", line(&row.each_ref().map(String::as_str)));
    }
    out
}

fn headline(analysis: &Analysis) -> String {
    let (before, after) = (&analysis.unfused, &analysis.fused);
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
    for (what, execution) in [("unfused", before), ("fused", after)] {
        let accesses = total_accesses(analysis, execution);
        let _ = writeln!(text, "{what:>7}: {accesses}");
    }
    let _ = writeln!(
        text,
        "peak memory: unfused {}, fused {}",
        total_memory(analysis, before),
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
