//! Memory traffic as two stacked bars on one scale: unfused above fused, segments by fused kernel.

use crate::core::{Analysis, Traffic};
use crate::picture::charts::axes::{Frame, Margins, Plot, draw_frame, drawable, round_axis};
use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::labels::kernel_heading;
use crate::picture::charts::scene::{
    Anchor, Label, Mark, Point, Role, Scene, Shape, rect, tenths, text, text_width,
};
use crate::present::format::{format_bytes, format_change, format_percent};

/// Above this many kernels, neighbours too thin to see share a segment.
const MAX_SEPARATE_KERNELS: usize = 64;
/// Part of the axis below which a kernel is too thin to tell apart among many.
const THIN_PART: f64 = 0.01;

/// Bytes of one kernel, or of several neighbours, before and after fusion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KernelBytes {
    /// Read by the ops one by one.
    pub(super) read_before: u64,
    /// Written by the ops one by one.
    pub(super) written_before: u64,
    /// Read by the fused kernel.
    pub(super) read: u64,
    /// Written by the fused kernel.
    pub(super) written: u64,
}

impl KernelBytes {
    /// Bytes of the fused kernel with this index; 0 where there is none.
    pub(super) fn of(analysis: &Analysis, kernel: usize) -> Self {
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
    pub(super) fn and(self, other: Self) -> Self {
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
struct KernelRun {
    first: usize,
    last: usize,
    bytes: KernelBytes,
}

impl KernelRun {
    fn heading(&self, analysis: &Analysis) -> String {
        if self.first == self.last {
            kernel_heading(analysis, self.first)
        } else {
            format!("kernels {} to {}", self.first + 1, self.last + 1)
        }
    }

    /// The mark as a part of its kernel; one that several kernels share has no kernel's colour.
    fn of_kernel(&self, mark: Mark) -> Mark {
        if self.first == self.last {
            mark.of_kernel(self.first)
        } else {
            mark
        }
    }
}

/// Upper and lower edge of each bar.
struct BarsY {
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
            margins: Margins {
                top: 24.0,
                right: 24.0,
                bottom: 26.0,
                left: 10.0,
            },
            x: round_axis(before.total.max(after.total) as f64),
            y: None,
            x_ticks: tick_count(width),
            x_text: &tick_text,
            y_text: &|_| String::new(),
            lines: &[],
        },
        &mut marks,
    );
    let Bounds {
        left, top, bottom, ..
    } = plot.bounds;
    let height_of_all = (bottom - top - 26.0).max(12.0);
    let bars_y = BarsY {
        unfused: (top + 2.0, top + 2.0 + height_of_all * 0.35),
        fused: (top + 2.0 + height_of_all * 0.65, top + 2.0 + height_of_all),
    };

    let runs = kernel_runs(analysis, &plot);
    let focus_order = draw_runs(analysis, &runs, &plot, &bars_y, &mut marks);
    draw_saved(analysis, &plot, &bars_y, &mut marks);

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
        (left, bars_y.fused.1 + 16.0),
        Anchor::Start,
        fused_text,
    ));
    draw_saved_text(analysis, &plot, &bars_y, fused_end + 12.0, &mut marks);

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
pub(super) fn tick_count(length: f64) -> usize {
    (length / 80.0).clamp(2.0, 11.0) as usize
}

/// A tick's text without digits that say nothing: `0`, `500 MB`, `1.5 GB`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ticks are positive and at most a power of ten above the program's bytes"
)]
pub(super) fn tick_text(bytes: f64) -> String {
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

fn kernel_runs(analysis: &Analysis, plot: &Plot) -> Vec<KernelRun> {
    let kernels = analysis.fused.kernels.len();
    let thin_px = plot.bounds.width() * THIN_PART;
    let is_thin =
        |bytes: KernelBytes| plot.place(bytes.before() as f64, 0.0).0 - plot.bounds.left < thin_px;
    let mut runs: Vec<KernelRun> = Vec::new();
    for kernel in 0..kernels {
        let bytes = KernelBytes::of(analysis, kernel);
        match runs.last_mut() {
            Some(run) if kernels > MAX_SEPARATE_KERNELS && is_thin(run.bytes) && is_thin(bytes) => {
                run.last = kernel;
                run.bytes = run.bytes.and(bytes);
            }
            _ => runs.push(KernelRun {
                first: kernel,
                last: kernel,
                bytes,
            }),
        }
    }
    runs
}

/// Draws ribbons, segments and numbers; gives the order of the arrow keys, run by run.
fn draw_runs(
    analysis: &Analysis,
    runs: &[KernelRun],
    plot: &Plot,
    bars_y: &BarsY,
    marks: &mut Vec<Mark>,
) -> Vec<usize> {
    let x = |bytes: u64| plot.place(bytes as f64, 0.0).0;
    let (mut before, mut after) = (0_u64, 0_u64);
    let mut numbers = Vec::new();
    let mut segments = Vec::new();
    for run in runs {
        let bytes = run.bytes;
        let ends = (before + bytes.before(), after + bytes.after());
        let upper = (x(before), x(ends.0));
        let lower = (x(after), x(ends.1));
        marks.push(run.of_kernel(ribbon(upper, lower, bars_y)));
        numbers.extend(number(run, upper, lower, bars_y));
        for (role, from, count, bar_y, when, total) in [
            (
                Role::Read,
                before,
                bytes.read_before,
                bars_y.unfused,
                "unfused",
                analysis.unfused.traffic.total,
            ),
            (
                Role::Write,
                before + bytes.read_before,
                bytes.written_before,
                bars_y.unfused,
                "unfused",
                analysis.unfused.traffic.total,
            ),
            (
                Role::Read,
                after,
                bytes.read,
                bars_y.fused,
                "fused",
                analysis.fused.traffic.total,
            ),
            (
                Role::Write,
                after + bytes.read,
                bytes.written,
                bars_y.fused,
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
                format!("{}, {when}", run.heading(analysis)),
                vec![(verb, format_bytes(count)), ("share", share)],
            );
            let mark = rect(role, (x(from), bar_y.0), (x(from + count), bar_y.1));
            segments.push(run.of_kernel(mark).named(label));
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
fn ribbon(upper: (f64, f64), lower: (f64, f64), bars_y: &BarsY) -> Mark {
    let corners: [Point; 4] = [
        (upper.0, bars_y.unfused.1),
        (upper.1, bars_y.unfused.1),
        (lower.1, bars_y.fused.0),
        (lower.0, bars_y.fused.0),
    ];
    Mark::new(
        Role::Ribbon,
        Shape::Path {
            points: corners.into_iter().map(tenths).collect(),
            is_closed: true,
        },
    )
}

/// A kernel's number in the middle of its ribbon, where it fits.
fn number(run: &KernelRun, upper: (f64, f64), lower: (f64, f64), bars_y: &BarsY) -> Option<Mark> {
    let words = (run.first + 1).to_string();
    let width = f64::midpoint(upper.1 - upper.0, lower.1 - lower.0);
    let is_tall = bars_y.fused.0 - bars_y.unfused.1 > 12.0;
    (run.first == run.last && is_tall && width > text_width(&words) + 4.0).then(|| {
        let x = (upper.0 + upper.1 + lower.0 + lower.1) / 4.0;
        let y = f64::midpoint(bars_y.unfused.1, bars_y.fused.0) + 4.2;
        run.of_kernel(text(Role::Number, (x, y), Anchor::Middle, words))
    })
}

/// `saved 336 MB, −14.6 %`.
fn saved_words(analysis: &Analysis) -> String {
    let saved = analysis.fused.traffic.saved_by_fusion;
    let verb = match saved {
        0 => return "nothing saved".to_owned(),
        1.. => "saved",
        _ => "added",
    };
    format!(
        "{verb} {}, {}",
        format_bytes(saved.unsigned_abs()),
        format_change(analysis.savings_pct)
    )
}

/// The saved bytes as a gap at the end of the fused bar.
fn draw_saved(analysis: &Analysis, plot: &Plot, bars_y: &BarsY, marks: &mut Vec<Mark>) {
    let traffic = &analysis.fused.traffic;
    if traffic.saved_by_fusion > 0 {
        let start = plot.place(traffic.total as f64, 0.0).0;
        let end = plot.place(analysis.unfused.traffic.total as f64, 0.0).0;
        marks.push(rect(
            Role::Saved,
            (start, bars_y.fused.0),
            (end, bars_y.fused.1),
        ));
    }
}

/// The figure of the gap, below it; never left of `min_left`, where the words of the fused bar end.
fn draw_saved_text(
    analysis: &Analysis,
    plot: &Plot,
    bars_y: &BarsY,
    min_left: f64,
    marks: &mut Vec<Mark>,
) {
    /// Width of bold type over that of regular type.
    const BOLD: f64 = 1.1;
    let right = plot.bounds.right;
    let mut words = saved_words(analysis);
    if min_left + text_width(&words) * BOLD > right + 20.0 {
        words = format_change(analysis.savings_pct);
    }
    let width = text_width(&words) * BOLD;
    let gap_end = plot.place(analysis.unfused.traffic.total as f64, 0.0).0;
    let end = gap_end.max(min_left + width);
    let y = bars_y.fused.1 + 16.0;
    marks.push(text(Role::SavedText, (end, y), Anchor::End, words));
}
