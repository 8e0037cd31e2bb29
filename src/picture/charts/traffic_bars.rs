//! Memory traffic as two stacked bars on one scale: unfused above fused, segments by fused kernel.

use crate::core::{Analysis, Traffic};
use crate::picture::charts::axes::{Frame, Plot, draw_frame, drawable, round_axis};
use crate::picture::charts::labels::kernel_heading;
use crate::picture::charts::scene::{
    Anchor, Label, Mark, Point, Role, Scene, Shape, rect, tenths, text, text_width,
};
use crate::present::format::{format_bytes, format_change, format_percent};

/// Above this many kernels, neighbours too thin to see share a segment.
const KERNELS_APART: usize = 64;
/// Part of the axis below which a kernel is too thin to tell apart among many.
const THIN: f64 = 0.01;

/// Bytes of one kernel, or of several neighbours, before and after fusion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::picture) struct Bytes {
    /// Read by the ops one by one.
    pub(in crate::picture) read_before: u64,
    /// Written by the ops one by one.
    pub(in crate::picture) written_before: u64,
    /// Read by the fused kernel.
    pub(in crate::picture) read: u64,
    /// Written by the fused kernel.
    pub(in crate::picture) written: u64,
}

impl Bytes {
    /// Bytes of the fused kernel with this index; 0 where there is none.
    pub(in crate::picture) fn of(analysis: &Analysis, kernel: usize) -> Self {
        let (Some(fused), Some(before)) = (
            analysis.fused.kernels.get(kernel),
            analysis.comparisons.get(kernel),
        ) else {
            return Self::default();
        };
        Self {
            read_before: before.unfused_bytes_read,
            written_before: before
                .unfused_bytes
                .saturating_sub(before.unfused_bytes_read),
            read: fused.bytes_read,
            written: fused.bytes_written,
        }
    }

    /// Both together. No overflow: the graph bounds the bytes of the whole program.
    pub(in crate::picture) fn and(self, other: Self) -> Self {
        Self {
            read_before: self.read_before + other.read_before,
            written_before: self.written_before + other.written_before,
            read: self.read + other.read,
            written: self.written + other.written,
        }
    }

    fn before(self) -> u64 {
        self.read_before + self.written_before
    }

    fn after(self) -> u64 {
        self.read + self.written
    }
}

/// Neighbouring kernels that share segments; mostly one.
struct BarSpan {
    first: usize,
    last: usize,
    bytes: Bytes,
}

impl BarSpan {
    fn heading(&self, analysis: &Analysis) -> String {
        if self.first == self.last {
            kernel_heading(analysis, self.first)
        } else {
            format!("kernels {} to {}", self.first + 1, self.last + 1)
        }
    }

    /// The mark as a part of its kernel; neighbours that share it have no colour of their own.
    fn own(&self, mark: Mark) -> Mark {
        if self.first == self.last {
            mark.of_kernel(self.first)
        } else {
            mark
        }
    }
}

/// Heights of what stands in the frame, from its top.
struct Rows {
    unfused: (f64, f64),
    fused: (f64, f64),
}

/// Draws the traffic of `analysis` into a frame of `size` units, at least 240 by 140.
///
/// The scale ends at a round figure that holds the unfused bytes and changes seldom while a slider moves.
/// `O(kernels)`; where there are many, neighbours too thin to see share segments.
pub fn scene(analysis: &Analysis, size: (f64, f64)) -> Scene {
    let size = drawable(size);
    let (width, height) = size;
    let (before, after) = (&analysis.unfused.traffic, &analysis.fused.traffic);
    let is_compact = width < 520.0;
    let mut marks = Vec::new();
    let plot = draw_frame(
        &Frame {
            size,
            margins: [24.0, 24.0, 26.0, 10.0],
            x: round_axis(before.total.max(after.total) as f64),
            y: None,
            x_ticks: tick_count(width),
            x_text: &tick_text,
            y_text: &|_| String::new(),
            lines: &[],
        },
        &mut marks,
    );
    let [left, top, _, bottom] = plot.edges;
    let bars = (bottom - top - 26.0).max(12.0);
    let rows = Rows {
        unfused: (top + 2.0, top + 2.0 + bars * 0.35),
        fused: (top + 2.0 + bars * 0.65, top + 2.0 + bars),
    };

    let parts = parts(analysis, &plot);
    let focus_order = draw_parts(analysis, &parts, &plot, &rows, &mut marks);
    draw_saved(analysis, &plot, &rows, &mut marks);

    let summary = |name: &str, traffic: &Traffic| {
        let (read, written) = (
            format_bytes(traffic.bytes_read),
            format_bytes(traffic.bytes_written),
        );
        if is_compact {
            format!("{name} {}", format_bytes(traffic.total))
        } else {
            format!(
                "{name} {}: {read} read, {written} written",
                format_bytes(traffic.total)
            )
        }
    };
    marks.push(text(
        Role::BarText,
        (left, top - 8.0),
        Anchor::Start,
        summary("unfused", before),
    ));
    let fused_text = summary("fused", after);
    let fused_end = left + text_width(&fused_text);
    marks.push(text(
        Role::BarText,
        (left, rows.fused.1 + 16.0),
        Anchor::Start,
        fused_text,
    ));
    draw_saved_text(analysis, &plot, &rows, fused_end + 12.0, &mut marks);

    Scene {
        width,
        height,
        title: "Memory traffic".to_owned(),
        description: format!(
            "Unfused: {} read and {} written, {} in all. Fused: {} read and {} written, {} in all. {}.",
            format_bytes(before.bytes_read),
            format_bytes(before.bytes_written),
            format_bytes(before.total),
            format_bytes(after.bytes_read),
            format_bytes(after.bytes_written),
            format_bytes(after.total),
            saved_words(analysis)
        ),
        marks,
        focus_order,
    }
}

/// How many byte counts fit below an axis of this length.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths are on the frame"
)]
pub(in crate::picture) fn tick_count(length: f64) -> usize {
    (length / 80.0).clamp(2.0, 11.0) as usize
}

/// A tick's text without digits that say nothing: `0`, `500 MB`, `1.5 GB`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ticks are positive and at most a power of ten above the program's bytes"
)]
pub(in crate::picture) fn tick_text(bytes: f64) -> String {
    let words = format_bytes(bytes.round() as u64);
    let Some((digits, unit)) = words.split_once(' ') else {
        return words;
    };
    if digits.contains('.') {
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        format!("{digits} {unit}")
    } else if digits == "0" {
        "0".to_owned()
    } else {
        words
    }
}

fn parts(analysis: &Analysis, plot: &Plot) -> Vec<BarSpan> {
    let kernels = analysis.fused.kernels.len();
    let [left, _, right, _] = plot.edges;
    let thin_px = (right - left) * THIN;
    let is_thin = |bytes: Bytes| plot.place(bytes.before() as f64, 0.0).0 - left < thin_px;
    let mut parts: Vec<BarSpan> = Vec::new();
    for kernel in 0..kernels {
        let bytes = Bytes::of(analysis, kernel);
        match parts.last_mut() {
            Some(run) if kernels > KERNELS_APART && is_thin(run.bytes) && is_thin(bytes) => {
                run.last = kernel;
                run.bytes = run.bytes.and(bytes);
            }
            _ => parts.push(BarSpan {
                first: kernel,
                last: kernel,
                bytes,
            }),
        }
    }
    parts
}

/// Draws ribbons, segments and numbers; gives the order of the arrow keys, part by part.
fn draw_parts(
    analysis: &Analysis,
    parts: &[BarSpan],
    plot: &Plot,
    rows: &Rows,
    marks: &mut Vec<Mark>,
) -> Vec<usize> {
    let x = |bytes: u64| plot.place(bytes as f64, 0.0).0;
    let (mut before, mut after) = (0_u64, 0_u64);
    let mut numbers = Vec::new();
    let mut segments = Vec::new();
    for part in parts {
        let bytes = part.bytes;
        let ends = (before + bytes.before(), after + bytes.after());
        let upper = (x(before), x(ends.0));
        let lower = (x(after), x(ends.1));
        marks.push(part.own(ribbon(upper, lower, rows)));
        numbers.extend(number(part, upper, lower, rows));
        for (role, from, count, row, when, total) in [
            (
                Role::Read,
                before,
                bytes.read_before,
                rows.unfused,
                "unfused",
                analysis.unfused.traffic.total,
            ),
            (
                Role::Write,
                before + bytes.read_before,
                bytes.written_before,
                rows.unfused,
                "unfused",
                analysis.unfused.traffic.total,
            ),
            (
                Role::Read,
                after,
                bytes.read,
                rows.fused,
                "fused",
                analysis.fused.traffic.total,
            ),
            (
                Role::Write,
                after + bytes.read,
                bytes.written,
                rows.fused,
                "fused",
                analysis.fused.traffic.total,
            ),
        ] {
            if count == 0 {
                continue;
            }
            let verb = if role == Role::Read {
                "reads"
            } else {
                "writes"
            };
            let share = format_percent(count as f64 / total.max(1) as f64 * 100.0);
            let label = Label::new(
                format!("{}, {when}", part.heading(analysis)),
                vec![(verb, format_bytes(count)), ("share", share)],
            );
            let mark = rect(role, (x(from), row.0), (x(from + count), row.1));
            segments.push(part.own(mark).named(label));
        }
        (before, after) = ends;
    }
    let first = marks.len();
    marks.append(&mut segments);
    let focus_order = (first..marks.len()).collect();
    marks.append(&mut numbers);
    focus_order
}

/// Joins a kernel's bytes in both bars.
fn ribbon(upper: (f64, f64), lower: (f64, f64), rows: &Rows) -> Mark {
    let corners: [Point; 4] = [
        (upper.0, rows.unfused.1),
        (upper.1, rows.unfused.1),
        (lower.1, rows.fused.0),
        (lower.0, rows.fused.0),
    ];
    Mark::new(
        Role::Ribbon,
        Shape::Path {
            points: corners.into_iter().map(tenths).collect(),
            is_closed: true,
        },
    )
}

/// A kernel's number in the middle of its ribbon, where it has room.
fn number(part: &BarSpan, upper: (f64, f64), lower: (f64, f64), rows: &Rows) -> Option<Mark> {
    let words = (part.first + 1).to_string();
    let room = f64::midpoint(upper.1 - upper.0, lower.1 - lower.0);
    let is_tall = rows.fused.0 - rows.unfused.1 > 12.0;
    (part.first == part.last && is_tall && room > text_width(&words) + 4.0).then(|| {
        let x = (upper.0 + upper.1 + lower.0 + lower.1) / 4.0;
        let y = f64::midpoint(rows.unfused.1, rows.fused.0) + 4.2;
        part.own(text(Role::Number, (x, y), Anchor::Middle, words))
    })
}

/// `saved 336 MB, −14.6 %`.
fn saved_words(analysis: &Analysis) -> String {
    let saved = analysis.fused.traffic.saved_by_fusion;
    let verb = match saved {
        0 => return "nothing saved".to_owned(),
        1.. => "saved ",
        _ => "added ",
    };
    let bytes = format_bytes(saved.unsigned_abs());
    [verb, &bytes, ", ", &format_change(analysis.savings_pct)].concat()
}

/// The saved bytes as a gap at the end of the fused bar.
fn draw_saved(analysis: &Analysis, plot: &Plot, rows: &Rows, marks: &mut Vec<Mark>) {
    let traffic = &analysis.fused.traffic;
    if traffic.saved_by_fusion > 0 {
        let start = plot.place(traffic.total as f64, 0.0).0;
        let end = plot.place(analysis.unfused.traffic.total as f64, 0.0).0;
        marks.push(rect(
            Role::Saved,
            (start, rows.fused.0),
            (end, rows.fused.1),
        ));
    }
}

/// The figure of the gap, below it; never over the fused bar's own words, which end at `least`.
fn draw_saved_text(
    analysis: &Analysis,
    plot: &Plot,
    rows: &Rows,
    least: f64,
    marks: &mut Vec<Mark>,
) {
    /// How much wider bold type is.
    const BOLD: f64 = 1.1;
    let right = plot.edges[2];
    let mut words = saved_words(analysis);
    if least + text_width(&words) * BOLD > right + 20.0 {
        words = format_change(analysis.savings_pct);
    }
    let width = text_width(&words) * BOLD;
    let gap_end = plot.place(analysis.unfused.traffic.total as f64, 0.0).0;
    let end = gap_end.max(least + width);
    let y = rows.fused.1 + 16.0;
    marks.push(text(Role::SavedText, (end, y), Anchor::End, words));
}
