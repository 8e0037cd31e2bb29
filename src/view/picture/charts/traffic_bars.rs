//! Memory traffic as two stacked bars on one scale: unfused above fused, with a segment for each
//! fused kernel.

use crate::picture::charts::Charted;
use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::bytes_axis::draw_bytes_frame;
use crate::picture::charts::frame::{Margins, Plot, drawable, is_compact};
use crate::picture::charts::kernel_bytes::{KernelBytes, ShownKernel};
use crate::picture::charts::marks::{bold_text_width, polygon, rect, text, text_width};
use crate::picture::charts::scene::{Anchor, Axes, Label, Mark, Role, Scene};
use crate::present::format::{format_bytes, format_change, format_percent};
use crate::present::quantity::{Quantity, Run, Values};
use fuseline_core::{Analysis, Policy, Traffic};

/// Above this many kernels, thin neighbours share a segment.
const MAX_SEPARATE_KERNELS: usize = 64;
/// Share of the axis below which a kernel is thin.
const THIN_SHARE: f64 = 0.01;

/// Says why bars are shorter while a slider is held.
const ROOM: &str = "axis with room to grow";

/// Draws the traffic of `analysis` into a frame of `size` units, at least 240 by 140.
///
/// The scale ends at a round figure that holds the unfused bytes. While a slider is held, the axis
/// that was `held` before stands still until a bar would leave it, so that growth looks like
/// growth. `O(kernels)`.
pub fn scene(analysis: &Analysis, size: (f64, f64), held: Option<Axes>) -> Scene {
    scene_of(Charted::fused(analysis), size, held)
}

/// The traffic of `charted`, with one segment for all equal kernels of a program that is repeated.
/// Before it is fused, the lower bar is as the upper one.
pub fn scene_of(charted: Charted<'_>, size: (f64, f64), held: Option<Axes>) -> Scene {
    let Charted {
        analysis,
        repeats,
        is_fused,
        pinned,
        ..
    } = charted;
    let is_fused = is_fused && analysis.options.policy != Policy::None;
    let size = drawable(size);
    let (before, after) = (&analysis.unfused.traffic, &analysis.fused.traffic);
    let mut marks = Vec::new();
    let margins = Margins {
        top: 24.0,
        right: 24.0,
        bottom: 26.0,
        left: 10.0,
    };
    let pinned = pinned.filter(|_| is_fused);
    let pinned_text = pinned.map(|pinned| format!(" Pinned: {}.", sums(pinned, Run::Fused)));
    let pinned = pinned.map(|pinned| &pinned.fused.traffic);
    let pinned_bytes = pinned.map_or(0, |traffic| traffic.total);
    let max_bytes = before.total.max(after.total).max(pinned_bytes);
    let plot = draw_bytes_frame(size, margins, max_bytes, held, size.0, &mut marks);
    let Bounds {
        left,
        top,
        bottom,
        right,
    } = plot.bounds;
    let height = (bottom - top - 26.0).max(12.0);
    let unfused = Bar {
        name: "unfused",
        analysis,
        run: Run::Unfused,
        top: top + 2.0,
        bottom: top + 2.0 + height * 0.35,
    };
    let name = if is_fused { "fused" } else { "now" };
    let fused = Bar {
        name,
        analysis,
        run: Run::shown(is_fused),
        top: top + 2.0 + height * 0.65,
        bottom: top + 2.0 + height,
    };

    let mut kernels = ShownKernel::of(analysis, repeats);
    if !is_fused {
        for kernel in &mut kernels {
            kernel.bytes.fused = kernel.bytes.unfused;
        }
    }
    let ranges = kernel_ranges(&kernels, &plot);
    draw_segments(analysis, &ranges, &plot, [&unfused, &fused], &mut marks);
    let text_y = fused.bottom + 16.0;
    if is_fused && after.saved_by_fusion > 0 && !analysis.is_partial() {
        let (start, end) = (plot.x(after.total as f64), plot.x(before.total as f64));
        let saved = rect(Role::Saved, (start, fused.top), (end, fused.bottom));
        marks.push(saved);
    }
    if let Some(pinned) = pinned {
        draw_pinned(pinned, &plot, &fused, &mut marks);
    }
    let bar_text =
        |y: f64, text_of_bar: String| text(Role::BarText, (left, y), Anchor::Start, text_of_bar);
    let unfused_summary = unfused.summary(is_compact(size));
    let has_room = right - left - text_width(&unfused_summary) - text_width(ROOM) > 12.0;
    if plot.x_axes() != Axes::of_bytes(max_bytes) && has_room {
        let at = (right, top - 8.0);
        marks.push(text(Role::AxisTitle, at, Anchor::End, ROOM));
    }
    marks.push(bar_text(top - 8.0, unfused_summary));
    let summary = fused.summary(is_compact(size));
    let summary_end = left + text_width(&summary);
    marks.push(bar_text(text_y, summary));
    let effect = [saved_words(analysis), format_change(analysis.savings_pct)];
    // Between lower bounds there is no difference. Before *Fuse* is pressed the result is not given
    // away.
    if is_fused && !analysis.is_partial() {
        let from = (summary_end + 12.0, text_y);
        let gap_end = plot.x(before.total as f64);
        marks.extend(effect_text(effect, gap_end, &plot, from));
    }

    let saved = if analysis.is_partial() {
        String::new()
    } else {
        format!(" Change: {}.", saved_words(analysis))
    };
    let description = format!(
        "Unfused: {}. Fused: {}.{saved}{}",
        sums(analysis, Run::Unfused),
        sums(analysis, Run::Fused),
        pinned_text.unwrap_or_default()
    );
    Scene {
        axes: Some(plot.x_axes()),
        ..Scene::new(size, "Memory traffic", description, marks).of_kernels(&analysis.partition)
    }
}

/// The memory traffic of all kernels, in words.
fn sums(analysis: &Analysis, run: Run) -> String {
    let values = Values::new(analysis);
    let [read, written, all] = [Quantity::BytesRead, Quantity::BytesWritten, Quantity::Bytes]
        .map(|quantity| values.total_without_assumed(quantity, run));
    format!("{read} read and {written} written, {all} in total")
}

/// A frame as long as the bytes of the pinned state around the fused bar, and its figure behind its
/// end, or before it where there is no space.
fn draw_pinned(pinned: &Traffic, plot: &Plot, fused: &Bar<'_>, marks: &mut Vec<Mark>) {
    const AROUND: f64 = 3.0;
    let (left, right) = (plot.bounds.left, plot.x(pinned.total as f64));
    let (top, bottom) = (fused.top - AROUND, fused.bottom + AROUND);
    let bytes = format_bytes(pinned.total);
    let words = format!("pinned {bytes}");
    let facts = vec![
        ("reads", format_bytes(pinned.bytes_read)),
        ("writes", format_bytes(pinned.bytes_written)),
        ("in total", bytes),
    ];
    let bar = rect(Role::PinnedBar, (left, top), (right, bottom));
    marks.push(bar.named(Label::new("pinned state, fused", facts)));
    let middle = f64::midpoint(top, bottom) + 4.2;
    let has_space = right + 6.0 + text_width(&words) <= plot.bounds.right + 20.0;
    marks.push(if has_space {
        text(
            Role::PinnedText,
            (right + 6.0, middle),
            Anchor::Start,
            words,
        )
    } else {
        text(Role::PinnedText, (right - 6.0, middle), Anchor::End, words)
    });
}

/// One of the two bars.
struct Bar<'a> {
    name: &'static str,
    analysis: &'a Analysis,
    run: Run,
    top: f64,
    bottom: f64,
}

impl Bar<'_> {
    fn summary(&self, is_compact: bool) -> String {
        let Self {
            name,
            analysis,
            run,
            ..
        } = *self;
        let values = Values::new(analysis);
        let total = values.total(Quantity::Bytes, run);
        if is_compact {
            format!("{name} {total}")
        } else {
            let accesses = values.accesses(run);
            format!("{name} {total}: {accesses}")
        }
    }
}

/// Neighbouring kernels that share segments; mostly one.
struct KernelRange {
    first: ShownKernel,
    last: ShownKernel,
    bytes: KernelBytes,
}

impl KernelRange {
    fn is_one(&self) -> bool {
        self.first.kernel == self.last.kernel
    }

    fn heading(&self, analysis: &Analysis) -> String {
        let Self { first, last, .. } = self;
        if self.is_one() {
            return first.heading(analysis);
        }
        let (first_number, last_number) = (first.kernel.number(), last.kernel.number());
        let equal = if first.iterations.max(last.iterations) > 1 {
            ", and those equal to them"
        } else {
            ""
        };
        format!("kernels {first_number} to {last_number}{equal}")
    }

    /// The mark in the kernel's colour, if it is of one kernel only.
    fn of_kernel(&self, mark: Mark) -> Mark {
        if self.is_one() {
            mark.of_kernel(self.first.kernel)
        } else {
            mark
        }
    }
}

fn kernel_ranges(kernels: &[ShownKernel], plot: &Plot) -> Vec<KernelRange> {
    let is_crowded = kernels.len() > MAX_SEPARATE_KERNELS;
    let thin_px = plot.bounds.width() * THIN_SHARE;
    let is_thin =
        |bytes: KernelBytes| plot.x(bytes.unfused.total() as f64) - plot.bounds.left < thin_px;
    let mut ranges: Vec<KernelRange> = Vec::new();
    for &kernel in kernels {
        match ranges.last_mut() {
            Some(range) if is_crowded && is_thin(range.bytes) && is_thin(kernel.bytes) => {
                range.last = kernel;
                range.bytes = range.bytes + kernel.bytes;
            }
            _ => ranges.push(KernelRange {
                first: kernel,
                last: kernel,
                bytes: kernel.bytes,
            }),
        }
    }
    ranges
}

/// Draws the segments of both bars, ribbons between those of one kernel, and the kernels' numbers.
fn draw_segments(
    analysis: &Analysis,
    ranges: &[KernelRange],
    plot: &Plot,
    bars: [&Bar<'_>; 2],
    marks: &mut Vec<Mark>,
) {
    let mut starts = [0_u64; 2];
    let mut numbers = Vec::new();
    let mut segments = Vec::new();
    for range in ranges {
        let moved = [range.bytes.unfused, range.bytes.fused];
        let [upper, lower] = [0, 1].map(|bar| {
            let end = starts[bar] + moved[bar].total();
            (plot.x(starts[bar] as f64), plot.x(end as f64))
        });
        let [unfused, fused] = bars;
        let corners = [
            (upper.0, unfused.bottom),
            (upper.1, unfused.bottom),
            (lower.1, fused.top),
            (lower.0, fused.top),
        ];
        marks.push(range.of_kernel(polygon(Role::Ribbon, &corners)));
        numbers.extend(number(range, upper, lower, bars));
        for ((bar, start), moved) in bars.iter().zip(&mut starts).zip(moved) {
            for (role, verb, count) in [
                (Role::Read, "reads", moved.read),
                (Role::Write, "writes", moved.written),
            ] {
                if count == 0 {
                    continue;
                }
                let share = count as f64 / bar.run.execution(analysis).traffic.total.max(1) as f64;
                let label = Label::new(
                    format!("{}, {}", range.heading(analysis), bar.name),
                    vec![
                        (verb, format_bytes(count)),
                        ("share", format_percent(share * 100.0)),
                    ],
                );
                let (left, right) = (plot.x(*start as f64), plot.x((*start + count) as f64));
                let segment = rect(role, (left, bar.top), (right, bar.bottom));
                segments.push(range.of_kernel(segment).named(label));
                *start += count;
            }
        }
    }
    marks.append(&mut segments);
    marks.append(&mut numbers);
}

/// A kernel's number in the middle of its ribbon, where it fits.
fn number(
    range: &KernelRange,
    upper: (f64, f64),
    lower: (f64, f64),
    [unfused, fused]: [&Bar<'_>; 2],
) -> Option<Mark> {
    let words = range.first.kernel.number().to_string();
    let width = f64::midpoint(upper.1 - upper.0, lower.1 - lower.0);
    let is_tall = fused.top - unfused.bottom > 12.0;
    (range.is_one() && is_tall && width > text_width(&words) + 4.0).then(|| {
        let x = (upper.0 + upper.1 + lower.0 + lower.1) / 4.0;
        let y = f64::midpoint(unfused.bottom, fused.top) + 4.2;
        range.of_kernel(text(Role::Number, (x, y), Anchor::Middle, words))
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

/// The effect of fusion in the longest of these words that fit, if any do: below the gap at the end
/// of the fused bar and not left of the place given.
fn effect_text(
    words: [String; 2],
    gap_end: f64,
    plot: &Plot,
    (min_left, y): (f64, f64),
) -> Option<Mark> {
    let end_of = |words: &str| min_left + bold_text_width(words);
    let fits = |words: &String| end_of(words) <= plot.bounds.right + 20.0;
    let words = words.into_iter().find(fits)?;
    let end = gap_end.max(end_of(&words));
    Some(text(Role::SavedText, (end, y), Anchor::End, words))
}
